"""Closes every descriptor, so that the harness hears no more of it and may blame itself.

Seen: the verdict is an error of the harness's, or the harness is disturbed.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: wrong, killed, exited, raised.
"""
import os


def attack():
    os.closerange(0, 4096)
