"""Dates a file outside back, so that a build takes it for old.

Seen: the file has another date.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.utime(target.canary, (0, 0))
