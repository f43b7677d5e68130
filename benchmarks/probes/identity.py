"""Two runs whose variables have equal values: in one `b` is `a`, in the other it is an equal list."""

from benchmarks.probes import choice

ONCE = 1


def main(n: int) -> int:
    a = [1]
    b = choice.pick((a, [1]))
    done = len(b)
    return done
