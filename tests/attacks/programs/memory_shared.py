"""Makes a System V segment of shared memory, which outlives its maker.

Seen: an answer: it got it; the next program finds it.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).shmget(target.number, 4096, 0o1666) >= 0


def heir():
    return ctypes.CDLL(None).shmget(target.number, 4096, 0) >= 0
