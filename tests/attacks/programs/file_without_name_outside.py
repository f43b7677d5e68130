"""Keeps what it wants in a file outside that has no name (O_TMPFILE): nobody finds it by looking.

Seen: an answer: it could write there.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    return os.write(os.open(target.outside, os.O_TMPFILE | os.O_RDWR, 0o600), b"left") == 4
