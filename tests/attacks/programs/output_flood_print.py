"""Prints 60 MB line by line.

Seen: more than 1 MB arrives in the harness's own output.
Stopped at: strict, standard.
Works: never where Python's own stream is replaced.
Verdict: output_limit, timed_out.
"""


def attack():
    line = "x" * 60_000
    for _ in range(1000):
        print(line, flush=True)
