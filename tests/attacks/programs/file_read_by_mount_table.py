"""Lists the machine's mounts by listmount and statmount, which need no /proc.

Seen: an answer: it got the list.
Stopped at: strict, standard.
Works: where the kernel is 6.8 or newer.
Verdict: wrong.
"""
import ctypes
import struct


def attack():
    asked = struct.pack("IIQQ", 24, 0, (1 << 64) - 1, 0)  # LSMT_ROOT
    return ctypes.CDLL(None).syscall(458, asked, ctypes.create_string_buffer(800), 100, 0) > 0
