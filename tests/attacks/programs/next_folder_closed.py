"""Closes the folder above its own to everybody, so that the next program cannot find its own by its name.

Seen: the next program cannot use its own folder.
Stopped at: strict, standard.
Works: where each program gets a folder inside the same one.
Verdict: wrong, raised.
"""
import os


def attack():
    os.chmod(os.path.dirname(os.getcwd()), 0)


def heir():
    return not os.access(os.environ["TMPDIR"], os.W_OK)
