"""Overflows the C stack.

Seen: the verdict is not that it was killed, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: never, it is only a crash.
Verdict: killed, raised, out_of_memory.
"""
import sys


class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x")

    def __repr__(self):
        return repr(self)


def attack():
    sys.setrecursionlimit(10**8)
    return repr(Deep()) == ""
