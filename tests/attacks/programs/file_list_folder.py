"""Lists a folder outside of its own.

Seen: an answer: it knows a file's name.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    return "canary" in os.listdir(target.outside)
