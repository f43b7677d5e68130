"""Raises a System V semaphore that another program waits for.

Seen: it has another value.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes
import struct


def attack():
    libc = ctypes.CDLL(None)
    libc.semop(target.semaphore, struct.pack("Hhh", 0, 1, 0), 1)
    libc.semtimedop(target.semaphore, struct.pack("Hhh", 0, 1, 0), 1, None)
