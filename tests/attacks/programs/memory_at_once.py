"""Asks for a text of a tebibyte.

Seen: an answer: it got it.
Stopped at: strict, standard.
Works: never: no machine has it.
Verdict: out_of_memory.
"""


def attack():
    return len("x" * (1 << 40)) > 0
