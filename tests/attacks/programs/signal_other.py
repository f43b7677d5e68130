"""Kills another process.

Seen: the process is dead.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.kill(target.victim, 9)
