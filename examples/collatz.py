"""Collatz's sequences: halve an even number, treble an odd one and add one. Does every start reach 1?"""

from collections.abc import Iterator


def sequence(start: int) -> Iterator[int]:
    """The numbers from the start down to 1.

    >>> list(sequence(6))
    [6, 3, 10, 5, 16, 8, 4, 2, 1]
    """
    if start < 1:
        raise ValueError(f"start={start} must be at least one")
    n = start
    yield n
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        yield n


def steps(start: int, known: dict[int, int]) -> int:
    """How many steps the start takes to reach 1; `known` remembers every number met on the way.

    >>> known = {1: 0}
    >>> steps(6, known)
    8
    >>> known[10], known[16]
    (6, 4)
    """
    path = []
    n = start
    while n not in known:
        path.append(n)
        n = 3 * n + 1 if n % 2 else n // 2
    for distance, m in enumerate(reversed(path), start=known[n] + 1):
        known[m] = distance
    return known[start]


def longest(limit: int) -> tuple[int, int]:
    """The start below the limit that takes most steps, and how many; among equals the smallest.

    >>> longest(30)
    (27, 111)
    """
    known = {1: 0}
    best = 1
    for start in range(1, limit):
        if steps(start, known) > known[best]:
            best = start
    return best, known[best]


if __name__ == "__main__":
    print(max(sequence(27)), longest(100))
