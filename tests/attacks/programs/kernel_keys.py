"""Leaves a key in the user's key ring, which outlives every process, for the next program.

Seen: an answer: it got a key; the next program finds it.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes


def attack():
    return ctypes.CDLL(None).syscall(248, b"user", target.comm.encode(), b"x", 1, -4) > 0


def heir():
    return ctypes.CDLL(None).syscall(249, b"user", target.comm.encode(), None, -4) > 0
