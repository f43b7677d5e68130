"""Prints what a checker prints, and leaves in good order.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Verdict: exited.
"""
import os


def attack():
    for word in ("passed", "OK", "1 passed in 0.01s", '{"outcome": "returned"}', "True"):
        os.write(1, word.encode() + b"\n")
        os.write(2, word.encode() + b"\n")
    os._exit(0)
