"""Leaves a file for the next program in the folder that holds the folders of all programs.

Seen: the next program finds it.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os


def attack():
    with open(f"../{target.comm}", "w") as file:
        file.write("left")


def heir():
    return os.path.exists(f"../{target.comm}")
