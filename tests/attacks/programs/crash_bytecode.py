"""Runs bytecode that no compiler would write.

Seen: the verdict is that it passed, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: never, it is only a crash.
Verdict: killed, raised, wrong, timed_out.
"""


def attack():
    def inner():
        return 1

    inner.__code__ = inner.__code__.replace(co_code=bytes([100, 200, 83, 0]) * 8)
    return inner() == 2
