"""Changes modules of the standard library for the next program, which a pool's worker keeps.

Seen: the next program sees the change.
Stopped at: strict, standard.
Works: never where every program has its own process.
Verdict: wrong.
"""
import collections
import os
import random
import string


def attack():
    random.seed(1)
    string.digits = target.comm
    os.environ["LEFT"] = "x"
    collections.left = True


def heir():
    return string.digits == target.comm or "LEFT" in os.environ or hasattr(collections, "left")
