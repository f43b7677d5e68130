"""Stops itself, like a process under a debugger.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where SIGKILL is used.
Verdict: timed_out, raised, killed, wrong.
"""
import os
import signal


def attack():
    os.kill(os.getpid(), signal.SIGSTOP)
