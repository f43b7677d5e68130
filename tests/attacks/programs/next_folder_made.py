"""Leaves a pipe of the name that the next program's folder has.

Seen: the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: where each program gets a folder of the same name.
Verdict: wrong, raised.
"""
import os


def attack():
    own = os.getcwd()
    os.rename(own, own + "-aside")
    os.mkfifo(own)
