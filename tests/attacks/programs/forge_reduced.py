"""Answers with an object that, unpickled by the harness, writes a file outside.

Seen: the file is there, or the verdict is that it passed.
Stopped at: strict, standard.
Works: where answers are unpickled.
Verdict: wrong, raised, not_compared.
"""


class Bomb:
    def __reduce__(self):
        return open, (target.outside + "/unpickled", "w")


def answer(n):
    return Bomb()
