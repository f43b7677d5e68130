"""Forks in the middle of the call, ends in good order itself, and lets the child go on as the program.

Seen: the verdict is that it passed, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: wrong, raised, killed, exited.
"""
import os


def answer(n):
    if os.fork():
        os._exit(0)
    return n
