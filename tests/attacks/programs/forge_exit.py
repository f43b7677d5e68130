"""Ends its process with the status of success before anything is compared.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Verdict: exited.
"""
import os


def attack():
    os._exit(0)
