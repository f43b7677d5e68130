"""Lists the machine's processes.

Seen: an answer: it sees one outside.
Stopped at: strict, standard.
Verdict: raised, wrong.
"""
import os


def attack():
    return str(target.victim) in os.listdir("/proc")
