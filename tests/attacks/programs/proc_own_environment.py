"""Looks for the harness's secrets in its own environment, by name and in memory.

Seen: an answer: it knows the secret of the harness.
Stopped at: strict, standard.
Verdict: wrong.
"""
import os


def attack():
    found = target.finds(" ".join(os.environ.values()).encode())
    try:
        with open("/proc/self/environ", "rb") as file:
            return found or target.finds(file.read())
    except OSError:
        return found
