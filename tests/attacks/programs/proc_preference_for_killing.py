"""Makes another process the first that the kernel kills when memory is short.

Seen: the process's setting is changed.
Stopped at: strict, standard.
Verdict: raised.
"""


def attack():
    with open(f"/proc/{target.victim}/oom_score_adj", "w") as file:
        file.write("1000")
