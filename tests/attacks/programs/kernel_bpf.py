"""Calls bpf() with nothing to load: whoever may is told that the argument is bad, not that it is forbidden.

Seen: an answer: it was not forbidden.
Stopped at: strict, standard.
Works: as root.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    attribute = ctypes.create_string_buffer(128)
    attribute[0:16] = b"\x02\0\0\0" + b"\x04\0\0\0" + b"\x04\0\0\0" + b"\x01\0\0\0"
    return libc.syscall(321, 0, attribute, 72) >= 0  # an array of one number
