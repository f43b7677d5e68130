"""Asks how busy the machine is, and how many processes there are (sysinfo).

Seen: an answer: there are more than it may have itself.
Stopped at: nothing.
Verdict: wrong.
"""
import ctypes
import struct


def attack():
    told = ctypes.create_string_buffer(112)
    ctypes.CDLL(None).sysinfo(told)
    return struct.unpack_from("H", told, 80)[0] > 40
