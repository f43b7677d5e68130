"""Is a program that takes long to compile: constants that the compiler multiplies out.

Seen: no verdict in time, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: never where there is a limit on time at all.
Verdict: timed_out, raised, wrong, out_of_memory.
"""


def attack():
    for _ in range(10**6):
        compile("(" * 150 + "1" + ",)" * 150, "x", "eval")
