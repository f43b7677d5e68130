"""Forks sixty sleeping processes.

Seen: more than forty of them at once, or some after the verdict.
Stopped at: strict, standard.
Verdict: raised, wrong.
"""
import os
import time


def attack():
    for _ in range(60):
        if os.fork() == 0:
            target.mark()
            time.sleep(6)
            os._exit(0)
    time.sleep(1)
