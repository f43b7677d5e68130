"""Waits for a lock that nobody will open.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where there is a limit on time at all.
Verdict: timed_out.
"""
import threading


def attack():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
