"""Whether two texts that a cell shows say the same: numbers by value, frames and arrays by content.

Nothing is run. Texts are the same if any of this holds:

- they are equal but for white space at the ends of lines;
- both are Python values (`values.read_value`) that are equal, floats to a relative 1e-6;
- both are arrays (nested brackets of numbers, as numpy prints or reprs them) of the same shape and numbers;
- word for word they are equal, white space aside, numbers by value: so is a frame that is lined up otherwise;
- the answer is the recorded value of the variable that the cell shows, written as Python or as an array.

An integer equals an integer only if it is the same; a float to a relative 1e-6 (absolute 1e-12 around zero:
what rounding leaves), which is what pandas and numpy print of it. Their scalars' wrappings
(``np.float64(1.5)``) do not count. Not covered: other spellings of a frame (Markdown, CSV), pictures.
"""

import math
import re
from collections.abc import Iterator
from typing import Any

from deskcheck.ask.answers.similarity import exact
from deskcheck.ask.answers.values import read_value

RELATIVE, ABSOLUTE = 1e-6, 1e-12
MAX_CHARS = 200_000
"""Longer texts are the same only if they are equal."""

_SCALAR = re.compile(r"\b(?:np|numpy)\.(?:float|int|uint|bool|str|complex|longdouble)\w*\(([^()]*)\)")
_TOKEN = re.compile(
    r"(?P<word>[^\W\d]\w*)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w]))|(?P<other>\d\w*|[^\w\s])"
)
_ARRAY = re.compile(r"(?:array\()?\s*(\[.*\])\s*(?:,\s*(?:dtype|shape)=[^\[\]]*)?\)?", re.DOTALL)
_IN_ARRAY = re.compile(
    r"[\[\]]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])|[-+]?(?:nan|inf)\b|True\b|False\b|(\S)"
)


def same_output(text: str, expected: str, value: str | None = None) -> bool:
    """Whether a text says what the expected output says. value: the recorded value of what the cell shows, as
    a Python literal or nested list, where there is one."""
    if exact(text, expected):
        return True
    if not text.strip() or len(text) > MAX_CHARS or len(expected) > MAX_CHARS:
        return False
    text, expected = _SCALAR.sub(r"\1", text.strip()), _SCALAR.sub(r"\1", expected.strip())
    return (
        same_value(text, expected)
        or same_array(text, expected)
        or same_words(text, expected)
        or (value is not None and (same_value(text, value) or same_array(text, value)))
    )


def same_value(text: str, expected: str) -> bool:
    """Whether both texts write down Python values that are equal, with the tolerance for floats."""
    known, right = read_value(expected, max_chars=MAX_CHARS)
    if not known:
        return False
    given, left = read_value(text, max_chars=MAX_CHARS)
    try:
        return given and _equal(left, right)
    except RecursionError:
        return False


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, (int, float, complex)) and isinstance(right, (int, float, complex)):
        return same_number(left, right)
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in right)
    return bool(left == right)


def same_number(left: complex, right: complex) -> bool:
    """Integers exactly; with a float among the two to the tolerance; nan is nan."""
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    if isinstance(left, complex) or isinstance(right, complex):
        a, b = complex(left), complex(right)
        return same_number(a.real, b.real) and same_number(a.imag, b.imag)
    try:
        a, b = float(left), float(right)
    except OverflowError:
        return left == right
    return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (math.isnan(a) and math.isnan(b))


def same_array(text: str, expected: str) -> bool:
    """Whether both texts are arrays of the same shape and numbers; commas and line ends do not count."""
    right = _array(expected)
    if right is None:
        return False
    left = _array(text)
    return (
        left is not None
        and len(left) == len(right)
        and all(
            a == b if isinstance(a, str) or isinstance(b, str) else same_number(a, b)
            for a, b in zip(left, right, strict=True)
        )
    )


def _array(text: str) -> list[str | float] | None:
    """Brackets and numbers in their order; None for what is no array of numbers."""
    found = _ARRAY.fullmatch(text.strip())
    if found is None:
        return None
    parts: list[str | float] = []
    depth = 0
    for part in _IN_ARRAY.finditer(found[1]):
        if part[1] is not None and part[1] != ",":
            return None
        if part[0] in "[]":
            depth += 1 if part[0] == "[" else -1
            parts.append(part[0])
        elif part[0] in ("True", "False"):
            parts.append(part[0])
        elif part[0] != ",":
            parts.append(_number(part[0]))
        if depth <= 0 and part.end() != len(found[1]):
            return None
    return parts if depth == 0 else None


def _number(text: str) -> float | str:
    """The number; the text of an integer longer than Python reads."""
    if text.lstrip("+-").isdigit():
        return int(text) if len(text) < 4300 else text
    return float(text)


def same_words(text: str, expected: str) -> bool:
    """Whether the texts have the same words, signs and numbers in the same order; white space aside."""
    # Most differ early: nothing is compared twice, and no list is made of either.
    left, right = _tokens(text), _tokens(expected)
    while True:
        a, b = next(left, None), next(right, None)
        if a is None or b is None:
            return a is b
        if isinstance(a, str) or isinstance(b, str):
            if a != b:
                return False
        elif not same_number(a, b):
            return False


def _tokens(text: str) -> Iterator[str | float]:
    for found in _TOKEN.finditer(text):
        number = found["number"]
        # An integer that begins with 0 is no number but part of a date, a time, an identifier.
        if number is None or (number.isdigit() and len(number) > 1 and number[0] == "0"):
            yield found[0]
        else:
            yield _number(number)
