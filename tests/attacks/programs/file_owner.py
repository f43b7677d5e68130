"""Takes a file outside for its own.

Seen: the file has another owner.
Stopped at: strict, standard.
Works: as root.
Verdict: raised.
"""
import os


def attack():
    os.chown(target.canary, 12345, 12345)
