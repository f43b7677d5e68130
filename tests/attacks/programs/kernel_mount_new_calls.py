"""Opens a tree for mounting by the newer system calls, which older filters do not know.

Seen: an answer: it could.
Stopped at: strict, standard.
Works: as root.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None)
    return libc.syscall(428, -100, b"/", 1) >= 0 or libc.syscall(430, b"tmpfs", 0) >= 0
