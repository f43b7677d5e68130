"""Chooses lessons: splits by program, shares of a program's runs, steps of a run.

Hashes and seeds decide, so that a choice does not depend on other programs.
"""

import random
from collections.abc import Hashable, Iterator, Sequence

SPLITS = ("train", "validation", "test")


def split_of(program_sha256: str, validation: float, test: float) -> str:
    """The split of a program.

    It stays the same when programs are added, and the test split when the share of validation changes.
    """
    point = int(program_sha256[:16], 16) / 2**64
    if point < test:
        return "test"
    return "validation" if point < test + validation else "train"


def shares(sizes: Sequence[int], at_most: int) -> list[int]:
    """The number of steps to take from each run, `at_most` in total.

    All runs have the same share; longer runs receive the steps that short runs do not have.
    """
    taken = [0] * len(sizes)
    remaining = at_most
    order = sorted(range(len(sizes)), key=lambda run: (sizes[run], run))
    for index, run in enumerate(order):
        taken[run] = min(sizes[run], remaining // (len(sizes) - index))
        remaining -= taken[run]
    return taken


def chosen_steps(
    count: int,
    at_most: int | None,
    jumps: Sequence[int],
    rng: random.Random,
    kinds: Sequence[Hashable] | None = None,
) -> Iterator[tuple[int, int]]:
    """(state, jump) of the chosen steps of a run of `count` states, in the order of the states.

    If more than `at_most` states have a successor, one state is drawn from each of `at_most` stretches of
    equal length, so that the beginning, the middle and the end of the run are represented. The jump is drawn
    from those that do not lead beyond the end.

    kinds: a kind for each state. All kinds then have the same share; frequent kinds receive the steps that
    rare kinds do not have. The states of a kind are drawn from stretches, as above.
    """
    jumps = sorted(jumps)
    starts = count - jumps[0]
    if starts <= 0:
        return
    if kinds is None or at_most is None or at_most >= starts:
        drawn = list(_drawn(range(starts), starts if at_most is None else min(starts, at_most), rng))
    else:
        places: dict[Hashable, list[int]] = {}
        for start in range(starts):
            places.setdefault(kinds[start], []).append(start)
        if at_most < len(places):  # so that in many runs each kind is there
            places = {kind: places[kind] for kind in rng.sample(list(places), at_most)}
        counts = shares([len(times) for times in places.values()], at_most)
        drawn = sorted(
            start
            for times, taken in zip(places.values(), counts, strict=True)
            for start in _drawn(times, taken, rng)
        )
    for start in drawn:
        if len(jumps) == 1:
            yield start, jumps[0]
            continue
        possible = [jump for jump in jumps if start + jump < count]
        yield start, rng.choice(possible)


def _drawn(places: Sequence[int], taken: int, rng: random.Random) -> Iterator[int]:
    """Draws a place from each of `taken` stretches of equal length."""
    for part in range(taken):
        low, high = part * len(places) // taken, (part + 1) * len(places) // taken
        yield places[low if high - low == 1 else rng.randrange(low, high)]
