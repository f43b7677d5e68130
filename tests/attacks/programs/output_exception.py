"""Raises an exception with 50 MB of text.

Seen: the programs beside it have other verdicts, or the harness is disturbed.
Stopped at: strict, standard.
Works: never, it is only slow.
Verdict: raised, output_limit, out_of_memory.
"""


def attack():
    raise ValueError("x" * 50_000_000)
