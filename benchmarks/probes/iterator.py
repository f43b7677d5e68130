"""Two runs that differ in what a `for` loop has still to come, and in no variable: it is left at once."""

from benchmarks.probes import choice

ONCE = 1


def main(n: int) -> int:
    seen = n
    for item in choice.pick(((n, 2), (n, 3))):
        seen = item
        break
    done = seen
    return done
