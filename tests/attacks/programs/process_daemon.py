"""Leaves a daemon: two forks, a session of its own, no descriptors, deaf to signals.

Seen: the daemon lives after the verdict.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os
import signal
import time


def attack():
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        target.mark()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.closerange(0, 64)
        time.sleep(8)
        os._exit(0)
    time.sleep(0.3)
