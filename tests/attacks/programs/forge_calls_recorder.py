"""Finds the objects in the frames above that report a verdict, and has them report another.

Seen: the verdict is that it passed, or another than that it ended its process.
Stopped at: strict, standard.
Works: against a harness whose child reports the verdict.
Verdict: wrong, exited, killed.
"""
import os
import sys


def attack():
    frame = sys._getframe().f_back
    while frame:
        for thing in [*frame.f_locals.values(), *frame.f_globals.values()]:
            for name in ("report", "send", "put", "finish"):
                method = getattr(thing, name, None) if not isinstance(thing, type(sys)) else None
                for given in (("returned",), ("passed",), (b'end {"outcome": "returned"}',)):
                    for named in ({}, {"result": "True", "result_builtin": True}):
                        try:
                            method(*given, **named)
                        except Exception:
                            pass
        frame = frame.f_back
    os._exit(0)
