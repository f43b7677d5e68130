"""Reads a secret from an extended attribute of a private file, which takes no opening of the file.

Seen: an answer: it knows the secret.
Stopped at: strict, standard.
Works: where the file system has user attributes.
Verdict: raised.
"""
import os


def attack():
    return target.knows(os.getxattr(target.secret, "user.secret"))
