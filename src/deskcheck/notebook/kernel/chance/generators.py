"""The random generators that `random`, `numpy.random`, torch, Faker and numba keep for all: where each of
them is, and whether a seed was set; and what is drawn from them and decides nothing.

In the kernel's process. All are Mersenne Twisters. One whose state follows from an earlier one, as each draw
makes it, was not seeded in between. One without a seed begins anywhere: `LibraryGenerator.put` puts it where
a run is to begin. Not: CUDA's generators, and those that a notebook makes for itself."""

import functools
import random
import re
import struct
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

WORDS = 624
"""Of a Mersenne Twister's state, with 32 bits each."""
_FLIPPED = {1: 0x12DD9BB3, 2: 0x92CDB9B7}
"""Run -> the word of a state from which tempering makes a word of ones, and one of ones after a zero.
Tempering is linear: two states whose words differ in this draw numbers that differ in all these bits."""
_BLOCKS = 256
_A_WORD = 10
"""So many times as long as numpy takes to draw a word, we take to see it."""
_LEAST_S, _MOST_S = 0.02, 1.0
"""CPU time for finding out whether a state follows from another."""
_SEED_BITS = 40
"""torch's own seeds have 64; seeds that people choose are shorter."""
_TORCH = struct.Struct("<QiiQ624Q")
"""What of torch's state we know (`CPUGeneratorImplState` in ATen): its seed, how many words are left, whether
it was seeded, the place of the next word, the words."""
_SEEDS = re.compile(r"\b(manual_seed|seed|set_state|set_rng_state|setstate)\s*\(")


def words(start: int, run: int) -> tuple[int, ...]:
    """A state for the start of something in one of several runs. What is drawn in the second run has the
    opposite bits of the first, and in the third all but the highest: so two values that one bit decides never
    agree in all three by chance (`random.choice` takes the second bit). Other runs are independent."""
    drawn = random.Random(f"{start} {run if run not in _FLIPPED else 0}").getrandbits(32 * WORDS)
    found = struct.unpack(f"<{WORDS}I", drawn.to_bytes(4 * WORDS, "little"))
    return tuple(word ^ _FLIPPED.get(run, 0) for word in found)


@dataclass(frozen=True, slots=True)
class Position:
    """Where a generator is. words: its state, tempered into numbers once all of them are used. next: which
    word is next. seed: that it was given, if it tells."""

    words: tuple[int, ...]
    next: int
    seed: int | None = None


class LibraryGenerator(Protocol):
    """A generator that a library keeps for all."""

    name: str

    def place(self) -> Position | None:
        """None: the library is not loaded, or has another generator there."""

    def put(self, state: tuple[int, ...]) -> None:
        """Let it go on from these words."""

    def keep(self) -> Callable[[], None]:
        """What puts it back to where it is now."""

    def was_seeded(self, then: Position, now: Position, seconds: float, *, may_be: bool) -> bool:
        """Whether it was seeded between two places. seconds: that lie between them. may_be: taken to be so
        where it cannot be told."""

    def is_new(self, now: Position, code: str) -> bool | None:
        """Of a library that was first imported in this cell: whether nothing was drawn; None: it was
        seeded."""


class _Python:
    name = "random"

    def place(self) -> Position | None:
        state = random.getstate()[1]
        return Position(state[:WORDS], state[WORDS])

    def put(self, state: tuple[int, ...]) -> None:
        random.setstate((3, (*state, 0), None))

    def keep(self) -> Callable[[], None]:
        return functools.partial(random.setstate, random.getstate())

    def was_seeded(self, then: Position, now: Position, seconds: float, *, may_be: bool) -> bool:
        return _was_seeded(then, now, seconds, may_be=may_be)

    def is_new(self, now: Position, code: str) -> bool | None:
        raise AssertionError("it is always loaded")


class _Faker:
    """All its providers draw from one `random.Random`, until `seed_instance` gives one another."""

    name = "faker"

    def place(self) -> Position | None:
        made = self._generator()
        if made is None:
            return None
        state = made.getstate()[1]
        return Position(state[:WORDS], state[WORDS])

    def put(self, state: tuple[int, ...]) -> None:
        self._generator().setstate((3, (*state, 0), None))

    def keep(self) -> Callable[[], None]:
        made = self._generator()
        return functools.partial(made.setstate, made.getstate())

    def was_seeded(self, then: Position, now: Position, seconds: float, *, may_be: bool) -> bool:
        return _was_seeded(then, now, seconds, may_be=may_be)

    def is_new(self, now: Position, code: str) -> bool | None:
        return None if _SEEDS.search(code) else now.next >= WORDS

    def _generator(self) -> Any:
        made = getattr(sys.modules.get("faker.generator"), "random", None)
        return made if type(made) is random.Random else None


class _Numpy:
    name = "numpy.random"

    def place(self) -> Position | None:
        keeps = getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)
        if keeps is None:
            return None
        try:
            state = keeps.get_state(legacy=False)["state"]
            return Position(tuple(state["key"].tolist()), int(state["pos"]))
        except (AttributeError, KeyError, TypeError):  # the user put another bit generator there
            return None

    def put(self, state: tuple[int, ...]) -> None:
        sys.modules["numpy.random.mtrand"]._rand.set_state(("MT19937", state, 0, 0, 0.0))

    def keep(self) -> Callable[[], None]:
        made = sys.modules["numpy.random.mtrand"]._rand
        return functools.partial(made.set_state, made.get_state(legacy=False))

    def was_seeded(self, then: Position, now: Position, seconds: float, *, may_be: bool) -> bool:
        return _was_seeded(then, now, seconds, may_be=may_be)

    def is_new(self, now: Position, code: str) -> bool | None:
        return None if _SEEDS.search(code) else now.next >= WORDS - 1


class _Numba:
    """What compiled functions draw from, in the main thread. As numpy's and Python's, there are two."""

    def __init__(self, name: str, pointer: str) -> None:
        self.name = name
        self.pointer = pointer

    def place(self) -> Position | None:
        helper = sys.modules.get("numba._helperlib")
        if helper is None:
            return None
        place, state = helper.rnd_get_state(getattr(helper, self.pointer)())
        return Position(tuple(state), place)

    def put(self, state: tuple[int, ...]) -> None:
        self._set((0, state))

    def keep(self) -> Callable[[], None]:
        helper = sys.modules["numba._helperlib"]
        return functools.partial(self._set, helper.rnd_get_state(getattr(helper, self.pointer)()))

    def was_seeded(self, then: Position, now: Position, seconds: float, *, may_be: bool) -> bool:
        return _was_seeded(then, now, seconds, may_be=may_be)

    def is_new(self, now: Position, code: str) -> bool | None:
        return None if _SEEDS.search(code) else now.next >= WORDS

    def _set(self, state: tuple[int, Sequence[int]]) -> None:
        helper = sys.modules["numba._helperlib"]
        helper.rnd_set_state(getattr(helper, self.pointer)(), (state[0], [*state[1]]))


class _Torch:
    name = "torch"

    def place(self) -> Position | None:
        made = self._generator()
        return None if made is None else _of_torch(made)

    def put(self, state: tuple[int, ...]) -> None:
        made = self._generator()
        kept = made.get_state()
        seed = _TORCH.unpack_from(bytes(kept.tolist()))[0]
        known = _TORCH.pack(seed, WORDS, 1, 0, *state)
        rest = bytes(kept.numel() - len(known))  # no number of a pair of normal ones is waiting
        made.set_state(sys.modules["torch"].tensor([*known, *rest], dtype=kept.dtype))

    def keep(self) -> Callable[[], None]:
        made = self._generator()
        return functools.partial(made.set_state, made.get_state())

    def was_seeded(self, then: Position, now: Position, seconds: float, *, may_be: bool) -> bool:
        return then.seed != now.seed

    def is_new(self, now: Position, code: str) -> bool | None:
        assert now.seed is not None
        if _SEEDS.search(code) or now.seed.bit_length() < _SEED_BITS:
            return None
        fresh = sys.modules["torch"].Generator()
        fresh.manual_seed(now.seed)
        return now == _of_torch(fresh)

    def _generator(self) -> Any:
        return getattr(sys.modules.get("torch"), "default_generator", None)


def _of_torch(generator: Any) -> Position | None:
    state = bytes(generator.get_state().tolist())
    try:
        seed, _, _, place, *found = _TORCH.unpack_from(state)
    except struct.error:  # another layout
        return None
    return Position(tuple(found), place, seed)


def _was_seeded(then: Position, now: Position, seconds: float, *, may_be: bool) -> bool:
    """Whether something else than draws leads from one state of a Mersenne Twister to another. may_be: taken
    to be so if that would take too long to find out."""
    if then.words == now.words:
        return now.next < then.next
    longest = _A_WORD * seconds + _LEAST_S
    until = time.thread_time() + min(longest, _MOST_S)
    copy = random.Random()
    copy.setstate((3, (*then.words, WORDS), None))
    wanted = random.Random()
    wanted.setstate((3, (*now.words, 0), None))
    first = [wanted.getrandbits(32) for _ in range(WORDS)]
    blocks = 1
    while time.thread_time() < until:
        drawn = memoryview(copy.randbytes(4 * WORDS * blocks)).cast("I")
        for at, word in enumerate(drawn[::WORDS].tolist()):
            if word == first[0] and drawn[at * WORDS : (at + 1) * WORDS].tolist() == first:
                return False
        blocks = min(2 * blocks, _BLOCKS)
    return may_be or longest <= _MOST_S


KEPT: tuple[LibraryGenerator, ...] = (
    *(_Python(), _Numpy(), _Torch(), _Faker()),
    *(_Numba("numba.numpy.random", "rnd_get_np_state_ptr"), _Numba("numba.random", "rnd_get_py_state_ptr")),
)
_IDLE = next(kept for kept in KEPT if kept.name == "numpy.random")


class IdleDraws:
    """Draws that decide nothing, of one cell at a time: from where to where numpy's generator for all went.

    scikit-learn's support vector machines give libsvm a seed, which it uses for probabilities alone. Their
    `fit` is called as before; what is wrapped says so (``__wrapped__``)."""

    def __init__(self) -> None:
        self._spans: list[tuple[Position, Position]] = []
        self._watched: Any = None

    def begin(self) -> None:
        """A cell begins."""
        self._spans = []
        self.watch()

    def watch(self) -> None:
        """From now on fits are seen, where scikit-learn is loaded."""
        machine = getattr(sys.modules.get("sklearn.svm._base"), "BaseLibSVM", None)
        if machine is None or machine is self._watched:
            return
        self._watched, fit, spans = machine, machine.fit, self._add

        @functools.wraps(fit)
        def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            before = _IDLE.place()
            try:
                return fit(self, *args, **kwargs)
            finally:
                if getattr(self, "probability", None) is not True:
                    spans(before, _IDLE.place())

        machine.fit = watched

    def _add(self, before: Position | None, after: Position | None) -> None:
        if before is not None and after is not None:
            self._spans.append((before, after))

    def after(self, name: str, then: Position) -> Position:
        """Where a generator that was there when the cell began is after the draws that decide nothing, as
        far as no other comes before them."""
        for before, after in self._spans if name == _IDLE.name else ():
            if before == then:
                then = after
        return then
