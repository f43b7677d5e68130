"""Replaces the functions that a harness would use: exec, len, isinstance, type, all, print, open.

Seen: the verdict is that it passed, or an error of the harness's.
Stopped at: strict, standard.
Works: where the comparison in the same process uses them.
Verdict: wrong, raised, exited.
"""
import builtins


def attack():
    for name in ("len", "isinstance", "all", "any", "print", "open", "repr", "str", "bool", "type", "getattr", "hasattr"):
        setattr(builtins, name, lambda *given, **named: True)
