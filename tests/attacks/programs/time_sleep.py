"""Sleeps for a day: no CPU time that could run out.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where there is a limit on time at all.
Verdict: timed_out.
"""
import time


def attack():
    time.sleep(86400)
