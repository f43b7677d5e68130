"""Writes the token to every descriptor that it was born with.

Seen: the token is in the harness's file, or the harness is disturbed.
Stopped at: strict, standard.
Verdict: wrong, killed, exited.
"""
import os


def attack():
    for fd in range(3, 1024):
        try:
            os.set_blocking(fd, False)
            os.write(fd, target.token)
        except OSError:
            pass
