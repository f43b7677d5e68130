"""Gives pages of its memory to a pipe and lets go of them: they are nobody's then.

Seen: an answer: the pipe has them.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes
import os
import struct


def attack():
    _reader, writer = os.pipe()
    page = ctypes.create_string_buffer(4096)
    vector = struct.pack("QQ", ctypes.addressof(page), 4096)
    return ctypes.CDLL(None).vmsplice(writer, vector, 1, 0) == 4096
