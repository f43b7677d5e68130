"""Evaluates Python expressions over recorded values. No code of the program runs.

Only the syntax and the functions below are allowed, numbers and texts stay bounded, and what a recording
does not contain is Unknown. The meaning of operators is that of Python's own types; objects of other classes
can only be compared by identity, because their methods would have to run.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.errors import InputError
from deskcheck.recording.value import Content, Encoded

MAX_BITS = 4096
MAX_ITEMS = 10_000
MAX_NODES = 200
"""Largest number of parts of an expression."""


class Unknown(Exception):
    """The recording does not contain the value, or only a part of it."""


class NotThere(Exception):
    """A name, attribute or item that the event does not have."""


@dataclass(frozen=True, slots=True)
class SeenObject:
    """A recorded object with an identity, or a value that is only partly recorded (`number` is None)."""

    content: Content
    number: int | None = None


Names = Mapping[str, Encoded]
Objects = Mapping[int, Content]


class Expression:
    """A parsed expression.

    names: the names that it reads. dereferences: whether it reads the contents of objects.

    Raises InputError if it is not an expression, or uses anything that is not allowed.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self.tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = getattr(error, "msg", None) or str(error)
            raise InputError(f"{text!r}: is not a Python expression: {reason}.") from None
        nodes = list(ast.walk(self.tree))
        if len(nodes) > MAX_NODES:
            raise InputError(f"{text!r}: has more than {MAX_NODES} parts. Ask about a part of it.")
        _refuse(self.tree, text)
        functions = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        self.names = frozenset(
            node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in functions
        )
        self.dereferences = any(not isinstance(node, _FLAT) for node in nodes)

    def value(self, names: Names, objects: Objects, touch: Callable[[int], object] | None = None) -> Any:
        """The value: an atom, a tuple, or a `SeenObject`. touch: called with the number of each read object.

        Raises Unknown, NotThere, or the exception that Python raises for these types.
        """
        return _Evaluation(names, objects, touch).value(self.tree)

    def holds(self, names: Names, objects: Objects, touch: Callable[[int], object] | None = None) -> bool:
        """Whether the value is true."""
        evaluation = _Evaluation(names, objects, touch)
        return evaluation.truth(evaluation.value(self.tree))


_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
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
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}
_FUNCTIONS = ("abs", "all", "any", "bool", "float", "int", "len", "max", "min", "round", "sum", "type")
_METHODS = ("endswith", "get", "lower", "startswith", "strip", "upper")
_FLAT = (ast.Name, ast.Load, ast.Constant, ast.BoolOp, ast.And, ast.Or, ast.Not, ast.Is, ast.IsNot)
"""Nodes that read no content of an object. `==` and `<` read the content of a list."""
_ALLOWED = (
    *_FLAT,
    *_COMPARE,
    *_BINARY,
    *_UNARY,
    *(ast.Attribute, ast.BinOp, ast.Call, ast.Compare, ast.Dict, ast.Eq, ast.IfExp, ast.In, ast.List),
    *(ast.NotEq, ast.NotIn, ast.Set, ast.Slice, ast.Subscript, ast.Tuple, ast.UnaryOp),
)


def _refuse(tree: ast.AST, text: str) -> None:
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            what = type(node).__name__
            raise InputError(
                f"{text!r}: {what} is not allowed. Use names, attributes, items, comparisons, and, or, not, "
                f"arithmetic, and {', '.join(_FUNCTIONS)}."
            )
        if isinstance(node, ast.Call):
            function = node.func
            named = isinstance(function, ast.Name) and function.id in _FUNCTIONS
            method = isinstance(function, ast.Attribute) and function.attr in _METHODS
            if not (named or method) or node.keywords:
                raise InputError(
                    f"{text!r}: {ast.unparse(node)} is a call, and no code of the program runs. Allowed are "
                    f"{', '.join(_FUNCTIONS)} and the methods {', '.join(_METHODS)}, without keywords. "
                    "To look for calls use --calls."
                )


class _Evaluation:
    def __init__(self, names: Names, objects: Objects, touch: Callable[[int], object] | None) -> None:
        self.names = names
        self.objects = objects
        self.touch = touch

    def value(self, node: ast.AST) -> Any:
        method = _EVALUATORS[type(node)]
        return method(self, node)

    # -- values --

    def decoded(self, encoded: Encoded) -> Any:
        """An encoded value as an atom, a tuple or a `SeenObject`."""
        if encoded is None or isinstance(encoded, (bool, int, float, str)):
            return encoded
        if "ref" in encoded:
            number = encoded["ref"]
            if self.touch is not None:
                self.touch(number)
            content = self.objects.get(number)
            if content is None:
                raise Unknown(f"object #{number}")
            return SeenObject(content, number)
        if "cut" not in encoded:
            if "tuple" in encoded:
                return tuple(map(self.decoded, encoded["tuple"]))
            if "frozenset" in encoded:
                return frozenset(map(self.decoded, encoded["frozenset"]))
            if "int" in encoded:
                return int(encoded["int"])
            if "float" in encoded:
                return float(encoded["float"])
            if "bytes" in encoded:
                return encoded["bytes"].encode("latin-1")
            if "complex" in encoded:
                return complex(*map(float, encoded["complex"]))
            if "range" in encoded:
                return range(*map(self.decoded, encoded["range"]))
        if "unbound" in encoded:
            raise NotThere("no value")
        return SeenObject({"kind": "text", **encoded})

    def truth(self, value: Any) -> bool:
        if isinstance(value, SeenObject):
            if value.content["kind"] in _CONTAINERS:
                return self.length(value) > 0
            raise Unknown("the truth of an object: its class may define it")
        return bool(value)

    def length(self, value: Any) -> int:
        if not isinstance(value, SeenObject):
            return len(value)
        content = value.content
        if "shape" in content:
            return int(content["shape"][0])
        if content["kind"] in _CONTAINERS or content.get("base") in _CONTAINERS:
            return int(content.get("length", len(content.get("items", ()))))
        if "length" in content:
            return int(content["length"])
        raise Unknown(f"the length of a {content.get('type')}")

    def items(self, value: Any) -> Iterator[Any]:
        """The items of a container, as in a `for` loop."""
        if not isinstance(value, SeenObject):
            yield from value
            return
        content = value.content
        kind = content["kind"] if content["kind"] in _CONTAINERS else content.get("base")
        if kind not in _CONTAINERS:
            raise Unknown(f"the items of a {content.get('type')}")
        for item in content.get("items", ()):
            yield self.decoded(item[0] if kind == "dict" else item)
        if "cut" in content:
            raise Unknown(f"the rest of a {content['type']}")

    def plain(self, value: Any, depth: int = 20) -> Any:
        """A value of Python's own types, with the same meaning under ``==``."""
        if isinstance(value, tuple):
            return tuple(self.plain(item, depth) for item in value)
        if not isinstance(value, SeenObject):
            return value
        content, kind = value.content, value.content["kind"]
        if kind not in _CONTAINERS or content["type"] != kind or "cut" in content or depth == 0:
            raise Unknown(f"whether a {content.get('type')} is equal to something")
        if kind == "dict":
            pairs = content.get("items", ())
            return {
                self.plain(self.decoded(k), depth - 1): self.plain(self.decoded(v), depth - 1)
                for k, v in pairs
            }
        items = [self.plain(self.decoded(item), depth - 1) for item in content.get("items", ())]
        return {"list": list, "set": set, "bytearray": bytearray}[kind](items)

    # -- syntax --

    def constant(self, node: ast.Constant) -> Any:
        return node.value

    def name(self, node: ast.Name) -> Any:
        if node.id not in self.names:
            raise NotThere(node.id)
        return self.decoded(self.names[node.id])

    def attribute(self, node: ast.Attribute) -> Any:
        value = self.value(node.value)
        if isinstance(value, SeenObject):
            if node.attr in value.content.get("fields", {}):
                return self.decoded(value.content["fields"][node.attr])
            if node.attr == "shape" and "shape" in value.content:
                return tuple(value.content["shape"])
            if node.attr == "args" and value.content["kind"] == "exception":
                return tuple(map(self.decoded, value.content.get("items", ())))
        raise NotThere(f"attribute {node.attr}")

    def subscript(self, node: ast.Subscript) -> Any:
        value = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            where: Any = slice(*(None if bound is None else self.value(bound) for bound in bounds))
        else:
            where = self.value(node.slice)
        return self.item(value, where)

    def item(self, value: Any, where: Any) -> Any:
        """The item of a value at an index or key."""
        if not isinstance(value, SeenObject):
            return value[where]
        content = value.content
        kind = content["kind"] if content["kind"] in _CONTAINERS else content.get("base")
        if kind == "dict":
            where = self.plain(where)
            for key, item in content.get("items", ()):
                if self.plain(self.decoded(key)) == where:
                    return self.decoded(item)
            if "cut" in content:
                raise Unknown("the rest of a dict")
            raise NotThere(f"item {where!r}")
        if kind == "list" or (content["kind"] == "array" and len(content.get("shape", ())) == 1):
            items, count = content.get("items", []), self.length(value)
            if isinstance(where, slice):
                if "cut" in content:
                    raise Unknown("the rest of a list")
                return tuple(map(self.decoded, items[where]))
            position = where + count if where < 0 else where
            if not 0 <= position < count:
                raise NotThere(f"item {where}")
            if position >= len(items):
                raise Unknown("the rest of a list")
            return self.decoded(items[position])
        raise Unknown(f"an item of a {content.get('type')}")

    def bool_op(self, node: ast.BoolOp) -> Any:
        value = None
        stops = isinstance(node.op, ast.Or)
        for part in node.values:
            value = self.value(part)
            if self.truth(value) is stops:
                break
        return value

    def unary(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not self.truth(value)
        return _UNARY[type(node.op)](_number(value))

    def binary(self, node: ast.BinOp) -> Any:
        left, right = self.plain(self.value(node.left)), self.plain(self.value(node.right))
        if isinstance(left, str | bytes) and isinstance(node.op, ast.Mod):
            raise Unknown("the formatting of a text")
        for value, other in ((left, right), (right, left)):
            if isinstance(value, int) and value.bit_length() > MAX_BITS:
                raise Unknown("a number of that size")
            repeats = isinstance(node.op, ast.Mult) and isinstance(value, str | bytes | tuple | list)
            if repeats and (not isinstance(other, int) or len(value) * other > MAX_ITEMS):
                raise Unknown("a value of that length")
        return _BINARY[type(node.op)](left, right)

    def if_exp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.truth(self.value(node.test)) else node.orelse)

    def compare(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if not self.compared(op, left, right):
                return False
            left = right
        return True

    def compared(self, operator_type: ast.cmpop, left: Any, right: Any) -> bool:
        if isinstance(operator_type, ast.Is | ast.IsNot):
            return self.same(left, right) is isinstance(operator_type, ast.Is)
        if isinstance(operator_type, ast.In | ast.NotIn):
            if isinstance(right, str | bytes | range):
                inside = left in right
            else:
                inside = any(self.equal(left, item) for item in self.items(right))
            return inside is isinstance(operator_type, ast.In)
        if isinstance(operator_type, ast.Eq | ast.NotEq):
            return self.equal(left, right) is isinstance(operator_type, ast.Eq)
        return bool(_COMPARE[type(operator_type)](self.plain(left), self.plain(right)))

    def same(self, left: Any, right: Any) -> bool:
        """Whether two values are one object."""
        singletons = (None, True, False, ...)
        if any(left is value or right is value for value in singletons):
            return left is right
        if (
            isinstance(left, SeenObject)
            and isinstance(right, SeenObject)
            and left.number is not None is not right.number
        ):
            return left.number == right.number
        raise Unknown("whether equal values are one object")

    def equal(self, left: Any, right: Any) -> bool:
        numbered = isinstance(left, SeenObject) and isinstance(right, SeenObject) and left.number is not None
        if numbered and left.number == right.number:
            return True
        if left is None or right is None:
            return left is right
        return bool(self.plain(left) == self.plain(right))

    def display(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple(map(self.value, node.elts))

    def list_display(self, node: ast.List) -> list[Any]:
        return [self.plain(self.value(item)) for item in node.elts]

    def set_display(self, node: ast.Set) -> set[Any]:
        return {self.plain(self.value(item)) for item in node.elts}

    def dict_display(self, node: ast.Dict) -> dict[Any, Any]:
        if None in node.keys:
            raise Unknown("a dict in a dict display")
        keys = [key for key in node.keys if key is not None]
        return {
            self.plain(self.value(key)): self.plain(self.value(value))
            for key, value in zip(keys, node.values, strict=True)
        }

    def call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute):
            owner, arguments = self.value(node.func.value), [self.value(item) for item in node.args]
            if node.func.attr == "get":
                try:
                    return self.item(owner, arguments[0])
                except NotThere:
                    return arguments[1] if len(arguments) > 1 else None
            if isinstance(owner, str):
                return getattr(owner, node.func.attr)(*arguments)
            raise NotThere(f"method {node.func.attr} of a text")
        assert isinstance(node.func, ast.Name)
        name, arguments = node.func.id, [self.value(item) for item in node.args]
        if name == "len":
            (value,) = arguments
            return self.length(value)
        if name == "type":
            (value,) = arguments
            return value.content.get("type") if isinstance(value, SeenObject) else type(value).__name__
        if name == "bool":
            return self.truth(*arguments)
        if name in ("any", "all"):
            (value,) = arguments
            truths = (self.truth(item) for item in self.items(value))
            return any(truths) if name == "any" else all(truths)
        if name in ("sum", "min", "max") and len(arguments) == 1:
            return _BUILTINS[name]([self.plain(item) for item in self.items(arguments[0])])
        return _BUILTINS[name](*map(self.plain, arguments))


_BUILTINS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "float": float,
    "int": int,
    "max": max,
    "min": min,
    "round": round,
    "sum": sum,
}
_CONTAINERS = frozenset({"list", "dict", "set", "bytearray"})
_EVALUATORS: dict[type[ast.AST], Any] = {
    ast.Attribute: _Evaluation.attribute,
    ast.BinOp: _Evaluation.binary,
    ast.BoolOp: _Evaluation.bool_op,
    ast.Call: _Evaluation.call,
    ast.Compare: _Evaluation.compare,
    ast.Constant: _Evaluation.constant,
    ast.Dict: _Evaluation.dict_display,
    ast.IfExp: _Evaluation.if_exp,
    ast.List: _Evaluation.list_display,
    ast.Name: _Evaluation.name,
    ast.Set: _Evaluation.set_display,
    ast.Subscript: _Evaluation.subscript,
    ast.Tuple: _Evaluation.display,
    ast.UnaryOp: _Evaluation.unary,
}
FAILURES = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
"""Exceptions of an expression on values that do not fit. In the program they would be exceptions, too."""


def _number(value: Any) -> Any:
    if not isinstance(value, int | float | complex):
        raise TypeError("not a number")
    return value
