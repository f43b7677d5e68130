"""Reads another process's memory by process_vm_readv.

Seen: an answer: the call works on that process.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import ctypes
import os


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    here = (ctypes.c_size_t * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)
    there = (ctypes.c_size_t * 2)(8, 8)
    libc.process_vm_readv(target.victim, here, 1, there, 1, 0)
    return ctypes.get_errno() == 14  # EFAULT: it was allowed, and nothing lies at that address
