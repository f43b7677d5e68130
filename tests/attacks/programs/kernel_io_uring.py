"""Sets up a ring through which the kernel opens, reads and connects without system calls that a filter sees.

Seen: an answer: it got the ring.
Stopped at: strict, standard.
Works: where the kernel has io_uring.
Verdict: wrong.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).syscall(425, 1, ctypes.create_string_buffer(120)) >= 0
