"""A list and a dict that change in place: prime numbers, then how often each last digit occurs.

The list is as long at every size: a larger n only does it again.
"""

TINY, SMALL, FULL = 1, 6, 400
EXPECT = {
    "TINY": {2: 1, 3: 17, 5: 1, 7: 15, 1: 15, 9: 13},
    "SMALL": {2: 6, 3: 102, 5: 6, 7: 90, 1: 90, 9: 78},
    "FULL": {2: 400, 3: 6800, 5: 400, 7: 6000, 1: 6000, 9: 5200},
}
LIMIT = 300


def primes_below(limit: int) -> list[int]:
    """Eratosthenes' sieve."""
    crossed_out = [False] * limit
    primes = []
    for candidate in range(2, limit):
        if crossed_out[candidate]:
            continue
        primes.append(candidate)
        multiple = candidate * candidate
        while multiple < limit:
            crossed_out[multiple] = True
            multiple += candidate
    return primes


def main(n: int) -> dict[int, int]:
    """How often each last digit occurs among the primes, n times over."""
    times: dict[int, int] = {}
    for _ in range(n):
        for prime in primes_below(LIMIT):
            digit = prime % 10
            times[digit] = times.get(digit, 0) + 1
    return times
