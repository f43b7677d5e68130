"""Interrupts the process that started it: an interpreter, which ends of SIGINT where it is not ready for it.

Seen: the harness is dead, or programs beside it have other verdicts.
Stopped at: strict, standard.
Verdict: wrong, raised.
"""
import os
import signal


def attack():
    for _ in range(20):
        os.kill(os.getppid(), signal.SIGINT)
