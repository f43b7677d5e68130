"""Takes another process's share of the processor away.

Seen: the process's priority is changed.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.setpriority(os.PRIO_PROCESS, target.victim, 19)
