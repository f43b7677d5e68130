"""A recorded main that calls a few functions outside, each with a long loop."""

from benchmarks.outside import library

TINY, SMALL, FULL = 1, 100, 1500


def main(n: int) -> int:
    """The sum of five calls."""
    total = 0
    for start in range(5):
        total += library.smooth(list(range(start, start + 2000)), n // 5 + 1)
    return total
