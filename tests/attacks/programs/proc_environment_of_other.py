"""Reads another process's environment, where keys are kept.

Seen: an answer: it knows the secret there.
Stopped at: strict, standard.
Verdict: raised.
"""


def attack():
    with open(f"/proc/{target.victim}/environ", "rb") as file:
        return target.finds(file.read())
