"""Hangs an extended attribute on a file outside.

Seen: the file has the attribute.
Stopped at: strict, standard.
Works: where the file system has user attributes.
Verdict: raised.
"""
import os


def attack():
    os.setxattr(target.canary, "user.attack", b"x")
