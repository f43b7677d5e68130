"""Puts another process into the class of those that run when nobody else wants to.

Seen: the process's class is changed.
Stopped at: strict, standard.
Verdict: raised.
"""
import os


def attack():
    os.sched_setscheduler(target.victim, os.SCHED_IDLE, os.sched_param(0))
