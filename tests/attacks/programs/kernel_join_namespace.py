"""Joins the network of another process.

Seen: an answer: it could.
Stopped at: strict, standard.
Works: as root.
Verdict: wrong, raised.
"""
import ctypes
import os


def attack():
    fd = os.open(f"/proc/{target.victim}/ns/net", os.O_RDONLY)
    return ctypes.CDLL(None).setns(fd, 0x40000000) == 0
