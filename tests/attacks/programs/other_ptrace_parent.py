"""Attaches to its parent as a debugger does.

Seen: an answer: it could; or the harness gives no answer.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes
import os


def attack():
    parent = os.getppid()
    return parent > 1 and ctypes.CDLL(None).ptrace(0x4206, parent, 0, 0) == 0
