"""Reads a private file of the user who runs the harness.

Seen: an answer: it knows the secret.
Stopped at: strict, standard.
Verdict: raised.
"""


def attack():
    with open(target.secret, "rb") as file:
        return target.knows(file.read())
