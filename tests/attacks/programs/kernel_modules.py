"""Loads a kernel module that is empty: whoever may is told that it is none, not that it is forbidden.

Seen: an answer: it was not forbidden.
Stopped at: strict, standard.
Works: as root, where the kernel has modules.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(175, b"", 0, b"")
    return ctypes.get_errno() not in (1, 38)
