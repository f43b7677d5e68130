"""A bank queue: customers come at random, clerks serve them one by one. How long do they wait?"""

import heapq
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Visit:
    """One customer's afternoon, in minutes since the bank opened."""

    arrived: int
    served: int
    left: int

    @property
    def waited(self) -> int:
        """Minutes spent in the queue.

        >>> Visit(arrived=3, served=10, left=12).waited
        7
        """
        return self.served - self.arrived


def simulate(customers: int, seed: int = 0, clerks: int = 2) -> list[Visit]:
    """The visits of that many customers, in order of arrival; equal seeds give equal afternoons.

    >>> for visit in simulate(3, clerks=1):
    ...     print(visit.arrived, visit.served, visit.left)
    3 3 8
    3 8 12
    6 12 17
    >>> simulate(50, seed=7) == simulate(50, seed=7)
    True
    """
    rng = random.Random(seed)
    free_at = [0] * clerks  # a heap: the clerk who is free first stands at the front
    clock = 0
    visits = []
    for _ in range(customers):
        clock += rng.randint(0, 3)
        served = max(clock, free_at[0])
        left = served + rng.randint(2, 6)
        heapq.heapreplace(free_at, left)
        visits.append(Visit(clock, served, left))
    return visits


def longest_wait(visits: list[Visit]) -> int:
    """Minutes the unluckiest customer stood in the queue; 0 for a day without customers.

    >>> longest_wait(simulate(10, clerks=1))
    30
    >>> longest_wait([])
    0
    """
    return max((visit.waited for visit in visits), default=0)


if __name__ == "__main__":
    for clerks in (1, 2, 3):
        print(clerks, "clerks: longest wait", longest_wait(simulate(20, clerks=clerks)), "minutes")
