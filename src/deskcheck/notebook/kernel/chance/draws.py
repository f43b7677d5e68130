"""What of a cell is chance, so that it cannot be expected to give the same again: draws from random
generators that no seed was set for, and what else it shows that is another in each run.

In the kernel's process. Seen are the generators that libraries keep for all (`generators`), objects of
`numpy.random.Generator`, `numpy.random.RandomState` and `random.Random` that were made without a seed and are
variables (or, of the first, attributes of an object of a notebook's class), the calls of `chance`, and what
`shown` follows. Not seen: other generators, and what other processes draw.

In each of several runs, the first ones without a seed begin elsewhere in each cell, so that what was drawn
differs between runs, and with it what follows from it."""

import ast
import importlib
import random
import re
import sys
from collections.abc import Callable, Container, Iterator
from types import FunctionType
from typing import Any

from deskcheck.notebook.kernel.chance.calls import SEEDS, Chance, Found
from deskcheck.notebook.kernel.chance.generators import (
    KEPT,
    IdleDraws,
    LibraryGenerator,
    Position,
    words,
)
from deskcheck.notebook.kernel.chance.libraries import (
    OWN,
    SAYS_SO,
    Calls,
    LibraryGenerators,
    root_package,
)
from deskcheck.notebook.kernel.chance.meaning import (
    is_random_estimator,
    learns_by_chance,
    learns_the_same,
    meaning,
)
from deskcheck.notebook.kernel.chance.outside import Left, Outside, kept_of_shell
from deskcheck.notebook.kernel.chance.own import is_filled
from deskcheck.notebook.kernel.chance.proof import ReachedNames
from deskcheck.notebook.kernel.chance.shown import ShownChance, shows_value
from deskcheck.notebook.kernel.chance.sources import SHELL, may_come, of_shell
from deskcheck.notebook.kernel.chance.values import Known
from deskcheck.notebook.trajectory.chance import ChanceKind, ChanceSource, drawn_from, read_from, unseen

_SEED_BITS = 96
"""numpy's own choice for a generator without a seed has 128; seeds that people choose are shorter."""

_LONG = re.compile(r"\d{25,}")
_ITEMS = 20
"""So many items of a list or dict are looked at for generators."""
_FOR_ALL = ("random", "numpy.random")
_OWN_SEED = "torch.initial_seed"
_TORCHS = frozenset(
    {"rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "rand_like", "randn_like"}
)
"""torch's functions that draw. Of `random` and numpy, those are methods of the generator."""
_FILLING = frozenset(
    {"uniform_", "normal_", "bernoulli_", "random_", "xavier_uniform_", "kaiming_uniform_", "rsample"}
    | {"sample", "dropout", "xavier_normal_", "kaiming_normal_", "randint_like"}
)
"""Names of functions and methods that do, of tensors, distributions, and models that are made."""
_GENERATORS = ("generator", "rng", "random_state", "seed")
"""Names of parameters that take a generator."""
_SAMPLERS = re.compile(r"(sample|rvs|shuffle|resample|permutation|train_test_split|make_\w+)")
"""Names of functions and methods, of pandas, scipy and scikit-learn, whose result is what they drew."""


class Draws:
    """What of each cell is chance. run: which of several runs this is, from 0. Nothing is drawn here."""

    def __init__(self, run: int = 0) -> None:
        self.run = run
        self._cell = 0
        self._there: dict[str, Position] = {}
        """Where the generators for all were when the cell began."""
        self._put: set[str] = set()
        """Generators that were put somewhere."""
        self._back: dict[str, Callable[[], None]] = {}
        """What puts those back that the cell began with elsewhere."""
        self._seeded: set[str] = set()
        self._may_seed = False
        """Whether any cell so far has a word for seeds."""
        self._came = False
        """Whether any has a word for something that is another in each run."""
        self._places: dict[str, str] = {}
        self._written: set[str] = set()
        """Long numbers in the cells so far: seeds, perhaps."""
        self._restored: dict[str, int] = {}
        """Variables with a generator that was given the state of another: `id` of those with a seed."""
        self._idle = IdleDraws()
        self._chance = Chance()
        self._shown = ShownChance()
        self._reached = ReachedNames(self._chance, self._shown)
        self._outside = Outside()
        self.libraries = LibraryGenerators(run)
        self._unseeded: dict[str, Any] = {}
        """Variables that hold a generator without a seed: where it was when the cell began, None before its
        first draw."""

    def watch_imports(self) -> None:
        """From now on, what a library draws while it is imported is no draw of the cell that imports it.
        Nothing that Python offers tells when an import is over."""
        self.libraries.watch()
        bootstrap: Any = importlib._bootstrap
        find_and_load = bootstrap._find_and_load
        importing = False

        def _find_and_load(name: str, import_: Any) -> Any:
            nonlocal importing
            if importing:
                return find_and_load(name, import_)
            importing, before = True, _places()
            try:
                return find_and_load(name, import_)
            finally:
                importing = False
                self._imported(before)

        # Python leaves frames of this file out of the traceback of an import that fails.
        code = _find_and_load.__code__.replace(co_filename="<frozen importlib._bootstrap>")
        bootstrap._find_and_load = FunctionType(code, globals(), closure=_find_and_load.__closure__)

    def watch_files(self) -> None:
        """From now on, see which files are opened."""
        self._outside.watch()

    def _imported(self, before: dict[str, Position]) -> None:
        """An import has ended that began when the generators were there. What fails here is no error of the
        cell."""
        try:
            self._look_at_import(before)
        except Exception as error:  # noqa: BLE001  # told when the cell ends
            self.libraries.failed.append(unseen(error))

    def _look_at_import(self, before: dict[str, Position]) -> None:
        self._idle.watch()
        self.libraries.watch_numpy()
        for kept in KEPT:
            then, now = before.get(kept.name), kept.place()
            if now is None or then == now:
                continue
            if then is not None and kept.was_seeded(then, now, 0.0, may_be=False):
                self._seeded.add(kept.name)
            if self._there.get(kept.name) == then:  # the cell drew nothing before
                self._there[kept.name] = now

    def begin(self, namespace: dict[str, Any], code: str) -> tuple[ChanceSource, ...]:
        """A cell begins, of which nothing is known to be chance yet. namespace: the user's variables."""
        if "random" in code and "numpy" in sys.modules:
            getattr(sys.modules["numpy"], "random", None)  # numpy loads it when it is first used
        self._cell += 1
        state = words(self._cell, self.run)
        for kept in KEPT:
            if kept.name not in self._seeded and kept.place() is not None:
                if kept.name not in self._put:  # where it is before the first draw, too
                    kept.put(words(0, self.run))
                    self._put.add(kept.name)
                self._back[kept.name] = kept.keep()
                kept.put(state)
        self._there = _places()
        self._idle.begin()
        self.libraries.begin()
        self._places = {name: _place(value) for name, value in _generators(namespace)}
        self._unseeded = {name: _own_place(namespace.get(name)) for name in self._unseeded}
        self._outside.begin()
        return ()

    def end(self, namespace: dict[str, Any], code: str, seconds: float = 0.0) -> tuple[ChanceSource, ...]:
        """What of the cell, which has ended, is chance: the generators without a seed that it drew from, and
        where that comes from which it shows and which is another in each run. seconds: that it took."""
        self._written |= {*_LONG.findall(code)}
        self._may_seed = self._may_seed or "seed" in code.lower()
        unseeded = {each.name for each in KEPT} - self._seeded
        kept = [each for each in KEPT if self._drew(each, code, seconds)]
        self._put_back()
        libraries = self.libraries.drew()
        self._came = self._came or may_come(code)
        left = self._outside.reads(code, namespace)
        read = bool(kept or libraries or self._shown.names or self._reached.names or self._came or left)
        others = self._no_seeds(namespace) if "seed" in code.lower() or self._may_seed else {}
        by_chance = self._chance.of(code, namespace, others, unseeded=unseeded, read=read)
        chosen = {
            module
            for module, names in SEEDS.items()
            if any(f"{module}.{name}" in by_chance.calls for name in names)
        }
        self._seeded -= {module for module in chosen if not by_chance.seeded.get(module, False)}
        without = {name for name, last in self.libraries.without_seed.items() if last}
        self._seeded -= without
        found = [call for call in by_chance.calls if call != _OWN_SEED or "torch" not in self._seeded]
        found += sorted(without - chosen)
        found += [each.name for each in kept if each.name not in chosen]
        for name, value in _generators(namespace):
            first = _first_place(value)
            if name in by_chance.restored:
                self._restored[name] = id(value) if by_chance.restored[name] else 0
            if self._restored.get(name) == id(value):
                continue
            if first is None or str(value.bit_generator.seed_seq.entropy) in self._written:
                continue
            if self._places.get(name, first) != _place(value) or f"{name}.bit_generator.state" in code:
                found.append(name)
        found += self._own(by_chance, namespace, code)
        if OWN in libraries and found:
            libraries.remove(OWN)
        sources = self._sources(by_chance, found, libraries, namespace, code, left) + self.libraries.failed
        self.libraries.failed = []
        if of_shell(code):
            sources.append(SHELL)
        given = self._outside.in_shell(code, {name: each.label for name, each in self._reached.names.items()})
        if given is not None:
            sources.append(read_from(*given))
            self._reached.add(kept_of_shell(code), given.label)
        labels = [*found, *libraries, *([self._reached.label] if self._reached.label else [])]
        self._outside.end(labels[0] if labels else None)
        return tuple(dict.fromkeys(sources))

    def _sources(
        self,
        by_chance: Found,
        own: list[str],
        libraries: list[str],
        namespace: dict[str, Any],
        code: str,
        left: Left | None,
    ) -> list[ChanceSource]:
        """What of the cell is chance, by what it shows. own, libraries: the generators that it and they drew
        from. left: what it read outside of the variables that was drawn."""
        tree = by_chance.tree
        if tree is None:
            self._shown.passed(code)
            return [*map(drawn_from, [*own, *libraries])]
        self._reached.begin()
        if not own and not libraries:
            found = [*self._shown.of(tree, namespace, _nothing, code)]
            return self._reached.read(tree, namespace, found, code, left)
        of_numpy = self.libraries.of_numpy & {*libraries}
        of_call = _OfCall(by_chance, {*own, *libraries}, namespace, of_numpy)
        calls = Calls([*self._chance.runs(tree, namespace)], namespace, of_call)
        labels = [*own, *libraries]
        hidden = [label for label in (*_FOR_ALL, *libraries) if calls.hide(label) and label in labels]
        labels = [label for label in labels if label not in hidden]
        made = (name for name in labels if name in namespace)
        shown = [*self._shown.of(tree, namespace, of_call, code)]
        proof = self._reached.proof(
            namespace,
            of_call,
            {name: Known.NOTHING for name in made if type(namespace[name]) is not type(sys)},
            draws=True,
        )
        holds = proof.holds(tree, shows_last=shows_value(code))
        if holds:
            shown = [each for each in shown if each.kind is ChanceKind.SHOWN]
        perhaps = [ChanceSource(ChanceKind.PERHAPS, label) for label in hidden if not holds]
        if not labels:
            return [*self._reached.read(tree, namespace, shown, code, left), *perhaps]
        self._reached.drew(proof, namespace, labels[0])
        return shown if holds else [*map(drawn_from, labels), *shown, *perhaps]

    def _no_seeds(self, namespace: dict[str, Any]) -> dict[str, Container[object]]:
        """Variables that are another in each run, each with the keys of its items that are not; generators
        without a seed are such."""
        found: dict[str, Container[object]] = {
            name: {key for key, part in origin.parts if part is None}
            for name, origin in self._shown.names.items()
        }
        found |= dict.fromkeys(self._unseeded, ())
        made = (name for name in self._places if _first_place(namespace.get(name)) is not None)
        return found | dict.fromkeys(made, ())

    def _put_back(self) -> None:
        """Where the cell drew nothing, leave the generators as they were before it: it changed none."""
        for kept in KEPT:
            back = self._back.pop(kept.name, None)
            if back is not None and kept.name not in self._seeded and kept.place() == self._there[kept.name]:
                back()

    def _drew(self, kept: LibraryGenerator, code: str, seconds: float) -> bool:
        """Whether the cell drew from a generator for all while it had no seed."""
        then, now = self._there.get(kept.name), kept.place()
        if then is not None:
            then = self._idle.after(kept.name, then)
        if now is None or then == now:
            return False
        if then is None:
            new = kept.is_new(now, code)
            if new is None:
                self._seeded.add(kept.name)
            return new is False
        if kept.was_seeded(then, now, seconds, may_be=self._may_seed):
            self._seeded.add(kept.name)
        return kept.name not in self._seeded

    def _own(self, by_chance: Found, namespace: dict[str, Any], code: str) -> list[str]:
        """The variables with a generator that has no seed of its own, and which the cell drew from."""
        for name in by_chance.bound:
            self._unseeded.pop(name, None)
        self._unseeded |= dict.fromkeys(by_chance.made)
        for name in (each for each, seeded in by_chance.restored.items() if seeded):
            self._unseeded.pop(name, None)
        found = []
        for name, then in [*self._unseeded.items()]:
            now = _own_place(namespace.get(name))
            seeded = re.search(
                rf"\b{re.escape(name)}\.(seed|manual_seed|setstate|set_state)\s*\(\s*[^)\s]", code
            )
            if now is None or (seeded and name not in by_chance.made):
                del self._unseeded[name]  # no generator, or a seeded one
            elif (name in by_chance.read) if then is None else then != now:
                found.append(name)
        return found


def _nothing(call: ast.Call) -> None:
    """Which generator a call draws from in a cell that draws nothing."""


def _places() -> dict[str, Position]:
    return {kept.name: place for kept in KEPT if (place := kept.place()) is not None}


class _OfCall:
    """Which generator without a seed a call in a cell draws from. drew: those that the cell drew from.
    of_numpy: packages, of them, whose objects may keep one of numpy's."""

    def __init__(
        self, by_chance: Found, drew: set[str], namespace: dict[str, Any], of_numpy: set[str]
    ) -> None:
        self.of_numpy = of_numpy
        self.labels = by_chance.labels
        self.drew = drew
        self.namespace = namespace
        self.kept = {
            id(generator): name
            for name, module, attribute in (
                ("random", "random", "_inst"),
                ("numpy.random", "numpy.random.mtrand", "_rand"),
            )
            if name in drew and (generator := getattr(sys.modules.get(module), attribute, None)) is not None
        }

    def __call__(self, call: ast.Call) -> str | None:
        label = self.labels.get(id(call))
        if label is not None or not isinstance(call.func, ast.Attribute | ast.Name):
            return label
        if isinstance(call.func, ast.Attribute) and (name := ast.unparse(call.func.value)) in self.drew:
            holder = self.namespace.get(name)
            if holder is None or type(holder) is not type(sys):
                return name
        own = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
        if SAYS_SO.search(own) and (package := root_package(call.func, self.namespace)) in self.drew:
            return package
        for each in call.keywords:
            if each.arg in _GENERATORS and isinstance(each.value, ast.Name) and each.value.id in self.drew:
                return each.value.id
        if "faker" in self.drew and isinstance(call.func, ast.Attribute):
            holder = meaning(call.func.value, self.namespace)
            if type(holder).__module__.startswith("faker."):
                return "faker"
        if "numpy.random" in self.drew and _SAMPLERS.fullmatch(own):
            seeds = [each.value for each in call.keywords if each.arg in _GENERATORS[1:]]
            if all(isinstance(each, ast.Constant) and each.value is None for each in seeds):
                return "numpy.random"
        if "numpy.random" in self.drew and own == "fit" and isinstance(call.func, ast.Attribute):
            return "numpy.random" if self._learns(call.func.value, call.args) else None
        function = meaning(call.func, self.namespace)
        package = root_package(call.func, self.namespace) if isinstance(function, type) else None
        if package in self.of_numpy:
            return package
        label = self.kept.get(id(getattr(function, "__self__", None)))
        if label is None and "torch" in self.drew:
            return "torch" if _is_of_torch(function, own) else None
        return label

    def _learns(self, model: ast.expr, given: list[ast.expr]) -> bool:
        """Whether a model, a variable or made where it is fitted, may learn by what it draws."""
        if isinstance(model, ast.Call):
            if learns_the_same(model, given[0] if given else None, self.namespace):
                return False
            kind = meaning(model.func, self.namespace)
            seeded = any(each.arg == "random_state" for each in model.keywords)
            return isinstance(kind, type) and is_random_estimator(kind) and not seeded
        return learns_by_chance(meaning(model, self.namespace))


def _is_of_torch(function: Any, name: str) -> bool:
    """Whether a function or method, of that name in the cell, draws from torch's generator, or is a class of
    models, whose weights are drawn."""
    torch = vars(sys.modules["torch"])
    if name in _FILLING or any(function is torch[each] for each in _TORCHS if each in torch):
        return True
    kind = getattr(sys.modules.get("torch.nn"), "Module", None)
    return isinstance(function, type) and kind is not None and kind in type.mro(function)


def _generators(namespace: dict[str, Any]) -> list[tuple[str, Any]]:
    numpy = sys.modules.get("numpy.random")
    kind = getattr(numpy, "Generator", None)
    if kind is None:
        return []
    found = []
    for name, value in [*namespace.items()]:
        if type(value) is kind:
            found.append((name, value))
        for within, each in _inside(name, value):
            if type(each) is kind:
                found.append((within, each))
    return found


def _inside(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What a variable holds, with what it is called there: items of a small list or dict, attributes of an
    object of a notebook's class, defaults of a function and what it is closed over."""
    if type(value) in (list, tuple) and len(value) <= _ITEMS:
        yield from ((f"{name}[{number}]", each) for number, each in enumerate(value))
    elif type(value) is dict and len(value) <= _ITEMS:
        yield from ((f"{name}[{key!r}]", each) for key, each in [*value.items()] if type(key) in (str, int))
    elif type(value) is FunctionType:
        cells = [each.cell_contents for each in value.__closure__ or () if is_filled(each)]
        held = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *cells)
        yield from ((name, each) for each in held)
    elif type(value).__module__ == "__main__" and type(type(value)) is type:
        try:
            inside = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        yield from ((f"{name}.{attribute}", each) for attribute, each in [*inside.items()])


def _own_place(value: Any) -> Any:
    """Where a generator of `random`, numpy or torch is; None: it is none."""
    if type(value) is random.Random:
        return value.getstate()
    new = getattr(sys.modules.get("numpy.random"), "Generator", None)
    if new is not None and type(value) is new:
        return _place(value)
    torchs = getattr(sys.modules.get("torch"), "Generator", None)
    if torchs is not None and type(value) is torchs:
        return value.get_state().tolist()
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
    bits: Any = getattr(generator, "bit_generator", None)
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
