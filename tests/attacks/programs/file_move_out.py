"""Moves a file of its own out of its folder.

Seen: the file is there.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    open("mine", "w").close()
    os.rename("mine", target.outside + "/moved")
