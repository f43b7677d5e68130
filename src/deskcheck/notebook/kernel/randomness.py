"""Which random generators without a seed a cell drew from, counted while it runs; where each begins.

In the kernel's process. Counted are the generators that `random`, `numpy.random` and torch keep for all, each
`random.Random` and each generator of `numpy.random.default_rng` that was made without a seed, and what was
asked of the operating system (`os.urandom`, and through it `secrets` and `uuid.uuid4`). Not counted: what
modules draw while they are imported, `numpy.random.RandomState()` and bit generators without a seed, draws in
other processes and in compiled code with a generator of its own (numba, CUDA), and clocks. Whether a cell
repeats is decided by comparing runs (`repeats`), never by these counts.

In each run the generators without a seed begin at other places. The second run draws the opposite bits of the
first. The first number after such a place is near one end of its range there, and near the other end in the
third run, so that a branch with a probability of 1/16 to 15/16 is taken in one of the three and not in
another."""

import functools
import os
import pickle
import random
import re
import struct
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType
from typing import Any, NamedTuple, Protocol

_WORDS = 624
"""Of a Mersenne Twister's state, with 32 bits each."""
_FLIPPED = {1: 0x12DD9BB3, 2: 0x92CDB9B7}
"""Run -> the word of a state from which tempering makes a word of ones, and one of ones after a zero.
Tempering is linear: two states whose words differ in this draw numbers that differ in all these bits."""
_FIELDS = (
    (31, 0xF0000000, 0xC0000000, 0x40000000),
    (23, 0x00F00000, 0, 0),
    (0, 0x0000000F, 0x00000003, 0x00000001),
)
"""Bits of a drawn number by which values are decided: the highest (`random.random`, `choice`, numpy's
`random`), those of torch's `rand`, the lowest (numpy's `randint` and `shuffle`). Of each field: the bit that
says near which end of the range it is; its bits in the first number; those in the second, which is drawn if
the first is too large (by `choice` of two), and what it then has there."""
_DECIDING = ((63, 62, 61), (31, 30), (8,), (0,))
"""As these fields, the bits of the first number of numpy's usual generator: `random`, `integers`, the sign of
`normal`, `shuffle`."""
_PCG64 = 0x2360ED051FC65DA44385DF649FCCF645
"""By which numpy's usual generator multiplies (O'Neill 2014, PCG XSL RR 128/64)."""
_IMPORTLIB = "<frozen importlib._bootstrap_external>"
_IDENTIFIER = 16
"""Bytes of an identifier or a seed, of which there are many (`uuid.uuid4`, of libraries too)."""
_MOST = 200
"""So many generators are followed, those made last."""
_SAVES = re.compile(r"get_?state|rng_state|\.state\b")
"""Functions and attributes that tell where a generator is."""
_TORCH = struct.Struct("<QiiQ624Q")
"""What of torch's state we know (`CPUGeneratorImplState` in ATen): its seed, how many words are left, whether
it was seeded, the place of the next word, the words."""


class Place(NamedTuple):
    """Where a generator is. block: words of 32 bits, of which `position` were drawn; None: that is not known.
    rest: what else it is made of."""

    block: object
    position: int | None = None
    rest: object = None

    def until(self, after: "Place") -> int:
        """At least how many words of 32 bits were drawn from here to another place; 0: none."""
        if self == after or self.position is None or after.position is None:
            return int(self != after)
        return max(1, (0 if self.block == after.block else _WORDS) + after.position - self.position)


class PcgPlace(Place):
    """Of numpy's usual generator; `position` is where it is on its way."""

    def until(self, after: Place) -> int:
        at: Any = self.position
        increment: Any = self.block
        for numbers in range(_WORDS // 2):
            if at == after.position:
                return max(2 * numbers, int(self != after))
            at = (at * _PCG64 + increment) % (1 << 128)
        return _WORDS


def words(start: int, run: int) -> tuple[int, ...]:
    """A state of a Mersenne Twister for the start of something in one of several runs (see above). The third
    draws all but the highest bits opposite to the first; those after it are independent."""
    seed = random.Random(f"{start} {run if run not in _FLIPPED else 0}").getrandbits(32 * _WORDS)
    found = [*struct.unpack(f"<{_WORDS}I", seed.to_bytes(4 * _WORDS, "little"))]
    if run not in _FLIPPED:
        return tuple(found)
    natural = _tempered(found[0])
    found = [word ^ _FLIPPED[run] for word in found]
    first, second = map(_tempered, found[:2])
    for bit, mask, next_mask, next_bits in _FIELDS:
        high = (natural >> bit & 1) == (run == 2)
        first = first | mask if high else first & ~mask
        if run == 1:
            second = second & ~next_mask | (next_bits if high else next_mask & ~next_bits)
    return (_untempered(first), _untempered(second), *found[2:])


def _tempered(word: int) -> int:
    """The number that a Mersenne Twister draws from a word of its state (Matsumoto and Nishimura 1998)."""
    word ^= word >> 11
    word ^= word << 7 & 0x9D2C5680
    word ^= word << 15 & 0xEFC60000
    return word ^ word >> 18


def _untempered(number: int) -> int:
    number ^= number >> 18
    number ^= number << 15 & 0xEFC60000
    word = number
    for _ in range(4):
        word = number ^ word << 7 & 0x9D2C5680
    return word ^ word >> 11 ^ word >> 22


class SharedGenerator(Protocol):
    """A generator that a library keeps for all. module: that has it, and the functions that seed it and that
    put it where it was before."""

    name: str
    module: str
    seeds: tuple[str, ...]
    restores: tuple[str, ...]

    def place(self) -> Place:
        """Where it is: another value after each draw."""

    def put(self, state: Sequence[int]) -> None:
        """Let it go on from these words, if it is a Mersenne Twister."""


class _Python:
    name, module = "random", "random"
    seeds: tuple[str, ...] = ("seed",)
    restores: tuple[str, ...] = ("setstate",)

    def place(self) -> Place:
        return _place(random._inst)

    def put(self, state: Sequence[int]) -> None:
        random._inst.setstate((3, (*state, 0), None))


class _Numpy:
    name, module = "numpy.random", "numpy.random.mtrand"
    seeds: tuple[str, ...] = ("seed",)
    restores: tuple[str, ...] = ("set_state",)

    def place(self) -> Place:
        state = self._kept().get_state(legacy=False)
        if state["bit_generator"] != "MT19937":  # users can put another there
            return Place(pickle.dumps(state))
        rest = state["has_gauss"], state["gauss"]
        return Place(state["state"]["key"].tobytes(), state["state"]["pos"], rest)

    def put(self, state: Sequence[int]) -> None:
        if self._kept().get_state(legacy=False)["bit_generator"] == "MT19937":
            self._kept().set_state(("MT19937", state, 0, 0, 0.0))

    def _kept(self) -> Any:
        return sys.modules[self.module]._rand


class _Torch:
    name, module = "torch", "torch.random"
    seeds: tuple[str, ...] = ("manual_seed", "seed")
    restores: tuple[str, ...] = ("set_rng_state",)

    def place(self) -> Place:
        state = bytes(self._kept().get_state().tolist())
        if len(state) < _TORCH.size:
            return Place(state)
        _, _, _, position, *block = _TORCH.unpack_from(state)
        return Place(block, position, state[_TORCH.size :])

    def put(self, state: Sequence[int]) -> None:
        kept = self._kept().get_state()
        if kept.numel() >= _TORCH.size:
            seed = _TORCH.unpack_from(bytes(kept.tolist()))[0]
            known = _TORCH.pack(seed, _WORDS, 1, 0, *state)
            rest = bytes(kept.numel() - len(known))  # no number of a pair of normal ones is waiting
            self._kept().set_state(sys.modules["torch"].tensor([*known, *rest], dtype=kept.dtype))

    def _kept(self) -> Any:
        return sys.modules[self.module].default_generator


_SHARED: tuple[SharedGenerator, ...] = (_Python(), _Numpy(), _Torch())


class Randomness:
    """The draws of each cell in one kernel. run: which of several runs this is, from 0."""

    def __init__(self, run: int = 0) -> None:
        self.run = run
        self._starts = 0
        """Generators that were given a place to begin."""
        self._saved = False
        """Whether a cell may have saved where a generator is: then none is moved any more."""
        self._shared: dict[str, SharedGenerator] = {}
        """Those of libraries that are loaded."""
        self._seeded: set[str] = set()
        self._left: set[int] = set()
        """Hashes of the places where they were, without a seed, when one was set: they may be put back."""
        self._there: dict[str, Place] = {}
        """Where they were when the cell began, or the last import ended."""
        self._made: dict[int, tuple[Callable[[], Any], str, Place]] = {}
        """By `id`, generators that were made without a seed: what gives it, its label, where it was when the
        cell began, or the last import ended. To a `random.Random` a weak reference is held; none can be had
        to numpy's."""
        self._drew: Counter[str] = Counter()
        """Labels of what the cell drew from, in order, with how many words of 32 bits."""
        self._imports = _Imports(self._count, self._begin_from_here)

    # -- what is watched ---------------------------------------------------------------------------

    def watch(self) -> None:
        """From now on, see what is drawn. Functions that are replaced name the old one as ``__wrapped__``."""
        self._watch_python()
        hooks: dict[str, Callable[[ModuleType], None]] = {
            each.module: functools.partial(self._watch_shared, each) for each in _SHARED
        }
        hooks |= {
            "numpy.random.bit_generator": self._watch_numpy_entropy,
            "numpy.random._generator": self._watch_default_rng,
        }
        for name in [*hooks]:
            if name in sys.modules:
                hooks.pop(name)(sys.modules[name])
        self._imports.hooks = hooks
        sys.meta_path.insert(0, self._imports)

    def _watch_python(self) -> None:
        kind: Any = random.Random
        seed, urandom = kind.seed, os.urandom

        @functools.wraps(seed)
        def watched_seed(generator: random.Random, *args: Any, **kwargs: Any) -> None:
            seed(generator, *args, **kwargs)
            given = args[0] if args else kwargs.get("a")
            self._made.pop(id(generator), None)
            if given is None and type(generator).getstate is random.Random.getstate:
                random.Random.__base__.setstate(generator, (*self._start(), 0))  # type: ignore[union-attr]
                label = _named("random.Random", sys._getframe(1))
                self._follow(generator, weakref.ref(generator), label)

        @functools.wraps(urandom)
        def watched_urandom(*args: Any, **kwargs: Any) -> bytes:
            asked = urandom(*args, **kwargs)
            count = _WORDS if len(asked) >= _IDENTIFIER else (len(asked) + 3) // 4
            self._asked("os.urandom", count, sys._getframe(1))
            return asked

        kind.seed = watched_seed
        os.urandom = watched_urandom
        random._urandom = watched_urandom  # type: ignore[attr-defined]

    def _watch_shared(self, kept: SharedGenerator, module: ModuleType) -> None:
        """A library is loaded: begin its generator, see who seeds it. One that keeps it otherwise is left
        alone: an import that we look at must not fail."""
        try:
            kept.put(self._start())
            self._there[kept.name] = kept.place()
        except (AttributeError, KeyError, TypeError, ValueError):
            return
        for name in (*kept.seeds, *kept.restores):
            function = getattr(module, name, None)
            if function is None:
                continue
            restores = name in kept.restores

            def watched(
                *args: Any, _function: Any = function, _restores: bool = restores, **kwargs: Any
            ) -> Any:
                __tracebackhide__ = True
                before = kept.place()
                made = _function(*args, **kwargs)
                given = any(each is not None for each in (*args, *kwargs.values()))
                self._was_put(kept, before, seeded=None if _restores else given)
                return made

            functools.update_wrapper(watched, function)
            for holder in (module, sys.modules.get(module.__name__.rpartition(".")[0])):
                if getattr(holder, name, None) is function:
                    setattr(holder, name, watched)
        self._shared[kept.name] = kept

    def _was_put(self, kept: SharedGenerator, before: Place, *, seeded: bool | None) -> None:
        """A shared generator was seeded, with nothing if not `seeded`; None: it was put where it once was."""
        if kept.name not in self._seeded:
            if before != self._there[kept.name]:
                self._drew[kept.name] += self._there[kept.name].until(before)
            self._left.add(hash(repr(before)))
        if seeded is False:
            kept.put(self._start())
        there = self._there[kept.name] = kept.place()
        if seeded is False or hash(repr(there)) in self._left:
            self._seeded.discard(kept.name)
        elif seeded:
            self._seeded.add(kept.name)

    def _watch_numpy_entropy(self, module: Any) -> None:
        """numpy asks for entropy by this function where it is given no seed, and for each `RandomState`."""
        randbits = getattr(module, "randbits", None)
        if randbits is None:
            return

        @functools.wraps(randbits)
        def watched(bits: int) -> Any:
            return self._entropy(randbits, bits)

        module.randbits = watched

    def _watch_default_rng(self, module: Any) -> None:
        make = getattr(module, "default_rng", None)
        if make is None:
            return

        @functools.wraps(make)
        def default_rng(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            made = make(*args, **kwargs)
            if all(each is None for each in (*args, *kwargs.values())):
                label = _named("numpy.random.default_rng()", sys._getframe(1))
                self._follow(made, lambda: made, label)
            return made

        module.default_rng = default_rng
        holder = sys.modules.get("numpy.random")
        if getattr(holder, "default_rng", None) is make:
            holder.default_rng = default_rng  # type: ignore[union-attr]

    def _follow(self, generator: object, found: Callable[[], Any], label: str) -> None:
        if len(self._made) >= _MOST:
            self._made.pop(next(iter(self._made)))
        self._made[id(generator)] = found, label, _place(generator)

    def _asked(self, label: str, count: int, frame: FrameType | None) -> None:
        """The operating system's random numbers were asked for, which is no draw of a generator that is
        followed."""
        each = frame
        while each is not None and not self._imports.depth:
            if each.f_globals is globals():
                return
            each = each.f_back
        if not self._imports.depth:
            self._drew[_named(label, frame)] += count

    # -- where generators begin --------------------------------------------------------------------

    def _start(self) -> tuple[int, ...]:
        self._starts += 1
        return words(self._starts, self.run)

    def _entropy(self, randbits: Callable[[int], int], bits: int) -> int:
        """Real entropy, of which numpy's usual generator makes a first number whose deciding bits are those
        of this run."""
        self._starts += 1
        natural = random.Random(f"{self._starts} {self.run if self.run > 2 else 0}")
        wanted = {bit: bool(natural.getrandbits(1)) for field in _DECIDING for bit in field}
        if self.run in (1, 2):
            wanted = {bit: wanted[field[0]] == (self.run == 2) for field in _DECIDING for bit in field}
        make = getattr(sys.modules.get("numpy.random._pcg64"), "PCG64", None)
        if make is None or self._starts > _MOST:  # numpy is still being loaded; it takes half a millisecond
            return randbits(bits)
        while True:  # one of 128 is taken
            entropy = randbits(bits)
            first = make(entropy).random_raw()
            if all(bool(first >> bit & 1) is on for bit, on in wanted.items()):
                return entropy

    # -- cells -------------------------------------------------------------------------------------

    def begin(self, code: str) -> None:
        """A cell begins."""
        self._saved = self._saved or _SAVES.search(code) is not None
        for kept in self._shared.values():
            if kept.name not in self._seeded and not self._saved:
                kept.put(self._start())
        self._begin_from_here()
        self._drew.clear()

    def end(self) -> dict[str, int]:
        """The generators without a seed that the cell, which has ended, drew from, with how many words of 32
        bits, or more."""
        self._count()
        return {**self._drew}

    def _begin_from_here(self) -> None:
        """What generators drew so far does not count."""
        for kept in self._shared.values():
            self._there[kept.name] = kept.place()
        for key, (found, label, _) in [*self._made.items()]:
            generator = found()
            if generator is None:
                del self._made[key]
            else:
                self._made[key] = found, label, _place(generator)

    def _count(self) -> None:
        """Count what generators drew since the cell began, or the last import ended."""
        for kept in self._shared.values():
            if kept.name not in self._seeded and (there := kept.place()) != self._there[kept.name]:
                self._drew[kept.name] += self._there[kept.name].until(there)
        for found, label, before in self._made.values():
            generator = found()
            if generator is not None and (there := _place(generator)) != before:
                self._drew[label] += before.until(there)


def _place(generator: Any) -> Place:
    """Where a generator is."""
    if isinstance(generator, random.Random):
        _, (*block, position), rest = generator.getstate()
        return Place(block, position, rest)
    state = generator.bit_generator.state
    if state["bit_generator"] == "PCG64":
        rest = state["has_uint32"], state["uinteger"]
        return PcgPlace(state["state"]["inc"], state["state"]["state"], rest)
    return Place(pickle.dumps(state))


def _named(label: str, frame: FrameType | None) -> str:
    """What is drawn from, with the package whose code made it or asked, if that is not the notebook."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("random", "numpy"):
            return label if package == "__main__" else f"{package} ({label})"
        frame = frame.f_back
    return label


class _Imports(MetaPathFinder):
    """Sees imports begin and end. hooks: module -> what is called with it when it has been loaded. depth: of
    the import that goes on, in others; 0: there is none."""

    def __init__(self, begins: Callable[[], None], ended: Callable[[], None]) -> None:
        self.hooks: dict[str, Callable[[ModuleType], None]] = {}
        self.depth = 0
        self._begins = begins
        self._ended = ended

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        hook = self.hooks.get(fullname)
        spec = None if hook is None and self.depth else PathFinder.find_spec(fullname, path, target)
        if spec is None or "exec_module" in getattr(spec.loader, "__dict__", {"exec_module": None}):
            return None  # or it loads several, as that of a zip archive does, and is seen to already
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            if not self.depth:
                self._begins()
            self.depth += 1
            try:
                execute(module)
                if hook is not None:
                    hook(module)
            finally:
                self.depth -= 1
                if not self.depth:
                    self._ended()

        # Frames of importlib's are left out of tracebacks (PyImport_ImportModuleLevelObject).
        exec_module.__code__ = exec_module.__code__.replace(co_filename=_IMPORTLIB)
        loader.exec_module = exec_module
        return spec
