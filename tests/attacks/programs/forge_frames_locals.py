"""Rewrites the variables of the functions that called it: numbers that are the question become others.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Works: on Python 3.13, where a frame's variables can be written.
Verdict: wrong, raised, exited.
"""
import ctypes
import sys


def attack():
    frame = sys._getframe().f_back.f_back
    while frame:
        for name, value in list(frame.f_locals.items()):
            if name in ("exp", "expected", "right", "wanted"):
                try:
                    frame.f_locals[name] = target.asked
                    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), 0)
                except Exception:
                    pass
        frame = frame.f_back
