"""Deletes a file outside.

Seen: the file is gone.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.unlink(target.canary)
