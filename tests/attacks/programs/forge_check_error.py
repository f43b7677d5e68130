"""Raises an error of the name that the harness's own errors have where a check and a program meet.

Seen: the verdict is an error of the harness's.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: wrong, raised.
"""


class CannotCross(Exception):
    pass


def attack():
    raise CannotCross("not mine")
