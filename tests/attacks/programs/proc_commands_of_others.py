"""Reads another process's command line, where passwords are given.

Seen: an answer: it read it.
Stopped at: strict, standard.
Verdict: raised.
"""


def attack():
    with open(f"/proc/{target.victim}/cmdline", "rb") as file:
        return b"sleep" in file.read()
