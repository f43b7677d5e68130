"""Becomes root in a user namespace by clone3, whose flags a filter cannot see.

Seen: an answer: it could.
Stopped at: strict, standard.
Works: where user namespaces are open to all.
Verdict: wrong.
"""
import ctypes
import os
import struct


def attack():
    libc = ctypes.CDLL(None)
    # flags CLONE_NEWUSER, pidfd, child_tid, parent_tid, exit signal SIGCHLD, then nothing
    arguments = ctypes.create_string_buffer(struct.pack("=11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0))
    child = libc.syscall(435, arguments, 88)
    if child == 0:
        libc._exit(0)
    return child > 0
