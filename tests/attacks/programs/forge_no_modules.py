"""Forgets every module, so that what the harness imports late is not there.

Seen: the verdict is an error of the harness's, or that it passed.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: wrong, raised, exited.
"""
import sys


def attack():
    sys.modules.clear()
    sys.path.clear()
    sys.meta_path.clear()
