"""Puts itself under rules for files that it makes itself, to be alone with what they let through.

Seen: an answer: it made them.
Stopped at: strict, standard.
Works: where the kernel has Landlock.
Verdict: wrong.
"""
import ctypes
import struct


def attack():
    return ctypes.CDLL(None).syscall(444, struct.pack("Q", 1), 8, 0) >= 0
