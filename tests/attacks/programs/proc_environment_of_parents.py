"""Reads the environment of every process above it.

Seen: an answer: it knows the secret of the harness.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os


def attack():
    for pid in (os.getppid(), target.host, 1):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if target.finds(file.read()):
                    return True
        except OSError:
            pass
