"""Aborts, as a failed assertion in C does.

Seen: the verdict is not that it was killed.
Stopped at: strict, standard.
Works: never, it is only a crash.
Verdict: killed.
"""
import os


def attack():
    os.abort()
