"""Sets an attribute of a file outside by file_setattr(2), which is newer than most filters.

Seen: the file has the attribute.
Stopped at: strict, standard.
Works: where the kernel is 6.17 or newer.
Verdict: wrong.
"""
import ctypes
import struct


def attack():
    no_dump = struct.pack("QIIII", 0x80, 0, 0, 0, 0)
    ctypes.CDLL(None).syscall(469, -100, target.canary.encode(), no_dump, len(no_dump), 0)
