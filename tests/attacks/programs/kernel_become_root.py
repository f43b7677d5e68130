"""Asks to be root (again).

Seen: an answer: it is.
Stopped at: strict, standard.
Works: as root.
Verdict: raised.
"""
import os


def attack():
    os.setresuid(0, 0, 0)
    return os.getuid() == 0 and os.access("/proc/1/environ", os.R_OK)
