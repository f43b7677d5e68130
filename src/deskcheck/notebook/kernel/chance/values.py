"""What of the value of an expression is the same in each run."""

import ast
import itertools
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import FunctionType, ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.meaning import (
    builtin_name,
    constant_weights,
    meaning,
)
from deskcheck.notebook.kernel.chance.orders import prints
from deskcheck.notebook.kernel.chance.reach import (
    Changes,
    is_generator,
    leads_to,
    own_attribute,
    package_of,
    same_object,
)
from deskcheck.notebook.kernel.chance.sources import (
    ARRAYS,
    CHANGING,
    FORMS,
    SAME_FORM,
    TYPES,
)


class Known(IntEnum):
    """What of a value is the same in each run."""

    VALUE = 0
    """All of it."""
    TEXT = 1
    """Its own text: a model, by its parameters."""
    ITEMS = 2
    """Its items, not their order."""
    LENGTH = 3
    """The length of its text and its type: a UUID."""
    FORM = 4
    """Its type, length or shape, and that of its items."""
    COUNT = 5
    """How many items it has."""
    TYPE = 6
    """Its type."""
    NOTHING = 7


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SHUFFLES = frozenset({"shuffle"})


@dataclass(frozen=True, slots=True)
class Parts:
    """Of a dict or data frame that is another in each run in part, and whose keys, or index and columns, are
    the same. drawn: keys, each with whether its item is another. others: whether those of other keys are."""

    drawn: Mapping[object, bool] = field(default_factory=dict)
    others: bool = False

    def are_same(self, key: ast.expr) -> bool:
        """Whether a key, or a list of keys, is written out, and the items are the same in each run."""
        keys = key.elts if isinstance(key, ast.List | ast.Tuple) else [key]
        written = [each.value for each in keys if isinstance(each, ast.Constant)]
        return len(written) == len(keys) and not any(self.drawn.get(each, self.others) for each in written)

    def given(self, key: object, *, drawn: bool) -> "Parts":
        return Parts({**self.drawn, key: drawn}, self.others)

    @property
    def has_drawn(self) -> bool:
        return self.others or any(self.drawn.values())


class Unproved(Exception):
    """Something is shown that may be chance."""


def join(known: Iterable[Known]) -> Known:
    """What is the same in each run of several values together."""
    found = {*known} - {Known.VALUE}
    if not found:
        return Known.VALUE
    if len(found) == 1:
        return found.pop()
    if found & {Known.NOTHING, Known.TYPE, Known.TEXT}:
        return Known.NOTHING
    return Known.COUNT if Known.COUNT in found else Known.FORM


def item_of(known: Known) -> Known:
    """What is the same of one item of a value."""
    if known in (Known.VALUE, Known.NOTHING):
        return known
    return Known.FORM if known is Known.FORM else Known.NOTHING


def called(node: ast.Call) -> str:
    """The name of the function or method that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def base_of(node: ast.expr) -> ast.Name | None:
    """The variable that an expression begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _root_of(node: ast.expr) -> ast.Name | None:
    """The variable that an expression begins with, through the methods that are called."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node if isinstance(node, ast.Name) else None


_LEARNED_THE_SAME = frozenset({"classes_", "n_features_in_", "feature_names_in_", "n_classes_", "n_outputs_"})
_LAZY = frozenset(
    {"generator", "map", "filter", "zip", "enumerate", "coroutine", "async_generator", "method"}
)
"""Builtin classes whose objects run code when they are used."""
_DATA = frozenset(
    {"numpy", "pandas", "datetime", "collections", "decimal", "fractions", "pathlib", "time", "re", "scipy"}
    | {"types", "sklearn", "enum", "uuid", "random", "string", "hashlib", "_hashlib", "sympy", "networkx"}
)
"""Packages whose objects draw nothing unless a method is called."""
_OF_FRAMES = frozenset({"columns", "index", "shape", "size", "ndim", "axes", "ngroups"})
"""Attributes of a data frame that follow from its index and columns."""
_OF_ROWS = frozenset({"copy", "head", "tail", "round", "sort_index", "reset_index"})
"""Methods of a data frame that keep, choose or sort rows, whatever the values are."""
_BY_KEYS = frozenset({"groupby", "sort_values", "set_index"})
"""Those that do so by some columns."""
_HOW = frozenset({"by", "n", "decimals", "deep", "ascending", "as_index", "sort", "kind", "drop", "observed"})
"""What these may be given by name."""
_OF_FILES = frozenset({"name", "mode", "closed", "encoding"})
"""Attributes of a file that reading it does not change."""


class KnownValues(ABC):
    """Of the expressions of one cell, as they are read. The parameters are those of `Proof`."""

    def __init__(
        self,
        others: Mapping[str, Known],
        namespace: Mapping[str, Any],
        drawn: Callable[[ast.Call], str | None],
        functions: Mapping[str, ast.FunctionDef],
        runs: Callable[[ast.Module], Iterable[ast.AST]],
        parts: Mapping[str, Parts],
        *,
        draws: bool,
    ) -> None:
        self.known: dict[str, Known] = dict(others)
        """Of the variables; of those that are not in it, all is the same."""
        self.namespace = namespace
        self.drawn = drawn
        self.functions = functions
        self.runs = runs
        self.parts = dict(parts)
        self.draws = draws
        self.reads_files = False
        """Whether files that the cell reads have what was drawn."""
        self.used: dict[str, None] = {}
        """Variables that are read and are another in each run."""
        self.may_show = False
        """Whether something is shown that may be chance."""
        self.gives_away = False
        """Whether a function that is not known, and may print, is given something that may be chance."""
        self.shown = 0
        self.prints: set[int] = set()
        """`id` of the calls that print and were read."""
        self._wild: set[str] = set()
        """Variables that it may change otherwise than by their keys."""
        self._at: ast.stmt | None = None
        """The statement of the cell that is read."""
        self._changes_there: Changes | None = None
        self._calls: list[str] = []
        self._locals: set[str] = set()
        """Of the function or comprehension that is read: the user's variables of the same name are others."""
        self._returned: list[Known] = []
        self._by_chance = False
        """Whether what is read runs, or how often, is chance."""
        self._ended = False
        """Whether the function that is read may have returned before, by chance."""

    # -- what statements and calls do: in `CallResults` and `Proof` ------------------------------------------

    @abstractmethod
    def _call(self, node: ast.Call) -> Known: ...
    @abstractmethod
    def _is_drawn(self, node: ast.Call) -> bool: ...
    @abstractmethod
    def _assign(self, target: ast.expr, known: Known, value: ast.expr | None) -> None: ...
    @abstractmethod
    def _assign_item(self, target: ast.expr, over: Known, loop: ast.expr) -> None: ...
    @abstractmethod
    def _go(self, body: Iterable[ast.stmt]) -> None: ...
    @abstractmethod
    def _show(self, known: Known, node: ast.expr, *, last: bool = False) -> None: ...

    # -- what is read --------------------------------------------------------------------------------------

    def _changing(self) -> list[str]:
        """The variables that are another in each run."""
        return [name for name, known in self.known.items() if known > Known.VALUE]

    def _nodes(self, node: ast.stmt | ast.expr) -> Iterable[ast.AST]:
        """Those that it runs, and of what it defines, all."""
        inside = ast.walk(node) if isinstance(node, DEFINITIONS) else ()
        body = [ast.Expr(node) if isinstance(node, ast.expr) else node]
        return itertools.chain(self.runs(ast.Module(body, [])), inside)

    def _is_apart(self, node: ast.stmt | ast.expr) -> bool:
        """Whether nothing that is another in each run is read there, nor in what is called."""
        names = self._changing()
        return not any(
            each.id in names or leads_to(self.namespace.get(each.id), names, self.namespace) is not None
            for each in self._nodes(node)
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store)
        )

    def _gives_to(self, node: ast.stmt | ast.expr) -> set[str]:
        """Variables that it gives something to, itself or in functions that say `global`."""
        own = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        found = {each.id for each in own if not isinstance(each.ctx, ast.Load)}
        found |= {name for each in self._nodes(node) if isinstance(each, ast.Global) for name in each.names}
        return found | ({node.name} if isinstance(node, DEFINITIONS) else set())

    def _take(self, node: ast.stmt | ast.expr) -> None:
        """What runs there is the same in each run, and what it shows."""
        for each in self._nodes(node):
            if prints(each):
                self.prints.add(id(each))
                self.shown += 1
        for name in self._gives_to(node):
            self.known.pop(name, None)

    def _value(self, node: ast.expr | None) -> Known:
        match node:
            case None | ast.Constant():
                return Known.VALUE
            case ast.Name():
                return self._named(node.id)
            case ast.Starred() | ast.UnaryOp() | ast.FormattedValue() | ast.NamedExpr() | ast.Await():
                return self._inner(node)
            case ast.JoinedStr():
                return self._text(node.values)
            case ast.BinOp():
                if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
                    return self._text([node.left, node.right])
                return self._arithmetic(node)
            case ast.BoolOp():
                found = join(map(self._value, node.values))
                if found > Known.VALUE:
                    self._may_change(node.values)
                return found if found is Known.VALUE else Known.NOTHING
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                if self._value(node.test) > Known.VALUE:
                    self._may_change([node.body, node.orelse])
                    return Known.NOTHING
                return join((self._value(node.body), self._value(node.orelse)))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Slice():
                return join((self._value(node.lower), self._value(node.upper), self._value(node.step)))
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return self._display(node)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return self._comprehension(node)
            case ast.Call():
                return self._call(node)
            case ast.Lambda():
                if self.draws and any(isinstance(each, ast.Call) for each in ast.walk(node)):
                    return Known.NOTHING
                return self._lambda(node)
        return Known.NOTHING

    def _named(self, name: str) -> Known:
        """Of a variable."""
        known = self.known.get(name, Known.VALUE)
        if known is Known.VALUE and name not in self._locals:
            known = self._held(self.namespace.get(name))
        if known > Known.VALUE:
            self.used[name] = None
        elif self.draws and not self._is_data(name):
            return Known.NOTHING
        return known

    def _held(self, value: Any) -> Known:
        """Of a value that has, or leads to, what is another in each run."""
        names = self._changing()
        for name in names:
            if same_object(value, self.namespace.get(name)):
                self.used[name] = None
                return self.known[name]
        found = leads_to(value, names, self.namespace)
        if found is None:
            return Known.VALUE
        self.used[found] = None
        return Known.NOTHING

    def _lambda(self, node: ast.Lambda) -> Known:
        """A function that is another in each run if it reads something that is."""
        own = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        read = {each.id for each in ast.walk(node.body) if isinstance(each, ast.Name)} - own
        return Known.VALUE if all(self._named(each) is Known.VALUE for each in read) else Known.NOTHING

    def _is_data(self, name: str) -> bool:
        """Whether a variable has what draws nothing when it is used: no iterator, no function, class or
        object of the notebook, none of a library that we do not know."""
        value = self.namespace.get(name)
        kind = type(value)
        if issubclass(kind, type | FunctionType):
            return value.__module__ != "__main__"
        if name in self.known or issubclass(kind, ModuleType) or value is None:
            return True
        if kind.__module__ == "builtins":
            return kind.__name__ not in _LAZY
        tensor = getattr(sys.modules.get("torch"), "Tensor", None)
        return kind is tensor or package_of(kind) in _DATA

    def _inner(self, node: ast.expr) -> Known:
        if isinstance(node, ast.UnaryOp):
            return self._value(node.operand)
        if isinstance(node, ast.NamedExpr):
            known = self._value(node.value)
            self._assign(node.target, known, node.value)
            return known
        if isinstance(node, ast.FormattedValue):
            return self._text([node.value])
        return self._value(node.value) if isinstance(node, ast.Starred) else Known.NOTHING

    def _text(self, nodes: Iterable[ast.expr]) -> Known:
        """Text that is made of some values."""
        found = [*map(self._value, nodes)]
        if all(each <= Known.TEXT for each in found):
            return Known.VALUE
        return Known.LENGTH if all(each in (0, 1, Known.LENGTH) for each in found) else Known.NOTHING

    def _comparison(self, node: ast.Compare) -> Known:
        left, right = self._value(node.left), self._value(node.comparators[0])
        if len(node.ops) == 1:
            holds = right is Known.ITEMS or self._is_of_keys(node.comparators[0])
            if isinstance(node.ops[0], ast.In | ast.NotIn) and left is Known.VALUE and holds:
                return Known.VALUE
            is_none = isinstance(node.comparators[0], ast.Constant) and node.comparators[0].value is None
            if isinstance(node.ops[0], ast.Is | ast.IsNot) and is_none and left <= Known.FORM:
                return Known.VALUE
            if _any_order(node.left) == _any_order(node.comparators[0]) and not self._has_draws(node):
                return Known.VALUE
            sets = self._is_set(node.left) and self._is_set(node.comparators[0])
            if sets and {left, right} <= {Known.VALUE, Known.ITEMS}:
                return Known.VALUE
        found = join((left, *map(self._value, node.comparators)))
        return found if found in (Known.VALUE, Known.FORM) else Known.NOTHING

    def _has_draws(self, node: ast.expr) -> bool:
        """Whether it may draw anew wherever it stands."""
        return self.draws and any(isinstance(each, ast.Call) for each in ast.walk(node))

    def _arithmetic(self, node: ast.BinOp) -> Known:
        left, right = self._value(node.left), self._value(node.right)
        found = join((left, right))
        repeats = isinstance(node.op, ast.Mult) and any(map(self._is_sequence, (node.left, node.right)))
        if repeats and found > Known.VALUE:
            return Known.NOTHING  # as often as was drawn, perhaps
        if found is not Known.ITEMS:
            return found
        if isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant):
            return Known.ITEMS
        other = node.right if left is Known.ITEMS else node.left
        return Known.ITEMS if isinstance(other, ast.List) and isinstance(node.op, ast.Add) else Known.FORM

    def _is_sequence(self, node: ast.expr) -> bool:
        written = isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.JoinedStr)
        value = node.value if isinstance(node, ast.Constant) else self._meaning(node)
        return written or type(value) in (list, tuple, str, bytes)

    def _may_change(self, nodes: Iterable[ast.expr]) -> None:
        """Whether some code runs is chance, and with it what collections are that it changes."""
        for each in (inner for node in nodes for inner in ast.walk(node)):
            held = each.func if isinstance(each, ast.Call) and called(each) in CHANGING else None
            base = base_of(held) if held is not None else None
            if base is not None and base is not held:
                self.known[base.id] = Known.NOTHING

    def _is_set(self, node: ast.expr) -> bool:
        """Whether a set is written or made there, or a variable has one; or what counts items."""
        if isinstance(node, ast.Call):
            return self._builtin(node.func) in ("set", "frozenset") or called(node) == "Counter"
        return isinstance(node, ast.Set) or type(self._meaning(node)) in (set, frozenset)

    def _attribute(self, node: ast.Attribute) -> Known:
        parts, root = self._parts_of(node.value), _root_of(node.value)
        if parts is not None and root is not None and self._is_array(root):
            columns = getattr(self.namespace.get(root.id), "columns", ())
            if node.attr in _OF_FRAMES or (node.attr in columns and parts.are_same(ast.Constant(node.attr))):
                return Known.VALUE
        base = self._value(node.value)
        if base is Known.VALUE:
            return base
        if package_of(type(self._meaning(node.value))) == "_io" and node.attr in _OF_FILES:
            return Known.VALUE
        if base is Known.TEXT:
            same = node.attr in FORMS or node.attr in _LEARNED_THE_SAME
            weights = same or constant_weights(self._meaning(node.value), node.attr)
            return (
                Known.VALUE if weights else Known.FORM if node.attr in ("weight", "bias") else Known.NOTHING
            )
        if not self.draws and is_generator(own_attribute(self._meaning(node.value), node.attr)):
            return Known.VALUE
        typed = node.attr in TYPES and (node.attr != "columns" or base <= Known.FORM)
        if typed or (node.attr in FORMS and base < Known.COUNT):
            return Known.VALUE
        if base is Known.LENGTH:
            if node.attr in ("version", "variant"):
                return Known.VALUE
            return Known.LENGTH if node.attr in ("hex", "urn") else Known.FORM
        if node.attr in SAME_FORM:
            return Known.FORM if node.attr == "T" and base is Known.ITEMS else base
        return Known.NOTHING

    def _subscript(self, node: ast.Subscript) -> Known:
        parts = self._parts_of(node.value)
        if parts is not None and parts.are_same(node.slice):
            return Known.VALUE
        match node:
            case ast.Subscript(ast.Attribute(held, "loc" | "at"), ast.Tuple([rows, keys])):
                parts = self._parts_of(held)
                if parts is not None and parts.are_same(keys) and self._value(rows) is Known.VALUE:
                    return Known.VALUE
        base, index = self._value(node.value), self._value(node.slice)
        if base is Known.VALUE:
            return index if index in (Known.VALUE, Known.ITEMS) else Known.NOTHING
        if index is not Known.VALUE or base > Known.COUNT:
            return Known.NOTHING
        if isinstance(node.slice, ast.Compare | ast.BoolOp):
            return Known.NOTHING
        part = isinstance(node.slice, ast.Slice)
        if base is Known.ITEMS and not self._is_array(node.value):  # items need not be alike
            return Known.COUNT if part else Known.NOTHING
        if base is Known.COUNT:
            return Known.COUNT if part else Known.NOTHING
        return Known.FORM

    def _parts_of(self, node: ast.expr) -> Parts | None:
        """Of a dict or data frame: a variable, some rows or columns of one, or one that is made there."""
        match node:
            case ast.Name():
                return self.parts.get(node.id) if node.id not in self._locals else None
            case ast.Subscript(value=ast.Attribute(value=held, attr="iloc" | "loc")):
                rows = not isinstance(node.slice, ast.Tuple) and self._value(node.slice) is Known.VALUE
                return self._parts_of(held) if rows else None
            case ast.Subscript():
                rows = isinstance(node.slice, ast.Slice | ast.Compare) and self._value(node.slice) == 0
                return self._parts_of(node.value) if rows or isinstance(node.slice, ast.List) else None
            case ast.Call(func=ast.Attribute(value=holder, attr=own)) if own in _OF_ROWS | _BY_KEYS:
                root, parts = _root_of(holder), self._parts_of(holder)
                if parts is None or root is None or not self._is_array(root):
                    return None
                keys = [*node.args[:1], *(each.value for each in node.keywords if each.arg == "by")]
                if own in _BY_KEYS and not (keys and all(map(parts.are_same, keys))):
                    return None
                given = [*node.args, *(each.value for each in node.keywords)]
                plain = all(isinstance(each, ast.Constant | ast.List) for each in given)
                return parts if plain and _HOW.issuperset(each.arg for each in node.keywords) else None
            case ast.Call():
                return self._frame_made(node)
            case ast.DictComp(generators=[ast.comprehension(ifs=[])]):
                keys_alone = ast.ListComp(node.key, node.generators)
                return Parts(others=True) if self._value(keys_alone) is Known.VALUE else None
            case ast.Dict() if all(isinstance(each, ast.Constant) for each in node.keys):
                written = [each.value for each in node.keys if isinstance(each, ast.Constant)]
                drawn = (self._value(each) > Known.VALUE for each in node.values)
                return Parts(dict(zip(written, drawn, strict=True)))
        return None

    def _is_of_keys(self, node: ast.expr) -> bool:
        """Whether it is a dict, or data frame, whose keys are the same in each run."""
        kind = type(self._meaning(node)).__name__
        return kind in ("dict", "DataFrame") and self._parts_of(node) is not None

    def _frame_made(self, node: ast.Call) -> Parts | None:
        """Of a data frame that is made of what has no index of its own, or of columns of which those that
        were drawn have none."""
        kind = self._meaning(node.func)
        if getattr(kind, "__name__", "") != "DataFrame" or package_of(kind) != "pandas":
            return None
        named = dict(zip(("data", "index", "columns"), node.args, strict=False))
        named |= {each.arg: each.value for each in node.keywords if each.arg is not None}
        data, others = named.pop("data", None), map(self._value, named.values())
        if data is None or any(each.arg is None for each in node.keywords):
            return None
        if any(each > Known.VALUE for each in others):
            return None
        if isinstance(data, ast.ListComp):
            return self._records(data)
        values = data.values if isinstance(data, ast.Dict) else [data]
        for each in values:
            known = self._value(each)
            if known > Known.FORM or (known > Known.VALUE and self._may_have_index(each)):
                return None
        if isinstance(data, ast.Dict):
            return self._parts_of(data)
        return Parts(others=True) if "columns" in named else None

    def _records(self, node: ast.ListComp) -> Parts | None:
        """Of dicts that a comprehension lists, written there or returned by a function of the notebook."""
        loop, item = node.generators[0], node.elt
        if len(node.generators) > 1 or loop.ifs or self._value(loop.iter) > Known.VALUE:
            return None
        kept, outer = dict(self.known), self._locals
        self._locals = outer | {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
        self._assign_item(loop.target, Known.VALUE, loop.iter)
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name) and not item.keywords:
            function = self.functions.get(item.func.id) if item.func.id not in self.known else None
            names = [each.arg for each in function.args.args] if function is not None else []
            given = [*map(self._value, item.args)]
            self.known = {**kept, **dict(zip(names, given, strict=False))}
            self._locals = {*names}
            returned = function.body[-1] if function is not None and len(function.body) == 1 else None
            if isinstance(returned, ast.Return) and returned.value is not None and len(names) == len(given):
                item = returned.value
        parts = self._parts_of(item) if isinstance(item, ast.Dict) else None
        self.known, self._locals = kept, outer
        return parts

    def _may_have_index(self, node: ast.expr) -> bool:
        """Whether an expression has anything of pandas, or calls a function of the notebook."""
        names = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
        values = [(name, self.namespace.get(name)) for name in names]
        return any(
            name in self.functions
            or package_of(type(value)) == "pandas"
            or (isinstance(value, ModuleType) and value.__name__.startswith("pandas"))
            for name, value in values
        )

    def _is_array(self, node: ast.expr) -> bool:
        """Whether a variable has an array, or a data frame."""
        return package_of(type(self._meaning(node))) in ARRAYS

    def _display(self, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> Known:
        items = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
        found = [self._value(each) for each in items if each is not None]
        if all(each is Known.VALUE for each in found):
            return Known.VALUE
        if all(each <= Known.TEXT for each in found):
            return Known.TEXT
        listed = isinstance(node, ast.List | ast.Tuple)
        if not listed:
            return Known.NOTHING
        return Known.FORM if max(found) <= Known.FORM else Known.COUNT

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) -> Known:
        kept, outer = dict(self.known), self._locals
        targets = (name for each in node.generators for name in ast.walk(each.target))
        self._locals = outer | {each.id for each in targets if isinstance(each, ast.Name)}
        counted = True
        for each in node.generators:
            over = self._value(each.iter)
            self._assign_item(each.target, over, each.iter)
            tests = join(map(self._value, each.ifs))
            counted = counted and over <= Known.COUNT and tests is Known.VALUE
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        found = join(map(self._value, parts))
        self.known, self._locals = kept, outer
        if not counted:
            self._may_change(parts)
            return Known.NOTHING
        if found is Known.VALUE:
            return found
        if not isinstance(node, ast.ListComp | ast.GeneratorExp):
            return Known.NOTHING
        return Known.FORM if found <= Known.FORM else Known.COUNT

    def _builtin(self, node: ast.expr) -> str | None:
        own = isinstance(node, ast.Name) and node.id in self.known
        return None if own else builtin_name(node, self.namespace)

    def _meaning(self, node: ast.expr) -> Any:
        return meaning(node, self.namespace, of=(ModuleType, type))


def _any_order(node: ast.expr) -> str:
    """The source of an expression, the same for sums and products in any order."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        return str(sorted((_any_order(node.left), _any_order(node.right)))) + type(node.op).__name__
    return ast.dump(node)
