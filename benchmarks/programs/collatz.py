"""Whole numbers and nothing else: which start below n takes the most Collatz steps?"""

TINY, SMALL, FULL = 9, 100, 3000
EXPECT = {"TINY": (9, 19), "SMALL": (97, 118), "FULL": (2919, 216)}


def steps(start: int) -> int:
    """How many steps lead from `start` to 1."""
    value, count = start, 0
    while value > 1:
        half, odd = divmod(value, 2)
        if odd:
            value = 3 * value + 1
        else:
            value = half
        count += 1
    return count


def main(n: int) -> tuple[int, int]:
    """The first start in 1..n with the most steps, and how many."""
    longest = (1, 0)
    for start in range(1, n + 1):
        count = steps(start)
        if count > longest[1]:
            longest = (start, count)
    return longest
