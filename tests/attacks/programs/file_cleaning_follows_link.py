"""Leaves a symbolic link to a folder outside, for who deletes its folder afterwards.

Seen: the file outside is gone.
Stopped at: strict, standard.
Works: never where the standard library cleans up: it does not follow.
Verdict: wrong.
"""
import os


def attack():
    os.symlink(target.outside, "folder")
    os.makedirs("a/b")
    os.symlink(target.outside, "a/b/folder")
    os.symlink(target.canary, "a/file")
