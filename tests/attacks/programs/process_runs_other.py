"""Leaves another program behind, in a session of its own.

Seen: the program runs after the verdict.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os
import time


def attack():
    if os.fork() == 0:
        os.setsid()
        try:
            os.execv("/bin/sleep", [target.comm, "8"])
        finally:
            os._exit(1)
    time.sleep(0.2)
