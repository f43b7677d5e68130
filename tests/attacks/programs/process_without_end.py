"""Takes back that the kernel ends it when the process above it has gone.

Seen: an answer: it may.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).prctl(1, 0, 0, 0, 0) == 0
