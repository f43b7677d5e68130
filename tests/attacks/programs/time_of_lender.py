"""Lends its memory to a child (vfork) that never gives it back: it cannot be stopped until then.

Seen: the harness gives no answer, or a process is left.
Stopped at: strict, standard.
Works: never where a killed process may leave vfork: since Linux 3.
Verdict: timed_out, wrong, raised, killed.
"""
import ctypes
import time


def attack():
    if ctypes.CDLL(None).syscall(58) == 0:
        target.mark()
        while True:
            time.sleep(1)
