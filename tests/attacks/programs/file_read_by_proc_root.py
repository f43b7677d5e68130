"""Reads a private file through /proc/self/root.

Seen: an answer: it knows the secret.
Stopped at: strict, standard.
Verdict: raised.
"""


def attack():
    with open("/proc/self/root" + target.secret, "rb") as file:
        return target.knows(file.read())
