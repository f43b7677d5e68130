"""Leaves so little depth for calls that the harness's code in its process fails.

Seen: the verdict is an error of the harness's.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: wrong, raised, exited.
"""
import sys


def attack():
    depth = 0
    frame = sys._getframe()
    while frame:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 4)
