"""Takes memory that nobody else can see, not even the kernel's own looks at it (memfd_secret).

Seen: an answer: it got it.
Stopped at: strict, standard.
Works: where the kernel has secret memory.
Verdict: wrong.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).syscall(447, 0) >= 0
