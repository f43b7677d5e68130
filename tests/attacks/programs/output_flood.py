"""Writes 100 MB to its standard output, past Python's own stream.

Seen: more than 1 MB arrives in the harness's own output.
Stopped at: strict, standard.
Verdict: output_limit.
"""
import os


def attack():
    block = b"x" * 1_000_000
    for _ in range(100):
        os.write(1, block)
