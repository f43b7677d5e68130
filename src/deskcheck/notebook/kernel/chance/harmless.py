"""What an expression gives, computed without running the notebook's code: of numbers, text, dates and
collections of them, with builtins and methods that change nothing else, and with sets in an order that we
choose. Small things alone; where something else is used, the answer is `UnknownValue`.

In the kernel's process, on copies of the user's variables."""

import ast
import builtins
import dataclasses
import datetime
import operator
import pathlib
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.own import (
    Definitions,
    OwnClass,
    OwnFunction,
    OwnNames,
    OwnObject,
    UnknownValue,
    builtin,
    hide_addresses,
    is_own,
)
from deskcheck.notebook.kernel.chance.sources import (
    CHANGING,
)

_STEPS = 10_000
"""So many expressions and items are computed in one order."""
_CHARS = 100_000
_BITS = 256
_NUMBERS = (bool, int, float, complex, type(None))
_DATES = (datetime.date, datetime.datetime, datetime.time)
_ATOMS = (*_NUMBERS, str, bytes, *_DATES, datetime.timedelta, pathlib.PosixPath, pathlib.PurePosixPath)
_SETS = (set, frozenset)
_EMPTY = (list, dict, set)
_ITERATOR_EXAMPLES: tuple[Any, ...] = (
    *(iter([]), iter(()), iter(""), iter({}), iter(range(0)), enumerate([]), zip(), reversed([])),
)
_ITERATORS = frozenset(map(type, _ITERATOR_EXAMPLES))
_FAILURES = (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError)
"""What the cell may raise, too: then it shows nothing that we look at."""
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
}
_BUILTINS = frozenset(
    {"set", "frozenset", "list", "tuple", "dict", "sorted", "reversed", "enumerate", "zip", "map", "filter"}
    | {"iter", "next", "len", "min", "max", "sum", "any", "all", "int", "float", "bool", "abs", "round"}
    | {"range", "ord", "chr", "divmod", "str", "repr", "ascii", "format", "hash"}
)
_OF_TEXT = frozenset(
    {"lower", "upper", "title", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "startswith"}
    | {"endswith", "replace", "count", "find", "index", "join", "capitalize", "casefold", "isdigit"}
    | {"isalpha", "isupper", "islower", "partition", "swapcase", "removeprefix", "removesuffix"}
)
_OF_SETS = frozenset(
    {"union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint"}
    | {"copy"}
)
_METHODS: Mapping[type, frozenset[str]] = {
    str: _OF_TEXT,
    list: frozenset({"append", "extend", "insert", "pop", "remove", "sort", "reverse", "count", "index"})
    | {"copy", "clear"},
    tuple: frozenset({"count", "index"}),
    frozenset: _OF_SETS,
    set: _OF_SETS | {"add", "discard", "remove", "pop", "update", "clear"},
    dict: frozenset({"get", "keys", "values", "items", "pop", "setdefault", "update", "copy", "fromkeys"}),
    datetime.date: frozenset({"isoformat", "weekday", "isoweekday"}),
    datetime.datetime: frozenset({"isoformat", "weekday", "isoweekday", "date"}),
}
_SIMPLE_FORMAT = re.compile(r"[^%{}]*%[sr][^%{}]*")
_SIMPLE_BRACES = re.compile(r"[^{}]*\{0?\}[^{}]*")
_ITERATING = frozenset({"list", "tuple", "set", "frozenset", "sorted", "enumerate", "iter", "max", "min"})
_DEPTH = 20
"""Of calls, one in another."""
_PARTS = frozenset({"year", "month", "day", "hour", "minute", "second", "days", "name", "stem", "suffix"})
"""Attributes of dates and paths."""
_COLUMN_METHODS = frozenset({"unique", "dropna", "tolist", "to_list", "keys"})
_COLUMN_PARTS = frozenset({"values", "columns", "index"})


UNKNOWN = object()
"""Stands for the value of a variable that is not known."""


class ShownText(str):
    """What something is shown as."""

    def __repr__(self) -> str:
        return str(self)


class TooManySteps(UnknownValue):
    """More would have to be computed than is worth it."""


class Evaluator:
    """In one order of sets. order: which, from 0; the second is the opposite of the first. names: what the
    cell has computed so far. namespace: the user's variables, for those that `reads` allows."""

    def __init__(
        self,
        order: int,
        namespace: Mapping[str, Any],
        reads: Callable[[str], bool],
        definitions: Definitions | None = None,
    ) -> None:
        self.order = order
        self.own = OwnNames(order, definitions or Definitions())
        self.body: Callable[[list[ast.stmt]], Any] = _no_body
        """Computes the statements of a function, and gives what it returns."""
        self.sorted = False
        """Whether the order of a set was asked for."""
        self.hashed = False
        """Whether the hash of a text was."""
        self._outer: dict[str, Any] | None = None
        """Inside of a function: the variables of its module, as far as they are known."""
        self._locals: set[str] = set()
        self._depth = 0
        self.names: dict[str, Any] = {}
        self.namespace = namespace
        self.reads = reads
        self.columns: Collection[str] = ()
        """Columns of data frames, as in the source, that it may read though the data frame is not known."""
        self._steps = 0

    def value(self, node: ast.expr) -> Any:
        """Raises `UnknownValue`."""
        self._step()
        try:
            found = self._value(node)
        except (*_FAILURES, RecursionError) as error:
            raise UnknownValue(ast.unparse(node)) from error
        return self._small(found)

    def items(self, value: Any) -> list[Any]:
        """The items of a value, in the order that a loop has."""
        if isinstance(value, OwnObject):
            return self.items(self._called(self._attribute(value, "__iter__"), [], {}))
        if type(value) in _SETS:
            found = self._in_order(value)
        elif isinstance(value, dict | list | tuple | str | bytes | range) or type(value) in _ITERATORS:
            found = []
            for each in value:
                self._step()
                found.append(each)
        elif type(value) in (type({}.keys()), type({}.values()), type({}.items())):
            found = [*value]
        else:
            raise UnknownValue(type(value).__name__)
        self._steps += len(found)
        self._step()
        return found

    def looped(self, node: ast.expr) -> list[Any]:
        """What a loop goes through; raises `UnknownValue`."""
        try:
            return self.iterated(node)
        except _FAILURES as error:
            raise UnknownValue(ast.unparse(node)) from error

    def bind(self, target: ast.expr, value: Any) -> None:
        """Give a value to a name, or its items to several."""
        match target:
            case ast.Name():
                self.names[target.id] = value
            case ast.Tuple() | ast.List() if not any(isinstance(each, ast.Starred) for each in target.elts):
                given = self.items(value)
                if len(given) != len(target.elts):
                    raise UnknownValue("another number of items")
                for each, item in zip(target.elts, given, strict=True):
                    self.bind(each, item)
            case ast.Tuple() | ast.List():
                given, at = self.items(value), [type(each) for each in target.elts].index(ast.Starred)
                after = len(target.elts) - at - 1
                if len(given) < at + after:
                    raise UnknownValue("too few items")
                parts = [*given[:at], given[at : len(given) - after], *given[len(given) - after :]]
                for each, item in zip(target.elts, parts, strict=True):
                    self.bind(each.value if isinstance(each, ast.Starred) else each, item)
            case ast.Attribute():
                held = self.value(target.value)
                if not isinstance(held, OwnObject) or held.attributes is None:
                    raise UnknownValue(target.attr)
                held.attributes[target.attr] = value
            case ast.Subscript():
                held = self.value(target.value)
                if type(held) not in (list, dict):
                    raise UnknownValue(type(held).__name__)
                try:
                    held[self.value(target.slice)] = value
                except _FAILURES as error:
                    raise UnknownValue(ast.unparse(target)) from error
            case _:
                raise UnknownValue(ast.unparse(target))

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _STEPS:
            raise TooManySteps("too long")

    def _small(self, value: Any) -> Any:
        if isinstance(value, int) and value.bit_length() > _BITS:
            raise UnknownValue("a large number")
        if isinstance(value, str | bytes | list | tuple) and len(value) > _CHARS:
            raise UnknownValue("long")
        return value

    def _in_order(self, value: Any) -> list[Any]:
        """The items of a set: in an order of ours if that depends on hashes that do."""
        found = [*value]
        if len(found) < 2 or not any(map(hash_varies, found)):
            return found
        self.sorted = True
        if self.order < 2:
            return sorted(found, key=repr, reverse=self.order == 1)
        return sorted(found, key=lambda each: (zlib.crc32(f"{self.order}{each!r}".encode()), repr(each)))

    def _hash(self, value: Any) -> int:
        """Of text a number of ours, in the second order the opposite of that in the first."""
        if not isinstance(value, (str, bytes, tuple, frozenset, *_NUMBERS, *_DATES)):
            raise UnknownValue("an address")
        if not hash_varies(value):
            return hash(value)
        self.hashed = True
        number = zlib.crc32(f"{self.order if self.order > 1 else 0}{value!r}".encode()) - (1 << 31)
        return -number if self.order == 1 else number

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._name(node.id)
            case ast.List() | ast.Tuple() | ast.Set():
                found: list[Any] = []
                for each in node.elts:
                    if isinstance(each, ast.Starred):
                        found += self.items(self.value(each.value))
                    else:
                        found.append(self.value(each))
                kind = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
                return kind(found)
            case ast.Dict() if None not in node.keys:
                return {
                    self.value(key): self.value(value)
                    for key, value in zip(node.keys, node.values, strict=True)
                    if key is not None
                }
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.UnaryOp():
                value = self.value(node.operand)
                return not value if isinstance(node.op, ast.Not) else self._signed(node.op, value)
            case ast.BoolOp():
                ends = isinstance(node.op, ast.Or)
                for each in node.values[:-1]:
                    if bool(known := self.value(each)) is ends:
                        return known
                return self.value(node.values[-1])
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp():
                return self.value(node.body if self.value(node.test) else node.orelse)
            case ast.Subscript():
                return self._subscript(node)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return self._comprehension(node)
            case ast.JoinedStr():
                return "".join(map(self._formatted, node.values))
            case ast.Attribute():
                holder = self.value(node.value)
                if node.attr in _PARTS and isinstance(holder, _ATOMS):
                    return getattr(holder, node.attr)
                if isinstance(holder, OwnObject):
                    return self._attribute(holder, node.attr)
            case ast.Call():
                return self._call(node)
            case ast.Lambda():
                return self.function(node)
        raise UnknownValue(ast.unparse(node))

    def _name(self, name: str) -> Any:
        if name in self.names and self.names[name] is not UNKNOWN:
            return self.names[name]
        if name in _BUILTINS and name not in self.names and name not in self.namespace:
            return builtin(name)
        if name in self.names or name not in self.namespace or not self.reads(name):
            raise UnknownValue(name)
        self.names[name] = found = self._copy(self.namespace[name])
        return found

    def _copy(self, value: Any) -> Any:
        return copy_of(value, leaf=lambda each: self.own.of(each, self._copy))

    def _signed(self, op: ast.unaryop, value: Any) -> Any:
        if not isinstance(value, int | float) or not isinstance(op, ast.USub | ast.UAdd):
            raise UnknownValue("a sign")
        return -value if isinstance(op, ast.USub) else value

    def _arithmetic(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        return self.combine(node.op, left, right)

    def combine(self, op: ast.operator, left: Any, right: Any) -> Any:
        """Of two values."""
        if isinstance(op, ast.Mod) and isinstance(left, str) and _SIMPLE_FORMAT.fullmatch(left):
            if isinstance(right, tuple | dict):
                raise UnknownValue("a format")
            text = self.text(right) if "%s" in left else repr(self._plain(right))
            return left.replace("%s", "{}").replace("%r", "{}").format(text)
        if type(op) not in _OPERATORS or (isinstance(op, ast.Mod) and isinstance(left, str | bytes)):
            raise UnknownValue("an operator")
        if isinstance(op, ast.Mult) and not isinstance(left, float) and not isinstance(right, float):
            sizes = [each for each in (left, right) if isinstance(each, int)]
            if len(sizes) < 2 and any(size > _BITS for size in sizes):
                raise UnknownValue("long")
        try:
            return self._small(_OPERATORS[type(op)](left, right))
        except _FAILURES as error:
            raise UnknownValue("an operator") from error

    def _compare(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self.value(each)
            if type(op) not in _COMPARISONS:
                raise UnknownValue("is")
            if not _COMPARISONS[type(op)](left, right):
                return False
            left = right
        return True

    def _subscript(self, node: ast.Subscript) -> Any:
        holder = self.value(node.value)
        if not isinstance(holder, list | tuple | str | dict | range):
            raise UnknownValue(type(holder).__name__)
        if isinstance(node.slice, ast.Slice):
            ends = (node.slice.lower, node.slice.upper, node.slice.step)
            found: Any = slice(*(None if each is None else self.value(each) for each in ends))
            return holder[found]
        return holder[self.value(node.slice)]

    def _formatted(self, node: ast.expr) -> str:
        if isinstance(node, ast.FormattedValue) and node.format_spec is None:
            value = self.value(node.value)
            return repr(self._plain(value)) if node.conversion == ord("r") else self.text(value)
        if isinstance(node, ast.Constant):
            return str(node.value)
        raise UnknownValue("a format")

    def text(self, value: Any) -> str:
        """As `str` gives it; raises `UnknownValue`."""
        if isinstance(value, OwnObject) and value.has_own_text():
            for name in ("__str__", "__repr__"):
                if getattr(value.kind, name) is not getattr(object, name):
                    return str(self._called(self._attribute(value, name), [], {}))
        return str(self._plain(value))

    def _plain(self, value: Any) -> Any:
        """A value whose text does not depend on an order of a set."""
        if isinstance(value, OwnFunction) and value.text is not None:
            return ShownText(value.text)
        if has_set(value) or type(value) in _ITERATORS or isinstance(value, OwnFunction | OwnClass):
            raise UnknownValue("the text of a set")
        return value

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) -> Any:
        found: list[Any] = []
        before = dict(self.names)

        def go(depth: int) -> None:
            if depth == len(node.generators):
                if isinstance(node, ast.DictComp):
                    found.append((self.value(node.key), self.value(node.value)))
                else:
                    found.append(self.value(node.elt))
                return
            each = node.generators[depth]
            for item in self.iterated(each.iter):
                self.bind(each.target, item)
                if all(map(self.value, each.ifs)):
                    go(depth + 1)

        go(0)
        self.names.clear()
        self.names.update(before)
        if isinstance(node, ast.GeneratorExp):
            return iter(found)
        return {ast.ListComp: list, ast.SetComp: set, ast.DictComp: dict}[type(node)](found)

    def iterated(self, node: ast.expr) -> list[Any]:
        column = self._column(node)
        return column if column is not None else self.items(self.value(node))

    # -- calls -----------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name):
            name = node.func.id
            if name in _BUILTINS and name not in self.names and name not in self.namespace:
                return self._builtin(name, node)
            if name == "object" and not node.args and "object" not in self.namespace:
                return OwnObject(object, None, self.own.new_address())
            kind: Any = self.namespace.get(name)
            is_date = isinstance(kind, type) and kind in (*_DATES, datetime.timedelta)
            if is_date and self.reads(name) and not node.keywords:
                return kind(*map(self.value, node.args))
        elif isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name) and node.func.value.id == "dict":
                if node.func.attr == "fromkeys" and "dict" not in self.namespace:
                    return dict.fromkeys(self.iterated(node.args[0]), *map(self.value, node.args[1:]))
            elif (
                isinstance(node.func.value, ast.Name)
                and node.func.value.id == "object"
                and "object" not in self.namespace
            ):
                if node.func.attr in ("__repr__", "__str__") and len(node.args) == 1:
                    return self._plain_text(self.value(node.args[0]))
            else:
                return self._method(node.func, node)
        return self._call_value(self.value(node.func), node)

    # -- the notebook's own ----------------------------------------------------------------------------

    def function(self, node: ast.FunctionDef | ast.Lambda) -> OwnFunction:
        """One that is made here."""
        defaults = tuple(map(self.value, node.args.defaults))
        pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        named = {each.arg: self.value(value) for each, value in pairs if value is not None}
        outside = {name: self.names[name] for name in self._locals if name in self.names}
        return OwnFunction(node, outside, defaults, named)

    def _call_value(self, function: Any, node: ast.Call) -> Any:
        given: list[Any] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                given += self.iterated(each.value)
            else:
                given.append(self.value(each))
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            named |= {keyword.arg: value} if keyword.arg is not None else value
        return self._called(function, given, named)

    def _called(self, function: Any, given: list[Any], named: Mapping[str, Any]) -> Any:
        """What a function of the notebook returns, or a class of it makes."""
        if isinstance(function, OwnClass):
            kind: Any = function.kind
            made = OwnObject(kind, {}, self.own.new_address())
            if not is_own(kind):
                raise UnknownValue(kind.__name__)
            if hasattr(kind, "__dataclass_fields__"):
                made.attributes = self._fields(kind, given, named)
            elif kind.__init__ is not object.__init__:
                self._called(self._attribute(made, "__init__"), given, named)
            return made
        if isinstance(function, OwnObject):
            function = self._attribute(function, "__call__")
        if not isinstance(function, OwnFunction) or function.generates or self._depth > _DEPTH:
            raise UnknownValue("a call")
        parameters, own = function.bound(given, named), function.locals()
        before, outer, local = dict(self.names), self._outer, self._locals
        top = before if outer is None else outer
        self.names.clear()
        self.names.update({**top, **dict.fromkeys(own, UNKNOWN), **function.outside, **parameters})
        self._outer, self._locals, self._depth = top, own, self._depth + 1
        try:
            definition = function.definition
            if isinstance(definition, ast.Lambda):
                return self.value(definition.body)
            return self.body(definition.body)
        finally:
            found = {name: value for name, value in self.names.items() if name not in own}
            top.update(found)
            self.names.clear()
            self.names.update(before)
            self.names.update({name: value for name, value in found.items() if name not in local})
            self._outer, self._locals, self._depth = outer, local, self._depth - 1

    def _fields(self, kind: Any, given: list[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """What an object of a dataclass has when it is made."""
        fields = {each.name: each for each in dataclasses.fields(kind)}
        found = dict(zip(fields, given, strict=False)) | dict(named)
        made = (*_EMPTY, dataclasses.MISSING)
        simple = all(each.init and each.default_factory in made for each in fields.values())
        if not simple or hasattr(kind, "__post_init__"):
            raise UnknownValue(kind.__name__)
        if len(given) > len(fields) or not {*named} <= {*fields}:
            raise UnknownValue(kind.__name__)
        for name, field in fields.items():
            if name not in found and field.default is not dataclasses.MISSING:
                found[name] = self._copy(field.default)
            elif name not in found and field.default_factory is not dataclasses.MISSING:
                found[name] = field.default_factory()
        if found.keys() != fields.keys():
            raise UnknownValue(kind.__name__)
        return found

    def _attribute(self, holder: OwnObject, name: str) -> Any:
        if holder.attributes is None:
            raise UnknownValue(name)
        member = self.own.member(holder.kind, name, self._copy)
        if member is not None and member[1] == "property":
            return self._called(member[0].of(holder), [], {})
        if name in holder.attributes:
            return holder.attributes[name]
        if member is None:
            raise UnknownValue(name)
        value, way = member
        if way == "value":
            return value
        return value.of(holder if way == "method" else OwnClass(holder.kind))

    def _of_class(self, holder: OwnClass, name: str) -> Any:
        """An attribute of a class."""
        member = self.own.member(holder.kind, name, self._copy)
        if member is None:
            raise UnknownValue(name)
        return member[0].of(holder) if member[1] == "class" else member[0]

    def _plain_text(self, value: Any) -> str:
        if not isinstance(value, OwnObject):
            raise UnknownValue("a text")
        module = "" if value.kind.__module__ == "builtins" else f"{value.kind.__module__}."
        return f"<{module}{value.kind.__qualname__} object at 0x{value.address}>"

    # -- builtins and methods --------------------------------------------------------------------------

    def _builtin(self, name: str, node: ast.Call) -> Any:
        named = {each.arg: each.value for each in node.keywords}
        key = named.pop("key", None)
        options = {str(each): self.value(value) for each, value in named.items()}
        if key is not None and not (isinstance(key, ast.Constant) and key.value is None):
            options["key"] = self._function(key)
        if name in ("map", "filter"):
            function = self._function(node.args[0])
            lists = [self.iterated(each) for each in node.args[1:]]
            made = [*getattr(builtins, name)(function, *lists)]
            return iter(made)
        given: list[Any] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                given += self.iterated(each.value)
                continue
            column = self._column(each)
            value = self.value(each) if column is None else column
            given.append(self.items(value) if isinstance(value, OwnObject) and name in _ITERATING else value)
        if name == "hash":
            return self._hash(*given)
        if name in ("str", "format"):
            return self.text(*given)
        if name in ("repr", "ascii"):
            return repr(self._plain(*given))
        if name not in ("set", "frozenset", "len", "bool", "any", "all", "next"):
            given = [self._in_order(each) if type(each) in _SETS else each for each in given]
        if name == "range" and len(range(*given)) > _STEPS:
            raise UnknownValue("long")
        return getattr(builtins, name)(*given, **options)

    def _method(self, function: ast.Attribute, node: ast.Call) -> Any:
        holder = self.value(function.value)
        if isinstance(holder, OwnClass):
            return self._call_value(self._of_class(holder, function.attr), node)
        if isinstance(holder, OwnObject):
            if function.attr in ("__repr__", "__str__") and not holder.has_own_text():
                return self.text(holder)
            return self._call_value(self._attribute(holder, function.attr), node)
        if isinstance(holder, str) and function.attr == "format":
            if not (_SIMPLE_BRACES.fullmatch(holder) and len(node.args) == 1 and not node.keywords):
                raise UnknownValue("a format")
            return holder.format(self.text(self.value(node.args[0])))
        if function.attr not in _METHODS.get(type(holder), ()):
            raise UnknownValue(function.attr)
        if type(holder) is set and function.attr == "pop":
            first = self._in_order(holder)[0]
            holder.remove(first)
            return first
        options = {
            str(each.arg): self._function(each.value) if each.arg == "key" else self.value(each.value)
            for each in node.keywords
        }
        given = [self.value(each) for each in node.args]
        if type(holder) in (list, str) and function.attr in ("extend", "join"):
            given = [self.items(each) for each in given]
        return getattr(holder, function.attr)(*given, **options)

    def _function(self, node: ast.expr) -> Callable[..., Any] | None:
        """What is given as a key, or to `map` or `filter`."""
        match node:
            case ast.Name() if (
                node.id in ("len", "int", "float", "abs", "ord") and node.id not in self.namespace
            ):
                function: Callable[..., Any] = getattr(builtins, node.id)
                return function
            case ast.Attribute(value=ast.Name(id="str"), attr=attr) if attr in _OF_TEXT:
                return getattr(str, attr)  # type: ignore[no-any-return]
            case ast.Attribute():
                holder = self.value(node.value)
                if node.attr in _METHODS.get(type(holder), ()) and node.attr not in CHANGING:
                    return getattr(holder, node.attr)  # type: ignore[no-any-return]
        function = self.value(node)
        return lambda *given: self._called(function, [*given], {})

    def _column(self, node: ast.expr) -> list[Any] | None:
        """The items of a column of pandas, or an array of numpy with one dimension."""
        while isinstance(node, ast.Call | ast.Attribute) and (
            (isinstance(node, ast.Attribute) and node.attr in _COLUMN_PARTS - {"columns", "index"})
            or (isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _COLUMN_METHODS)
        ):
            node = node.value if isinstance(node, ast.Attribute) else getattr(node.func, "value", node.func)
        root = node
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return None
        is_known = root.id not in self.names and self.reads(root.id)
        if not is_known and ast.unparse(node) not in self.columns:
            return None
        found: Any = self.namespace.get(root.id)
        if type(found).__module__.partition(".")[0] not in ("pandas", "numpy"):
            return None
        if isinstance(found, ModuleType | BuiltinFunctionType | type):
            return None
        if root is not node:
            key = node.slice if isinstance(node, ast.Subscript) else ast.Constant(getattr(node, "attr", ""))
            if type(found).__name__ != "DataFrame" or not isinstance(key, ast.Constant):
                return None
            if key.value in ("columns", "index"):
                found = getattr(found, str(key.value))
            elif key.value in found.columns:
                found = found[key.value]
            else:
                return None
        if type(found).__name__ not in ("Series", "Index", "ndarray", "DataFrame") or len(found) > _STEPS:
            return None
        listed = found.columns.tolist() if type(found).__name__ == "DataFrame" else found.tolist()
        return copy_of(listed)  # type: ignore[no-any-return]


def hash_varies(value: Any) -> bool:
    """Whether the hash of a value is another in each run: text has one, and what is made of it."""
    if type(value) in (str, bytes):
        return bool(value)
    if isinstance(value, _DATES):
        return True
    if isinstance(value, tuple | frozenset):
        return any(map(hash_varies, value))
    if isinstance(value, _NUMBERS) or value is None:
        return False
    kind: Any = type(value)
    own = kind.__hash__
    module = getattr(own, "__module__", "") or ""
    return own is object.__hash__ or module in ("enum", "pathlib", "pathlib._local")


def has_set(value: Any) -> bool:
    """Whether a value is or holds a set of which the text depends on an order."""
    if type(value) in _SETS:
        return len(value) > 1 and any(map(hash_varies, value))
    if isinstance(value, list | tuple):
        return any(map(has_set, value))
    return isinstance(value, dict) and any(map(has_set, value.values()))


def _no_body(body: list[ast.stmt]) -> Any:
    raise UnknownValue("statements")


def copy_of(
    value: Any, left: list[int] | None = None, leaf: Callable[[Any], Any] = lambda value: None
) -> Any:
    """A copy of a value; raises `UnknownValue` where it is or holds something else than numbers, text, dates
    and collections of them. leaf: gives what stands for other values, or None."""
    left = [_STEPS] if left is None else left
    left[0] -= 1
    if left[0] < 0:
        raise UnknownValue("long")
    if type(value) in _ATOMS:
        return value
    if type(value) in (list, tuple, set, frozenset):
        return type(value)([copy_of(each, left, leaf) for each in value])
    if type(value) is dict:
        return {copy_of(key, left, leaf): copy_of(each, left, leaf) for key, each in value.items()}
    if type(value) in (range, OwnFunction, OwnClass):
        return value
    if type(value) is OwnObject:
        inside = value.attributes
        copied = None if inside is None else {name: copy_of(each, left) for name, each in inside.items()}
        return OwnObject(value.kind, copied, value.address)
    if (found := leaf(value)) is not None:
        return found
    raise UnknownValue(type(value).__name__)


def text_of(value: Any, *, ordered: bool) -> str:
    """What tells a value from another. ordered: the order of a dict counts, and the addresses in texts. The
    order of a set never does."""
    try:
        return _told(copy_of(value), ordered=ordered)
    except RecursionError as error:
        raise UnknownValue("an object that holds itself") from error


def _told(value: Any, *, ordered: bool) -> str:
    def all_of(values: Iterable[Any]) -> Iterator[str]:
        return (_told(each, ordered=ordered) for each in values)

    if isinstance(value, set | frozenset):
        return f"{{{','.join(sorted(all_of(value)))}}}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[{','.join(all_of(value))}]"
    if isinstance(value, dict):
        pairs = [
            f"{_told(key, ordered=ordered)}:{_told(each, ordered=ordered)}" for key, each in value.items()
        ]
        return f"dict{{{','.join(pairs if ordered else sorted(pairs))}}}"
    if isinstance(value, OwnFunction | OwnClass):
        return type(value).__name__
    if isinstance(value, OwnObject):
        return f"{value.kind.__name__} {_told(value.attributes or {}, ordered=ordered)}"
    text = repr(value) if ordered else hide_addresses(repr(value))
    return f"{type(value).__name__} {text}"
