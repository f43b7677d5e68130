"""Puts a symbolic link to a folder outside in the place of its own folder, for who empties that afterwards.

Seen: the file outside is gone.
Stopped at: strict, standard.
Works: never where the standard library cleans up: it does not follow.
Verdict: wrong, raised.
"""
import os


def attack():
    own = os.getcwd()
    os.rename(own, own + "-aside")
    os.symlink(target.outside, own)
