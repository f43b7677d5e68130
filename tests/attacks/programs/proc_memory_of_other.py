"""Reads another process's memory through /proc.

Seen: an answer: it knows the secret that the process keeps there.
Stopped at: strict, standard.
Verdict: raised.
"""


def attack():
    with open(f"/proc/{target.victim}/maps") as maps, open(f"/proc/{target.victim}/mem", "rb", 0) as memory:
        for line in maps:
            if "[stack]" in line:
                begin, end = (int(x, 16) for x in line.split()[0].split("-"))
                memory.seek(begin)
                return target.finds(memory.read(end - begin))
