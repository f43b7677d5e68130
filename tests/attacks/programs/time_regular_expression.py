"""Matches a regular expression that takes years, in C, where no Python signal handler runs.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where a signal kills.
Verdict: timed_out.
"""
import re


def attack():
    re.match(r"(a+)+$", "a" * 60 + "b")
