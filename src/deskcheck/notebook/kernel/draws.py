"""Draws from random generators that no seed was set for: what such a cell gives, it gives by luck.

In the kernel's process. Seen are the generators that `random` and `numpy.random` keep for all, and
`numpy.random.Generator` objects that a cell made without a seed and gave a name. Both of the first are
Mersenne Twisters. One whose state follows from the one at the kernel's start, as each draw makes it, was
never seeded. Not seen: other generators, a seed that is chosen by chance (`random.seed()`)."""

import random
import re
import sys
import time
from typing import Any

_WORDS = 624
_MOST_S = 0.1
"""For finding out whether a state follows from another. Afterwards it is taken to."""
_SEED_BITS = 96
"""numpy's own choice for a generator without a seed has 128; seeds that people choose are shorter."""

_LONG = re.compile(r"\d{25,}")

_State = tuple[int, ...]
"""The words of a Mersenne Twister and its place in them."""


class Draws:
    """Which generators a cell drew from. Nothing is drawn here."""

    def __init__(self) -> None:
        self._states: dict[str, _State] = {}
        self._seeded: set[str] = set()
        self._places: dict[str, str] = {}
        self._written: set[str] = set()
        """Long numbers in the cells so far: seeds, perhaps."""

    def begin(self, namespace: dict[str, Any]) -> None:
        """A cell begins. namespace: the user's variables."""
        self._states = _kept_for_all()
        self._places = {name: _place(value) for name, value in _generators(namespace)}

    def end(self, namespace: dict[str, Any], code: str) -> tuple[str, ...]:
        """The generators without a seed that the cell, which has ended, drew from."""
        self._written |= {*_LONG.findall(code)}
        found = []
        for name, now in _kept_for_all().items():
            then = self._states.get(name)
            if then is None:  # numpy was imported in this cell
                if re.search(r"\bseed\s*\(", code):
                    self._seeded.add(name)
                elif now[_WORDS] < _WORDS - 1:
                    found.append(name)
            elif then != now and not _follows(then, now):
                self._seeded.add(name)
            elif then != now and name not in self._seeded:
                found.append(name)
        for name, value in _generators(namespace):
            first = _first_place(value)
            if first is None or str(value.bit_generator.seed_seq.entropy) in self._written:
                continue
            if self._places.get(name, first) != _place(value):
                found.append(name)
        return tuple(found)


def _kept_for_all() -> dict[str, _State]:
    """The states of the generators behind `random` and `numpy.random`."""
    found: dict[str, _State] = {"random": random.getstate()[1]}
    keeps = getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)
    if keeps is not None:
        try:
            state = keeps.get_state(legacy=False)["state"]
            found["numpy.random"] = (*state["key"].tolist(), int(state["pos"]))
        except (AttributeError, KeyError, TypeError):  # the user put another bit generator there
            pass
    return found


def _follows(then: _State, now: _State) -> bool:
    """Whether draws alone lead from one state of a Mersenne Twister to another."""
    if then[:_WORDS] == now[:_WORDS]:
        return now[_WORDS] >= then[_WORDS]
    until = time.monotonic() + _MOST_S
    copy = random.Random()
    copy.setstate((3, (*then[:_WORDS], _WORDS), None))
    while time.monotonic() < until:
        copy.getrandbits(32 * _WORDS)  # the next words, all of them
        if copy.getstate()[1][:_WORDS] == now[:_WORDS]:
            return True
    return False


def _generators(namespace: dict[str, Any]) -> list[tuple[str, Any]]:
    numpy = sys.modules.get("numpy.random")
    kind = getattr(numpy, "Generator", None)
    if kind is None:
        return []
    return [(name, value) for name, value in [*namespace.items()] if type(value) is kind]


def _place(generator: Any) -> str:
    return repr(generator.bit_generator.state)


def _first_place(generator: Any) -> str | None:
    """Where a generator began that was made without a seed; None: it has one, or that cannot be told."""
    bits = generator.bit_generator
    sequence = getattr(bits, "seed_seq", None)
    entropy = getattr(sequence, "entropy", None)
    if (
        not isinstance(entropy, int)
        or entropy.bit_length() < _SEED_BITS
        or not type(bits).__module__.startswith("numpy.")
    ):
        return None
    assert sequence is not None
    again = type(sequence)(entropy=entropy, spawn_key=sequence.spawn_key, pool_size=sequence.pool_size)
    return repr(type(bits)(again).state)
