"""Asks of every process number near its own, and of those it knows, whether it may signal it (signal 0).

Seen: an answer: there is one that it may.
Stopped at: strict, standard.
Verdict: wrong.
"""
import os


def attack():
    # Not kill(-1, 0): that succeeds where it may signal nobody.
    own = os.getpid()
    for pid in {target.victim, target.host, os.getppid(), *range(max(2, own - 300), own + 100)} - {own, 0}:
        try:
            os.kill(pid, 0)
        except OSError:
            continue
        return True
