"""Many short calls: a Fibonacci number the slow way, some times over."""

TINY, SMALL, FULL = (5, 1), (14, 1), (20, 10)
EXPECT = {"TINY": 5, "SMALL": 377, "FULL": 67650}


def fibonacci(n: int) -> int:
    """The n-th Fibonacci number."""
    if n < 2:
        return n
    a = fibonacci(n - 1)
    b = fibonacci(n - 2)
    return a + b


def main(n: tuple[int, int]) -> int:
    """The sum of so many times that number."""
    number, turns = n
    total = 0
    for _ in range(turns):
        total += fibonacci(number)
    return total
