"""Writes output faster than the harness can end it.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: output_limit, killed, timed_out.
"""
import os


def attack():
    data = bytes(1 << 20)
    while True:
        os.write(1, data)
