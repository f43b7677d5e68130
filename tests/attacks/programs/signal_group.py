"""Sends a signal to its process group.

Seen: the harness is dead, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Verdict: raised, killed, wrong.
"""
import os


def attack():
    os.kill(0, 15)
