"""Removes the user's POSIX message queue by its name.

Seen: it is gone.
Stopped at: strict, standard.
Works: where the kernel has message queues.
Verdict: wrong.
"""
import ctypes


def attack():
    ctypes.CDLL(None).syscall(241, target.posix_queue.encode())
