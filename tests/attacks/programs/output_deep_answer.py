"""Answers with a hundred thousand lists, each in the next: who reads it recursively overflows.

Seen: the verdict is an error of the harness's, or the harness is disturbed.
Stopped at: strict, standard.
Works: never where the answer is compared with a number.
Verdict: wrong, raised, not_compared.
"""


def answer(n):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return nested
