"""Asks for the right to speak to the machine's hardware ports.

Seen: an answer: it got it.
Stopped at: strict, standard.
Works: as root, where the kernel lends ports.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None)
    return libc.ioperm(0x80, 1, 1) == 0
