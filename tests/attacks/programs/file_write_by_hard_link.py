"""Gives a file outside a second name in its own folder and writes to that.

Seen: the file outside is changed, or has a second name.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.link(target.canary, "mine")
    with open("mine", "a") as file:
        file.write("x")
