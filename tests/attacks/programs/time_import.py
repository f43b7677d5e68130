"""Loops for ever before there is a function to call.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where there is a limit on time at all.
Verdict: timed_out.
"""

while True:
    pass


def attack():
    return True
