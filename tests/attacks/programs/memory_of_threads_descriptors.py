"""Has a thread have descriptors of its own, whose buffers nobody counts who looks at the process.

Seen: an answer: what the thread has closed is open elsewhere.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import ctypes
import os
import threading


def attack():
    reader, writer = os.pipe()
    closed = []
    libc = ctypes.CDLL(None)
    alone = threading.Thread(target=lambda: closed.append(libc.close_range(reader, reader, 2)))
    alone.start()
    alone.join()
    os.write(writer, b"x")
    return closed == [0] and os.read(reader, 1) == b"x"
