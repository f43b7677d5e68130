"""Kills another process by rt_sigqueueinfo.

Seen: the process is dead.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes


def attack():
    information = (ctypes.c_int * 32)(9, 0, -1)
    ctypes.CDLL(None).syscall(129, target.victim, 9, information)
