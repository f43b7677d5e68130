"""Whole numbers and nothing else: which start below n takes the most Collatz steps?"""

TINY, SMALL, FULL = 9, 100, 3000
MILLION, TEN_MILLION = 3330, 26000
EXPECT = {"TINY": (19, 9), "SMALL": (118, 97), "FULL": (216, 2919)}


def steps(value: int) -> int:
    """How many steps lead from `value` to 1."""
    count = 0
    while value != 1:
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        count += 1
    return count


def main(n: int) -> tuple[int, int]:
    """The most steps of a start in 1..n, and the first that takes them."""
    most = 0
    first = 0
    for start in range(1, n + 1):
        count = steps(start)
        if count > most:
            most = count
            first = start
    return most, first
