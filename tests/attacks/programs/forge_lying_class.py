"""Answers with an object that lies about its class and is shown as something else each time.

Seen: the verdict is that it passed.
Stopped at: strict, standard.
Works: never with the harnesses looked at.
Verdict: wrong, not_compared.
"""


class Liar:
    __class__ = int
    shown = 0

    def __repr__(self):
        Liar.shown += 1
        return str(Liar.shown)

    __str__ = __repr__

    def __index__(self):
        Liar.shown += 1
        return Liar.shown

    __int__ = __index__


def answer(n):
    return Liar()
