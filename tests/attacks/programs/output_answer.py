"""Answers with 20 MB.

Seen: the programs beside it have other verdicts, or the harness is disturbed.
Stopped at: strict, standard.
Works: never, it is only slow.
Verdict: wrong, output_limit, out_of_memory.
"""


def answer(n):
    return "x" * 20_000_000
