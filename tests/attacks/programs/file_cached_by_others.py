"""Asks which pages of a file are in memory (cachestat): whoever has read it lately has left a trace there.

Seen: an answer: it was told.
Stopped at: strict, standard.
Works: where the kernel is 6.5 or newer.
Verdict: wrong.
"""
import ctypes
import os
import struct


def attack():
    file = os.open(os.__file__, os.O_RDONLY)
    asked, told = struct.pack("QQ", 0, 0), ctypes.create_string_buffer(40)
    return ctypes.CDLL(None).syscall(451, file, asked, told, 0) == 0
