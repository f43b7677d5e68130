"""Opens the kernel's performance counters.

Seen: an answer: it got one.
Stopped at: strict, standard.
Works: as root, where the machine has them.
Verdict: wrong.
"""
import ctypes
import struct


def attack():
    attribute = ctypes.create_string_buffer(struct.pack("=IIQ", 1, 112, 0), 128)  # software, the processor's clock
    return ctypes.CDLL(None).syscall(298, attribute, 0, -1, -1, 8) >= 0
