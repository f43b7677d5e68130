"""Raises KeyboardInterrupt, and sends itself SIGINT, as if the user had asked for the end of everything.

Seen: the harness is disturbed, or the verdict is an error of the harness's.
Stopped at: strict, standard.
Works: where the harness takes the signal, or the exception, for its own.
Verdict: raised, killed, wrong.
"""
import os
import signal


def attack():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        raise KeyboardInterrupt
