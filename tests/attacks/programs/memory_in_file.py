"""Keeps 700 MiB in a file that exists in memory only: no address space, so no limit on that counts it.

Seen: an answer: it got them.
Stopped at: strict, standard.
Verdict: raised, out_of_memory, killed.
"""
import os


def attack():
    fd = os.memfd_create("x")
    block = bytes(1 << 20)
    for _ in range(700):
        os.write(fd, block)
    return True
