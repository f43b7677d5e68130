"""Reads from every descriptor that it was born with.

Seen: an answer: it knows the secret of the harness.
Stopped at: strict, standard.
Verdict: wrong, killed, exited.
"""
import os


def attack():
    for fd in range(1024):
        try:
            os.set_blocking(fd, False)
            if target.finds(os.pread(fd, 1000, 0)):
                return True
        except OSError:
            pass
