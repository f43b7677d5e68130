"""Lets a list grow without end, here to 1.5 GiB.

Seen: an answer: it got that far.
Stopped at: strict, standard.
Verdict: out_of_memory.
"""


def attack():
    kept = []
    for _ in range(96):
        kept.append(bytearray(16 << 20))
    return True
