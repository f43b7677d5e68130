"""A list and a dict that change in place: prime numbers, then how often each gap between them occurs.

The list is as long in every large run: a larger one only does it again.
"""

TINY, SMALL, FULL = (50, 1), (2000, 1), (2000, 50)
EXPECT = {"TINY": 19, "SMALL": 317, "FULL": 15850}


def prime_flags(limit: int) -> list[bool]:
    """Eratosthenes' sieve: for each number below `limit` whether it is prime."""
    flags = [True] * limit
    flags[0] = flags[1] = False
    candidate = 2
    while candidate * candidate < limit:
        if flags[candidate]:
            multiple = candidate * candidate
            while multiple < limit:
                flags[multiple] = False
                multiple += candidate
        candidate += 1
    return flags


def gaps(flags: list[bool]) -> dict[int, int]:
    """How often two neighbouring primes are so far apart."""
    times: dict[int, int] = {}
    last = None
    for number in range(len(flags)):
        if flags[number]:
            if last is not None:
                gap = number - last
                times[gap] = times.get(gap, 0) + 1
            last = number
    return times


def main(n: tuple[int, int]) -> int:
    """How many gaps and primes there are below the limit, so many times over."""
    limit, turns = n
    total = 0
    for _ in range(turns):
        flags = prime_flags(limit)
        times = gaps(flags)
        total += len(times) + sum(flags)
    return total
