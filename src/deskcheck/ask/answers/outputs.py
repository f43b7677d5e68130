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
    """Whether a text says the same as the expected output. value: the recorded value that the cell shows, as
    a Python literal or nested list, if the recording has it."""
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
    readable, right = read_value(expected, max_chars=MAX_CHARS)
    if not readable:
        return False
    answer_readable, answer = read_value(text, max_chars=MAX_CHARS)
    try:
        return answer_readable and _equal(answer, right)
    except RecursionError:
        return False


def _equal(answer: Any, right: Any) -> bool:
    if isinstance(answer, bool) or isinstance(right, bool) or answer is None or right is None:
        return answer is right
    if isinstance(answer, (int, float, complex)) and isinstance(right, (int, float, complex)):
        return same_number(answer, right)
    if type(answer) is not type(right):
        return False
    if isinstance(answer, (list, tuple)):
        return len(answer) == len(right) and all(map(_equal, answer, right))
    if isinstance(answer, dict):
        return answer.keys() == right.keys() and all(_equal(answer[key], right[key]) for key in right)
    return bool(answer == right)


def same_number(answer: complex, right: complex) -> bool:
    """Integers exactly; with a float among the two to the tolerance; nan is nan."""
    if isinstance(answer, int) and isinstance(right, int):
        return answer == right
    if isinstance(answer, complex) or isinstance(right, complex):
        first, second = complex(answer), complex(right)
        return same_number(first.real, second.real) and same_number(first.imag, second.imag)
    try:
        first, second = float(answer), float(right)
    except OverflowError:
        return answer == right
    return math.isclose(first, second, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (
        math.isnan(first) and math.isnan(second)
    )


def same_array(text: str, expected: str) -> bool:
    """Whether both texts are arrays of the same shape and numbers; commas and line ends do not count."""
    right = _array(expected)
    if right is None:
        return False
    answer = _array(text)
    return (
        answer is not None
        and len(answer) == len(right)
        and all(
            a == b if isinstance(a, str) or isinstance(b, str) else same_number(a, b)
            for a, b in zip(answer, right, strict=True)
        )
    )


def _array(text: str) -> list[str | float] | None:
    """Brackets and numbers in their order; None if the text is not an array of numbers."""
    match = _ARRAY.fullmatch(text.strip())
    if match is None:
        return None
    parts: list[str | float] = []
    depth = 0
    for part in _IN_ARRAY.finditer(match[1]):
        if part[1] is not None and part[1] != ",":
            return None
        if part[0] in "[]":
            depth += 1 if part[0] == "[" else -1
            parts.append(part[0])
        elif part[0] in ("True", "False"):
            parts.append(part[0])
        elif part[0] != ",":
            parts.append(_number(part[0]))
        if depth <= 0 and part.end() != len(match[1]):
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
    answer_tokens, right = _tokens(text), _tokens(expected)
    while True:
        first, second = next(answer_tokens, None), next(right, None)
        if first is None or second is None:
            return first is second
        if isinstance(first, str) or isinstance(second, str):
            if first != second:
                return False
        elif not same_number(first, second):
            return False


def _tokens(text: str) -> Iterator[str | float]:
    for match in _TOKEN.finditer(text):
        number = match["number"]
        # An integer that begins with 0 is no number but part of a date, a time, an identifier.
        if number is None or (number.isdigit() and len(number) > 1 and number[0] == "0"):
            yield match[0]
        else:
            yield _number(number)
