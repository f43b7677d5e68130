"""Raises a number to a power that takes years, in C.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where a signal kills.
Verdict: timed_out, out_of_memory.
"""


def attack():
    return 7 ** (7 ** 11) % 2 == 2
