"""Kills another process by a descriptor of it.

Seen: the process is dead.
Stopped at: strict, standard.
Verdict: raised.
"""
import os
import signal


def attack():
    signal.pidfd_send_signal(os.pidfd_open(target.victim), 9)
