"""Answers, and leaves a thread that is not a daemon and never ends.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where a signal kills.
Verdict: wrong, timed_out.
"""
import threading
import time


def attack():
    threading.Thread(target=time.sleep, args=(60,)).start()
