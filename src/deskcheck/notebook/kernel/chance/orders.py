"""Whether what a cell shows and gives to variables depends on the order of sets, or on addresses: found by
computing it with several of them, where `harmless` can. The notebook's own functions are computed, too.

In the kernel's process, on copies. Statements that cannot be computed leave the variables unknown that they
name; of these, and of what follows from them, nothing is told."""

import ast
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from typing import Any, TypeVar

from deskcheck.notebook.kernel.chance.harmless import (
    UNKNOWN,
    Evaluator,
    TooManySteps,
    copy_of,
    has_set,
    text_of,
)
from deskcheck.notebook.kernel.chance.own import (
    Definitions,
    OwnObject,
    UnknownValue,
    hide_addresses,
    may_have_address,
)
from deskcheck.notebook.kernel.chance.sources import CHANGING, OF_ITEMS
from deskcheck.notebook.trajectory.chance import ChanceSource, shown

_ORDERS = 8
_NAMES = frozenset({"set", "frozenset", "hash"})
_OF_ANY_ORDER = OF_ITEMS - {"sum"}  # of floats the order counts
_Key = TypeVar("_Key")
_Told = tuple[str, str] | None
"""The text of a value, with and without the order of its dicts; None where it is not known."""


ORDER = shown("the order of a set")
ADDRESS = shown("the address of an object")
HASH = shown("the hash of text")


class Order(Enum):
    """What of a value depends on the order of sets, or on addresses."""

    NONE = "none"
    KEYS = "keys"
    """The order of the items of dicts alone, or addresses in a text, as a normaliser can hide them."""
    VALUE = "value"


class SetOrders:
    """Of the cells of one kernel, in their order. What is found of the last one: shown, by the `id` of an
    expression that it shows; given, by the `id` of a statement, and the name that it gives a value to."""

    def __init__(self, definitions: Definitions | None = None) -> None:
        self.shown: dict[int, Order] = {}
        self.given: dict[int, dict[str, Order]] = {}
        self._evaluators: list[Evaluator] = []
        """In each of the orders, when the last cell has ended; in the first alone where none counts."""
        self._others: dict[str, list[Any]] = {}
        """Variables that depend on the order of sets, with their value in each of the orders."""
        self._because: dict[str, ChanceSource] = {}
        """What they depend on."""
        self.definitions = definitions or Definitions()
        self.reason = ORDER
        """What in the last cell depends on."""
        self.unsure = False
        """Whether a statement of it that could not be computed has a set whose order may count."""

    def of(
        self,
        tree: ast.Module,
        namespace: Mapping[str, Any],
        chance: Collection[str],
        *,
        shows_last: bool,
    ) -> None:
        """Look at the next cell. namespace: the user's variables when it has ended. chance: those that are
        another in each run, of before."""
        self.shown, self.given, self.reason, self.unsure = {}, {}, ORDER, False
        self.definitions.add(tree)
        changed = _changed(tree.body)
        others = {name: values for name, values in self._others.items() if name in chance}
        self._evaluators = [Evaluator(0, namespace, lambda name: name not in chance, self.definitions)]
        if not (_may_depend(tree, namespace, others) or self._calls(tree)):
            self._others = {name: values for name, values in others.items() if name not in changed}
            return
        defined = {each.name for each in tree.body if isinstance(each, ast.ClassDef)}
        unreadable = (changed - defined) | {*chance}
        columns = _columns_kept(tree, unreadable - {*chance})
        runs = []
        for number in range(_ORDERS):
            run = _Run(number, namespace, lambda name: name not in unreadable, self.definitions)
            run.evaluator.columns = columns
            run.names.update((name, copy_of(values[number])) for name, values in others.items())
            try:
                run.go(tree.body, last=tree.body[-1] if shows_last and tree.body else None)
            except TooManySteps:
                self._others = {}
                return
            runs.append(run)
        self._evaluators = [run.evaluator for run in runs]
        self.unsure = runs[0].unsure
        for each in self._evaluators:
            each.reads = lambda name: name not in chance
        self.shown = _differences([run.shown for run in runs])
        for (statement, name), order in _differences([run.given for run in runs]).items():
            self.given.setdefault(statement, {})[name] = order
        read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & {*others}
        because = {self._because.get(name, ORDER) for name in read}
        if any(run.evaluator.sorted for run in runs):
            because.add(ORDER)
        if any(run.evaluator.hashed for run in runs):
            because.add(HASH)
        self.reason = next((each for each in (ORDER, HASH) if each in because), ADDRESS)
        self._others = {}
        for name in runs[0].names:
            told = [_told(run.names.get(name, UNKNOWN)) for run in runs]
            if _difference([[each] for each in told]) in (Order.KEYS, Order.VALUE):
                self._others[name] = [run.names[name] for run in runs]
                if tree.body and not any(name in given for given in self.given.values()):
                    by_function = _difference([[each] for each in told])
                    assert by_function is not None
                    self.given.setdefault(id(tree.body[-1]), {})[name] = by_function
                if name in changed or name not in others:
                    self._because[name] = self.reason

    def _calls(self, tree: ast.Module) -> bool:
        """Whether a cell may call a function of the notebook that has a set."""
        return self.definitions.sets and any(isinstance(node, ast.Call) for node in ast.walk(tree))

    def value(self, node: ast.expr) -> Any:
        """Of an expression when the last cell has ended, in one of the orders; raises `UnknownValue`."""
        if not self._evaluators:
            raise UnknownValue("no cell")
        return self._evaluators[0].value(node)

    def order(self, node: ast.expr) -> Order | None:
        """What of an expression depends on the order of sets, when the last cell has ended; None: that is
        not known."""
        if len(self._evaluators) < 2:
            return None
        try:
            return _difference([[_told(each.value(node))] for each in self._evaluators])
        except UnknownValue:
            return None


class _Break(Exception):
    """A loop ends."""


class _Continue(Exception):
    """A turn of a loop ends."""


class _Return(Exception):
    """A function ends."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _Run:
    """Of one cell, in one order. shown, given: what was shown and given at each place, in its order."""

    def __init__(
        self,
        order: int,
        namespace: Mapping[str, Any],
        reads: Callable[[str], bool],
        definitions: Definitions,
    ) -> None:
        self.evaluator = Evaluator(order, namespace, reads, definitions)
        self.evaluator.body = self._body
        self.names = self.evaluator.names
        self.shown: dict[int, list[_Told]] = {}
        self.given: dict[tuple[int, str], list[_Told]] = {}
        self._loops = 0
        """So many loops run, one in another."""
        self._over_sets = 0
        """So many loops go through a set of text."""
        self._calls = 0
        """So many functions run."""
        self._tries = 0
        """So many statements run that something looks for exceptions of."""
        self.unsure = False
        """Whether one could not be computed and has a set whose order may count."""

    def go(self, body: Iterable[ast.stmt], last: ast.stmt | None = None) -> None:
        """Compute statements. last: the one of which the value is shown."""
        for statement in body:
            try:
                if isinstance(statement, ast.Expr) and statement is last and not prints(statement.value):
                    self._show(statement.value)
                else:
                    self._statement(statement)
            except TooManySteps:
                raise
            except UnknownValue:
                if self._tries or ((self._loops or self._calls) and _leaves([statement])):
                    raise
                self._forget(statement)
            for name in _changed([statement]) if not self._calls else ():
                told = _told(self.names.get(name, UNKNOWN))
                self.given.setdefault((id(statement), name), []).append(told)

    def _body(self, body: list[ast.stmt]) -> Any:
        """What a function returns."""
        loops, self._loops = self._loops, 0
        tries, self._tries = self._tries, 0
        self._calls += 1
        try:
            self.go(body)
        except _Return as found:
            return found.value
        finally:
            self._loops, self._tries = loops, tries
            self._calls -= 1
        return None

    def _forget(self, statement: ast.stmt) -> None:
        """A statement may have changed what it names."""
        grows = self._over_sets > 0 and isinstance(statement, ast.AugAssign | ast.Expr)
        self.unsure = self.unsure or grows or self._has_set(statement)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self.names[statement.name] = UNKNOWN
            return
        self.names.update(dict.fromkeys(_changed([statement]), UNKNOWN))
        for node in ast.walk(statement):
            for each in getattr(node, "names", ()) if isinstance(node, ast.Import | ast.ImportFrom) else ():
                self.names[(each.asname or each.name).partition(".")[0]] = UNKNOWN
            for given in node.args if isinstance(node, ast.Call) else ():
                if isinstance(given, ast.Name) and isinstance(self.names.get(given.id), list | dict | set):
                    self.names[given.id] = UNKNOWN
            if isinstance(node, ast.expr) and id(node) in self.shown:
                self.shown[id(node)].append(None)

    def _has_set(self, statement: ast.stmt) -> bool:
        """Whether it has a set of text, or a collection with one, but where the order does not count."""
        todo: list[ast.AST] = [statement]
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            todo = [*_inside_of_set(statement.value)]
        while todo:
            node = todo.pop()
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                    continue
                case ast.Call(func=ast.Name(id=name), args=[given], keywords=[]) if name in _OF_ANY_ORDER:
                    todo += () if isinstance(given, ast.Name) else _inside_of_set(given)
                    continue
                case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[given]):
                    todo += [left, *(() if isinstance(given, ast.Name) else _inside_of_set(given))]
                    continue
                case ast.Name(id=name):
                    namespace = self.evaluator.namespace
                    value = self.names.get(name, UNKNOWN)
                    value = namespace.get(name) if value is UNKNOWN else value
                    if type(value) in (set, frozenset, list, tuple, dict) and has_set(value):
                        return True
            todo += ast.iter_child_nodes(node)
        return False

    def _show(self, node: ast.expr) -> None:
        shown = self.shown.setdefault(id(node), [])
        try:
            starred = isinstance(node, ast.Starred)
            value = self.evaluator.value(ast.List([node], ast.Load()) if starred else node)
        except UnknownValue:
            shown.append(None)
            raise
        shown.append(self._told(value))

    def _told(self, value: Any) -> _Told:
        """Of what is shown: an object is by its text alone."""
        if isinstance(value, OwnObject):
            text = self.evaluator.text(value)
            return text, hide_addresses(text)
        return _told(value)

    def _statement(self, node: ast.stmt) -> None:
        value = self.evaluator.value
        match node:
            case ast.Assign():
                found = value(node.value)
                for target in node.targets:
                    self.evaluator.bind(target, found)
            case ast.AnnAssign() if node.value is not None:
                self.evaluator.bind(node.target, value(node.value))
            case ast.AugAssign():
                self._augment(node)
            case ast.Expr(value=ast.Call(args=args) as call) if prints(call):
                for each in args:
                    self._show(each)
            case ast.Expr():
                value(node.value)
            case ast.If():
                self.go(node.body if value(node.test) else node.orelse)
            case ast.For():
                self._loop(node)
            case ast.While():
                self._repeat(node)
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case ast.Pass() | ast.Global() | ast.Nonlocal():
                pass
            case ast.Return():
                raise _Return(None if node.value is None else value(node.value))
            case ast.FunctionDef() if not node.decorator_list:
                self.names[node.name] = self.evaluator.function(node)
            case ast.Try():
                self._tries += 1
                try:
                    self.go(node.body)
                finally:
                    self._tries -= 1
                self.go([*node.orelse, *node.finalbody])
            case _:
                raise UnknownValue(type(node).__name__)

    def _augment(self, node: ast.AugAssign) -> None:
        target: Any = node.target
        before = self.evaluator.value(target)
        given = self.evaluator.value(node.value)
        if isinstance(before, list) and isinstance(node.op, ast.Add):
            before.extend(self.evaluator.items(given))
        else:
            self.evaluator.bind(target, self.evaluator.combine(node.op, before, given))

    def _loop(self, node: ast.For) -> None:
        items = self.evaluator.looped(node.iter)
        of_set = self._is_set(node.iter)
        self._over_sets += of_set
        try:
            for item in items:
                self.evaluator.bind(node.target, item)
                if not self._turn(node.body):
                    return
        finally:
            self._over_sets -= of_set
        self.go(node.orelse)

    def _is_set(self, node: ast.expr) -> bool:
        """Whether it is a set of text, that a variable has or that is made there."""
        made = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("set", "frozenset")
        if not (made or isinstance(node, ast.Name | ast.Set)):
            return False
        value = self.evaluator.value(node)
        return type(value) in (set, frozenset) and has_set(value)

    def _turn(self, body: list[ast.stmt]) -> bool:
        """One turn of a loop; whether the loop goes on."""
        self._loops += 1
        try:
            self.go(body)
        except _Break:
            return False
        except _Continue:
            pass
        finally:
            self._loops -= 1
        return True

    def _repeat(self, node: ast.While) -> None:
        while self.evaluator.value(node.test):  # the evaluator ends it when it is too long
            if not self._turn(node.body):
                return
        self.go(node.orelse)


def _inside_of_set(node: ast.expr) -> list[ast.expr]:
    """What a set is made of that is written or made there; of another expression, itself."""
    if isinstance(node, ast.Set):
        return node.elts
    made = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("set", "frozenset")
    return node.args if made and isinstance(node, ast.Call) else [node]


def _told(value: Any) -> _Told:
    try:
        return text_of(value, ordered=True), text_of(value, ordered=False)
    except UnknownValue:
        return None


def _differences(runs: list[dict[_Key, list[_Told]]]) -> dict[_Key, Order]:
    """Of each place that is known in all orders."""
    found = {}
    for key in {key: None for run in runs for key in run}:
        order = _difference([run.get(key, []) for run in runs])
        if order is not None:
            found[key] = order
    return found


def _difference(runs: list[list[_Told]]) -> Order | None:
    """Of the values at one place, in each of the orders; None where one is not known."""
    known = [[each for each in run if each is not None] for run in runs]
    if [*map(len, known)] != [*map(len, runs)]:
        return None
    if all(run == known[0] for run in known):
        return Order.NONE
    without = [[text for _, text in run] for run in known]
    return Order.KEYS if all(run == without[0] for run in without) else Order.VALUE


def _may_depend(tree: ast.Module, namespace: Mapping[str, Any], others: Collection[str]) -> bool:
    """Whether a cell has a set, a variable that depends on the order of one, or an object whose text has its
    address."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in called:
            if may_have_address(namespace.get(node.id)):
                return True
        elif isinstance(node, ast.Name) and (node.id == "object" or type(namespace.get(node.id)) is type):
            return True
        if isinstance(node, ast.Set | ast.SetComp):
            return True
        if isinstance(node, ast.Name) and (node.id in _NAMES or node.id in others):
            return True
        if isinstance(node, ast.Name) and type(namespace.get(node.id)) in (set, frozenset):
            return True
    return False


def _columns_kept(tree: ast.Module, changed: Collection[str]) -> set[str]:
    """Expressions for columns, as in the source, of data frames of which the cell changes only others."""
    read: dict[str, tuple[str, object]] = {}
    given: dict[str, set[object]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            given.setdefault(node.id, set()).add(None)
        if not (isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.value, ast.Name)):
            continue
        key = node.slice if isinstance(node, ast.Subscript) else ast.Constant(node.attr)
        told = key.value if isinstance(key, ast.Constant) else None
        if isinstance(node.ctx, ast.Load):
            read[ast.unparse(node)] = node.value.id, told
        else:
            given.setdefault(node.value.id, set()).add(told)
    return {
        source
        for source, (name, key) in read.items()
        if name in changed and key is not None and not {key, None} & given.get(name, {None})
    }


def _changed(body: Iterable[ast.stmt]) -> set[str]:
    """Variables that statements give a value to, or change."""
    found = set()
    todo: list[ast.AST] = [*body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
            continue
        held: ast.expr | None = None
        if isinstance(node, ast.Name | ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            held = node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            held = node.func.value if node.func.attr in CHANGING else None
        while isinstance(held, ast.Subscript | ast.Attribute):
            held = held.value
        if isinstance(held, ast.Name):
            found.add(held.id)
        todo += ast.iter_child_nodes(node)
    return found


def prints(node: ast.AST) -> bool:
    """Whether it is a call that shows what it is given."""
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Name) and function.id in ("print", "display")


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a statement may end a loop, a turn of it, or a function."""
    ends = ast.Break | ast.Continue | ast.Return | ast.Raise
    return any(isinstance(each, ends) for node in body for each in ast.walk(node))
