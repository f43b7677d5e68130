"""Says that it used as much CPU time as a number can say, so that sums of it are infinite.

Seen: the harness is disturbed, or the verdict is that it passed.
Stopped at: strict, standard.
Works: against a harness that adds up what its children say.
Verdict: killed.
"""


def attack():
    target.channel()(b'end {"outcome": "returned", "cpu_s": 1e999}')
    return True
