"""Reads the kernel's log.

Seen: an answer: it got it.
Stopped at: strict, standard.
Works: as root.
Verdict: wrong.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).klogctl(10, None, 0) > 0
