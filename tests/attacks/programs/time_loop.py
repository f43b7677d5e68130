"""Loops for ever.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where there is a limit on time at all.
Verdict: timed_out.
"""


def attack():
    while True:
        pass
