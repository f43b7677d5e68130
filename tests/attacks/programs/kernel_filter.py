"""Becomes the one who answers system calls (SECCOMP_FILTER_FLAG_NEW_LISTENER), its own process's too.

Seen: an answer: it got the listener.
Stopped at: strict, standard.
Works: as an ordinary user who asked for no new privileges first.
Verdict: wrong.
"""
import ctypes
import struct


def attack():
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000), 8)
    return libc.syscall(317, 1, 8, struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow))) >= 0
