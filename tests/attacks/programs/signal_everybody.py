"""Asks whether it may signal every process of its user (signal 0: nobody is harmed).

Seen: an answer: there is one that it may.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.kill(-1, 0)
    return True
