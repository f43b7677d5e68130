"""Whether all that a cell shows is the same whatever was drawn: proved from its source, or not; and what is
the same of its variables.

In the kernel's process, of a cell that drew from a generator without a seed, or reads what an earlier cell
drew. Where something is not known, the answer is no. In a cell that draws nothing, all is the same that reads
nothing that was drawn, whatever it does. Nothing is called. What a library prints by itself is not seen. Of
the functions of numpy, pandas, torch, scipy and scikit-learn it is assumed that the form of their result
follows from the form of what they are given, unless they are in `CHOOSING`: if that is wrong, only the runs
can tell."""

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.calls import Chance
from deskcheck.notebook.kernel.chance.meaning import (
    has_models,
    learns_nothing,
)
from deskcheck.notebook.kernel.chance.orders import prints
from deskcheck.notebook.kernel.chance.outside import Left
from deskcheck.notebook.kernel.chance.reach import (
    is_generator,
    package_of,
    same_object,
)
from deskcheck.notebook.kernel.chance.results import CallResults
from deskcheck.notebook.kernel.chance.shown import ShownChance, shows_value
from deskcheck.notebook.kernel.chance.sources import (
    ARRAYS,
    CHANGING,
    DEVICE,
    FORMING,
    GROWING,
    OF_ITEMS,
    TEXTS,
    ChanceOrigin,
)
from deskcheck.notebook.kernel.chance.values import (
    DEFINITIONS,
    SHUFFLES,
    Known,
    Parts,
    Unproved,
    base_of,
    called,
    item_of,
    join,
)
from deskcheck.notebook.trajectory.chance import ChanceKind, ChanceSource, read_from

_WITH_NAMES = frozenset({"enumerate", "named_parameters", "named_modules", "named_children", "named_buffers"})
"""What gives pairs of which the first is the same in each run."""

_READING = OF_ITEMS | TEXTS | FORMING | {"print", "type", "isinstance"}
"""Builtins that change nothing that they are given."""
_CHANGING_PARTS = CHANGING | {"popitem", "__setitem__", "__delitem__", "isetitem", "pipe", "eval"}


class Proof(CallResults):
    """Of one cell. others: variables that are another in each run before it, with what of them is the same.
    drawn: which generator a call draws from, if it is known to. functions: those of the notebook. runs: the
    nodes that some source runs, those of the notebook's functions and classes too. parts: dicts and data
    frames that are another in each run in part. draws: the cell may draw in any call that is not known."""

    def holds(self, tree: ast.Module, *, shows_last: bool) -> bool:
        """Whether something is shown, and all of it is the same in each run. shows_last: the value of a last
        expression is shown."""
        body = [*tree.body]
        last = body.pop() if shows_last and body and isinstance(body[-1], ast.Expr) else None
        for statement in body:
            self._at_top(statement)
        if isinstance(last, ast.Expr):
            self._at_top(last, shows=True)
        unread = (each for each in self.runs(tree) if prints(each) and id(each) not in self.prints)
        self.may_show = self.may_show or not all(map(_is_constant, unread))
        return self.shown > 0 and not self.may_show

    # -- statements ------------------------------------------------------------------------------------

    def _at_top(self, node: ast.stmt, *, shows: bool = False) -> None:
        """A statement of the cell itself. shows: its value is shown."""
        self._at, self._changes_there = node, None
        self._wild = {*self._used_otherwise(node)}
        for name in self._wild:
            self.parts.pop(name, None)
        try:
            if not self.draws and self._is_apart(node):
                self._take(node)
                self.shown += shows
            elif shows and isinstance(node, ast.Expr):
                self._show(self._value(node.value), node.value, last=True)
                self._changes(node.value)
            else:
                self._statement(node)
        except Unproved:
            self._by_chance = False
            self.may_show = True
            self._forget(node)

    def _forget(self, node: ast.stmt) -> None:
        """All that a statement gives something to, or may change, is another in each run."""
        names = self._changing()
        for each in self._nodes(node):
            if isinstance(each, ast.Name):
                self.parts.pop(each.id, None)
            if isinstance(each, ast.Call):
                self._touches([each.func, *each.args, *(given.value for given in each.keywords)])
            held = base_of(each) if isinstance(each, ast.Attribute | ast.Subscript | ast.Name) else None
            if held is None:
                continue
            if not isinstance(getattr(each, "ctx", None), ast.Load):
                self._touches([held])
            elif held.id in names:
                self.used[held.id] = None
        self.known |= dict.fromkeys(self._gives_to(node), Known.NOTHING)

    def _show(self, known: Known, node: ast.expr, *, last: bool = False) -> None:
        """last: IPython shows the value, and sorts the items of a set."""
        self.shown += 1
        if last and isinstance(node, ast.Tuple | ast.List):
            for each in node.elts:
                self._show(self._value(each), each, last=True)
            return
        if last and known is Known.ITEMS and self._is_set(node) and not _is_counter(node):
            known = Known.VALUE
        if known > Known.TEXT or self._by_chance:
            self.may_show = True

    def _go(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _used_otherwise(self, node: ast.stmt) -> Iterator[str]:
        """Variables that a statement of the cell may use in another way than to read items and attributes, to
        call methods that change nothing, to give them to functions for data, or to give a value to an item
        itself. Functions of the notebook are not always followed."""
        own = {id(each) for each in ast.walk(node)}
        names: dict[int, str] = {}
        tame: set[int] = set()
        for each in self._nodes(node):
            base = base_of(each) if isinstance(each, ast.Name | ast.Attribute | ast.Subscript) else None
            ctx = getattr(each, "ctx", None)
            if base is not None and (
                isinstance(ctx, ast.Del) or (isinstance(ctx, ast.Store) and id(each) not in own)
            ):
                yield base.id
            match each:
                case ast.Name(ctx=ast.Load()):
                    names[id(each)] = each.id
                case ast.Subscript(value=ast.Name() as held) | ast.Attribute(value=ast.Name() as held):
                    if getattr(each, "attr", "") not in _CHANGING_PARTS:
                        tame.add(id(held))
                case ast.Compare() | ast.For() | ast.comprehension() | ast.Expr() | ast.FormattedValue():
                    tame |= {id(inner) for inner in ast.iter_child_nodes(each)}
                case ast.Call():
                    if getattr(each.func, "id", "") in _READING or self._leaves_data(each):
                        lists = (one.elts for one in each.args if isinstance(one, ast.List | ast.Tuple))
                        given = itertools.chain(each.args, (one.value for one in each.keywords), *lists)
                        tame |= {id(one) for one in given}
                    root = base_of(each.func)
                    if root is not None and any(one.arg in ("inplace", None) for one in each.keywords):
                        yield root.id
        yield from (name for each, name in names.items() if each not in tame)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.known.pop(node.name, None)
                if any(self._value(each) > Known.VALUE for each in _runs_now(node)):
                    self.known[node.name] = Known.NOTHING
            case ast.Assign():
                for target in node.targets:
                    self._assign(target, self._value(node.value), node.value)
                self._changes(node.value)
            case ast.AnnAssign():
                if node.value is not None:
                    self._assign(node.target, self._value(node.value), node.value)
            case ast.AugAssign():
                was: Any = node.target
                self._assign(was, self._value(ast.BinOp(was, node.op, node.value)), node.value)
            case ast.Expr() if self._appends(node.value):
                self._changes(node.value)
            case ast.Expr():
                self._value(node.value)
                self._changes(node.value)
                self._gives(node.value)
            case ast.If() | ast.While():
                self._branch(node)
            case ast.For():
                self._loop(node)
            case ast.Return():
                self._returned.append(Known.VALUE if node.value is None else self._value(node.value))
                if self._by_chance:
                    self._returned.append(Known.NOTHING)
                    self._ended = True
            case ast.With():
                for item in node.items:
                    known = self._value(item.context_expr)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, known, item.context_expr)
                self._go(node.body)
            case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Global() | ast.Nonlocal():
                pass
            case ast.Delete():
                for target in node.targets:
                    self._assign(target, Known.VALUE, None)
            case ast.Break() | ast.Continue():
                if self._by_chance:
                    raise Unproved("a loop whose length is chance")
            case ast.Assert():
                if self._value(node.test) > Known.VALUE:
                    raise Unproved("an assertion")
            case _:
                raise Unproved(type(node).__name__)

    def _branch(self, node: ast.If | ast.While) -> None:
        chance = self._value(node.test) > Known.VALUE
        before = self._by_chance
        for _ in range(2):  # what a second round of a loop meets
            chance = chance or (isinstance(node, ast.While) and self._value(node.test) > Known.VALUE)
            states = []
            for body in (node.body, node.orelse):
                kept = dict(self.known)
                self._by_chance = before or chance
                self._go(body)
                states.append(self.known)
                self.known = kept
            self._join_states(states)
        self._by_chance = before or self._ended

    def _loop(self, node: ast.For) -> None:
        over = Known.VALUE if self._is_of_keys(node.iter) else self._value(node.iter)
        before = self._by_chance
        self._by_chance = before or over > Known.COUNT
        for _ in range(2):
            kept = dict(self.known)
            self._assign_item(node.target, over, node.iter)
            self._go(node.body)
            self._join_states([kept, self.known])
        self._go(node.orelse)
        self._by_chance = before or self._ended

    def _join_states(self, states: list[dict[str, Known]]) -> None:
        names = {name for state in states for name in state}
        self.known = {name: join(self._of(name, state) for state in states) for name in names}

    def _of(self, name: str, state: Mapping[str, Known]) -> Known:
        return state.get(name, Known.VALUE)

    def _assign(self, target: ast.expr, known: Known, value: ast.expr | None) -> None:
        if self._by_chance:
            known = Known.NOTHING
        if isinstance(target, ast.Name):
            parts = self._parts_given(target.id, value) if known > Known.VALUE else None
            self.known[target.id] = known
            if target.id not in self._locals:
                self.parts.pop(target.id, None)
            if parts is not None:
                self.parts[target.id] = parts
        elif isinstance(target, ast.Tuple | ast.List):
            given: list[Known] = [known if known is Known.VALUE else item_of(known)] * len(target.elts)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                given = [*map(self._value, value.elts)]
            for each, one in zip(target.elts, given, strict=True):
                self._assign(each, one, None)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, Known.NOTHING if known else known, None)
        else:
            self._part(target, known)

    def _assign_item(self, target: ast.expr, over: Known, loop: ast.expr) -> None:
        """The variable of a loop is given an item."""
        call = loop.func if isinstance(loop, ast.Call) else None
        name = call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "")
        if isinstance(target, ast.Tuple) and name in _WITH_NAMES and over <= Known.COUNT:
            self._assign(target.elts[0], Known.VALUE, None)
            for each in target.elts[1:]:
                self._assign(each, item_of(over), None)
        else:
            self._assign(target, item_of(over), None)

    def _part(self, target: ast.expr, known: Known) -> None:
        """An item or attribute of a variable is given a value."""
        index = self._value(target.slice) if isinstance(target, ast.Subscript) else Known.VALUE
        base: ast.expr = target
        while isinstance(base, ast.Subscript | ast.Attribute):
            base = base.value
        if not isinstance(base, ast.Name):
            return
        was = self.known.get(base.id, Known.VALUE)
        if base.id in self._locals:
            pass
        elif isinstance(target, ast.Subscript) and target.value is base and index is Known.VALUE:
            if was is Known.VALUE and self._has_keys(base.id, target.slice):
                self.parts.setdefault(base.id, Parts())
            if base.id in self.parts:
                self._item_given(base.id, target.slice, known)
        elif max(known, index) > Known.VALUE or self._by_chance:
            self.parts.pop(base.id, None)
        if max(known, index) > Known.VALUE:
            array = package_of(type(self.namespace.get(base.id))) in ARRAYS
            named = isinstance(target, ast.Attribute)  # as the columns
            kept = known <= Known.FORM and index is Known.VALUE and array and not named
            self.known[base.id] = max(was, Known.FORM if kept else Known.TYPE)

    def _item_given(self, name: str, key: ast.expr, known: Known) -> None:
        """An item of a variable that is another in each run in part is given a value."""
        parts = self.parts[name]
        if self._by_chance:
            del self.parts[name]
        elif isinstance(key, ast.Constant):
            self.parts[name] = parts.given(key.value, drawn=known > Known.VALUE)
            if not self.parts[name].has_drawn:
                self.known.pop(name, None)
        elif known > Known.VALUE:
            self.parts[name] = Parts(others=True)

    def _has_keys(self, name: str, first: ast.expr) -> bool:
        """Whether a variable has a dict, or a data frame that is not begun with the column that is given to
        it first, whose index it would have; and nothing else has its object."""
        value = self.namespace.get(name)
        columns = [*getattr(value, "columns", ())]
        begun = not isinstance(first, ast.Constant) or columns[:1] != [first.value]
        is_frame = type(value).__name__ == "DataFrame" and package_of(type(value)) == "pandas"
        return (type(value) is dict or (is_frame and begun)) and self._is_alone(name)

    def _is_alone(self, name: str) -> bool:
        """Whether the object of a variable is in no other, but what IPython keeps, and is only read by its
        keys in this statement."""
        value = self.namespace.get(name)
        others = (each for other, each in self.namespace.items() if other != name and other[:1] != "_")
        return name not in self._wild and not any(same_object(each, value) for each in others)

    def _parts_given(self, name: str, value: ast.expr | None) -> Parts | None:
        """Of what a statement of the cell itself gives to a variable that was not there before."""
        if value is None or not isinstance(self._at, ast.Assign) or self._at.value is not value:
            return None
        made = isinstance(value, ast.Call | ast.Dict | ast.DictComp | ast.Subscript)
        return self._parts_of(value) if made and not self._locals and self._is_alone(name) else None

    def _set(self, name: str, known: Known) -> None:
        """The object of a variable is changed, and so are others that have it."""
        value = None if name in self._locals else self.namespace.get(name)
        others = (other for other, each in self.namespace.items() if same_object(each, value))
        self.known |= dict.fromkeys((name, *others), known if not self._by_chance else Known.NOTHING)

    def _changes(self, node: ast.expr) -> None:
        """A call changes a variable in its place."""
        if not isinstance(node, ast.Call):
            return
        own = called(node)
        if own in SHUFFLES and node.args and isinstance(node.args[0], ast.Name):
            self._set(node.args[0].id, join((self._named(node.args[0].id), Known.ITEMS)))
            return
        if own.endswith("_") and self.drawn(node) is not None:
            self._fills(node)
        elif own == "fit" and isinstance(node.func, ast.Attribute):
            given = [*node.args, *(each.value for each in node.keywords)]
            known = join(map(self._value, (node.func.value, *given)))
            if known > Known.VALUE or self._is_drawn(node) or self._by_chance:
                self._assign(node.func.value, Known.TEXT, None)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            name = node.func.value.id
            if type(self.namespace.get(name)) in (list, set, dict):
                self._changes_collection(name, own, node)

    def _appends(self, node: ast.expr) -> bool:
        """Whether the cell itself, not a function that may return earlier, puts an item into a list."""
        if not (isinstance(node, ast.Call) and called(node) in ("append", "insert") and not self._calls):
            return False
        held = node.func.value if isinstance(node.func, ast.Attribute) else None
        return isinstance(held, ast.Name) and type(self._meaning(held)) is list

    def _changes_collection(self, name: str, own: str, node: ast.Call) -> None:
        """own: the method of a list, set or dict that is called."""
        was, known = self._named(name), join(map(self._value, node.args))
        if self._by_chance and own in CHANGING:
            self._set(name, Known.NOTHING)
        elif own == "sort" and was is Known.ITEMS and not node.keywords:
            self._set(name, Known.VALUE)
        elif own in ("pop", "remove") and was is Known.ITEMS:
            self._set(name, Known.COUNT)
        elif own in ("append", "insert") and known > Known.VALUE and was <= Known.COUNT:
            alike = max(was, known) <= Known.FORM
            self._set(name, Known.FORM if alike else Known.COUNT)
        elif node.args and max(was, known) > Known.VALUE:
            self._set(name, join((was, known)))

    def _gives(self, node: ast.expr) -> None:
        """A call whose value is not used may change what it is of, and what it is given."""
        if not isinstance(node, ast.Call) or prints(node) or called(node) in SHUFFLES | GROWING:
            return
        given = [*node.args, *(each.value for each in node.keywords)]
        same = join(map(self._value, given)) is Known.VALUE and self._calls_same(node)
        if same and not self._by_chance:
            return
        for each in (node.func, *(() if self._leaves_data(node) else given)):
            base = base_of(each)
            if base is not None and self.known.get(base.id, Known.VALUE) is Known.VALUE:
                self._touches([base])

    def _calls_same(self, node: ast.Call) -> bool:
        """Whether a function that is called is not another in each run, nor what it is a method of."""
        held = node.func.value if isinstance(node.func, ast.Attribute) else None
        return held is None or self._value(held) is Known.VALUE

    def _fills(self, node: ast.Call) -> None:
        """A tensor is filled with numbers that are drawn: what a method is of, or a function is given."""
        assert isinstance(node.func, ast.Attribute | ast.Name)
        method = isinstance(node.func, ast.Attribute) and self._meaning(node.func) is None
        base: ast.expr = node.func.value if method and isinstance(node.func, ast.Attribute) else node.args[0]
        while isinstance(base, ast.Subscript | ast.Attribute):
            base = base.value
        if not isinstance(base, ast.Name):
            return
        is_model = has_models(type(self.namespace.get(base.id)))
        self.known[base.id] = Known.TEXT if is_model else Known.FORM


def _is_counter(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called(node) == "Counter"


def _runs_now(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.expr]:
    """What runs when a function or class is defined: decorators, defaults, bases, the body of a class."""
    yield from node.decorator_list
    if not isinstance(node, ast.ClassDef):
        yield from node.args.defaults
        yield from (each for each in node.args.kw_defaults if each is not None)
        return
    yield from node.bases
    yield from (each.value for each in node.keywords)
    for statement in node.body:
        if isinstance(statement, DEFINITIONS):
            yield from _runs_now(statement)
        else:
            yield from (each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr))


def _is_constant(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and all(isinstance(each, ast.Constant) for each in call.args)


@dataclass(frozen=True, slots=True)
class ReachedName:
    """known: what of a variable is the same in each run. label: of the generator that drew the rest."""

    known: Known
    label: str


class ReachedNames:
    """Of the cells of one kernel, in their order. chance, shown: what knows their functions, and what they
    show."""

    def __init__(self, chance: Chance, shown: ShownChance) -> None:
        self.names: dict[str, ReachedName] = {}
        self.label: str | None = None
        """The generator of what was drawn before and the last cell read."""
        self._chance = chance
        self._shown = shown
        self._same: set[str] = set()
        """Variables that are proved to be the same in each run when the last cell has ended."""
        self._followed: set[str] = set()
        """Variables that `shown` follows when the cell begins."""
        self._parts: dict[str, Parts] = {}
        """Those of which only some items are another in each run, or of which the keys are the same."""

    def begin(self) -> None:
        """The next cell is read."""
        self.label = None
        self._followed = {*self._shown.names}

    def proof(
        self,
        namespace: Mapping[str, Any],
        drawn: Callable[[ast.Call], str | None],
        made: dict[str, Known],
        *,
        draws: bool,
    ) -> Proof:
        """Of the cell. made: other variables that are another in each run. The rest as of `Proof`."""

        def runs(tree: ast.Module) -> Iterator[ast.AST]:
            return self._chance.runs(tree, namespace)

        before = {name: each.known for name, each in self.names.items() if name in namespace} | made
        functions = self._chance.functions()
        return Proof(before, namespace, drawn, functions, runs, self._parts, draws=draws)

    def drew(self, proof: Proof, namespace: Mapping[str, Any], label: str) -> None:
        """The cell drew. proof: of it, read. label: of the generator."""
        self.names = {
            name: ReachedName(known, self.names[name].label if name in self.names else label)
            for name, known in proof.known.items()
            if known > Known.VALUE and _has_value(namespace.get(name))
        }
        self._parts = {name: parts for name, parts in proof.parts.items() if name in self.names}

    def add(self, names: Iterable[str], label: str) -> None:
        """Variables that the last cell gave what was drawn, of which nothing is known. label: of the
        generator."""
        given = [*names]
        self.names |= dict.fromkeys(given, ReachedName(Known.NOTHING, label))
        for name in given:
            self._parts.pop(name, None)
        self.label = label

    def read(
        self,
        tree: ast.Module,
        namespace: Mapping[str, Any],
        found: list[ChanceSource],
        code: str,
        left: Left | None,
    ) -> list[ChanceSource]:
        """What the cell, which drew nothing that surely decides something, shows of what was drawn before.
        found: by its source alone, as `shown` tells. left: what it read of that outside of the variables."""
        news = [
            name
            for name, origin in self._shown.names.items()
            if origin.source.is_drawn and name not in self._followed
        ]
        if self.names or left is not None or any(each.is_drawn for each in found):
            reads = bool(news) or left is not None or any(DEVICE.label in each.label for each in found)
            found = self._read(tree, namespace, found, code, left, draws=reads)
        else:
            self._same = set()
        for name in news:
            origin = self._shown.names[name]
            of_variable = origin.source.kind is ChanceKind.VALUE
            if name not in self.names and not (of_variable and name in self._same):
                self.names[name] = ReachedName(_known_of(origin, namespace.get(name)), origin.source.label)
        return found

    def _read(
        self,
        tree: ast.Module,
        namespace: Mapping[str, Any],
        found: list[ChanceSource],
        code: str,
        left: Left | None,
        *,
        draws: bool,
    ) -> list[ChanceSource]:
        """draws: it reads a file that has what was drawn, or gives random numbers."""
        proof = self.proof(namespace, _nothing, {}, draws=draws)
        proof.reads_files = left is not None
        holds = proof.holds(tree, shows_last=shows_value(code))
        used = next((name for name in proof.used if name in self.names), None)
        read = Left(used, self.names[used].label) if used is not None else left
        self.label = read.label if read is not None else None
        self.drew(proof, namespace, read.label if read is not None else "")
        self._same = {name for name in namespace if proof.known.get(name, Known.VALUE) is Known.VALUE}
        if holds:
            return [each for each in found if not each.is_drawn]
        if read is None or any(each.is_drawn for each in found):
            return found
        if not (proof.may_show or proof.gives_away):
            return found
        return [*found, read_from(read.name, read.label)]


def _nothing(call: ast.Call) -> None:
    """Which generator a call draws from in a cell that draws nothing."""


def _has_value(value: Any) -> bool:
    """Whether it is no module; no generator, as what one gives depends on its seed; no layer of torch that
    has nothing to learn."""
    return not (type(value) is ModuleType or is_generator(value) or learns_nothing(value))


def _known_of(origin: ChanceOrigin, value: Any) -> Known:
    """What is the same of a variable that has what was drawn, by its source alone."""
    formed = package_of(type(value)) in ARRAYS or type(value) in (int, float, bool)
    return Known.TEXT if origin.inside else Known.FORM if formed else Known.NOTHING
