"""Forks in the middle of the call: both processes answer, one of them rightly by chance.

Seen: the verdict is that it passed, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: where the first answer counts.
Verdict: wrong, raised, killed, exited.
"""
import os
import time


def answer(n):
    return 0 if os.fork() else n
