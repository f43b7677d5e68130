"""Loops for ever and catches whatever is raised to stop it.

Seen: no verdict in time.
Stopped at: strict, standard.
Works: never where a signal kills.
Verdict: timed_out.
"""


def attack():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
