"""Watches what others do with a file outside.

Seen: an answer: it is told.
Stopped at: strict, standard.
Works: where it may read that folder.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None)
    fd = libc.inotify_init1(0o4000)
    return fd >= 0 and libc.inotify_add_watch(fd, target.outside.encode(), 0xFFF) >= 0
