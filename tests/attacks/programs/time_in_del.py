"""Answers, and loops for ever in `__del__` when the interpreter cleans up.

Seen: no verdict in time; the right answer counts only if it ends in time.
Stopped at: strict, standard.
Works: never where a signal kills.
Verdict: wrong, timed_out.
"""


class Loop:
    def __del__(self):
        while True:
            pass


kept = Loop()


def attack():
    del globals()["kept"]
