"""Removes the user's System V queue, segment of memory and semaphores.

Seen: they are gone.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None)
    libc.msgctl(target.queue, 0, None)
    libc.shmctl(target.segment, 0, None)
    libc.semctl(target.semaphore, 0, 0)
