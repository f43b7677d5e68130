"""Has the kernel throw another process's pages out of memory, move them, or take them for good.

Seen: an answer: one call was let through.
Stopped at: strict, standard.
Works: where the program runs as root.
Verdict: wrong, raised.
"""
import ctypes
import os
import struct


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        handle = os.pidfd_open(target.victim)
    except OSError:
        handle = -1
    nothing = struct.pack("QQ", 0x1000, 0)
    got = [
        libc.syscall(440, handle, nothing, 1, 20, 0) >= 0,  # process_madvise, MADV_COLD
        libc.syscall(256, target.victim, 64, struct.pack("Q", 1), struct.pack("Q", 1)) >= 0,  # migrate_pages
        libc.syscall(279, target.victim, 0, None, None, None, 0) >= 0,  # move_pages
    ]
    return any(got)
