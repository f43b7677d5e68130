"""Values written as text: reading them without running anything, and telling whether two are the same.

Covers what `recording.render` writes for values made of builtins: literals, ``set()``,
``frozenset({...})``, ``range``, ``slice``, ``bytearray``, ``nan``, ``inf``, ``complex``, ``Ellipsis``. Not
covered: any other call or name, arithmetic (``2 ** 10`` is not a value), f-strings.
"""

import ast
import io
import math
import tokenize
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

MAX_CHARS = 20_000
"""Longer texts are compared as text: the parser's time and memory grow with what a model wrote."""

_NUMBERS = (int, float, complex)
_EMPTY: dict[str, Any] = {
    "list": [],
    "tuple": (),
    "dict": {},
    "str": "",
    "bytes": b"",
    "int": 0,
    "float": 0.0,
}
_NAMES = {
    "inf": math.inf,
    "nanj": complex(0, math.nan),
    "infj": complex(0, math.inf),
    "Ellipsis": ...,
}


def parse_expression(text: str, *, max_chars: int = MAX_CHARS) -> ast.expr | None:
    """The text as one Python expression; None if it is not one, or too long or deep to be read.

    Never raises, whatever the text: CPython's parser answers excess with MemoryError or RecursionError.
    """
    if len(text) > max_chars:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the text's own: "invalid escape sequence", "is with a literal"
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def literal(node: ast.expr) -> Any:
    """The value that an expression writes down. Raises ValueError for anything but plain data."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=items):
            return tuple([literal(item) for item in items])
        case ast.List(elts=items):
            return [literal(item) for item in items]
        case ast.Set(elts=items):
            return {_hashable(literal(item)) for item in items}
        case ast.Dict(keys=keys, values=values):
            return {_hashable(_given(key)): literal(value) for key, value in zip(keys, values, strict=True)}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            number = _number(literal(operand))
            if isinstance(node.op, ast.UAdd):
                return number
            # repr writes a real part that is -0.0, as in (-0-1j): -1j has 0.0.
            return complex(0.0, -number.imag) if isinstance(number, complex) else -number
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            real, imaginary = _real(left), _number(literal(right))
            if isinstance(real, complex) or not isinstance(imaginary, complex):
                raise ValueError("arithmetic is not a value")
            # Built from its parts: adding loses the sign of a zero.
            sign = -1.0 if isinstance(node.op, ast.Sub) else 1.0
            return complex(float(real), sign * imaginary.imag)
        case ast.Name(id="nan"):
            return float("nan")  # each its own object: a set may hold several
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _called(name, [literal(arg) for arg in args])
    raise ValueError(f"{type(node).__name__} is not a value")


def is_exact(text: str, *, max_chars: int = MAX_CHARS) -> bool:
    """Whether a text is a value as `repr` writes it.

    The spelling of a literal does not count: quotation marks, escapes, digits, white space, a last comma.
    Not exact are calls, parentheses, signs and comments that `repr` does not write.
    """
    node = parse_expression(text, max_chars=max_chars)
    if node is None or not read_value(text, max_chars=max_chars)[0]:
        return False
    if not any(sign in text for sign in "(#+j"):
        return not isinstance(node, ast.Tuple)
    nodes = [*ast.walk(node)]
    if has_comment(text) or not all(map(_as_repr_writes, nodes)):
        return False
    grouped = sum(isinstance(part, (ast.Tuple, ast.Call, ast.BinOp)) for part in nodes)
    return grouped == sum(token == "(" for token in _tokens(text))


def _as_repr_writes(node: ast.AST) -> bool:
    match node:
        case ast.UnaryOp(op=ast.UAdd()):
            return False
        case ast.UnaryOp(operand=operand):
            return isinstance(operand, (ast.Constant, ast.Name))
        case ast.Call(func=ast.Name(id=name), args=args):
            match name, args:
                case ("set" | "frozenset", []) | ("frozenset", [ast.Set()]):
                    return True
                case ("range", [_, _] | [_, _, _]) | ("slice", [_, _, _]) | ("bytearray", [_]):
                    return True
            return False
    return True


def _tokens(text: str) -> Iterator[str]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.strip()).readline):
            yield token.string
    except (tokenize.TokenError, SyntaxError):  # the parser has read it
        return


def has_comment(text: str) -> bool:
    """Whether an expression has a comment in it or behind it."""
    return "#" in text and any(token.startswith("#") for token in _tokens(text))


def dotted(node: ast.expr) -> str | None:
    """``a.b.c`` as text; None for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None


def _given(key: ast.expr | None) -> Any:
    if key is None:
        raise ValueError("** is not a value")
    return literal(key)


def _real(node: ast.expr) -> Any:
    """The real part of a complex number as repr writes it: ``-0`` is -0.0."""
    number = _number(literal(node))
    minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    return -0.0 if minus and type(number) is int and number == 0 else number


def _number(value: Any) -> Any:
    if type(value) not in _NUMBERS:
        raise ValueError("a sign stands before a number only")
    return value


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError as error:
        raise ValueError(str(error)) from error
    return value


def _called(name: str, args: list[Any]) -> Any:
    integers = all(type(arg) is int for arg in args)
    if name in ("set", "frozenset") and len(args) <= 1:
        items = args[0] if args else ()
        if not isinstance(items, (list, tuple, set, frozenset)):
            raise ValueError(f"{name} of {type(items).__name__}")
        distinct = {_hashable(item) for item in items}
        return frozenset(distinct) if name == "frozenset" else distinct
    if name == "range" and 1 <= len(args) <= 3 and integers:
        return range(*args)
    if name == "slice" and 1 <= len(args) <= 3:
        return slice(*args)
    if name == "bytearray" and (not args or (len(args) == 1 and type(args[0]) is bytes)):
        return bytearray(*args)
    if name == "complex" and 1 <= len(args) <= 2 and all(type(arg) in (int, float, str) for arg in args):
        return complex(*args) if len(args) == 1 else complex(float(args[0]), float(args[1]))
    if name == "float" and len(args) == 1 and type(args[0]) in (str, int, float):
        return float(args[0])
    if name in _EMPTY and not args:
        return _EMPTY[name]
    raise ValueError(f"{name}(...) is not a value")


def read_value(text: str, *, max_chars: int = MAX_CHARS) -> tuple[bool, Any]:
    """(True, the value) that a text writes down, or (False, None). Nothing is run; never raises."""
    node = parse_expression(text, max_chars=max_chars)
    if node is None:
        return False, None
    try:
        return True, literal(node)
    except (ValueError, TypeError, OverflowError, RecursionError, MemoryError):
        return False, None


def _canonical(value: Any, strict: bool) -> Hashable:
    """Something hashable that is equal for two values exactly if they count as the same."""
    kind = type(value)
    if kind in (bool, int, float, complex):
        return _canonical_number(value, strict)
    if kind in (list, tuple):
        return (kind.__name__, *(_canonical(item, strict) for item in value))
    if kind in (set, frozenset):
        name = kind.__name__ if strict else "set"
        return (name, _counted(_canonical(item, strict) for item in value))
    if kind is dict:
        return ("dict", _counted((_canonical(k, strict), _canonical(v, strict)) for k, v in value.items()))
    if kind is range:
        parts: Sequence[Any] = (value.start, value.stop, value.step)
        return ("range", *parts) if strict else ("range", value)
    if kind is slice:
        return ("slice", *(_canonical(part, strict) for part in (value.start, value.stop, value.step)))
    if kind is bytearray:
        return ("bytearray" if strict else "bytes", bytes(value))
    return (kind.__name__, value)


def _counted(items: Iterable[Hashable]) -> Hashable:
    """The items without their order, but with their counts: a set may contain nan several times."""
    return frozenset(Counter(items).items())


def _canonical_number(value: Any, strict: bool) -> Hashable:
    kind = type(value)
    if kind is float and math.isnan(value):
        return ("float", "nan")
    if kind is complex and (math.isnan(value.real) or math.isnan(value.imag)):
        return ("complex", repr(value))
    if strict:
        return (kind.__name__, repr(value) if kind in (float, complex) else value)
    return ("number", value)


def canonical(text: str) -> Hashable | None:
    """Something that is equal for two texts exactly if they write down the `same` value, strictly; None where
    a text writes down none."""
    readable, value = read_value(text)
    try:
        return _canonical(value, True) if readable else None
    except (RecursionError, MemoryError):
        return None


def same(text: str, expected: str, *, strict: bool = True) -> bool:
    """Whether two texts write down the same value. Texts that are not values must be equal as text.

    Strict: what `repr` tells apart is apart, so ``1``, ``1.0`` and ``True`` are three values, and ``0.0``
    and ``-0.0`` two. Not strict: as Python's ``==``, which is how CRUXEval scores (Gu et al. 2024,
    arXiv:2401.03065). Both ways nan is nan, the order of a dict or set does not count, that of a list
    does. Nothing is run.
    """
    text, expected = text.strip(), expected.strip()
    if text == expected:
        return True
    limit = max(MAX_CHARS, 2 * len(expected))
    expected_readable, right = read_value(expected, max_chars=limit)
    if not expected_readable:
        return False
    answer_readable, answer = read_value(text, max_chars=limit)
    if not answer_readable:
        return False
    try:
        return _canonical(answer, strict) == _canonical(right, strict)
    except (RecursionError, MemoryError):
        return False


def same_as_one(text: str, right: Sequence[str]) -> bool:
    """Whether a text writes down one of several values, as REval compares them (`_eq` of its
    `evaluation.py`): of a class that one of them has, and equal to one; a float may differ by less than
    1e-6."""
    readable, value = read_value(text)
    if not readable:
        return text.strip() in right
    read = [
        (alternative, *read_value(alternative, max_chars=max(MAX_CHARS, len(alternative))))
        for alternative in right
    ]
    readable_alternatives = [(alternative, reading) for alternative, is_value, reading in read if is_value]
    if all(type(reading) is not type(value) for _, reading in readable_alternatives):
        return False
    if isinstance(value, float):
        return any(
            isinstance(reading, (int, float)) and abs(value - reading) < 1e-6
            for _, reading in readable_alternatives
        )
    return any(same(repr(value), alternative, strict=False) for alternative, _ in readable_alternatives)


def same_text(text: str, expected: str) -> bool:
    """Whether two texts are the same as CodeSense compares them (`normalize_value` of its
    `statement_semantic.py`): without regard to case, white space, quotation marks around them, and a
    semicolon at the end."""

    def normal(side: str) -> str:
        side = side.rstrip(";").strip().lower().strip("'").strip('"')
        return " ".join(side.split())

    return normal(text) == normal(expected)
