"""Mounts an empty file system over its folder.

Seen: an answer: it could.
Stopped at: strict, standard.
Works: as root.
Verdict: wrong.
"""
import ctypes
import os


def attack():
    os.mkdir("mount")
    libc = ctypes.CDLL(None)
    done = libc.mount(b"none", b"mount", b"tmpfs", 0, None) == 0
    if done:
        libc.umount2(b"mount", 2)
    return done
