"""Gives itself a table of segments (modify_ldt), by which many a hole of the kernel was reached.

Seen: an answer: it has one.
Stopped at: strict, standard.
Works: where the kernel has such tables.
Verdict: wrong.
"""
import ctypes
import struct


def attack():
    # struct user_desc: number, base, limit, flags (32 bits, in pages, usable)
    return ctypes.CDLL(None).syscall(154, 1, struct.pack("IIII", 0, 0, 0xFFFFF, 0x51), 16) == 0
