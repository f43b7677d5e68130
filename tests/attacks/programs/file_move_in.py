"""Moves a file outside into its own folder.

Seen: the file is gone.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.rename(target.canary, "mine")
