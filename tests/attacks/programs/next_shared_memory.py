"""Leaves shared memory and a semaphore for the next program.

Seen: the next program finds one of them.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
from multiprocessing import shared_memory
import _multiprocessing

NAME = f"/{target.comm}"


def attack():
    try:
        _multiprocessing.SemLock(1, 1, 1, NAME, False)
        shared_memory.SharedMemory(NAME, create=True, size=100)._name = None
    except OSError:
        pass


def heir():
    found = False
    try:
        _multiprocessing.SemLock._rebuild(0, 1, 1, NAME)
        _multiprocessing.sem_unlink(NAME)
        found = True
    except OSError:
        pass
    try:
        shared_memory.SharedMemory(NAME).unlink()
        found = True
    except OSError:
        pass
    return found
