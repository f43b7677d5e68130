"""Calls itself without end.

Seen: the verdict is not that it raised.
Stopped at: strict, standard.
Works: never, it is only an error.
Verdict: raised.
"""


def attack():
    return attack()
