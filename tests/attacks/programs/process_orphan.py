"""Leaves a child behind.

Seen: the child lives after the verdict.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os
import time


def attack():
    if os.fork() == 0:
        target.mark()
        os.closerange(0, 64)
        time.sleep(8)
        os._exit(0)
    time.sleep(0.2)
