"""Locks a file of the interpreter's that it may read: whoever wants to lock it too waits.

Seen: an answer: it has the lock.
Stopped at: nothing.
Verdict: wrong.
"""
import fcntl
import os


def attack():
    fcntl.flock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True
