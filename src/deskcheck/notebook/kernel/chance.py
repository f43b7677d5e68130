"""Calls in a cell whose result is chance: of the operating system's random numbers, and of generators that
are made or seeded without a seed, or with the time.

In the kernel's process. They are found in the source of the cell and of the notebook's own functions and
classes that it names. What a name means is read from the user's variables when the cell has ended; nothing
is called. Not seen: calls inside of libraries and in strings, and by names that mean something else since."""

import ast
import re
import sys
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from deskcheck.notebook.state.dependencies import definitions, parse

_ALWAYS = {
    "os": ("urandom", "getrandom"),
    "uuid": ("uuid1", "uuid4"),
    "secrets": (
        "choice",
        "randbelow",
        "randbits",
        "token_bytes",
        "token_hex",
        "token_urlsafe",
        "SystemRandom",
    ),
    "random": ("SystemRandom",),
    "torch": ("seed", "initial_seed"),
}
"""Module -> functions that give something else each time (`initial_seed`: unless the user has set one)."""
_MAKERS = {
    "random": ("Random",),
    "numpy.random": (
        "default_rng", "RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64",
    ),
}  # fmt: skip
"""Module -> functions that make a generator, by chance where they are not given a seed."""
_GENERATORS = frozenset(
    {"random.SystemRandom", "secrets.SystemRandom"}
    | {f"{module}.{name}" for module, names in _MAKERS.items() for name in names}
)
SEEDS = {"random": ("seed",), "numpy.random": ("seed",), "torch": ("seed", "manual_seed")}
"""Module -> functions that seed the generator for all. torch's `seed` takes none."""
_CLOCKS = {
    "time": ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"),
    "os": ("getpid",),
}
"""Module -> functions that are no seed, though they are given as one."""
_NOW = frozenset({"now", "utcnow", "today"})
"""Methods of dates of which the same is true."""
_MAY_BE = re.compile(
    r"secrets|uuid|urandom|getrandom|\bRandom\b|SystemRandom|seed|default_rng|RandomState|SeedSequence"
    r"|PCG64|MT19937|Philox|SFC64"
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Found:
    """In a cell. calls: the functions, by module and name. made: names that it gave a generator to which has
    no seed. bound: all names that it gave something to. read: names that it reads. tree: its source, where it
    was read. labels: the functions by the `id` of the call in the tree."""

    calls: tuple[str, ...] = ()
    made: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    tree: ast.Module | None = None
    labels: Mapping[int, str] = field(default_factory=dict)


class Chance:
    """Of the cells of one kernel, in their order."""

    def __init__(self) -> None:
        self._defined: dict[str, ast.AST] = {}
        self._waiting: list[str] = []
        """Cells of which what they define was not yet looked for."""
        self._seen = False
        """Whether any cell so far has a word that could be such a call."""

    def of(
        self, code: str, namespace: Mapping[str, Any], others: Container[str] = (), *, read: bool = False
    ) -> Found:
        """What is found in the next cell, which has ended. others: variables that are another in each run,
        and so are no seed. read: the cell is read in any case."""
        self._waiting.append(code)
        self._seen = self._seen or _MAY_BE.search(code) is not None
        tree = parse(code) if self._seen or read else None
        if tree is None or not self._seen:
            return Found(tree=tree)
        self._defined |= definitions(self._waiting)
        self._waiting = []
        known = _Known(others)
        calls: dict[int, str] = {}
        made: set[str] = set()
        nodes = [*self._run(tree, namespace)]
        named = _given_names(nodes)
        for node in nodes:
            if isinstance(node, ast.Assign):
                no_seed = known.no_seed(node.value, namespace)
                known.own |= {each.id: no_seed for each in node.targets if isinstance(each, ast.Name)}
            if not isinstance(node, ast.Call):
                continue
            label = known.chance(node, namespace)
            if label is None:
                continue
            if id(node) in named and label in _GENERATORS:
                made.update(named[id(node)])
            else:
                calls[id(node)] = label
        names = [node for node in nodes if isinstance(node, ast.Name)]
        return Found(
            tuple(dict.fromkeys(calls.values())),
            frozenset(made),
            frozenset(name.id for name in names if isinstance(name.ctx, ast.Store)),
            frozenset(name.id for name in names if isinstance(name.ctx, ast.Load)),
            tree,
            calls,
        )

    def runs(self, tree: ast.Module, namespace: Mapping[str, Any]) -> Iterator[ast.AST]:
        """The nodes that the cell given to `of` last runs, or may run in what the notebook defines."""
        self._defined |= definitions(self._waiting)
        self._waiting = []
        return self._run(tree, namespace)

    def _run(self, tree: ast.Module, namespace: Mapping[str, Any]) -> Iterator[ast.AST]:
        """The nodes that the cell runs, or may run by calling what the notebook defines."""
        used: set[tuple[str, bool]] = set()
        todo: list[ast.AST] = [*tree.body]
        while todo:
            node = todo.pop(0)
            if isinstance(node, _DEFINITIONS):  # defined here, not called yet
                todo += [*node.decorator_list, *getattr(node, "bases", ())]
                continue
            yield node
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                for name, made in ((node.id, False), (type(namespace.get(node.id)).__name__, True)):
                    definition = self._defined.get(name)
                    if definition is not None and (name, made) not in used:
                        used.add((name, made))
                        todo += _bodies(definition, made=made)
            todo += ast.iter_child_nodes(node)


def _bodies(definition: ast.AST, *, made: bool) -> Iterator[ast.AST]:
    """What runs when a function is called, or the methods of a class are. made: of an object that is there
    already."""
    todo = [definition]
    while todo:
        node = todo.pop()
        if isinstance(node, _DEFINITIONS):
            for each in node.body:
                if isinstance(each, _DEFINITIONS):
                    if not (made and each.name in ("__init__", "__new__")):
                        todo.append(each)
                else:
                    yield each
        else:
            yield node


def _given_names(nodes: list[ast.AST]) -> dict[int, list[str]]:
    """The calls whose result is given to variables, by their `id`, with the names."""
    found: dict[int, list[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if all(isinstance(target, ast.Name) for target in targets):
                found[id(node.value)] = [target.id for target in targets if isinstance(target, ast.Name)]
    return found


class _Known:
    """The functions of the tables above that are loaded, told by what they are."""

    def __init__(self, others: Container[str]) -> None:
        self.others = others
        self.own: dict[str, bool] = {}
        """Variables that the cell itself gave something to: whether that is no seed."""
        self.always, self.makers = _loaded(_ALWAYS), _loaded(_MAKERS)
        self.seeds, self.clocks = _loaded(SEEDS), _loaded(_CLOCKS)

    def chance(self, call: ast.Call, namespace: Mapping[str, Any]) -> str | None:
        """The function's name, where what the call gives or does is chance."""
        function = _meaning(call.func, namespace)
        label = self.always.get(id(function))
        if label is not None:
            return label
        if isinstance(call.func, ast.Attribute):
            system = getattr(sys.modules.get("random"), "SystemRandom", None)
            if type(_meaning(call.func.value, namespace)) is system:
                return "random.SystemRandom"
            if call.func.attr == "seed" and not call.args and self._is_of_torch(call.func.value, namespace):
                return "torch.Generator.seed"
        label = self.makers.get(id(function)) or self.seeds.get(id(function))
        return label if label is not None and self._no_seed(call, namespace) else None

    def _is_of_torch(self, node: ast.expr, namespace: Mapping[str, Any]) -> bool:
        """Whether it is a generator of torch's, or a call that makes one."""
        kind = getattr(sys.modules.get("torch"), "Generator", None)
        if isinstance(node, ast.Call):
            return kind is not None and _meaning(node.func, namespace) is kind
        return kind is not None and type(_meaning(node, namespace)) is kind

    def _no_seed(self, call: ast.Call, namespace: Mapping[str, Any]) -> bool:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not given or all(isinstance(each, ast.Constant) and each.value is None for each in given):
            return True
        return any(self.no_seed(each, namespace) for each in given)

    def no_seed(self, value: ast.expr, namespace: Mapping[str, Any]) -> bool:
        """Whether a value, given as a seed, is none: from a clock, or from a variable that is."""
        for node in ast.walk(value):
            if isinstance(node, ast.Name) and self.own.get(node.id, node.id in self.others):
                return True
            if isinstance(node, ast.Call):
                method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                if method in _NOW or id(_meaning(node.func, namespace)) in self.clocks:
                    return True
        return False


def _loaded(table: Mapping[str, tuple[str, ...]]) -> dict[int, str]:
    """`id` of each function that is loaded, with its name."""
    return {
        id(getattr(sys.modules[module], name)): f"{module}.{name}"
        for module, names in table.items()
        if module in sys.modules
        for name in names
        if hasattr(sys.modules[module], name)
    }


def _meaning(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """What a name, or a name in a module, is bound to; None where only running code could tell."""
    if isinstance(node, ast.Name):
        return namespace.get(node.id)
    if isinstance(node, ast.Attribute):
        module = _meaning(node.value, namespace)
        if isinstance(module, ModuleType):
            return vars(module).get(node.attr, sys.modules.get(f"{module.__name__}.{node.attr}"))
    return None
