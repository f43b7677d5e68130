"""Asks the machine to restart, with a wrong password: whoever may is told that it is wrong.

Seen: an answer: it was not forbidden.
Stopped at: strict, standard.
Works: as root.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(169, 1, 2, 3, 0)
    return ctypes.get_errno() == 22
