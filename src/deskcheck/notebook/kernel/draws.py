"""Draws from random generators that no seed was set for: what such a cell gives, it gives by luck.

In the kernel's process. Seen are the generators that `random` and `numpy.random` keep for all, objects of
`numpy.random.Generator`, `numpy.random.RandomState` and `random.Random` that were made without a seed and are
variables (or, of the first, attributes of an object of a notebook's class), and the calls of `chance`. Both
of the first are Mersenne Twisters. One whose state follows from the one at the kernel's start, as each draw
makes it, was never seeded. Not seen: other generators, clocks, the order of sets."""

import importlib
import random
import re
import sys
import time
from types import FunctionType
from typing import Any

from deskcheck.notebook.kernel.chance import SEEDS, Chance, Found

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
        self._chance = Chance()
        self._unseeded: dict[str, Any] = {}
        """Variables that hold a generator without a seed: where it was when the cell began, None before its
        first draw."""

    def watch_imports(self) -> None:
        """From now on, what a library draws while it is imported is no draw of the cell that imports it."""
        bootstrap: Any = importlib._bootstrap
        find_and_load = bootstrap._find_and_load
        importing = False

        def _find_and_load(name: str, import_: Any) -> Any:
            nonlocal importing
            if importing:
                return find_and_load(name, import_)
            importing, before = True, _kept_for_all()
            try:
                return find_and_load(name, import_)
            finally:
                importing = False
                for generator, now in _kept_for_all().items():
                    if self._states.get(generator) == before.get(generator):
                        self._states[generator] = now

        # Python leaves frames of this file out of the traceback of an import that fails.
        code = _find_and_load.__code__.replace(co_filename="<frozen importlib._bootstrap>")
        bootstrap._find_and_load = FunctionType(code, globals(), closure=_find_and_load.__closure__)

    def begin(self, namespace: dict[str, Any]) -> None:
        """A cell begins. namespace: the user's variables."""
        self._states = _kept_for_all()
        self._places = {name: _place(value) for name, value in _generators(namespace)}
        self._unseeded = {name: _own_place(namespace.get(name)) for name in self._unseeded}

    def end(self, namespace: dict[str, Any], code: str) -> tuple[str, ...]:
        """The generators without a seed that the cell, which has ended, drew from."""
        self._written |= {*_LONG.findall(code)}
        by_chance = self._chance.of(code, namespace)
        found = [*by_chance.calls]
        chosen = {module for module, names in SEEDS.items() if f"{module}.{names[0]}" in found}
        self._seeded -= chosen
        for name, now in _kept_for_all().items():
            then = self._states.get(name)
            if name in chosen:
                continue
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
        return tuple(dict.fromkeys([*found, *self._own(by_chance, namespace, code)]))

    def _own(self, by_chance: Found, namespace: dict[str, Any], code: str) -> list[str]:
        """The variables with a generator that has no seed of its own, and which the cell drew from."""
        for name in by_chance.bound:
            self._unseeded.pop(name, None)
        self._unseeded |= dict.fromkeys(by_chance.made)
        found = []
        for name, then in [*self._unseeded.items()]:
            now = _own_place(namespace.get(name))
            if now is None or re.search(
                rf"\b{re.escape(name)}\.(seed|setstate|set_state)\s*\(\s*[^)\s]", code
            ):
                del self._unseeded[name]  # no generator, or a seeded one
            elif (name in by_chance.read) if then is None else then != now:
                found.append(name)
        return found


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
    found = []
    for name, value in [*namespace.items()]:
        if type(value) is kind:
            found.append((name, value))
        elif type(value).__module__ == "__main__" and type(type(value)) is type:
            try:
                inside = object.__getattribute__(value, "__dict__")
            except AttributeError:
                continue
            for attribute, each in [*inside.items()]:
                if type(each) is kind:
                    found.append((f"{name}.{attribute}", each))
    return found


def _own_place(value: Any) -> Any:
    """Where a generator of `random` or an old one of numpy is; None: it is none."""
    if type(value) is random.Random:
        return value.getstate()
    old = getattr(sys.modules.get("numpy.random"), "RandomState", None)
    if old is not None and type(value) is old:
        state = value.get_state(legacy=False)
        return {
            **state,
            "state": {key: bytes(each) if key == "key" else each for key, each in state["state"].items()},
        }
    return None


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
