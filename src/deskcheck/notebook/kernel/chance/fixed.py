"""Whether all that a cell shows is the same whatever was drawn: proved from its source, or not.

In the kernel's process, of a cell that drew from a generator without a seed. Where something is not known,
the answer is no. Nothing is called. What a library prints by itself is not seen. Of the functions of numpy,
pandas, torch, scipy and scikit-learn it is assumed that the form of their result follows from the form of
what they are given, unless they are in `CHOOSING`: if that is wrong, only the runs can tell."""

import ast
import builtins
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from types import FunctionType, ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.effects import (
    ARRAYS,
    CHOICES,
    CHOOSING,
    FORMING,
    FORMS,
    MEASURES,
    OF_ANY_ORDER,
    OF_ITEMS,
    PERMUTING,
    SAME_FORM,
    SORTING,
    TEXTS,
    TYPES,
)
from deskcheck.notebook.kernel.chance.orders import prints
from deskcheck.notebook.kernel.chance.own import OwnFunction, generates
from deskcheck.notebook.kernel.chance.shown import (
    OPENING,
    ChanceOrigin,
    constant_weights,
    is_function,
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
    NOTHING = 6


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
_DATA = frozenset(
    {"numpy", "pandas", "datetime", "collections", "decimal", "fractions", "pathlib", "time", "re", "scipy"}
    | {"types", "sklearn", "enum", "uuid", "random", "string", "hashlib", "_hashlib", "sympy", "networkx"}
)
"""Packages whose objects draw nothing unless a method is called."""
_DEPTH = 6
"""Of calls of the notebook's functions, one in another."""


class _Unproved(Exception):
    """Something is shown that may be chance."""


class Proof:
    """Of one cell. others: variables that are another in each run before it, with what of them is the same.
    drawn: which generator a call draws from, if it is known to. functions: those of the notebook."""

    def __init__(
        self,
        others: Mapping[str, Known],
        namespace: Mapping[str, Any],
        drawn: Callable[[ast.Call], str | None],
        functions: Mapping[str, ast.FunctionDef],
    ) -> None:
        self.known: dict[str, Known] = dict(others)
        self.namespace = namespace
        self.drawn = drawn
        self.functions = functions
        self.shown = 0
        self.prints: set[int] = set()
        """`id` of the calls that print and were read."""
        self._calls: list[str] = []
        self._returned: list[Known] = []
        self._by_chance = False
        """Whether what is read runs, or how often, is chance."""

    def holds(self, tree: ast.Module, runs: Iterable[ast.AST], *, shows_last: bool) -> bool:
        """Whether something is shown, and all of it is the same in each run. runs: the nodes that the cell
        runs, those of the notebook's functions and classes too. shows_last: the value of a last expression
        is shown."""
        try:
            body = tree.body
            if shows_last and body and isinstance(last := body[-1], ast.Expr):
                self._go(body[:-1])
                self._show(self._value(last.value), last.value)
                self._changes(last.value)
            else:
                self._go(body)
        except _Unproved:
            return False
        unread = (each for each in runs if prints(each) and id(each) not in self.prints)
        return self.shown > 0 and all(map(_is_constant, unread))

    # -- statements ------------------------------------------------------------------------------------

    def _show(self, known: Known, node: ast.expr) -> None:
        self.shown += 1
        if known > Known.TEXT or self._by_chance:
            raise _Unproved(ast.unparse(node))

    def _go(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.known.pop(node.name, None)
            case ast.Assign():
                for target in node.targets:
                    self._assign(target, self._value(node.value), node.value)
                self._changes(node.value)
            case ast.AnnAssign():
                if node.value is not None:
                    self._assign(node.target, self._value(node.value), node.value)
            case ast.AugAssign():
                known = _join((self._value(node.target), self._value(node.value)))
                self._assign(node.target, known, node.value)
            case ast.Expr():
                self._value(node.value)
                self._changes(node.value)
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
        self._by_chance = before or over is Known.NOTHING
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
        if isinstance(target, ast.Tuple) and name in _WITH_NAMES and over is not Known.NOTHING:
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
        if max(known, index) > Known.VALUE:
            array = type(self.namespace.get(base.id)).__module__.partition(".")[0] in ARRAYS
            kept = known <= Known.FORM and index is Known.VALUE and array
            self.known[base.id] = max(was, Known.FORM) if kept else Known.NOTHING

    def _changes(self, node: ast.expr) -> None:
        """A call changes a variable in its place."""
        if not isinstance(node, ast.Call):
            return
        own = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if own in _SHUFFLES and node.args and isinstance(node.args[0], ast.Name):
            was = self.known.get(node.args[0].id, Known.VALUE)
            self.known[node.args[0].id] = _join((was, Known.ITEMS)) if not self._by_chance else Known.NOTHING
            return
        if own.endswith("_") and self.drawn(node) is not None:
            self._fills(node)
        elif own == "fit" and isinstance(node.func, ast.Attribute):
            self._assign(node.func.value, Known.TEXT, None)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            name = node.func.value.id
            if type(self.namespace.get(name)) in (list, set, dict) and node.args:
                known = _join((self.known.get(name, Known.VALUE), *map(self._value, node.args)))
                grown = own in ("append", "insert") and known > Known.VALUE
                self.known[name] = Known.FORM if grown and not self._by_chance else known

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
                known = self.known.get(node.id, Known.VALUE)
                return Known.NOTHING if known is Known.VALUE and not self._is_data(node.id) else known
            case ast.Starred() | ast.UnaryOp() | ast.FormattedValue() | ast.NamedExpr() | ast.Await():
                return self._inner(node)
            case ast.JoinedStr():
                return self._text(node.values)
            case ast.BinOp():
                sides = self._value(node.left), self._value(node.right)
                text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
                return self._text([node.left, node.right]) if text else _join(sides)
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
                return (
                    Known.VALUE if not any(isinstance(n, ast.Call) for n in ast.walk(node)) else Known.NOTHING
                )
        return Known.NOTHING

    def _is_data(self, name: str) -> bool:
        """Whether a variable has what draws nothing when it is used: no iterator, no object of a class of the
        notebook or of a library that we do not know."""
        value = self.namespace.get(name)
        kind = type(value)
        if name in self.known or isinstance(value, ModuleType | type | FunctionType) or value is None:
            return True
        if kind.__module__ == "builtins":
            return kind.__name__ not in _LAZY
        tensor = getattr(sys.modules.get("torch"), "Tensor", None)
        return kind is tensor or kind.__module__.partition(".")[0] in _DATA

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
        return _join((left, *map(self._value, node.comparators)))

    def _attribute(self, node: ast.Attribute) -> Known:
        base = self._value(node.value)
        if base is Known.VALUE:
            return base
        if base is Known.TEXT:
            same = node.attr in FORMS or node.attr in _LEARNED_THE_SAME
            weights = same or constant_weights(self._meaning(node.value), node.attr)
            return (
                Known.VALUE if weights else Known.FORM if node.attr in ("weight", "bias") else Known.NOTHING
            )
        if node.attr in TYPES or (node.attr in FORMS and base < Known.COUNT):
            return Known.VALUE
        if base is Known.LENGTH:
            if node.attr in ("version", "variant"):
                return Known.VALUE
            return Known.LENGTH if node.attr in ("hex", "urn") else Known.FORM
        return base if node.attr in SAME_FORM else Known.NOTHING

    def _subscript(self, node: ast.Subscript) -> Known:
        base, index = self._value(node.value), self._value(node.slice)
        if base is Known.VALUE:
            return index if index in (Known.VALUE, Known.ITEMS) else Known.NOTHING
        if index is not Known.VALUE or base is Known.NOTHING:
            return Known.NOTHING
        if isinstance(node.slice, ast.Compare | ast.BoolOp):
            return Known.NOTHING
        if base is Known.COUNT and not isinstance(node.slice, ast.Slice):
            return Known.NOTHING
        return base if base is Known.COUNT else Known.FORM

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
        kept = dict(self.known)
        counted = True
        for each in node.generators:
            over = self._value(each.iter)
            self._assign_item(each.target, over, each.iter)
            tests = _join(map(self._value, each.ifs))
            counted = counted and over is not Known.NOTHING and tests is Known.VALUE
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        found = _join(map(self._value, parts))
        self.known = kept
        if not counted:
            return Known.NOTHING
        if found is Known.VALUE:
            return found
        if not isinstance(node, ast.ListComp | ast.GeneratorExp):
            return Known.NOTHING
        return Known.FORM if found <= Known.FORM else Known.COUNT

    # -- calls -----------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Known:
        if prints(node):
            self.prints.add(id(node))
            for each in node.args:
                self._show(self._value(each), each)
            self.shown += not node.args
            return Known.VALUE
        own = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
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
            return self._of_function(node)
        if isinstance(node.func, ast.Call):  # a layer that is made and called
            return known if known is Known.NOTHING else Known.FORM
        found = Known.NOTHING
        if own in _CLOSE and known is Known.FORM and all(map(self._is_continuous, given)):
            return Known.VALUE
        if function is not None:
            found = self._of_library(function, own, known)
        elif isinstance(node.func, ast.Attribute):
            found = self._of_method(own, node.func.value, known)
        if found is Known.NOTHING:
            self._touches([node.func, *given])
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

    def _touches(self, nodes: Iterable[ast.expr]) -> None:
        """A function that is not known may have changed what it is of, and what it is given."""
        for node in nodes:
            while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
                node = node.value
            if isinstance(node, ast.Name) and not self._is_plain(self.namespace.get(node.id)):
                self.known[node.id] = Known.NOTHING

    def _is_plain(self, value: Any) -> bool:
        """Whether nothing changes it, or only what we know."""
        if isinstance(value, ModuleType):
            return value.__name__.partition(".")[0] in _PURE | ARRAYS
        return isinstance(value, int | float | complex | str | bytes | range | type | FunctionType | None)

    def _of_builtin(self, name: str, node: ast.Call) -> Known:
        given = [*map(self._value, node.args)]
        known = _join([*given, *(self._value(each.value) for each in node.keywords)])
        if known is Known.VALUE:
            return known
        if name in ("callable", "hasattr", "issubclass"):
            return Known.VALUE
        if name in ("type", "isinstance"):
            return Known.VALUE if known is not Known.NOTHING else Known.NOTHING
        if name == "len":
            return Known.VALUE if known is not Known.NOTHING else Known.NOTHING
        if name in OF_ITEMS:
            if known is Known.ITEMS:
                return Known.VALUE
            if name in ("set", "frozenset") or known is Known.NOTHING:
                return Known.NOTHING
            return Known.FORM if known <= Known.FORM else Known.COUNT if name == "sorted" else Known.NOTHING
        if name in TEXTS:
            return self._text(node.args)
        return known if name in FORMING else Known.NOTHING

    def _of_draw(self, own: str, node: ast.Call, known: Known) -> Known:
        if known > Known.ITEMS:
            return Known.NOTHING
        if own in _UUIDS:
            return Known.LENGTH
        if own in PERMUTING or (own == "sample" and self._takes_all(node)):
            return Known.ITEMS
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
        local = dict(zip(names, given, strict=False))
        local |= {each.arg: self._value(each.value) for each in node.keywords if each.arg is not None}
        kept, returned, by_chance = self.known, self._returned, self._by_chance
        own = OwnFunction(definition, {}).locals()
        self.known = {key: value for key, value in kept.items() if key not in own} | local
        self._returned = []
        self._calls.append(name)
        try:
            self._go(definition.body)
            found, left = _join(self._returned), self.known
        finally:
            self._calls.pop()
            self.known, self._returned, self._by_chance = kept, returned, by_chance
        self.known |= {key: value for key, value in left.items() if key not in own}
        for parameter, argument in zip(names, node.args, strict=False):
            if not isinstance(argument, ast.Name) or self._is_plain(self.namespace.get(argument.id)):
                continue
            if left.get(parameter, Known.VALUE) > local[parameter]:
                self.known[argument.id] = left[parameter]
        return found

    def _of_library(self, function: Any, own: str, known: Known) -> Known:
        if not is_function(function):
            return Known.NOTHING  # something that is called, as a `functools.partial`
        module = _module_of(function)
        package = module.partition(".")[0]
        pure = package in _PURE or (package in ("numpy", "pandas") and "random" not in module)
        if pure or (package == "torch" and not _has_models(type(function)) and not _MAY_DRAW.search(own)):
            if known is Known.VALUE:
                return known
            if known is Known.ITEMS and own in SORTING:
                return Known.VALUE
        if package in ARRAYS and known < Known.COUNT and own not in CHOOSING:
            return Known.FORM
        return Known.NOTHING

    def _of_method(self, own: str, holder: ast.expr, known: Known) -> Known:
        base = self._value(holder)
        if base is Known.TEXT:
            return Known.TEXT if own in ("eval", "train", "to", "cpu", "cuda", "fit") else Known.FORM
        if own in MEASURES and base < Known.COUNT:
            return Known.VALUE
        if own == "format":
            return Known.VALUE if base is Known.VALUE and known <= Known.TEXT else Known.NOTHING
        if base is Known.VALUE:
            value = self._meaning(holder)
            kind = type(value).__module__.partition(".")[0]
            literal = isinstance(holder, ast.Constant | ast.JoinedStr | ast.List | ast.Dict)
            pure = literal or (value is not None and kind in _PURE) or kind in ("numpy", "pandas")
            if kind == "torch" and not _has_models(type(value)):
                pure = not _MAY_DRAW.search(own)
            if pure and known is Known.VALUE and own != "sample":
                return Known.VALUE
            formed = kind in ARRAYS and known < Known.COUNT and own not in CHOOSING
            return Known.FORM if formed else Known.NOTHING
        if base is Known.ITEMS and own in {*OF_ANY_ORDER, "sort_values"} and known is Known.VALUE:
            return Known.VALUE
        if own in CHOOSING or max(known, base) >= Known.COUNT:
            return Known.NOTHING
        return base if base is Known.LENGTH else Known.FORM

    def _builtin(self, node: ast.expr) -> str | None:
        if not isinstance(node, ast.Name) or not hasattr(builtins, node.id) or node.id in self.known:
            return None
        bound = self.namespace.get(node.id)
        return node.id if bound is None or bound is getattr(builtins, node.id) else None

    def _meaning(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self.namespace.get(node.id)
        if isinstance(node, ast.Attribute):
            holder = self._meaning(node.value)
            if isinstance(holder, ModuleType | type):
                return vars(holder).get(node.attr)
        return None


def known_before(names: Mapping[str, ChanceOrigin], namespace: Mapping[str, Any]) -> dict[str, Known]:
    """What is the same in each run of variables that hold what was drawn in earlier cells."""
    found = {}
    for name, origin in names.items():
        if origin.source.is_drawn:
            package = type(namespace.get(name)).__module__.partition(".")[0]
            formed = package in ARRAYS or type(namespace.get(name)) in (int, float, bool)
            found[name] = Known.TEXT if origin.inside else Known.FORM if formed else Known.NOTHING
    return found


def _join(known: Iterable[Known]) -> Known:
    """What is the same in each run of several values together."""
    found = {*known} - {Known.VALUE}
    if not found:
        return Known.VALUE
    if len(found) == 1:
        return found.pop()
    if Known.NOTHING in found or Known.TEXT in found:
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
