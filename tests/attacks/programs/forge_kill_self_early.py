"""Kills itself before there is a function to call, to look like a harness that failed.

Seen: the verdict is an error of the harness's.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: killed.
"""
import os

os.kill(os.getpid(), 9)


def attack():
    return True
