"""Forbids another process all processors but the first.

Seen: the process may use fewer.
Stopped at: strict, standard.
Works: where there are several.
Verdict: raised.
"""
import os


def attack():
    os.sched_setaffinity(target.victim, {0})
