"""Has the kernel spare it where memory is short, so that others are killed in its place.

Seen: an answer: it is spared.
Stopped at: strict, standard.
Works: where the program runs as root.
Verdict: raised.
"""


def attack():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    return True
