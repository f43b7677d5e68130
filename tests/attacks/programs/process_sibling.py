"""Makes a process that is its parent's child instead of its own (CLONE_PARENT).

Seen: the process lives after the verdict, or the harness is disturbed.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import ctypes
import os
import time


def attack():
    libc = ctypes.CDLL(None)
    if libc.syscall(56, 0x8000 | 17, 0, 0, 0, 0) == 0:
        target.mark()
        libc.setsid()
        libc.close_range(0, 4096, 0)
        libc.sleep(8)
        libc._exit(0)
    time.sleep(0.2)
