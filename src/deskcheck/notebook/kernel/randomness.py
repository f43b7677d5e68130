"""Counts the draws of a cell from random generators without a seed, and sets where these begin.

Runs in the kernel's process. Counted: the global generators of `random`, `numpy.random` and torch, each
`random.Random()` and `numpy.random.default_rng()` without a seed, and `os.urandom` (with `secrets` and
`uuid.uuid4`). Not counted: draws while a module is imported, `numpy.random.RandomState()` and bit generators
without a seed, other processes, compiled code (numba, CUDA), clocks. Comparing runs (`repeats`) decides
whether a cell repeats, not these counts.

In each run the generators begin elsewhere. The second run draws the opposite bits of the first. The first
number of a generator is near one end of its range there, and near the other end in the third run, so that a
branch with a probability of 1/16 to 15/16 is taken in one of the three runs and not in another.
"""

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
from typing import Any, NamedTuple

_WORDS = 624
"""Words of 32 bits in a Mersenne Twister's state."""
_FLIPPED = {1: 0x12DD9BB3, 2: 0x92CDB9B7}
"""Run -> the word of a state that tempering turns into a word of ones, or of ones after a zero. Tempering is
linear: states whose words differ by it draw numbers that differ in all these bits."""
_FIELDS = (
    (31, 0xF0000000, 0xC0000000, 0x40000000),
    (23, 0x00F00000, 0, 0),
    (0, 0x0000000F, 0x00000003, 0x00000001),
)
"""Bits of a drawn number that decide values: the highest (`random.random`, `choice`, numpy's `random`), those
of torch's `rand`, the lowest (numpy's `randint` and `shuffle`). For each field: the bit that says which end
of the range is near; its bits in the first number; those in the second, which is drawn if the first is too
large (`choice` of two), and their value."""
_DECIDING = ((63, 62, 61), (31, 30), (8,), (0,))
"""The same fields as bits of the first number of numpy's usual generator: `random`, `integers`, the sign of
`normal`, `shuffle`."""
_PCG64 = 0x2360ED051FC65DA44385DF649FCCF645
"""Multiplier of numpy's usual generator (O'Neill 2014, PCG XSL RR 128/64)."""
_IMPORTLIB = "<frozen importlib._bootstrap_external>"
_IDENTIFIER = 16
"""Bytes of an identifier or a seed. Libraries draw many of these."""
_MOST = 200
"""Number of generators that are followed, the newest ones."""
_SAVES = re.compile(r"get_?state|rng_state|\.state\b")
"""Functions and attributes that return a generator's state."""
_TORCH = struct.Struct("<QiiQ624Q")
"""The known part of torch's state (`CPUGeneratorImplState` in ATen): seed, number of words left, whether it
was seeded, place of the next word, the words."""


class GeneratorState(NamedTuple):
    """The state of a generator."""

    block: object
    """Words of 32 bits, or the whole state if `position` is None."""
    position: int | None = None
    """Number of words of the block that were drawn."""
    pending: object = None
    """Drawn numbers that wait for their use, and other parts."""

    def until(self, after: "GeneratorState") -> int:
        """A lower bound on the words of 32 bits that were drawn between this state and a later one. It is 0
        only if none was drawn."""
        if self == after or self.position is None or after.position is None:
            return int(self != after)
        return max(1, (0 if self.block == after.block else _WORDS) + after.position - self.position)


class PcgPlace(GeneratorState):
    """The state of numpy's usual generator; `position` is its place in the sequence."""

    def until(self, after: GeneratorState) -> int:
        state: Any = self.position
        increment: Any = self.block
        for numbers in range(_WORDS // 2):
            if state == after.position:
                return max(2 * numbers, int(self != after))
            state = (state * _PCG64 + increment) % (1 << 128)
        return _WORDS


def words(start: int, run: int) -> tuple[int, ...]:
    """A Mersenne Twister's state for a generator in one of several runs (see the module). In the third run
    all bits but the highest are opposite to those of the first run; later numbers are independent."""
    seed = random.Random(f"{start} {run if run not in _FLIPPED else 0}").getrandbits(32 * _WORDS)
    state = [*struct.unpack(f"<{_WORDS}I", seed.to_bytes(4 * _WORDS, "little"))]
    if run not in _FLIPPED:
        return tuple(state)
    natural = _tempered(state[0])
    state = [word ^ _FLIPPED[run] for word in state]
    first, second = map(_tempered, state[:2])
    for bit, mask, next_mask, next_bits in _FIELDS:
        high = (natural >> bit & 1) == (run == 2)
        first = first | mask if high else first & ~mask
        if run == 1:
            second = second & ~next_mask | (next_bits if high else next_mask & ~next_bits)
    return (_untempered(first), _untempered(second), *state[2:])


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


class SharedGenerator:
    """The global generator of `random`. Subclasses are the generators of other libraries.

    module: contains the generator, and the functions that seed it or restore its state.
    """

    name = "random"
    module = "random"
    attribute = "_inst"
    seeds: tuple[str, ...] = ("seed",)
    restores: tuple[str, ...] = ("setstate",)

    @property
    def generator(self) -> Any:
        return getattr(sys.modules[self.module], self.attribute)

    def place(self) -> GeneratorState:
        """Its state, which changes with each draw."""
        return _place(self.generator)

    def put(self, state: Sequence[int]) -> None:
        """Continue from these words, if it is a Mersenne Twister."""
        self.generator.setstate((3, (*state, 0), None))


class _Numpy(SharedGenerator):
    name, module, attribute = "numpy.random", "numpy.random.mtrand", "_rand"
    restores = ("set_state",)

    def place(self) -> GeneratorState:
        state = self.generator.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":  # users can put another there
            return GeneratorState(pickle.dumps(state))
        normal = state["has_gauss"], state["gauss"]
        return GeneratorState(state["state"]["key"].tobytes(), state["state"]["pos"], normal)

    def put(self, state: Sequence[int]) -> None:
        if self.generator.get_state(legacy=False)["bit_generator"] == "MT19937":
            self.generator.set_state(("MT19937", state, 0, 0, 0.0))


class _Torch(SharedGenerator):
    name, module, attribute = "torch", "torch.random", "default_generator"
    seeds = ("manual_seed", "seed")
    restores = ("set_rng_state",)

    def place(self) -> GeneratorState:
        state = bytes(self.generator.get_state().tolist())
        if len(state) < _TORCH.size:
            return GeneratorState(state)
        _, _, _, position, *block = _TORCH.unpack_from(state)
        return GeneratorState(block, position, state[_TORCH.size :])

    def put(self, state: Sequence[int]) -> None:
        old = self.generator.get_state()
        if old.numel() >= _TORCH.size:
            seed = _TORCH.unpack_from(bytes(old.tolist()))[0]
            new = _TORCH.pack(seed, _WORDS, 1, 0, *state)
            end = bytes(old.numel() - len(new))  # no number of a pair of normal ones is waiting
            self.generator.set_state(sys.modules["torch"].tensor([*new, *end], dtype=old.dtype))


_SHARED = (SharedGenerator(), _Numpy(), _Torch())


class Randomness:
    """Counts the draws of each cell in one kernel. run: number of the run, from 0."""

    def __init__(self, run: int = 0) -> None:
        self.run = run
        self._starts = 0
        """Number of generators whose beginning was set."""
        self._saved = False
        """Whether a cell may have saved a generator's state. From then on no generator is set."""
        self._shared: dict[str, SharedGenerator] = {}
        """Generators of libraries that are loaded."""
        self._seeded: set[str] = set()
        self._states_before_seeds: set[int] = set()
        """Hashes of the states of unseeded shared generators just before a cell seeded them. A cell may
        restore these states."""
        self._starting_states: dict[str, GeneratorState] = {}
        """States of the shared generators at the beginning of the cell, or after the last import."""
        self._unseeded: dict[int, tuple[Callable[[], Any], str, GeneratorState]] = {}
        """Id of a generator without a seed -> how to get it, its label, its state at the beginning of the
        cell or after the last import. A `random.Random` is held by a weak reference; numpy's allow none."""
        self._drew: Counter[str] = Counter()
        """Label of each generator that the cell drew from -> number of words of 32 bits."""
        self._imports = _Imports(self._count, self._begin_from_here)

    # -- what is watched ---------------------------------------------------------------------------

    def watch(self) -> None:
        """Begin to see draws. Replaced functions have the old one as ``__wrapped__``."""
        self._watch_python()
        hooks: dict[str, Callable[[ModuleType], None]] = {
            generator.module: functools.partial(self._watch_shared, generator) for generator in _SHARED
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
            value = args[0] if args else kwargs.get("a")
            self._unseeded.pop(id(generator), None)
            if value is None and type(generator).getstate is random.Random.getstate:
                random.Random.__base__.setstate(generator, (*self._start(), 0))  # type: ignore[union-attr]
                label = _named("random.Random", sys._getframe(1))
                self._follow(generator, weakref.ref(generator), label)

        @functools.wraps(urandom)
        def watched_urandom(*args: Any, **kwargs: Any) -> bytes:
            drawn = urandom(*args, **kwargs)
            count = _WORDS if len(drawn) >= _IDENTIFIER else (len(drawn) + 3) // 4
            self._asked("os.urandom", count, sys._getframe(1))
            return drawn

        kind.seed = watched_seed
        os.urandom = watched_urandom
        random._urandom = watched_urandom  # type: ignore[attr-defined]

    def _watch_shared(self, generator: SharedGenerator, module: ModuleType) -> None:
        """Set where the generator of a loaded library begins, and see calls that seed it.

        If the library stores its generator differently, change nothing: its import must not fail.
        """
        try:
            generator.put(self._start())
            self._starting_states[generator.name] = generator.place()
        except (AttributeError, KeyError, TypeError, ValueError):
            return
        for name in (*generator.seeds, *generator.restores):
            function = getattr(module, name, None)
            if function is None:
                continue
            restores = name in generator.restores

            def watched(
                *args: Any, _function: Any = function, _restores: bool = restores, **kwargs: Any
            ) -> Any:
                __tracebackhide__ = True
                before = generator.place()
                result = _function(*args, **kwargs)
                has_seed = any(argument is not None for argument in (*args, *kwargs.values()))
                self._was_put(generator, before, seeded=None if _restores else has_seed)
                return result

            functools.update_wrapper(watched, function)
            for holder in (module, sys.modules.get(module.__name__.rpartition(".")[0])):
                if getattr(holder, name, None) is function:
                    setattr(holder, name, watched)
        self._shared[generator.name] = generator

    def _was_put(self, generator: SharedGenerator, before: GeneratorState, *, seeded: bool | None) -> None:
        """A shared generator was seeded. seeded: False: without a value. None: its state was restored."""
        if generator.name not in self._seeded:
            if before != self._starting_states[generator.name]:
                self._drew[generator.name] += self._starting_states[generator.name].until(before)
            self._states_before_seeds.add(hash(repr(before)))
        if seeded is False:
            generator.put(self._start())
        state = self._starting_states[generator.name] = generator.place()
        if seeded is False or hash(repr(state)) in self._states_before_seeds:
            self._seeded.discard(generator.name)
        elif seeded:
            self._seeded.add(generator.name)

    def _watch_numpy_entropy(self, module: Any) -> None:
        """numpy calls this function for a generator without a seed, and for each `RandomState`."""
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
            generator = make(*args, **kwargs)
            if all(argument is None for argument in (*args, *kwargs.values())):
                label = _named("numpy.random.default_rng()", sys._getframe(1))
                self._follow(generator, lambda: generator, label)
            return generator

        module.default_rng = default_rng
        holder = sys.modules.get("numpy.random")
        if getattr(holder, "default_rng", None) is make:
            holder.default_rng = default_rng  # type: ignore[union-attr]

    def _follow(self, generator: object, reference: Callable[[], Any], label: str) -> None:
        if len(self._unseeded) >= _MOST:
            self._unseeded.pop(next(iter(self._unseeded)))
        self._unseeded[id(generator)] = reference, label, _place(generator)

    def _asked(self, label: str, count: int, frame: FrameType | None) -> None:
        """Count random numbers of the operating system, except those for a generator that is followed."""
        caller = frame
        while caller is not None and not self._imports.depth:
            if caller.f_globals is globals():
                return
            caller = caller.f_back
        if not self._imports.depth:
            self._drew[_named(label, frame)] += count

    # -- where generators begin --------------------------------------------------------------------

    def _start(self) -> tuple[int, ...]:
        self._starts += 1
        return words(self._starts, self.run)

    def _entropy(self, randbits: Callable[[int], int], bits: int) -> int:
        """Real entropy from which the first number of numpy's usual generator has the deciding bits of this
        run."""
        self._starts += 1
        natural = random.Random(f"{self._starts} {self.run if self.run > 2 else 0}")
        bits_wanted = {bit: bool(natural.getrandbits(1)) for field in _DECIDING for bit in field}
        if self.run in (1, 2):
            bits_wanted = {
                bit: bits_wanted[field[0]] == (self.run == 2) for field in _DECIDING for bit in field
            }
        make = getattr(sys.modules.get("numpy.random._pcg64"), "PCG64", None)
        if make is None or self._starts > _MOST:  # numpy is still being loaded; it takes half a millisecond
            return randbits(bits)
        while True:  # one of 128 is taken
            entropy = randbits(bits)
            first = make(entropy).random_raw()
            if all(bool(first >> bit & 1) is on for bit, on in bits_wanted.items()):
                return entropy

    # -- cells -------------------------------------------------------------------------------------

    def begin(self, code: str) -> None:
        """A cell begins."""
        self._saved = self._saved or _SAVES.search(code) is not None
        for generator in self._shared.values():
            if generator.name not in self._seeded and not self._saved:
                generator.put(self._start())
        self._begin_from_here()
        self._drew.clear()

    def end(self) -> dict[str, int]:
        """Generators without a seed that the cell drew from -> number of words of 32 bits, or more."""
        self._count()
        return {**self._drew}

    def _begin_from_here(self) -> None:
        """Ignore what generators drew so far."""
        for shared in self._shared.values():
            self._starting_states[shared.name] = shared.place()
        for key, (reference, label, _) in [*self._unseeded.items()]:
            generator = reference()
            if generator is None:
                del self._unseeded[key]
            else:
                self._unseeded[key] = reference, label, _place(generator)

    def _count(self) -> None:
        """Count draws since the cell began, or the last import ended."""
        for shared in self._shared.values():
            if (
                shared.name not in self._seeded
                and (state := shared.place()) != self._starting_states[shared.name]
            ):
                self._drew[shared.name] += self._starting_states[shared.name].until(state)
        for reference, label, before in self._unseeded.values():
            generator = reference()
            if generator is not None and (state := _place(generator)) != before:
                self._drew[label] += before.until(state)


def _place(generator: Any) -> GeneratorState:
    """The state of a generator."""
    if isinstance(generator, random.Random):
        _, (*block, position), pending = generator.getstate()
        return GeneratorState(block, position, pending)
    state = generator.bit_generator.state
    if state["bit_generator"] == "PCG64":
        pending = state["has_uint32"], state["uinteger"]
        return PcgPlace(state["state"]["inc"], state["state"]["state"], pending)
    return GeneratorState(pickle.dumps(state))


def _named(label: str, frame: FrameType | None) -> str:
    """The label, with the package whose code drew or made the generator, if not the notebook."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("random", "numpy"):
            return label if package == "__main__" else f"{package} ({label})"
        frame = frame.f_back
    return label


class _Imports(MetaPathFinder):
    """Sees imports begin and end. hooks: module -> called with it once it is loaded. depth: number of imports
    inside one another that run now."""

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
