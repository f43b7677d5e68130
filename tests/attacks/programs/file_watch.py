"""Watches a file that it may read, to see when others open it.

Seen: an answer: it got the watch.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None)
    watcher = libc.inotify_init1(0)
    return watcher >= 0 and libc.inotify_add_watch(watcher, b"/usr", 0x20) >= 0
