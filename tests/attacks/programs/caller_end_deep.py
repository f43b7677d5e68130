"""Says that it has ended with a hundred thousand lists inside one another: who reads it overflows.

Seen: the harness is disturbed, or has grown by more than 40 MB.
Stopped at: strict, standard.
Works: against a harness whose child says what it came to.
Verdict: killed.
"""


def attack():
    target.channel()(b"end " + b"[" * 100_000 + b"]" * 100_000)
    return True
