"""Generators without a seed that libraries make for themselves: each `random.Random`, and those of
`numpy.random.default_rng`.

In the kernel's process. `random.Random.seed`, `random.Random.setstate`, `numpy.random.default_rng` and the
functions `seed` of both modules are wrapped (``__wrapped__`` says so). A `random.Random` without a seed
begins elsewhere in each run. Not seen: other generators of numpy that libraries make, as numpy asks for
entropy also where they are given a seed, and what C code asks for itself."""

import ast
import builtins
import functools
import os
import random
import re
import sys
import weakref
from collections.abc import Callable, Mapping
from types import FrameType, ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.generators import words
from deskcheck.notebook.kernel.chance.meaning import (
    is_function,
    is_random_estimator,
    learns_by_chance,
    made_to_learn_the_same,
    meaning,
)
from deskcheck.notebook.trajectory.chance import ChanceSource, unseen

OWN = "random.Random"
"""What a generator is called that the notebook made."""
_MADE_BY = frozenset({"random", "numpy", "copy", "copyreg"})
"""Packages that make a generator for whoever calls them."""
_IDLE = frozenset(
    {"tempfile", "asyncio", "multiprocessing", "concurrent", "threading", "email", "joblib", "tornado"}
    | {"IPython", "ipykernel", "jupyter_client", "zmq", "comm", "traitlets", "debugpy", "ipywidgets"}
    | {"deskcheck", "urllib3", "requests", "unittest", "hypothesis", "_pytest", "pytest", "importlib"}
)
"""Packages whose draws make names and numbers for themselves."""
SAYS_SO = re.compile(
    r"rand|sampl|shuffl|choice|permut|bootstrap|noise|simulat|stochastic|monte|mcmc|anneal|walk|erdos|renyi"
    r"|barabasi|watts|powerlaw|gnp|gnm|configuration_model",
    re.IGNORECASE,
)
"""Names of functions that say that they draw."""
_PARTS = 50
"""Parameters and steps of an estimator that are looked at."""
_MOST = 200
"""So many generators are looked at, the ones made last."""
_FIRST = 1 << 20
"""Their states are numbered from here: the cells come before."""


class LibraryGenerators:
    """Those that are made from now on, in one process. run: which of several runs this is."""

    def __init__(self, run: int) -> None:
        self.run = run
        self._made: dict[int, tuple[Callable[[], Any], str, object]] = {}
        """By `id`: what gives the generator, who made it, where it was when the cell began. To a
        `random.Random` a weak reference is held; none can be had to a generator of numpy."""
        self._count = 0
        self._numpy: Any = None
        """`numpy.random.default_rng` as it was, once it is wrapped."""
        self._watches = False
        self.failed: list[ChanceSource] = []
        """What could not be looked at, inside of calls of the cell's: no error of theirs."""
        self.of_numpy: set[str] = set()
        """Who makes generators of numpy."""
        self._seeds: list[tuple[Any, Any]] = []
        """Modules with a generator for all, and their function `seed` as it was."""
        self.without_seed: dict[str, bool] = {}
        """Modules whose generator for all was given a seed in this cell: whether the last one was None."""

    def watch(self) -> Callable[[], None]:
        """Begin to see them. What is returned ends that."""
        seed, setstate = random.Random.seed, random.Random.setstate

        def made(generator: random.Random, frame: FrameType | None, *, without: bool) -> None:
            try:
                self._seeded(generator, frame, without=without)
            except Exception as error:  # noqa: BLE001
                self.failed.append(unseen(error))

        @functools.wraps(seed)
        def watched_seed(self: random.Random, *args: Any, **kwargs: Any) -> None:
            seed(self, *args, **kwargs)
            given = args[0] if args else kwargs.get("a")
            made(self, sys._getframe(1), without=given is None)

        @functools.wraps(setstate)
        def watched_setstate(self: random.Random, *args: Any, **kwargs: Any) -> None:
            setstate(self, *args, **kwargs)
            made(self, sys._getframe(1), without=False)

        kind: Any = random.Random
        kind.seed, kind.setstate = watched_seed, watched_setstate
        self._watches = True
        self.watch_numpy()

        def end() -> None:
            kind.seed, kind.setstate = seed, setstate
            for module, as_it_was in self._seeds:
                module.seed = as_it_was
            self._seeds = []
            for module in _of_numpy() if self._numpy is not None else ():
                module.default_rng = self._numpy
            self._watches, self._numpy = False, None

        return end

    def _watch_seed(self, module: Any) -> None:
        """See what seeds the generator that a module keeps for all is given, by whatever function."""
        seed = module.seed

        @functools.wraps(seed)
        def watched(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            made = seed(*args, **kwargs)
            self.without_seed[module.__name__] = all(each is None for each in (*args, *kwargs.values()))
            return made

        module.seed = watched
        self._seeds.append((module, seed))

    def watch_numpy(self) -> None:
        """Where numpy is loaded by now, see what it makes."""
        if self._watches and not any(module is random for module, _ in self._seeds):
            self._watch_seed(random)
        modules = _of_numpy()
        if not self._watches or self._numpy is not None or not modules:
            return
        self._numpy = make = modules[0].default_rng

        @functools.wraps(make)
        def default_rng(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            made = make(*args, **kwargs)
            if all(each is None for each in (*args, *kwargs.values())):
                self._made_by_numpy(made, sys._getframe(1))
            return made

        for module in modules:
            module.default_rng = default_rng
        if hasattr(modules[0], "seed"):
            self._watch_seed(modules[0])

    def _made_by_numpy(self, generator: Any, frame: FrameType | None) -> None:
        try:
            maker = _maker(frame)
            if maker is not None and maker != OWN:
                self._keep(generator, lambda: generator, maker)
                self.of_numpy.add(maker)
        except Exception as error:  # noqa: BLE001
            self.failed.append(unseen(error))

    def _keep(self, generator: Any, found: Callable[[], Any], maker: str) -> None:
        if len(self._made) >= _MOST:
            self._made.pop(next(iter(self._made)))
        self._made[id(generator)] = found, maker, _place(generator)

    def _seeded(self, generator: random.Random, frame: FrameType | None, *, without: bool) -> None:
        self._made.pop(id(generator), None)
        maker = _maker(frame) if without else None
        if maker is None or type(generator).getstate is not random.Random.getstate:
            return
        self._count += 1
        state = words(_FIRST + self._count, self.run)
        type(generator).__mro__[type(generator).__mro__.index(random.Random) + 1].setstate(  # type: ignore[attr-defined]
            generator, (*state, 0)
        )
        self._keep(generator, weakref.ref(generator), maker)

    def begin(self) -> None:
        """A cell begins."""
        self.watch_numpy()
        self.without_seed.clear()
        for key, (found, maker, _) in [*self._made.items()]:
            generator = found()
            if generator is None:
                del self._made[key]
            else:
                self._made[key] = found, maker, _place(generator)

    def drew(self) -> list[str]:
        """Who made the generators that the cell drew from."""
        found: dict[str, None] = {}
        for reference, maker, before in self._made.values():
            generator = reference()
            if generator is not None and _place(generator) != before:
                found[maker] = None
        return [*found]


def _place(generator: Any) -> object:
    """Where a generator is."""
    if isinstance(generator, random.Random):
        return generator.getstate()
    return repr(generator.bit_generator.state)


def _of_numpy() -> list[Any]:
    """The modules that have `numpy.random.default_rng`, where numpy is loaded."""
    modules = [sys.modules.get(name) for name in ("numpy.random", "numpy.random._generator")]
    return [each for each in modules if hasattr(each, "default_rng")]


def _maker(frame: FrameType | None) -> str | None:
    """The package of the code that makes a generator; `OWN` if that is the notebook's; None where its
    draws do not count. A module of the notebook's folder has its name."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        if package in _IDLE:
            return None
        if package not in _MADE_BY:
            return OWN if package == "__main__" else package
        frame = frame.f_back
    return None


class Calls:
    """What a cell calls. runs: the nodes that it runs, those of the notebook's functions and classes too.
    drawn: which generator a call draws from, if it is known to."""

    def __init__(
        self,
        runs: list[ast.AST],
        namespace: Mapping[str, Any],
        drawn: Callable[[ast.Call], str | None],
    ) -> None:
        self.runs = runs
        self.namespace = namespace
        self.calls = [node for node in runs if isinstance(node, ast.Call)]
        self.labels = {drawn(call) for call in self.calls}
        self.learns_the_same = made_to_learn_the_same(runs, namespace)

    def hide(self, label: str) -> bool:
        """Whether a generator is one that only libraries drew from, in functions that do not say so: whether
        that decides what is shown, only the runs can tell."""
        if label in self.labels or label == OWN or is_of_notebook(label):
            return False
        if label in ("random", "numpy.random"):
            return all(map(self._is_quiet, self.calls)) and not any(map(self._may_draw, self.runs))
        return True

    def _is_quiet(self, call: ast.Call) -> bool:
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if SAYS_SO.search(name):
            return False
        value = meaning(call.func, self.namespace)
        if value is not None and not is_function(value):
            return False
        return root_package(call.func, self.namespace) is not None

    def _may_draw(self, node: ast.AST) -> bool:
        """Whether it names something of a module of the notebook's folder, or an estimator of scikit-learn
        that learns by chance or has one that does."""
        if not isinstance(node, ast.Name | ast.Attribute) or id(node) in self.learns_the_same:
            return False
        value = meaning(node, self.namespace)
        if value is not None and is_of_notebook(root_package(node, self.namespace) or ""):
            return True
        if isinstance(value, type):
            return is_random_estimator(value)
        return has_random_estimator(value)


def root_package(node: ast.expr, namespace: Mapping[str, Any]) -> str | None:
    """The package that what is called comes from, or what it is a method of; None: that is not known. Of the
    notebook's own functions and classes it is ``__main__``."""
    while True:
        value = meaning(node, namespace)
        if value is not None:
            break
        match node:
            case ast.Attribute() | ast.Subscript() | ast.Starred():
                node = node.value
            case ast.Call():
                node = node.func
            case ast.Name():
                return "builtins" if hasattr(builtins, node.id) else None
            case ast.Constant() | ast.JoinedStr() | ast.List() | ast.Dict() | ast.Set() | ast.Tuple():
                return "builtins"
            case ast.BinOp():
                node = node.left
            case _:
                return None
    if getattr(value, "__name__", "") == "<lambda>":
        return None
    module = getattr(value, "__module__", None)
    if isinstance(value, ModuleType):
        module = value.__name__
    elif not isinstance(module, str):
        module = type(value).__module__
    return str(module).partition(".")[0]


def has_random_estimator(value: Any, depth: int = 3) -> bool:
    """Whether it is an estimator that learns by chance, or has one among its parameters or steps."""
    if learns_by_chance(value):
        return True
    if depth and isinstance(value, list | tuple):
        return any(has_random_estimator(each, depth - 1) for each in value[:_PARTS])
    if depth and type(value).__module__.startswith("sklearn."):
        inside = getattr(value, "__dict__", {})
        return any(has_random_estimator(each, depth - 1) for each in [*inside.values()][:_PARTS])
    return False


def is_of_notebook(package: str) -> bool:
    """Whether a package is a module in the notebook's folder."""
    file = getattr(sys.modules.get(package), "__file__", None)
    if not isinstance(file, str):
        return False
    path = os.path.abspath(file)
    return path.startswith(os.path.join(os.getcwd(), "")) and "site-packages" not in path
