"""Raises SystemExit(0), which many a harness takes for an end in good order.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Verdict: exited.
"""
import sys


def attack():
    sys.exit(0)
