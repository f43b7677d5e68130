"""A recorded main that starts a loop outside, which calls a short function very many times."""

from benchmarks.outside import library

TINY, SMALL, FULL = 10, 100_000, 2_500_000


def main(n: int) -> int:
    """The sum of all those calls."""
    total = library.clamped(n)
    return total
