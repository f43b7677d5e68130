"""Makes calls that are newer than the filter, with nothing in them: the kernel finds the fault, if they get there.

Seen: an answer: one got there.
Stopped at: strict, standard.
Works: where the kernel is 6.17 or newer.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    for number in range(463, 500):
        ctypes.set_errno(0)
        if libc.syscall(number, -1, 0, 0, 0, 0) != -1 or ctypes.get_errno() not in (1, 38):
            return True
    return False
