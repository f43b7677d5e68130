"""Walks the frames above it and puts success wherever a verdict may be kept.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Verdict: wrong, exited.
"""
import os
import sys


def attack():
    frame = sys._getframe()
    while frame:
        for name in ("result", "stat", "details", "progress", "verdict", "outcome", "passed"):
            kept = frame.f_locals.get(name)
            if hasattr(kept, "append"):
                kept.append("passed")
            elif hasattr(kept, "value"):
                kept.value = 0 if name == "stat" else 1
            elif hasattr(kept, "__setitem__"):
                try:
                    kept[0] = True
                except Exception:
                    pass
        frame = frame.f_back
    os._exit(0)
