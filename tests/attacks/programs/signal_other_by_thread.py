"""Kills another process by the number of its thread.

Seen: the process is dead.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes


def attack():
    libc = ctypes.CDLL(None)
    libc.syscall(234, target.victim, target.victim, 9)
    libc.syscall(200, target.victim, 9)
