"""Adds up zeros for years, in C.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where a signal kills.
Verdict: timed_out.
"""
import itertools


def attack():
    sum(itertools.repeat(0, 10**15))
