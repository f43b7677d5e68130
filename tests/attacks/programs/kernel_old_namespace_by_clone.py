"""Becomes root in a user namespace by clone.

Seen: an answer: it could.
Stopped at: strict, standard.
Works: where user namespaces are open to all.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None)
    child = libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)
    if child == 0:
        libc._exit(0)
    return child > 0
