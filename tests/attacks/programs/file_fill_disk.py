"""Reserves 1 GiB of the disk in many files, each within any limit on one.

Seen: an answer: it got them.
Stopped at: strict.
Verdict: raised, killed, out_of_memory.
"""
import os


def attack():
    for number in range(128):
        with open(f"fill{number}", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 8 << 20)
    for number in range(128):
        os.unlink(f"fill{number}")
    return True
