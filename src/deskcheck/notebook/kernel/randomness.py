"""Which random generators without a seed a cell drew from, counted while it runs; where each begins.

In the kernel's process. Counted are the generators that `random`, `numpy.random` and torch keep for all, each
`random.Random` and each generator of `numpy.random.default_rng` that was made without a seed, and what was
asked of the operating system (`os.urandom`, and through it `secrets` and `uuid.uuid4`). Not counted:
`numpy.random.RandomState()` and bit generators without a seed, draws in other processes and in compiled code
with a generator of its own (numba, CUDA), and clocks. Whether a cell repeats is decided by comparing runs
(`repeats`), never by these counts.

In each run the generators without a seed begin at other places. The second run draws the opposite bits of the
first and the third a mixture, so that a value that one drawn bit decides differs between two of them."""

import functools
import os
import pickle
import random
import re
import struct
import sys
import weakref
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType
from typing import Any, Protocol

_WORDS = 624
"""Of a Mersenne Twister's state, with 32 bits each."""
_FLIPPED = {1: 0x12DD9BB3, 2: 0x92CDB9B7}
"""Run -> the word of a state from which tempering makes a word of ones, and one of ones after a zero.
Tempering is linear: two states whose words differ in this draw numbers that differ in all these bits."""
_DECIDING = (63, 31, 8, 0)
"""Bits of a generator's first number by which numpy decides between two values: in `random`, `integers`, the
sign of `normal`, `shuffle`."""
_MOST = 200
"""So many generators are followed, those made last."""
_SAVES = re.compile(r"get_?state|rng_state|\.state\b")
"""Functions and attributes that tell where a generator is."""
_TORCH = struct.Struct("<QiiQ624Q")
"""What of torch's state we know (`CPUGeneratorImplState` in ATen): its seed, how many words are left, whether
it was seeded, the place of the next word, the words."""


def words(start: int, run: int) -> tuple[int, ...]:
    """A state of a Mersenne Twister for the start of something in one of several runs. What is drawn in the
    second run has the opposite bits of the first, and in the third all but the highest: so two values that
    one bit decides never agree in all three (`random.choice` takes the second bit). Other runs are
    independent."""
    drawn = random.Random(f"{start} {run if run not in _FLIPPED else 0}").getrandbits(32 * _WORDS)
    found = struct.unpack(f"<{_WORDS}I", drawn.to_bytes(4 * _WORDS, "little"))
    return tuple(word ^ _FLIPPED.get(run, 0) for word in found)


class SharedGenerator(Protocol):
    """A generator that a library keeps for all. module: that has it, and the functions that seed it and that
    put it where it was before."""

    name: str
    module: str
    seeds: tuple[str, ...]
    restores: tuple[str, ...]

    def place(self) -> object:
        """Where it is: another value after each draw."""

    def put(self, state: Sequence[int]) -> None:
        """Let it go on from these words, if it is a Mersenne Twister."""


class _Python:
    name, module = "random", "random"
    seeds: tuple[str, ...] = ("seed",)
    restores: tuple[str, ...] = ("setstate",)

    def place(self) -> object:
        return random.getstate()

    def put(self, state: Sequence[int]) -> None:
        random._inst.setstate((3, (*state, 0), None))


class _Numpy:
    name, module = "numpy.random", "numpy.random.mtrand"
    seeds: tuple[str, ...] = ("seed",)
    restores: tuple[str, ...] = ("set_state",)

    def place(self) -> object:
        return pickle.dumps(self._kept().get_state(legacy=False))

    def put(self, state: Sequence[int]) -> None:
        if self._kept().get_state(legacy=False)["bit_generator"] == "MT19937":  # users can put another there
            self._kept().set_state(("MT19937", state, 0, 0, 0.0))

    def _kept(self) -> Any:
        return sys.modules[self.module]._rand


class _Torch:
    name, module = "torch", "torch.random"
    seeds: tuple[str, ...] = ("manual_seed", "seed")
    restores: tuple[str, ...] = ("set_rng_state",)

    def place(self) -> object:
        return bytes(self._kept().get_state().tolist())

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
        self._there: dict[str, object] = {}
        """Where they were when the cell began."""
        self._made: dict[int, tuple[Callable[[], Any], str, object]] = {}
        """By `id`, generators that were made without a seed: what gives it, its label, where it was when the
        cell began. To a `random.Random` a weak reference is held; none can be had to numpy's."""
        self._drew: dict[str, None] = {}
        """Labels of what the cell drew from, in order."""

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
        sys.meta_path.insert(0, _AfterImport(hooks))

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
                self._follow(generator, weakref.ref(generator), label, generator.getstate())

        @functools.wraps(urandom)
        def watched_urandom(*args: Any, **kwargs: Any) -> bytes:
            self._asked("os.urandom", sys._getframe(1))
            return urandom(*args, **kwargs)

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

    def _was_put(self, kept: SharedGenerator, before: object, *, seeded: bool | None) -> None:
        """A shared generator was seeded, with nothing if not `seeded`; None: it was put where it once was."""
        if kept.name not in self._seeded:
            if before != self._there[kept.name]:
                self._drew[kept.name] = None
            self._left.add(hash(before))
        if seeded is False:
            kept.put(self._start())
        there = self._there[kept.name] = kept.place()
        if seeded is False or hash(there) in self._left:
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
                self._follow(made, lambda: made, label, _place(made))
            return made

        module.default_rng = default_rng
        holder = sys.modules.get("numpy.random")
        if getattr(holder, "default_rng", None) is make:
            holder.default_rng = default_rng  # type: ignore[union-attr]

    def _follow(self, generator: object, found: Callable[[], Any], label: str, place: object) -> None:
        if len(self._made) >= _MOST:
            self._made.pop(next(iter(self._made)))
        self._made[id(generator)] = found, label, place

    def _asked(self, label: str, frame: FrameType | None) -> None:
        """The operating system's random numbers were asked for. What a module asks while it is imported is no
        draw of the cell, nor what a generator asks that is followed."""
        each = frame
        while each is not None:
            if each.f_globals is globals() or each.f_globals.get("__name__") == "importlib._bootstrap":
                return
            each = each.f_back
        self._drew[_named(label, frame)] = None

    # -- where generators begin --------------------------------------------------------------------

    def _start(self) -> tuple[int, ...]:
        self._starts += 1
        return words(self._starts, self.run)

    def _entropy(self, randbits: Callable[[int], int], bits: int) -> int:
        """Real entropy, of which numpy's usual generator makes a first number whose deciding bits are those
        of this run."""
        self._starts += 1
        wanted = random.Random(f"{self._starts} {self.run if self.run > 2 else 0}").getrandbits(
            len(_DECIDING)
        )
        wanted ^= {1: 0b1111, 2: 0b0101}.get(self.run, 0)
        make = getattr(sys.modules.get("numpy.random._pcg64"), "PCG64", None)
        if make is None:  # numpy is still being loaded
            return randbits(bits)
        while True:  # one of sixteen is taken
            entropy = randbits(bits)
            first = make(entropy).random_raw()
            if sum((first >> bit & 1) << at for at, bit in enumerate(_DECIDING)) == wanted:
                return entropy

    # -- cells -------------------------------------------------------------------------------------

    def begin(self, code: str) -> None:
        """A cell begins."""
        self._saved = self._saved or _SAVES.search(code) is not None
        for kept in self._shared.values():
            if kept.name not in self._seeded and not self._saved:
                kept.put(self._start())
            self._there[kept.name] = kept.place()
        for key, (found, label, _) in [*self._made.items()]:
            generator = found()
            if generator is None:
                del self._made[key]
            else:
                self._made[key] = found, label, _place(generator)
        self._drew.clear()

    def end(self) -> tuple[str, ...]:
        """The generators without a seed that the cell, which has ended, drew from."""
        for kept in self._shared.values():
            if kept.name not in self._seeded and kept.place() != self._there[kept.name]:
                self._drew[kept.name] = None
        for found, label, before in self._made.values():
            generator = found()
            if generator is not None and _place(generator) != before:
                self._drew[label] = None
        return (*self._drew,)


def _place(generator: Any) -> object:
    """Where a generator is."""
    if isinstance(generator, random.Random):
        return generator.getstate()
    return pickle.dumps(generator.bit_generator.state)


def _named(label: str, frame: FrameType | None) -> str:
    """What is drawn from, with the package whose code made it or asked, if that is not the notebook."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in ("random", "numpy"):
            return label if package == "__main__" else f"{package} ({label})"
        frame = frame.f_back
    return label


class _AfterImport(MetaPathFinder):
    """Calls a function with a module when it has been loaded."""

    def __init__(self, hooks: dict[str, Callable[[ModuleType], None]]) -> None:
        self.hooks = hooks

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        hook = self.hooks.get(fullname)
        spec = None if hook is None else PathFinder.find_spec(fullname, path, target)
        if hook is None or spec is None or spec.loader is None:
            return None
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            hook(module)

        loader.exec_module = exec_module
        return spec
