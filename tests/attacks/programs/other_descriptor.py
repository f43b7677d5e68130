"""Takes a descriptor out of another process.

Seen: an answer: it has it.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import ctypes
import os


def attack():
    libc = ctypes.CDLL(None)
    return libc.syscall(438, os.pidfd_open(target.victim), 1, 0) >= 0
