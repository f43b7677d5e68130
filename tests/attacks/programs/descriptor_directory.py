"""Leaves its folder through a descriptor of another folder that it was born with.

Seen: an answer: one of them leads to the secret.
Stopped at: strict, standard.
Works: never where no folder is open.
Verdict: wrong.
"""
import os


def attack():
    for fd in range(1024):
        try:
            if target.knows(os.read(os.open("../" * 40 + target.secret.lstrip("/"), os.O_RDONLY, dir_fd=fd), 100)):
                return True
        except OSError:
            pass
