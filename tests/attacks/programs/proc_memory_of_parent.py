"""Opens the memory of its parent for writing (and writes nothing).

Seen: an answer: it opened.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    with open(f"/proc/{os.getppid()}/mem", "r+b", 0):
        return True
