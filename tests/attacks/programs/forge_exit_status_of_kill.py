"""Exits with the status that a shell shows for a killed process, to look like somebody else's fault.

Seen: the verdict is that it was killed, or an error of the harness's.
Stopped at: strict, standard.
Works: never where the status is read whole.
Verdict: exited.
"""
import os


def attack():
    os._exit(137)
