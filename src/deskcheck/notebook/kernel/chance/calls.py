"""Calls in a cell whose result is chance: of the operating system's random numbers, and of generators that
are made or seeded without a seed, or with one that is chance itself: the time, the number of a process, an
address, the hash of a text, or what was drawn.

In the kernel's process. They are found in the source of the cell and of the notebook's own functions and
classes that it names. What a name means is read from the user's variables when the cell has ended; nothing
is called. Not seen: calls inside of libraries and in strings, and by names that mean something else since."""

import ast
import re
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
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
_INITIALIZED = {"pyarrow.compute": ("random",)}
"""Module -> functions that draw by the system's random numbers, unless they are given an `initializer`."""
_GENERATORS = frozenset(
    {"random.SystemRandom", "secrets.SystemRandom"}
    | {f"{module}.{name}" for module, names in _MAKERS.items() for name in names}
)
_OBJECTS = frozenset(
    {"random.Random", "numpy.random._generator.Generator", "numpy.random.mtrand.RandomState"}
)
"""Their classes."""
SEEDS = {"random": ("seed",), "numpy.random": ("seed",), "torch": ("seed", "manual_seed")}
"""Module -> functions that seed the generator for all. torch's `seed` takes none."""
_CLOCKS = {
    "time": ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"),
    "os": ("getpid", "getppid"),
    "threading": ("get_ident", "get_native_id"),
    "builtins": ("id",),
}
"""Module -> functions that are no seed, though they are given as one."""
_NOW = frozenset({"now", "utcnow", "today"})
"""Methods of dates of which the same is true."""
_MAY_BE = re.compile(
    r"secrets|uuid|urandom|getrandom|\bRandom\b|SystemRandom|seed|default_rng|RandomState|SeedSequence"
    r"|pyarrow|bit_generator|PCG64|MT19937|Philox|SFC64"
)
_SEEDING = frozenset({"seed", "manual_seed"})
"""Methods that seed a generator."""
_STATES = frozenset({"seed", "getstate", "setstate", "get_state", "set_state"})
"""Methods of generators that draw nothing."""
_SIZES = frozenset({"len", "type", "isinstance"})
"""Builtins whose result is a seed, whatever was drawn."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Found:
    """In a cell. calls: the functions, by module and name. made: names that it gave a generator to which has
    no seed. bound: all names that it gave something to. read: names that it reads. tree: its source, where it
    was read. labels: the functions by the `id` of the call in the tree. seeded: modules whose generator for
    all it seeds, each with whether the last seed is one. restored: variables with a generator of numpy
    that it gives a state, each with whether the last one is that of a seed."""

    calls: tuple[str, ...] = ()
    made: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    tree: ast.Module | None = None
    labels: Mapping[int, str] = field(default_factory=dict)
    seeded: Mapping[str, bool] = field(default_factory=dict)
    restored: Mapping[str, bool] = field(default_factory=dict)


class Chance:
    """Of the cells of one kernel, in their order."""

    def __init__(self) -> None:
        self._defined: dict[str, ast.AST] = {}
        self._waiting: list[str] = []
        """Cells of which what they define was not yet looked for."""
        self._seen = False
        """Whether any cell so far has a word that could be such a call."""

    def of(
        self,
        code: str,
        namespace: Mapping[str, Any],
        others: Mapping[str, Container[object]] = {},
        *,
        unseeded: Iterable[str] = (),
        read: bool = False,
    ) -> Found:
        """What is found in the next cell, which has ended. others: variables that are another in each run,
        and so are no seed, each with the keys of its items that are the same. unseeded: modules whose
        generator for all had no seed when the cell began. read: the cell is read in any case."""
        self._waiting.append(code)
        self._seen = self._seen or _MAY_BE.search(code) is not None
        tree = parse(code) if self._seen or read else None
        if tree is None or not self._seen:
            return Found(tree=tree)
        self._defined |= definitions(self._waiting)
        self._waiting = []
        known = _Known(others, namespace, unseeded)
        calls: dict[int, str] = {}
        made: set[str] = set()
        nodes = [*self._run(tree, namespace)]
        named = _given_names(nodes)
        unused = self._unused(nodes, known)
        for node in nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                known.assigned(node)
            known.looped(node)
            if not isinstance(node, ast.Call):
                continue
            known.given(node, self._defined)
            made |= known.seeds_badly(node)
            label = known.chance(node)
            known.has_seeded(node)
            if label is None or id(node) in unused:
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
            known.last,
            known.restored,
        )

    def _unused(self, nodes: list[ast.AST], known: "_Known") -> set[int]:
        """`id` of what makes a generator where a parameter is given none, in functions and classes that are
        given one wherever they are named."""
        loads = {id(each): each.id for each in nodes if isinstance(each, ast.Name)}
        bases = {
            each.id
            for definition in self._defined.values()
            for base in getattr(definition, "bases", ())
            for each in ast.walk(base)
            if isinstance(each, ast.Name)
        }
        given: dict[str, set[str]] = {}
        for node in nodes:
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            function = _called_function(self._defined.get(node.func.id))
            if function is None or node.func.id in bases:
                continue
            del loads[id(node.func)]
            found = {name for name, value in _given(function, node) if known.is_generator(value)}
            given[node.func.id] = given.get(node.func.id, found) & found
        for name in {*loads.values()} & {*given}:
            del given[name]
        unused: set[int] = set()
        for name, parameters in given.items():
            function, inside = _called_function(self._defined[name]), [*ast.walk(self._defined[name])]
            makes = (getattr(each, "id", getattr(each, "attr", "")) for each in inside)
            if function is None or not {"cls", "type", "__class__"}.isdisjoint(makes):
                continue  # it may make others of its own class
            kept = parameters - {*_given_again(function, parameters)}
            unused |= {id(inner) for each in ast.walk(function) for inner in _otherwise(each, kept)}
        return unused

    def runs(self, tree: ast.Module, namespace: Mapping[str, Any]) -> Iterator[ast.AST]:
        """The nodes that the cell given to `of` last runs, or may run in what the notebook defines."""
        self._defined |= definitions(self._waiting)
        self._waiting = []
        return self._run(tree, namespace)

    def functions(self) -> dict[str, ast.FunctionDef]:
        """Those that the notebook has defined, by name, as `runs` gives their nodes."""
        return {name: each for name, each in self._defined.items() if isinstance(each, ast.FunctionDef)}

    def _run(self, tree: ast.Module, namespace: Mapping[str, Any]) -> Iterator[ast.AST]:
        """The nodes that the cell runs, or may run by calling what the notebook defines, in the order of the
        source."""
        used: set[tuple[str, bool]] = set()
        todo: list[ast.AST] = [*reversed(tree.body)]
        while todo:
            node = todo.pop()
            if isinstance(node, _DEFINITIONS):  # defined here, not called yet
                todo += [*getattr(node, "bases", ()), *node.decorator_list]
                continue
            yield node
            todo += [*ast.iter_child_nodes(node)][::-1]
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                for name, made in ((node.id, False), (type(namespace.get(node.id)).__name__, True)):
                    definition = self._defined.get(name)
                    if definition is not None and (name, made) not in used:
                        used.add((name, made))
                        todo += [*_bodies(definition, made=made)][::-1]


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


def _called_function(definition: ast.AST | None) -> ast.FunctionDef | None:
    """The function that runs when what is defined is called."""
    if isinstance(definition, ast.ClassDef):
        definition = next((each for each in definition.body if getattr(each, "name", "") == "__init__"), None)
    return definition if isinstance(definition, ast.FunctionDef) else None


def _given(function: ast.FunctionDef, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a function with what a call gives them."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    yield from zip(names[int(function.name == "__init__") :], call.args, strict=False)
    yield from ((each.arg, each.value) for each in call.keywords if each.arg is not None)


def _given_again(function: ast.FunctionDef, names: set[str]) -> Iterator[str]:
    """The parameters that a function gives another value, but where they are None."""
    nodes = [*ast.walk(function)]
    expected = {id(inner) for each in nodes for inner in _otherwise(each, names)}
    for each in nodes:
        if isinstance(each, ast.Assign) and any(_otherwise(each.value, names)):
            expected |= {id(target) for target in each.targets}
    for each in nodes:
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load) and id(each) not in expected:
            yield each.id


def _otherwise(node: ast.AST, names: Container[str]) -> Iterator[ast.AST]:
    """What runs only where one of some variables is None."""
    match node:
        case ast.BoolOp(op=ast.Or(), values=[ast.Name(id=name), *others]) if name in names:
            parts: list[ast.AST] = [*others]
        case (
            ast.IfExp(test=ast.Compare(left=ast.Name(id=name), ops=[ast.Is()]), body=other)
            | ast.IfExp(test=ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot()]), orelse=other)
        ) if name in names and _is_none(node):
            parts = [other]
        case ast.If(test=ast.Compare(left=ast.Name(id=name), ops=[ast.Is()])) if name in names and _is_none(
            node
        ):
            parts = [*node.body]
        case _:
            parts = []
    yield from (each for part in parts for each in ast.walk(part))


def _is_none(node: ast.IfExp | ast.If) -> bool:
    """Whether a test compares with None."""
    other = node.test.comparators[0] if isinstance(node.test, ast.Compare) else None
    return isinstance(other, ast.Constant) and other.value is None


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
    """The functions of the tables above that are loaded, told by what they are, and what of a cell is no
    seed, as far as it was read."""

    def __init__(
        self,
        others: Mapping[str, Container[object]],
        namespace: Mapping[str, Any],
        unseeded: Iterable[str],
    ) -> None:
        self.others = others
        self.namespace = namespace
        self.own: dict[str, bool] = {}
        """Variables that the cell itself gave something to: whether that is no seed."""
        self.unseeded = {*unseeded}
        """Modules whose generator for all has no seed at this place."""
        self.last: dict[str, bool] = {}
        """As `Found.seeded`."""
        self.restored: dict[str, bool] = {}
        self.always, self.makers = _loaded(_ALWAYS), _loaded(_MAKERS)
        self.initialized = _loaded(_INITIALIZED)
        self.seeds, self.clocks = _loaded(SEEDS), _loaded(_CLOCKS)
        self.for_all = {
            id(generator): module
            for module, at, name in (
                ("random", "random", "_inst"),
                ("numpy.random", "numpy.random.mtrand", "_rand"),
            )
            if (generator := getattr(sys.modules.get(at), name, None)) is not None
        }

    def chance(self, call: ast.Call) -> str | None:
        """The function's name, where what the call gives or does is chance."""
        function = _meaning(call.func, self.namespace)
        label = self.always.get(id(function))
        if label is not None:
            return label
        if isinstance(call.func, ast.Attribute):
            system = getattr(sys.modules.get("random"), "SystemRandom", None)
            if type(_meaning(call.func.value, self.namespace)) is system:
                return "random.SystemRandom"
            if call.func.attr == "seed" and not call.args and self._is_of_torch(call.func.value):
                return "torch.Generator.seed"
        label = self.initialized.get(id(function))
        if label is not None:
            given = [each.value for each in call.keywords if each.arg == "initializer"]
            by_system = any(isinstance(each, ast.Constant) and each.value == "system" for each in given)
            return label if not given or by_system or any(map(self.no_seed, given)) else None
        label = self.makers.get(id(function)) or self.seeds.get(id(function))
        return label if label is not None and self._no_seed(call) else None

    def is_generator(self, node: ast.expr) -> bool:
        """Whether an expression makes a generator, or is a variable with one."""
        if isinstance(node, ast.Call):
            return id(_meaning(node.func, self.namespace)) in self.makers
        kind = type(self.namespace.get(node.id)) if isinstance(node, ast.Name) else None
        return kind is not None and f"{kind.__module__}.{kind.__name__}" in _OBJECTS

    def assigned(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        """Names are given a value; of one that an item or attribute of is, what it was before may count."""
        if node.value is None:
            return
        no_seed = self.no_seed(node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if ast.unparse(target).endswith(".bit_generator.state"):
                self.restored[ast.unparse(target).removesuffix(".bit_generator.state")] = not no_seed
            stored = [each for each in ast.walk(target) if isinstance(each, ast.Name)]
            in_part = isinstance(node, ast.AugAssign) or not isinstance(
                target, ast.Name | ast.Tuple | ast.List
            )
            for name in stored:
                self.own[name.id] = no_seed or (in_part and self._is_no_seed(name.id))

    def looped(self, node: ast.AST) -> None:
        """The names of a loop or comprehension are given the items of something."""
        loops = [node] if isinstance(node, ast.For | ast.AsyncFor) else getattr(node, "generators", ())
        for loop in loops:
            items = loop.iter.elts if isinstance(loop.iter, ast.Tuple | ast.List | ast.Set) else ()
            nothing = any(isinstance(each, ast.Constant) and each.value is None for each in items)
            no_seed = nothing or self.no_seed(loop.iter)
            names = (each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name))
            self.own |= dict.fromkeys(names, no_seed)

    def given(self, call: ast.Call, defined: Mapping[str, ast.AST]) -> None:
        """The parameters of a function of the notebook are given what it is called with."""
        function = _called_function(defined.get(call.func.id)) if isinstance(call.func, ast.Name) else None
        if function is None:
            return
        self.own |= {name: True for name, value in _given(function, call) if self.no_seed(value)}

    def seeds_badly(self, call: ast.Call) -> set[str]:
        """The variable with a generator of its own that is given a seed which is none."""
        if not (isinstance(call.func, ast.Attribute) and call.func.attr in _SEEDING):
            return set()
        holder = call.func.value
        if not isinstance(holder, ast.Name) or type(self.namespace.get(holder.id)) is ModuleType:
            return set()
        if not call.args and not call.keywords:
            return set()
        self.own[holder.id] = self._no_seed(call)
        return {holder.id} if self.own[holder.id] else set()

    def has_seeded(self, call: ast.Call) -> None:
        """A call may have seeded a generator for all."""
        label = self.seeds.get(id(_meaning(call.func, self.namespace)))
        if label is None:
            return
        module = label.rpartition(".")[0]
        self.last[module] = not self._no_seed(call)
        (self.unseeded.discard if self.last[module] else self.unseeded.add)(module)

    def _is_of_torch(self, node: ast.expr) -> bool:
        """Whether it is a generator of torch's, or a call that makes one."""
        kind = getattr(sys.modules.get("torch"), "Generator", None)
        if isinstance(node, ast.Call):
            return kind is not None and _meaning(node.func, self.namespace) is kind
        return kind is not None and type(_meaning(node, self.namespace)) is kind

    def _no_seed(self, call: ast.Call) -> bool:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not given or all(isinstance(each, ast.Constant) and each.value is None for each in given):
            return True
        return any(map(self.no_seed, given))

    def no_seed(self, value: ast.expr) -> bool:
        """Whether a value, given as a seed, is none: it is chance, or from a variable that is."""
        todo: list[ast.AST] = [value]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Name) and self._is_no_seed(node.id):
                return True
            if isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name) and node.func.id in _SIZES:
                    continue
                if self._gives_chance(node):
                    return True
            elif (isinstance(node, ast.Attribute) and node.attr in ("shape", "size", "ndim")) or (
                isinstance(node, ast.Subscript) and self._is_same(node)
            ):
                continue
            todo += ast.iter_child_nodes(node)
        return False

    def _is_same(self, item: ast.Subscript) -> bool:
        """Whether an item of a variable is the same in each run, though the whole is not."""
        if not (isinstance(item.value, ast.Name) and isinstance(item.slice, ast.Constant)):
            return False
        name = item.value.id
        return name not in self.own and item.slice.value in self.others.get(name, ())

    def _is_no_seed(self, name: str) -> bool:
        return self.own.get(name, name in self.others)

    def _gives_chance(self, call: ast.Call) -> bool:
        """Whether a call gives a clock's value, the hash of something, or what is drawn without a seed."""
        function = _meaning(call.func, self.namespace)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in _NOW or id(function) in self.clocks or self.chance(call) is not None:
            return True
        if function is None and isinstance(call.func, ast.Name):
            if call.func.id == "id":
                return True
            if call.func.id == "hash":  # of a number it is the number, or nearly
                given = call.args[0] if call.args else None
                return not (isinstance(given, ast.Constant) and isinstance(given.value, int | float))
        module = self.for_all.get(id(getattr(function, "__self__", None)))
        if module is None and getattr(function, "__module__", None) is None and "torch" in self.unseeded:
            module = "torch" if method.startswith("rand") and _is_torchs(function, method) else None
        return module in self.unseeded and getattr(function, "__name__", "") not in _STATES


def _is_torchs(function: Any, name: str) -> bool:
    return function is not None and function is vars(sys.modules["torch"]).get(name)


def _loaded(table: Mapping[str, tuple[str, ...]]) -> dict[int, str]:
    """`id` of each function that is loaded, with its name."""
    found: dict[int, str] = {}
    for module, names in table.items():
        for name in names if module in sys.modules else ():
            function = getattr(sys.modules[module], name, None)
            if function is not None:  # one that is wrapped may have been named before
                for each in (function, getattr(function, "__wrapped__", function)):
                    found[id(each)] = f"{module}.{name}"
    return found


def _meaning(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """What a name, or a name in a module, is bound to; None where only running code could tell."""
    if isinstance(node, ast.Name):
        return namespace.get(node.id)
    if isinstance(node, ast.Attribute):
        module = _meaning(node.value, namespace)
        if isinstance(module, ModuleType):
            return vars(module).get(node.attr, sys.modules.get(f"{module.__name__}.{node.attr}"))
    return None
