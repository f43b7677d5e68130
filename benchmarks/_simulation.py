"""A job on more nodes than there are, simulated event by event from what was measured on these."""

import heapq
import random
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """Of the simulation. shard_s: mean time of a shard, spread: standard deviation of the logarithm of one
    (a long tail of stragglers). plan_s: that the driver spends on planning a shard; before_s: on planning
    before it gives anything out. driver_s: on giving out and taking back a shard, one after another.
    lost_an_hour: share of nodes lost in an hour; what was in work there is begun again. back_s: until another
    takes its place. noticed_s: until the driver knows.
    """

    programs: int = 10_000_000
    size: int = 500
    processors: int = 32
    shard_s: float = 30.0
    spread: float = 0.5
    plan_s: float = 0.01
    before_s: float = 1.0
    driver_s: float = 0.01
    lost_an_hour: float = 0.01
    noticed_s: float = 30.0
    back_s: float = 300.0


def simulate(nodes: int, given: Assumptions, seed: int = 0) -> dict[str, float]:
    """A job on `nodes` nodes, event by event: how long it takes, and its efficiency, which is the time that
    the shards need on that many processors if nothing is ever idle, divided by the time that it took."""
    choose = random.Random(seed)
    mu = -(given.spread**2) / 2
    todo = [
        given.shard_s * choose.lognormvariate(mu, given.spread) for _ in range(given.programs // given.size)
    ]
    needed = sum(todo)
    lives = [_life(choose, given, 0.0) for _ in range(nodes)]
    free = [(0.0, node) for node in range(nodes) for _ in range(given.processors)]
    heapq.heapify(free)
    again: list[tuple[float, float]] = []
    planned = min(len(todo), int(given.before_s / given.plan_s)) if given.plan_s else len(todo)
    driver, ended = planned * given.plan_s, 0.0
    unplanned = len(todo) - planned
    lost = 0
    while todo or again:
        at, node = heapq.heappop(free)
        if at > lives[node][1]:  # it was lost meanwhile; its successor takes the place
            lives[node] = _life(choose, given, max(at, lives[node][1] + given.back_s))
        start = max(at, lives[node][0])
        if start > at:
            heapq.heappush(free, (start, node))
            continue
        if again and (again[0][0] <= at or not todo):
            known, takes = heapq.heappop(again)
            start = max(at, known)
        else:
            # The driver plans while nobody waits for it, and at once where nothing is planned.
            spare = min(unplanned, int(max(0.0, start - driver) / given.plan_s)) if unplanned else 0
            if len(todo) <= unplanned - spare:
                spare += 1
            unplanned -= spare
            driver += spare * given.plan_s
            takes = todo.pop()
        driver = max(driver, start) + given.driver_s
        end = driver + takes
        if end > lives[node][1]:
            lost += 1
            heapq.heappush(again, (lives[node][1] + given.noticed_s, takes))
            heapq.heappush(free, (lives[node][1] + given.back_s, node))
        else:
            heapq.heappush(free, (end, node))
            ended = max(ended, end)
    return {
        "nodes": nodes,
        "hours": ended / 3600,
        "shards_lost": lost,
        "efficiency": needed / (nodes * given.processors) / ended,
    }


def _life(choose: random.Random, given: Assumptions, born: float) -> tuple[float, float]:
    """From when to when a node is there."""
    if not given.lost_an_hour:
        return born, float("inf")
    return born, born + choose.expovariate(given.lost_an_hour / 3600)
