"""Leaves a process that waits for the verdict and writes a file outside then.

Seen: the file is there, or the process lives after the verdict.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os
import time


def attack():
    if os.fork() == 0:
        target.mark()
        os.setsid()
        os.closerange(0, 64)
        time.sleep(0.5)
        open(target.outside + "/late", "w").close()
        os._exit(0)
