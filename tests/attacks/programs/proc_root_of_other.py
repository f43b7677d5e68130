"""Reads a private file through another process's root folder.

Seen: an answer: it knows the secret.
Stopped at: strict, standard.
Verdict: raised.
"""


def attack():
    with open(f"/proc/{target.victim}/root{target.secret}", "rb") as file:
        return target.knows(file.read())
