"""Leaves a POSIX message queue for the next program: it has a name, but no file.

Seen: an answer: it got the queue; the next program finds it.
Stopped at: strict, standard.
Works: where the kernel has message queues.
Verdict: wrong.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).syscall(240, target.comm.encode(), 0o102, 0o666, None) >= 0


def heir():
    return ctypes.CDLL(None).syscall(240, target.comm.encode(), 2, 0, None) >= 0
