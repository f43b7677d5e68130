"""Opens a private file to all by changing its mode, which Landlock does not cover.

Seen: the file has another mode.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.chmod(target.canary, 0o777)
