"""Has the orphans below it come to it, so that who should end them does not see them.

Seen: an answer: it is their parent now.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
