"""Takes all memory that it can get, and goes on when there is no more.

Seen: the verdict is an error of the harness's, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Verdict: timed_out, out_of_memory, wrong, killed.
"""


def attack():
    kept = []
    size = 64 << 20
    for _ in range(2000):
        try:
            kept.append(bytearray(size))
        except MemoryError:
            size = max(1, size // 2)
        if sum(map(len, kept)) > 1 << 30:
            return True
