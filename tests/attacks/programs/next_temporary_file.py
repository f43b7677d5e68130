"""Leaves a file for the next program wherever anybody may write.

Seen: the next program finds it.
Stopped at: strict, standard.
Verdict: wrong.
"""
import os

PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/var/lock", ".")


def attack():
    for place in PLACES:
        try:
            with open(f"{place}/{target.comm}", "w") as file:
                file.write("x")
        except OSError:
            pass


def heir():
    return any(os.path.exists(f"{place}/{target.comm}") for place in PLACES)
