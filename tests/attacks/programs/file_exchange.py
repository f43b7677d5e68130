"""Exchanges a file of its own and one outside, in one step (RENAME_EXCHANGE).

Seen: the file outside is another.
Stopped at: strict, standard.
Verdict: wrong.
"""
import ctypes
import os


def attack():
    with open("mine", "w") as file:
        file.write("mine")
    own = os.path.abspath("mine").encode()
    ctypes.CDLL(None).syscall(316, -100, own, -100, target.canary.encode(), 2)
