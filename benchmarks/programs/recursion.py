"""Many short calls, some deep: in how many ways is n a sum of positive numbers?"""

TINY, SMALL, FULL = 8, 17, 36
EXPECT = {"TINY": 22, "SMALL": 297, "FULL": 17977}


def partitions(total: int, largest: int) -> int:
    """Ways to write `total` as a sum of numbers up to `largest`, whatever their order."""
    if total == 0:
        return 1
    if total < 0 or largest == 0:
        return 0
    with_it = partitions(total - largest, largest)
    without = partitions(total, largest - 1)
    return with_it + without


def main(n: int) -> int:
    """The number of partitions of n."""
    return partitions(n, n)
