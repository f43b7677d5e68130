"""Climbs out of its folder with dots.

Seen: an answer: it knows the secret.
Stopped at: strict, standard.
Verdict: raised.
"""


def attack():
    with open("../" * 40 + target.secret.lstrip("/"), "rb") as file:
        return target.knows(file.read())
