"""Changes the mode of a file outside by a descriptor that only names it (O_PATH).

Seen: the file has another mode.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    fd = os.open(target.canary, os.O_PATH)
    os.chmod(f"/proc/self/fd/{fd}", 0o777)
