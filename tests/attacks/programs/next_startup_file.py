"""Leaves a module wherever the next program's interpreter may look for it.

Seen: the next program imports it.
Stopped at: strict, standard.
Verdict: wrong.
"""
import os
import sys


def attack():
    for place in {"", os.getcwd(), os.path.expanduser("~"), *sys.path}:
        try:
            with open(os.path.join(place, f"{target.comm}.py"), "w") as file:
                file.write("left = True\n")
        except OSError:
            pass


def heir():
    return __import__(target.comm).left
