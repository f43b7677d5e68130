"""Lays a symbolic link to a private file into its own folder and reads that.

Seen: an answer: it knows the secret.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.symlink(target.secret, "mine")
    with open("mine", "rb") as file:
        return target.knows(file.read())
