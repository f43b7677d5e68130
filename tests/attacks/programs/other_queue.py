"""Takes the message out of a System V queue that is none of its own.

Seen: the queue is empty.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes


def attack():
    buffer = ctypes.create_string_buffer(4096)
    ctypes.CDLL(None).msgrcv(target.queue, buffer, 4000, 0, 0o4000)
