"""Whether all that a cell shows is the same whatever was drawn: proved from its source, or not; and what is
the same of its variables.

In the kernel's process, of a cell that drew from a generator without a seed, or reads what an earlier cell
drew. Where something is not known, the answer is no. In a cell that draws nothing, all is the same that reads
nothing that was drawn, whatever it does. Nothing is called. What a library prints by itself is not seen. Of
the functions of numpy, pandas, torch, scipy and scikit-learn it is assumed that the form of their result
follows from the form of what they are given, unless they are in `CHOOSING`: if that is wrong, only the runs
can tell."""

import ast
import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.effects import (
    ARRAYS,
    CHOICES,
    CHOOSING,
    FORMING,
    FORMS,
    GROWING,
    MEASURES,
    OF_ANY_ORDER,
    OF_ITEMS,
    PERMUTING,
    SAME_FORM,
    SORTING,
    TEXTS,
    TYPES,
)
from deskcheck.notebook.kernel.chance.meaning import builtin_name, constant_weights, is_function, meaning
from deskcheck.notebook.kernel.chance.orders import prints
from deskcheck.notebook.kernel.chance.own import OwnFunction, generates
from deskcheck.notebook.kernel.chance.reach import (
    Changes,
    is_generator,
    leads_to,
    own_attribute,
    package_of,
    same_object,
)
from deskcheck.notebook.kernel.chance.sources import OPENING


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


_PURE = frozenset(
    {"builtins", "math", "statistics", "itertools", "functools", "operator", "collections", "re", "json"}
    | {"datetime", "time", "posixpath", "sys", "platform", "string", "textwrap", "decimal", "fractions"}
    | {"pathlib", "io", "copy", "types", "dataclasses", "enum", "warnings", "hashlib", "base64"}
)
"""Packages that draw nothing, but for what the tables of `calls` have."""
_UUIDS = frozenset({"uuid1", "uuid4", "token_hex", "token_urlsafe"})
_SHUFFLES = frozenset({"shuffle"})
_MAY_DRAW = re.compile(
    r"rand|normal|bernoul|poisson|dropout|multinom|rrelu|sampl|binomial|uniform|exponential|cauchy|geometric"
    r"|gamma|trunc|kaiming|xavier|orthogonal|sparse"
)
"""Names of functions and methods of torch that draw, and of some that do not."""
_LEARNED_THE_SAME = frozenset({"classes_", "n_features_in_", "feature_names_in_", "n_classes_", "n_outputs_"})
_WITH_NAMES = frozenset({"enumerate", "named_parameters", "named_modules", "named_children", "named_buffers"})
"""What gives pairs of which the first is the same in each run."""
_CLOSE = frozenset({"allclose", "array_equal", "array_equiv", "equal"})
"""Functions that compare arrays. Whether numbers that were drawn from an interval are equal is no
chance: they are if they are computed to be, and else never."""
_LAZY = frozenset(
    {"generator", "map", "filter", "zip", "enumerate", "coroutine", "async_generator", "method"}
)
"""Builtin classes whose objects run code when they are used."""
_UNCHANGED = (
    *(int, float, complex, str, bytes, range, type, type(None), functools.partial),
    *(FunctionType, BuiltinFunctionType, MethodDescriptorType),
)
"""Classes whose objects no call changes."""
_DATA = frozenset(
    {"numpy", "pandas", "datetime", "collections", "decimal", "fractions", "pathlib", "time", "re", "scipy"}
    | {"types", "sklearn", "enum", "uuid", "random", "string", "hashlib", "_hashlib", "sympy", "networkx"}
)
"""Packages whose objects draw nothing unless a method is called."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OF_FILES = frozenset({"name", "mode", "closed", "encoding"})
"""Attributes of a file that reading it does not change."""
_LABELLING = frozenset(
    {"title", "xlabel", "ylabel", "suptitle", "figtext", "text", "annotate", "set_title", "set_xlabel"}
    | {"set_ylabel", "grid"}
)
"""Functions and methods of matplotlib that give the text that they are given, not what is plotted."""
_SORTED = frozenset({"sort_values", "sort_index"})
"""Methods of pandas that sort rows, of which those that are equal keep the order that they had."""
_ADDING = frozenset({"sum", "mean", "prod", "std", "var"})
"""What they give depends on the order in the last digits."""
_NUMBERS = 1000
"""So many are looked at."""
_DEPTH = 6
"""Of calls of the notebook's functions, one in another."""


class _Unproved(Exception):
    """Something is shown that may be chance."""


class Proof:
    """Of one cell. others: variables that are another in each run before it, with what of them is the same.
    drawn: which generator a call draws from, if it is known to. functions: those of the notebook. runs: the
    nodes that some source runs, those of the notebook's functions and classes too. parts: dicts and data
    frames that are another in each run in part, with the keys of the items that are. draws: the cell may draw
    in any call that is not known."""

    def __init__(
        self,
        others: Mapping[str, Known],
        namespace: Mapping[str, Any],
        drawn: Callable[[ast.Call], str | None],
        functions: Mapping[str, ast.FunctionDef],
        runs: Callable[[ast.Module], Iterable[ast.AST]],
        parts: Mapping[str, set[object]],
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
        self.used: dict[str, None] = {}
        """Variables that are read and are another in each run."""
        self.may_show = False
        """Whether something is shown that may be chance."""
        self.gives_away = False
        """Whether a function that is not known, and may print, is given something that may be chance."""
        self.shown = 0
        self.prints: set[int] = set()
        """`id` of the calls that print and were read."""
        self._at: ast.stmt | None = None
        """The statement of the cell that is read."""
        self._changes_there: Changes | None = None
        self._calls: list[str] = []
        self._locals: set[str] = set()
        """Of the function or comprehension that is read: the user's variables of the same name are others."""
        self._returned: list[Known] = []
        self._by_chance = False
        """Whether what is read runs, or how often, is chance."""

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
        try:
            if not self.draws and self._is_apart(node):
                self._take(node)
                self.shown += shows
            elif shows and isinstance(node, ast.Expr):
                self._show(self._value(node.value), node.value, last=True)
                self._changes(node.value)
            else:
                self._statement(node)
        except _Unproved:
            self._by_chance = False
            self.may_show = True
            self._forget(node)

    def _is_apart(self, node: ast.stmt | ast.expr) -> bool:
        """Whether nothing that is another in each run is read there, nor in what is called."""
        names = self._changing()
        return not any(
            each.id in names or leads_to(self.namespace.get(each.id), names, self.namespace) is not None
            for each in self._nodes(node)
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store)
        )

    def _nodes(self, node: ast.stmt | ast.expr) -> Iterable[ast.AST]:
        """Those that it runs, and of what it defines, all."""
        inside = ast.walk(node) if isinstance(node, _DEFINITIONS) else ()
        body = [ast.Expr(node) if isinstance(node, ast.expr) else node]
        return itertools.chain(self.runs(ast.Module(body, [])), inside)

    def _take(self, node: ast.stmt | ast.expr) -> None:
        """What runs there is the same in each run, and what it shows."""
        for each in self._nodes(node):
            if prints(each):
                self.prints.add(id(each))
                self.shown += 1
        for name in self._gives_to(node):
            self.known.pop(name, None)

    def _gives_to(self, node: ast.stmt | ast.expr) -> set[str]:
        """Variables that it gives something to, itself or in functions that say `global`."""
        own = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        found = {each.id for each in own if not isinstance(each.ctx, ast.Load)}
        found |= {name for each in self._nodes(node) if isinstance(each, ast.Global) for name in each.names}
        return found | ({node.name} if isinstance(node, _DEFINITIONS) else set())

    def _forget(self, node: ast.stmt) -> None:
        """All that a statement gives something to, or may change, is another in each run."""
        names = self._changing()
        for each in self._nodes(node):
            held: ast.AST = each
            if isinstance(each, ast.Call):
                self._touches([each.func, *each.args, *(given.value for given in each.keywords)])
            while isinstance(held, ast.Attribute | ast.Subscript):
                held = held.value
            if not isinstance(held, ast.Name):
                continue
            if not isinstance(getattr(each, "ctx", None), ast.Load):
                self._touches([held])
            elif held.id in names:
                self.used[held.id] = None
        self.known |= dict.fromkeys(self._gives_to(node), Known.NOTHING)

    def _changing(self) -> list[str]:
        """The variables that are another in each run."""
        return [name for name, known in self.known.items() if known > Known.VALUE]

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
            case ast.With():
                for item in node.items:
                    known = self._value(item.context_expr)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, known, item.context_expr)
                self._go(node.body)
            case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Global() | ast.Delete() | ast.Nonlocal():
                pass
            case ast.Break() | ast.Continue():
                if self._by_chance:
                    raise _Unproved("a loop whose length is chance")
            case ast.Assert():
                if self._value(node.test) > Known.VALUE:
                    raise _Unproved("an assertion")
            case _:
                raise _Unproved(type(node).__name__)

    def _branch(self, node: ast.If | ast.While) -> None:
        chance = self._value(node.test) > Known.VALUE
        before = self._by_chance
        for _ in range(2):  # what a second round of a loop meets
            states = []
            for body in (node.body, node.orelse):
                kept = dict(self.known)
                self._by_chance = before or chance
                self._go(body)
                states.append(self.known)
                self.known = kept
            self._join_states(states)
        self._by_chance = before

    def _loop(self, node: ast.For) -> None:
        over = self._value(node.iter)
        before = self._by_chance
        self._by_chance = before or over > Known.COUNT
        for _ in range(2):
            kept = dict(self.known)
            self._assign_item(node.target, over, node.iter)
            self._go(node.body)
            self._join_states([kept, self.known])
        self._go(node.orelse)
        self._by_chance = before

    def _join_states(self, states: list[dict[str, Known]]) -> None:
        names = {name for state in states for name in state}
        self.known = {name: _join(self._of(name, state) for state in states) for name in names}

    def _of(self, name: str, state: Mapping[str, Known]) -> Known:
        return state.get(name, Known.VALUE)

    def _assign(self, target: ast.expr, known: Known, value: ast.expr | None) -> None:
        if self._by_chance:
            known = Known.NOTHING
        if isinstance(target, ast.Name):
            self.known[target.id] = known
            self.parts.pop(target.id, None)
        elif isinstance(target, ast.Tuple | ast.List):
            given: list[Known] = [known if known is Known.VALUE else _item(known)] * len(target.elts)
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
                self._assign(each, _item(over), None)
        else:
            self._assign(target, _item(over), None)

    def _part(self, target: ast.expr, known: Known) -> None:
        """An item or attribute of a variable is given a value."""
        index = self._value(target.slice) if isinstance(target, ast.Subscript) else Known.VALUE
        base: ast.expr = target
        while isinstance(base, ast.Subscript | ast.Attribute):
            base = base.value
        if not isinstance(base, ast.Name):
            return
        was = self.known.get(base.id, Known.VALUE)
        if isinstance(target, ast.Subscript) and target.value is base:
            if was is Known.VALUE and type(self.namespace.get(base.id)).__name__ in ("dict", "DataFrame"):
                self.parts.setdefault(base.id, set())
            if base.id in self.parts:
                self._item_given(base.id, target.slice, known)
        if max(known, index) > Known.VALUE:
            array = package_of(type(self.namespace.get(base.id))) in ARRAYS
            kept = known <= Known.FORM and index is Known.VALUE and array
            self.known[base.id] = max(was, Known.FORM if kept else Known.TYPE)

    def _item_given(self, name: str, key: ast.expr, known: Known) -> None:
        """An item of a variable that is another in each run in part is given a value."""
        parts = {*self.parts[name]}
        if not isinstance(key, ast.Constant) or self._by_chance:
            del self.parts[name]
        elif known > Known.VALUE:
            self.parts[name] = parts | {key.value}
        else:
            self.parts[name] = parts - {key.value}
            if not self.parts[name]:
                self.known.pop(name, None)

    def _set(self, name: str, known: Known) -> None:
        """The object of a variable is changed, and so are others that have it."""
        value = None if name in self._locals else self.namespace.get(name)
        others = (other for other, each in self.namespace.items() if same_object(each, value))
        self.known |= dict.fromkeys((name, *others), known if not self._by_chance else Known.NOTHING)

    def _changes(self, node: ast.expr) -> None:
        """A call changes a variable in its place."""
        if not isinstance(node, ast.Call):
            return
        own = _called(node)
        if own in _SHUFFLES and node.args and isinstance(node.args[0], ast.Name):
            self._set(node.args[0].id, _join((self._named(node.args[0].id), Known.ITEMS)))
            return
        if own.endswith("_") and self.drawn(node) is not None:
            self._fills(node)
        elif own == "fit" and isinstance(node.func, ast.Attribute):
            self._assign(node.func.value, Known.TEXT, None)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            name = node.func.value.id
            if type(self.namespace.get(name)) in (list, set, dict):
                self._changes_collection(name, own, node)

    def _changes_collection(self, name: str, own: str, node: ast.Call) -> None:
        """own: the method of a list, set or dict that is called."""
        was, known = self._named(name), _join(map(self._value, node.args))
        if own == "sort" and was is Known.ITEMS and not node.keywords:
            self._set(name, Known.VALUE)
        elif own in ("pop", "remove") and was is Known.ITEMS:
            self._set(name, Known.COUNT)
        elif own in ("append", "insert") and known > Known.VALUE and was <= Known.COUNT:
            alike = max(was, known) <= Known.FORM
            self._set(name, Known.FORM if alike else Known.COUNT)
        elif node.args and max(was, known) > Known.VALUE:
            self._set(name, _join((was, known)))

    def _gives(self, node: ast.expr) -> None:
        """A call whose value is not used may change what it is of, and what it is given."""
        if not isinstance(node, ast.Call) or prints(node) or _called(node) in _SHUFFLES | GROWING:
            return
        given = [*node.args, *(each.value for each in node.keywords)]
        if _join(map(self._value, given)) is Known.VALUE and self._calls_same(node):
            return
        for each in (node.func, *given):
            base = _base(each)
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
        is_model = _has_models(type(self.namespace.get(base.id)))
        self.known[base.id] = Known.TEXT if is_model else Known.FORM

    # -- values ----------------------------------------------------------------------------------------

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
                found = _join(map(self._value, node.values))
                return found if found is Known.VALUE else Known.NOTHING
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                if self._value(node.test) > Known.VALUE:
                    return Known.NOTHING
                return _join((self._value(node.body), self._value(node.orelse)))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Slice():
                return _join((self._value(node.lower), self._value(node.upper), self._value(node.step)))
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
            if isinstance(node.ops[0], ast.In | ast.NotIn) and left is Known.VALUE and right is Known.ITEMS:
                return Known.VALUE
            is_none = isinstance(node.comparators[0], ast.Constant) and node.comparators[0].value is None
            if isinstance(node.ops[0], ast.Is | ast.IsNot) and is_none and left <= Known.FORM:
                return Known.VALUE
            if _any_order(node.left) == _any_order(node.comparators[0]) and not self._has_draws(node):
                return Known.VALUE
            sets = self._is_set(node.left) and self._is_set(node.comparators[0])
            if sets and {left, right} <= {Known.VALUE, Known.ITEMS}:
                return Known.VALUE
        found = _join((left, *map(self._value, node.comparators)))
        return found if found in (Known.VALUE, Known.FORM) else Known.NOTHING

    def _has_draws(self, node: ast.expr) -> bool:
        """Whether it may draw anew wherever it stands."""
        return self.draws and any(isinstance(each, ast.Call) for each in ast.walk(node))

    def _arithmetic(self, node: ast.BinOp) -> Known:
        left, right = self._value(node.left), self._value(node.right)
        found = _join((left, right))
        if found is not Known.ITEMS:
            return found
        if isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant):
            return Known.ITEMS
        other = node.right if left is Known.ITEMS else node.left
        return Known.ITEMS if isinstance(other, ast.List) and isinstance(node.op, ast.Add) else Known.FORM

    def _is_set(self, node: ast.expr) -> bool:
        """Whether a set is written or made there, or a variable has one; or what counts items."""
        if isinstance(node, ast.Call):
            return self._builtin(node.func) in ("set", "frozenset") or _called(node) == "Counter"
        return isinstance(node, ast.Set) or type(self._meaning(node)) in (set, frozenset)

    def _attribute(self, node: ast.Attribute) -> Known:
        if isinstance(node.value, ast.Name) and self.parts.get(node.value.id):
            frame = self.namespace.get(node.value.id)
            if node.attr in getattr(frame, "columns", ()) and node.attr not in self.parts[node.value.id]:
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
        if node.attr in TYPES or (node.attr in FORMS and base < Known.COUNT):
            return Known.VALUE
        if base is Known.LENGTH:
            if node.attr in ("version", "variant"):
                return Known.VALUE
            return Known.LENGTH if node.attr in ("hex", "urn") else Known.FORM
        if node.attr in SAME_FORM:
            return Known.FORM if node.attr == "T" and base is Known.ITEMS else base
        return Known.NOTHING

    def _subscript(self, node: ast.Subscript) -> Known:
        if isinstance(node.value, ast.Name) and self._is_other_part(node.value.id, node.slice):
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

    def _is_other_part(self, name: str, key: ast.expr) -> bool:
        """Whether keys are written there, and none is of an item that is another in each run."""
        parts = self.parts.get(name)
        keys = key.elts if isinstance(key, ast.List) else [key]
        if parts is None or not all(isinstance(each, ast.Constant) for each in keys):
            return False
        return parts.isdisjoint(each.value for each in keys if isinstance(each, ast.Constant))

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
            tests = _join(map(self._value, each.ifs))
            counted = counted and over <= Known.COUNT and tests is Known.VALUE
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        found = _join(map(self._value, parts))
        self.known, self._locals = kept, outer
        if not counted:
            return Known.NOTHING
        if found is Known.VALUE:
            return found
        if not isinstance(node, ast.ListComp | ast.GeneratorExp):
            return Known.NOTHING
        return Known.FORM if found <= Known.FORM else Known.COUNT

    # -- calls -----------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Known:
        if not self.draws and not self._by_chance and self._is_apart(node):
            self._take(node)
            return Known.VALUE
        if prints(node):
            self.prints.add(id(node))
            for each in (*node.args, *(given.value for given in node.keywords)):
                self._show(self._value(each), each)
            self.shown += not node.args
            return Known.VALUE
        own = _called(node)
        if own in OPENING:
            return Known.NOTHING
        name = self._builtin(node.func)
        if name is not None:
            return self._of_builtin(name, node)
        given = [*node.args, *(each.value for each in node.keywords)]
        known = _join(map(self._value, given))
        function = self._meaning(node.func)
        if own == "fit" or _is_model(function):
            return Known.TEXT
        if self._is_drawn(node):
            return self._of_draw(own, node, known)
        if isinstance(node.func, ast.Name) and self.known.get(own) is Known.TEXT:
            return Known.FORM
        if isinstance(node.func, ast.Name) and node.func.id in self.functions:
            if self.known.get(own, Known.VALUE) is Known.VALUE:
                return self._of_function(node)
            self.used[own] = None
            return Known.NOTHING
        if isinstance(node.func, ast.Name | ast.Lambda) and not self.draws:
            self._value(node.func)
        if isinstance(node.func, ast.Call) and _is_model(self._meaning(node.func.func)):
            return known if known is Known.NOTHING else Known.FORM  # a layer that is made and called
        found = Known.NOTHING
        if own in _CLOSE and known is Known.FORM and all(map(self._is_continuous, given)):
            return Known.VALUE
        if function is not None:
            found = self._of_library(function, own, known, given)
        elif isinstance(node.func, ast.Attribute):
            found = self._of_method(own, node.func.value, known, given)
        if found is Known.NOTHING:
            self._touches([node.func, *given], node.func)
            self.gives_away = True
        return found

    def _is_continuous(self, node: ast.expr) -> bool:
        """Whether all variables in an expression that were drawn are arrays of numbers of an interval."""
        drawn = [
            self.namespace.get(each.id)
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and self.known.get(each.id, Known.VALUE) > Known.VALUE
        ]
        calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
        return not any(map(self._is_drawn, calls)) and all(map(_has_fractions, drawn))

    def _is_drawn(self, node: ast.Call) -> bool:
        return self.drawn(node) is not None or self._draws(node)

    def _touches(self, nodes: Iterable[ast.expr], called: ast.expr | None = None) -> None:
        """A function that is not known, `called`, may have changed what it is of, and what it is given."""
        for node in nodes:
            if isinstance(node, ast.Subscript) and node is called:
                continue  # of what holds a function nothing is changed
            while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
                node = node.value
            if not isinstance(node, ast.Name):
                continue
            value = self.namespace.get(node.id)
            if node.id in self._locals or not (self._is_plain(value) or self._stays(value)):
                self.known[node.id] = max(self.known.get(node.id, Known.VALUE), Known.TYPE)

    def _stays(self, value: Any) -> bool:
        """Whether nothing that the statement runs changes an object of the notebook's, or a collection."""
        if self._at is None:
            return False
        if self._changes_there is None:
            defined = (each for function in self.functions.values() for each in ast.walk(function))
            named = {each.arg for each in defined if isinstance(each, ast.arg)}
            self._changes_there = Changes(self._nodes(self._at), named, self._is_safe)
        return self._changes_there.keep(value)

    def _is_safe(self, node: ast.Call) -> bool:
        """Whether a call changes nothing that it is given, but for what the notebook's own code does."""
        if self._builtin(node.func) is not None:
            return True
        function = self._meaning(node.func)
        if function is None:  # a method, or a parameter
            return isinstance(node.func, ast.Attribute) or getattr(node.func, "id", "") in self._locals
        if getattr(function, "__module__", "") == "__main__":
            return isinstance(function, FunctionType | type)
        if not is_function(function) or getattr(function, "__name__", "") in _SHUFFLES:
            return False
        return _module_of(function).partition(".")[0] in _PURE | {"random"}

    def _is_plain(self, value: Any) -> bool:
        """Whether nothing changes it, or only what we know. What a library draws it may keep for itself."""
        if issubclass(type(value), ModuleType):
            return not self.draws or value.__name__.partition(".")[0] in _PURE | ARRAYS
        return issubclass(type(value), _UNCHANGED)

    def _of_builtin(self, name: str, node: ast.Call) -> Known:
        given = [*map(self._value, node.args)]
        known = _join([*given, *(self._value(each.value) for each in node.keywords)])
        if known is Known.VALUE:
            return known
        if known is Known.NOTHING:
            self._calls_back(node)
        if name in ("callable", "hasattr", "issubclass"):
            return Known.VALUE
        if name in ("type", "isinstance"):
            return Known.VALUE if known is not Known.NOTHING else Known.NOTHING
        if name == "len":
            return Known.VALUE if known <= Known.COUNT else Known.NOTHING
        if name in OF_ITEMS:
            if known is Known.ITEMS:
                return self._of_items(name, node)
            if name in ("set", "frozenset") or known > Known.COUNT:
                return Known.NOTHING
            return Known.FORM if known <= Known.FORM else Known.COUNT if name == "sorted" else Known.NOTHING
        if name in TEXTS:
            return self._text(node.args)
        return known if name in FORMING else Known.NOTHING

    def _calls_back(self, node: ast.Call) -> None:
        """A builtin that is given functions calls them with the items that it is given."""
        given = [*node.args, *(each.value for each in node.keywords)]
        if any(
            isinstance(each, ast.Lambda) or isinstance(self._meaning(each), FunctionType) for each in given
        ):
            self._touches(each for value in given for each in ast.walk(value) if isinstance(each, ast.Name))

    def _of_items(self, name: str, node: ast.Call) -> Known:
        """What a builtin gives of items in any order. Of those that are equal by a key, the first counts."""
        if name in ("set", "frozenset"):
            return Known.ITEMS
        if any(each.arg == "key" for each in node.keywords):
            return Known.ITEMS if name == "sorted" else Known.NOTHING
        if name == "sum" and not (len(node.args) == 1 and self._adds_exactly(node.args[0])):
            return Known.NOTHING
        return Known.VALUE

    def _adds_exactly(self, node: ast.expr) -> bool:
        """Whether the sum of items is the same in any order, to the last digit: of a variable with numbers
        that are whole, or short; of what is made there, where no float is seen."""
        value = self._meaning(node)
        if value is None:
            constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
            names = (self._meaning(each) for each in ast.walk(node) if isinstance(each, ast.Name))
            return all(map(_are_short, (*constants, *names)))
        return _are_short(value)

    def _of_draw(self, own: str, node: ast.Call, known: Known) -> Known:
        if known is Known.FORM and own == "train_test_split":
            return Known.FORM
        if known > Known.ITEMS:
            return Known.NOTHING
        if own in _UUIDS:
            return Known.LENGTH
        if own in PERMUTING or (own == "sample" and self._takes_all(node)):
            return Known.ITEMS
        if own == "sample" and isinstance(node.func, ast.Attribute) and self._is_array(node.func.value):
            return Known.FORM
        if own in CHOICES and not (node.keywords or len(node.args) > 1):
            return Known.NOTHING  # one of several, which need not be alike
        return Known.COUNT if own in ("choices", "sample") else Known.FORM

    def _takes_all(self, node: ast.Call) -> bool:
        """Whether as many are drawn, without putting them back, as there are."""
        named = {each.arg: each.value for each in node.keywords}
        frac = named.get("frac")
        if isinstance(frac, ast.Constant) and frac.value == 1:
            return "replace" not in named
        taken = node.args[1] if len(node.args) > 1 else named.get("k")
        if taken is None or not node.args:
            return False
        there, count = node.args[0], self._length(node.args[0])
        if isinstance(taken, ast.Call) and self._builtin(taken.func) == "len":
            return ast.dump(taken.args[0]) == ast.dump(there)
        return isinstance(taken, ast.Constant) and count is not None and taken.value == count

    def _length(self, node: ast.expr) -> int | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return len(node.value)
        if isinstance(node, ast.List | ast.Tuple):
            return len(node.elts) if not any(isinstance(each, ast.Starred) for each in node.elts) else None
        if isinstance(node, ast.Name):
            value = self.namespace.get(node.id)
            return len(value) if isinstance(value, list | tuple | str | range) else None
        if isinstance(node, ast.Call) and self._builtin(node.func) == "range":
            given = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if given and len(given) == len(node.args) and all(type(each) is int for each in given):
                return len(range(*given))  # type: ignore[arg-type]
        return None

    def _draws(self, node: ast.Call) -> bool:
        """Whether it is a method of a generator that is a variable."""
        if not isinstance(node.func, ast.Attribute):
            return False
        kind = type(self._meaning(node.func.value))
        return kind.__module__.startswith(("random", "numpy.random")) and kind.__name__ in (
            *("Random", "SystemRandom", "Generator", "RandomState"),
        )

    def _of_function(self, node: ast.Call) -> Known:
        """What a function of the notebook returns, and what it shows."""
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        definition = self.functions[name]
        if name in self._calls or len(self._calls) >= _DEPTH or generates(definition):
            raise _Unproved(name)
        arguments = definition.args
        given = [self._value(each) for each in node.args]
        if arguments.vararg or arguments.kwarg or any(isinstance(each, ast.Starred) for each in node.args):
            raise _Unproved(name)
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        defaults = [each for each in (*arguments.defaults, *arguments.kw_defaults) if each is not None]
        if any(self._value(each) > Known.VALUE for each in defaults):
            return Known.NOTHING
        local = dict(zip(names, given, strict=False))
        local |= {each.arg: self._value(each.value) for each in node.keywords if each.arg is not None}
        kept, returned, by_chance, outer = self.known, self._returned, self._by_chance, self._locals
        self._locals = own = {*OwnFunction(definition, {}).locals()}
        self.known = {key: value for key, value in kept.items() if key not in own} | local
        self._returned = []
        self._calls.append(name)
        try:
            self._go(definition.body)
            found, left = _join(self._returned), self.known
        finally:
            self._calls.pop()
            self.known, self._returned, self._by_chance, self._locals = kept, returned, by_chance, outer
        self.known |= {key: value for key, value in left.items() if key not in own}
        for parameter, argument in zip(names, node.args, strict=False):
            if not isinstance(argument, ast.Name) or self._is_plain(self.namespace.get(argument.id)):
                continue
            if left.get(parameter, Known.VALUE) > local[parameter]:
                self.known[argument.id] = left[parameter]
            elif self.draws and not self._is_data(argument.id):
                self._touches([argument])
        return found

    def _of_library(self, function: Any, own: str, known: Known, given: list[ast.expr]) -> Known:
        if not is_function(function):
            return Known.NOTHING  # something that is called, as a `functools.partial`
        module = _module_of(function)
        if own in _LABELLING and module.startswith("matplotlib.") and known is Known.VALUE:
            return known
        package = module.partition(".")[0]
        if module.startswith("sklearn.datasets.") and own.startswith(("load_", "fetch_")):
            return known
        if own == "Counter" and known is Known.ITEMS:
            return known
        pure = package in _PURE or (package in ("numpy", "pandas") and "random" not in module)
        if pure or (package == "torch" and not _has_models(type(function)) and not _MAY_DRAW.search(own)):
            if known is Known.VALUE:
                return known
            if known is Known.ITEMS and own in SORTING and len(given) == 1:
                return Known.VALUE if self._in_any_order(own, given[0]) else Known.FORM
        if package in ARRAYS and known < Known.COUNT and own not in CHOOSING:
            return Known.FORM
        return Known.NOTHING

    def _in_any_order(self, own: str, node: ast.expr) -> bool:
        """Whether what is computed of items in any order is the same to the last digit that is shown: a data
        frame shows few."""
        if own not in _ADDING or type(self._meaning(node)).__name__ == "DataFrame":
            return True
        return own in ("sum", "mean") and self._adds_exactly(node)

    def _is_plot(self, node: ast.expr) -> bool:
        """Whether it is a part of a plot."""
        return package_of(type(self._meaning(node))) in ("matplotlib", "mpl_toolkits")

    def _is_sorted_alone(self, own: str, holder: ast.expr, given: list[ast.expr]) -> bool:
        """Whether no two rows of a series or data frame are equal by what they are sorted by."""
        if isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute):  # df.sample(frac=1)
            holder = holder.func.value
        value = self._meaning(holder)
        if package_of(type(value)) != "pandas":
            return False
        if own == "sort_index":
            return not given and bool(getattr(value.index, "is_unique", False))
        if given and isinstance(given[0], ast.Constant) and type(value).__name__ == "DataFrame":
            column = value.get(given[0].value)
            return column is not None and bool(getattr(column, "is_unique", False))
        return not given and bool(getattr(value, "is_unique", False))

    def _of_method(self, own: str, holder: ast.expr, known: Known, given: list[ast.expr]) -> Known:
        base = self._value(holder)
        if base is Known.TEXT:
            return Known.TEXT if own in ("eval", "train", "to", "cpu", "cuda", "fit") else Known.FORM
        if own in MEASURES and base < Known.COUNT:
            return Known.VALUE
        if own == "keys" and isinstance(holder, ast.Name) and self.parts.get(holder.id):
            return Known.VALUE
        if own == "format":
            return Known.VALUE if base is Known.VALUE and known <= Known.TEXT else Known.NOTHING
        if base is known is Known.VALUE and not self.draws:
            return Known.VALUE
        if own in _LABELLING and known is Known.VALUE and self._is_plot(holder):
            return Known.VALUE
        if base is Known.VALUE:
            value, base_name = self._meaning(holder), _base(holder)
            if value is None and base_name is not None and self._is_array(base_name):
                value = self._meaning(base_name)  # a part of it
            kind = package_of(type(value))
            literal = isinstance(holder, ast.Constant | ast.JoinedStr | ast.List | ast.Dict)
            pure = literal or (value is not None and kind in _PURE) or kind in ("numpy", "pandas")
            if kind == "torch" and not _has_models(type(value)):
                pure = not _MAY_DRAW.search(own)
            if pure and known is Known.VALUE and own != "sample":
                return Known.VALUE
            formed = kind in ARRAYS and known < Known.COUNT and own not in CHOOSING
            return Known.FORM if formed else Known.NOTHING
        if base is Known.ITEMS and known is Known.VALUE and own in _SORTED:
            return Known.VALUE if self._is_sorted_alone(own, holder, given) else Known.ITEMS
        if base is Known.ITEMS and own in OF_ANY_ORDER and (not given or own == "count"):
            return Known.VALUE if self._in_any_order(own, holder) else Known.FORM
        if own in CHOOSING or max(known, base) >= Known.COUNT:
            return Known.NOTHING
        return base if base is Known.LENGTH else Known.FORM

    def _builtin(self, node: ast.expr) -> str | None:
        own = isinstance(node, ast.Name) and node.id in self.known
        return None if own else builtin_name(node, self.namespace)

    def _meaning(self, node: ast.expr) -> Any:
        return meaning(node, self.namespace, of=(ModuleType, type))


def _called(node: ast.Call) -> str:
    """The name of the function or method that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_counter(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _called(node) == "Counter"


def _base(node: ast.expr) -> ast.Name | None:
    """The variable that an expression begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _any_order(node: ast.expr) -> str:
    """The source of an expression, the same for sums and products in any order."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        return str(sorted((_any_order(node.left), _any_order(node.right)))) + type(node.op).__name__
    return ast.dump(node)


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
        if isinstance(statement, _DEFINITIONS):
            yield from _runs_now(statement)
        else:
            yield from (each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr))


def _are_short(value: Any) -> bool:
    """Whether it is, or has, numbers of few digits in binary, which are added exactly in any order."""
    if isinstance(value, list | tuple | set | frozenset | range):
        return len(value) <= _NUMBERS and all(map(_are_short, value))
    if type(value).__module__ == "numpy" and str(getattr(value, "dtype", "")).startswith(("int", "uint")):
        return True
    if type(value).__module__ == "numpy" and str(getattr(value, "dtype", "")).startswith("float"):
        return bool((value * 1024 % 1 == 0).all() and (abs(value) < 2**32).all())
    if isinstance(value, float):
        return (value * 1024).is_integer() and abs(value) < 2**32
    return not isinstance(value, complex)


def _join(known: Iterable[Known]) -> Known:
    """What is the same in each run of several values together."""
    found = {*known} - {Known.VALUE}
    if not found:
        return Known.VALUE
    if len(found) == 1:
        return found.pop()
    if found & {Known.NOTHING, Known.TYPE, Known.TEXT}:
        return Known.NOTHING
    return Known.COUNT if Known.COUNT in found else Known.FORM


def _item(known: Known) -> Known:
    """What is the same of one item of a value."""
    if known in (Known.VALUE, Known.NOTHING):
        return known
    return Known.FORM if known is Known.FORM else Known.NOTHING


def _module_of(function: Any) -> str:
    """The module of a function; of a method that stands for one, as those of C do, that of what it is of."""
    module = getattr(function, "__module__", None)
    if isinstance(module, str):
        return module
    holder = getattr(function, "__self__", function)
    return str((holder if isinstance(holder, type) else type(holder)).__module__)


def _has_models(kind: type) -> bool:
    """Whether it is a class of models of torch."""
    of_torch = getattr(sys.modules.get("torch.nn"), "Module", None)
    return of_torch is not None and of_torch in type.mro(kind)


def _is_model(function: Any) -> bool:
    """Whether it is a class of models of torch or estimators of scikit-learn."""
    if not isinstance(function, type):
        return False
    is_estimator = function.__module__.startswith("sklearn.") and hasattr(function, "get_params")
    return is_estimator or _has_models(function)


def _is_constant(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and all(isinstance(each, ast.Constant) for each in call.args)


def _has_fractions(value: Any) -> bool:
    """Whether it is an array of floats that are not all whole: numbers of an interval, not of a few."""
    if not str(getattr(value, "dtype", "")).rpartition(".")[2].startswith("float"):
        return False
    return bool((value % 1 != 0).any())
