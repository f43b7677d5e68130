"""Leaves something to be done at exit that prints success and ends the process with status 0.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Works: where the exit status decides and exit functions run.
Verdict: wrong, exited.
"""
import atexit
import os


def attack():
    atexit.register(lambda: (os.write(1, b"passed\n"), os._exit(0)))
