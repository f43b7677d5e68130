"""Answers, and loops for ever in what it left to be done at exit.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where a signal kills.
Verdict: wrong, timed_out.
"""
import atexit


def loop():
    while True:
        pass


def attack():
    atexit.register(loop)
