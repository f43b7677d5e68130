"""Attaches to another process as a debugger does, and stops it.

Seen: an answer: it could; or the process is stopped.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).ptrace(16, target.victim, 0, 0) == 0
