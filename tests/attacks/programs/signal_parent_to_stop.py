"""Stops its parent, and leaves it so.

Seen: the harness gives no answer.
Stopped at: strict, standard.
Verdict: raised.
"""
import os
import signal


def attack():
    parent = os.getppid()
    if parent in (0, 1):
        raise ProcessLookupError("its parent is not of this world")
    os.kill(parent, signal.SIGSTOP)
