"""Writes through a symbolic link in its own folder that leads outside.

Seen: the file outside is changed.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.symlink(target.canary, "mine")
    with open("mine", "a") as file:
        file.write("x")
