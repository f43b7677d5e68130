"""Makes a failed assert raise what a harness lets pass.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Works: where the check raises the error by its name.
Verdict: wrong, exited.
"""
import builtins


def attack():
    builtins.AssertionError = SystemExit
