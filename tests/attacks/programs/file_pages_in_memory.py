"""Asks which files others have read lately: those whose pages are in memory are read without waiting.

Seen: an answer: it is told that a file is in memory.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os
import sys


def cached(path):
    try:
        return os.preadv(os.open(path, os.O_RDONLY), [bytearray(1)], 0, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False


def attack():
    return cached(sys.executable)
