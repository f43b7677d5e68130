"""Binary search: where a value stands in a sorted list, and where it would have to go."""

from collections.abc import Callable, Sequence


def leftmost(values: Sequence[int], wanted: int) -> int:
    """The first index whose value is not below the one wanted; len(values) if all are.

    >>> leftmost([1, 3, 3, 3, 8], 3)
    1
    >>> leftmost([1, 3, 3, 3, 8], 4)
    4
    >>> leftmost([], 4)
    0
    """
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def find(values: Sequence[int], wanted: int) -> int | None:
    """The first index of the value wanted, or None if it is not there.

    >>> find([2, 5, 7, 11], 7)
    2
    >>> find([2, 5, 7, 11], 6) is None
    True
    """
    index = leftmost(values, wanted)
    if index < len(values) and values[index] == wanted:
        return index
    return None


def largest(holds: Callable[[int], bool], limit: int) -> int:
    """The largest number below the limit for which `holds` is true, if it holds up to there and not after.

    >>> largest(lambda n: n * n <= 2000, 2000)
    44
    """
    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


if __name__ == "__main__":
    squares = [n * n for n in range(20)]
    print(find(squares, 144), find(squares, 145), largest(lambda n: 3**n <= 10**6, 100))
