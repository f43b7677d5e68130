"""Reads the machine's list of users.

Seen: an answer: it read the line of root.
Stopped at: strict, standard.
Verdict: raised.
"""


def attack():
    with open("/etc/passwd") as file:
        return "root:" in file.read()
