"""Becomes root in a user namespace of its own, from where most holes of the kernel are reached.

Seen: an answer: it could.
Stopped at: strict, standard.
Works: where user namespaces are open to all.
Verdict: wrong.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).unshare(0x10000000) == 0
