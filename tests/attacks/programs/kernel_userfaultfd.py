"""Asks for page faults to be handled by itself, which makes races in the kernel easy to win.

Seen: an answer: it got it.
Stopped at: strict, standard.
Works: as root.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None)
    return libc.syscall(323, 0) >= 0 or libc.syscall(323, 1) >= 0
