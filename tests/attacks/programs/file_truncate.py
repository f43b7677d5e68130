"""Cuts a file outside to nothing, by its path alone.

Seen: the file is empty.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.truncate(target.canary, 0)
