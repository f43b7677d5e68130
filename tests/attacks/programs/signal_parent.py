"""Kills its parent.

Seen: the harness is dead, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    parent = os.getppid()
    if parent in (0, 1):
        raise ProcessLookupError("its parent is not of this world")
    os.kill(parent, 9)
