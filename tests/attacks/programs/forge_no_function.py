"""Has no function of the name that is asked for, and one that deletes itself.

Seen: the verdict is an error of the harness's.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: raised, wrong.
"""


class Names(dict):
    pass


def attack():
    globals().clear()
    raise NameError("gone")
