"""Runs a program that belongs to root and gives its rights to who runs it.

Seen: an answer: it ran.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os


def attack():
    child = os.fork()
    if child == 0:
        try:
            os.execv("/bin/su", ["su", "--version"])
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0
