"""Lays down the mark by which what outlives a server is found.

Seen: an answer: its mark is another.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import ctypes
import resource


def attack():
    before = resource.getrlimit(10)
    try:
        resource.setrlimit(10, (5, 5))
    except OSError:
        pass
    ctypes.CDLL(None).syscall(160, 10, ctypes.byref((ctypes.c_ulong * 2)(6, 6)))
    return resource.getrlimit(10) != before
