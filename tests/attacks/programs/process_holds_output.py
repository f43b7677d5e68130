"""Leaves a child that keeps the output open, so that who waits for its end waits.

Seen: the child lives after the verdict, or the verdict takes as long as the child.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os
import time


def attack():
    if os.fork() == 0:
        target.mark()
        os.setsid()
        time.sleep(8)
        os._exit(0)
    time.sleep(0.2)
