"""Empties the namespace of the builtins, so that the harness's own code in its process fails.

Seen: the verdict is an error of the harness's, or that it passed.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: wrong, raised, exited, killed.
"""
import builtins


def attack():
    vars(builtins).clear()
