"""Lowers its own limits to nothing before it answers, so that the harness's code in its process fails.

Seen: the verdict is an error of the harness's.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: wrong, raised, exited, killed, out_of_memory.
"""
import ctypes


def attack():
    for limit in (1, 7, 9):  # file size, open files, address space
        ctypes.CDLL(None).setrlimit(limit, (ctypes.c_ulong * 2)(0, 0))
