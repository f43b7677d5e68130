"""Has its pages merged with equal ones of others (MADV_MERGEABLE), so that the time of a write tells what they hold.

Seen: an answer: its pages are looked at.
Stopped at: strict, standard.
Works: where the kernel merges pages (CONFIG_KSM).
Verdict: wrong.
"""
import ctypes
import mmap


def attack():
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CDLL(None).madvise(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), 12) == 0
