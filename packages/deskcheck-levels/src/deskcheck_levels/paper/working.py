"""An operation on whole numbers, worked out on squared paper as in school: one word at a time, each asked of
whoever answers windows (`cells`). Nothing here knows what is right.

The code decides the layout: operands are written one below the other, the last digit first; each digit moves
the pen by a column; a deleted row does not count; a number is read without leading zeros, and nought has no
sign. The windows ask for the words, the end of a row, the method, and the larger operand.

Numbers are signs and digits, the last digit first: (negative, [3, 2, 1]) is -123 or 123.
"""

from collections.abc import Generator
from typing import TypeAlias

from deskcheck_levels.paper.cells import CELL, COUNT, EMPTY, NUMBER, ZERO, Window, shown

Asking: TypeAlias = Generator[Window, int, "Number | bool"]
"""Yields windows, receives words, and returns the result."""
Number: TypeAlias = tuple[bool, list[int]]

START, ADD, COMPARE, SUBTRACT = (NUMBER[word] for word in ("start", "add", "compare", "subtract"))
SWAPPED, ROW, END, SHORT, OUT = (NUMBER[word] for word in ("swapped", "row", "end", "short", "out"))
SCAN, INCREASE, COMPLEMENT, RAISE = (NUMBER[word] for word in ("scan", "increase", "complement", "raise"))
POSITIVE, NEGATIVE, LESS = NUMBER["positive"], NUMBER["negative"], NUMBER["less"]
SAME, MORE, TRUE, FALSE, NONE = (NUMBER[word] for word in ("same", "more", "true", "false", "none"))
DIVIDED, REST, TIMES = NUMBER["//"], NUMBER["%"], NUMBER["*"]


class UnreadableWorking(Exception):
    """The writing is not a working: it has a word of a wrong kind, or rows without end."""


class DivisionByNought(Exception):
    """The model says that this is a division by nought."""


def number(value: int) -> Number:
    """A whole number on paper."""
    return value < 0, [ord(digit) - 48 for digit in reversed(str(abs(value)))]


def read(on_paper: Number) -> int:
    """The whole number of a number on paper."""
    negative, digits = on_paper
    value = int("".join([chr(48 + digit) for digit in reversed(digits)]) or "0")
    return -value if negative else value


def _at(digits: list[int], column: int) -> int:
    return ZERO + digits[column] if 0 <= column < len(digits) else EMPTY


def _sign(negative: bool) -> int:
    return NEGATIVE if negative else POSITIVE


def _unreadable(word: int) -> UnreadableWorking:
    return UnreadableWorking(f"word {word} where it cannot stand")


def sum_or_difference(op: int, a: Number, b: Number) -> Asking:
    """a + b or a - b."""
    first = _sign(a[0])
    method = yield op, START, START, first, _sign(b[0]), EMPTY
    above, below = a[1], b[1]
    if method == COMPARE:
        method = yield from _compared(op, a[1], b[1], EMPTY)
        if method == SWAPPED:
            above, below = below, above
    if method not in (ADD, SUBTRACT, SWAPPED):
        raise _unreadable(method)
    digits: list[int] = []
    last = method
    for column in range(max(len(above), len(below)) + 2):
        word = yield op, method, shown(last), _at(above, column), _at(below, column), first
        if word in (POSITIVE, NEGATIVE):
            return word == NEGATIVE, digits
        if word < CELL:
            raise _unreadable(word)
        digits.append((word - CELL) % 10)
        last = word
    raise UnreadableWorking("a row without end")


def _compared(op: int, a: list[int], b: list[int], sign: int) -> Generator[Window, int, int]:
    """The word after the comparison of two numbers from the last digit to the first."""
    last = COMPARE
    for column in range(max(len(a), len(b)) + 1):
        word = yield op, COMPARE, last, _at(a, column), _at(b, column), sign
        if word not in (LESS, SAME, MORE):
            return word
        last = word
    raise UnreadableWorking("a row without end")


def comparison(op: int, a: Number, b: Number) -> Asking:
    """Whether a < b, a == b and so on."""
    word = yield op, START, START, _sign(a[0]), _sign(b[0]), EMPTY
    if word == COMPARE:
        word = yield from _compared(op, a[1], b[1], _sign(a[0]))
    if word not in (TRUE, FALSE):
        raise _unreadable(word)
    return word == TRUE


def product(op: int, a: Number, b: Number) -> Asking:
    """a * b: the longer one above, and a row for each digit of the shorter one, which is added to the sum."""
    sign = yield op, START, START, _sign(a[0]), _sign(b[0]), EMPTY
    if sign not in (POSITIVE, NEGATIVE):
        raise _unreadable(sign)
    above, below = (a[1], b[1]) if len(a[1]) >= len(b[1]) else (b[1], a[1])
    standing: list[int] = []
    word = yield op, sign, sign, EMPTY, EMPTY, EMPTY
    for row in range(len(below) + 1):
        if word != ROW:
            raise _unreadable(word)
        last = ROW
        for column in range(len(above) + 2):
            word = yield (
                *(op, ROW, shown(last), _at(above, column), _at(below, row)),
                _at(standing, column + row),
            )
            if word < CELL:
                break
            digit = (word - CELL) % 10
            if column + row < len(standing):
                standing[column + row] = digit
            else:
                standing.append(digit)
            last = word
        else:
            raise UnreadableWorking("a row without end")
        if word == END:
            return sign == NEGATIVE, standing
    raise UnreadableWorking("rows without end")


def division(op: int, a: Number, b: Number) -> Asking:
    """a // b or a % b, rounded down like in Python."""
    method = yield op, START, START, _at(b[1], 0), _at(b[1], 1), EMPTY
    if method == RAISE:
        raise DivisionByNought
    if method == SHORT:
        quotient, remainder = yield from _short_division(op, a[1], b[1])
    elif method == COUNT:
        quotient, remainder = yield from _long_division(op, a[1], b[1])
    else:
        raise _unreadable(method)
    signs = _sign(a[0]), _sign(b[0])
    word = last = SCAN
    for column in range(len(remainder) + 1):
        word = yield op, SCAN, last, _at(remainder, column), *signs
        if word != SAME:
            break
        last = word
    if word in (POSITIVE, NEGATIVE):
        return word == NEGATIVE, quotient if op == DIVIDED else remainder
    if word not in (INCREASE, COMPLEMENT):
        raise _unreadable(word)
    mark = last = word
    above, below, sign = (quotient, [], EMPTY) if mark == INCREASE else (b[1], remainder, signs[1])
    digits: list[int] = []
    for column in range(max(len(above), len(below)) + 2):
        word = yield op, mark, shown(last), _at(above, column), _at(below, column), sign
        if word in (POSITIVE, NEGATIVE):
            return word == NEGATIVE, digits
        if word < CELL:
            break
        digits.append((word - CELL) % 10)
        last = word
    raise UnreadableWorking("a row without end")


def _short_division(
    op: int, a: list[int], b: list[int]
) -> Generator[Window, int, tuple[list[int], list[int]]]:
    """By one digit: a digit of the quotient with the rest that it leaves, from the first digit on."""
    quotient: list[int] = []
    last = SHORT
    for column in range(len(a) - 1, -2, -1):
        word = yield op, SHORT, shown(last), _at(a, column), _at(b, 0), EMPTY
        if word == SCAN and quotient:
            return quotient[::-1], [(last - CELL) // 10]
        if word < CELL:
            break
        quotient.append((word - CELL) % 10)
        last = word
    raise UnreadableWorking("a row without end")


def _long_division(
    op: int, a: list[int], b: list[int]
) -> Generator[Window, int, tuple[list[int], list[int]]]:
    """By subtracting: below each digit of a as often as it goes; the attempt too many is struck out."""
    standing, quotient = list(a), [0] * len(a)
    offset, mark = len(a) - 1, COUNT
    for _ in range(11 * len(a)):
        tried, last, word = list(standing), mark, mark
        for column in range(offset, offset + len(b) + 2):
            word = yield op, mark, shown(last), _at(standing, column), _at(b, column - offset), EMPTY
            if word < CELL:
                break
            if column < len(tried):
                tried[column] = (word - CELL) % 10
            else:
                tried.append((word - CELL) % 10)
            last = word
        if COUNT < word < COUNT + 10:
            standing, mark = tried, word
        elif word == OUT:
            quotient[offset] = mark - COUNT
            offset -= 1
            mark = yield op, OUT, OUT, _at(a, offset), EMPTY, EMPTY
            if mark == SCAN:
                return quotient, standing
            if mark != COUNT or offset < 0:
                raise _unreadable(mark)
        else:
            raise _unreadable(word)
    raise UnreadableWorking("rows without end")


def negated(op: int, a: Number) -> Asking:
    """-a."""
    sign = yield op, START, START, _sign(a[0]), EMPTY, EMPTY
    if sign not in (POSITIVE, NEGATIVE):
        raise _unreadable(sign)
    return sign == NEGATIVE, a[1]


def truth(op: int, a: Number) -> Asking:
    """Whether a is anything but nought."""
    last = START
    for column in range(len(a[1]) + 1):
        word = yield op, START, last, _at(a[1], column), EMPTY, EMPTY
        if word in (TRUE, FALSE):
            return word == TRUE
        if word != SAME:
            raise _unreadable(word)
        last = word
    raise UnreadableWorking("a row without end")


def choice(op: int, a: bool | None) -> Asking:
    """Of a truth value: `truth` and `not` of it; `if` and `unless`, whether to jump."""
    truth_word = NONE if a is None else TRUE if a else FALSE
    word = yield op, START, START, truth_word, EMPTY, EMPTY
    if word not in (TRUE, FALSE):
        raise _unreadable(word)
    return word == TRUE


METHODS = {
    **dict.fromkeys(("+", "-"), sum_or_difference),
    **dict.fromkeys(("<", "<=", "==", "!=", ">", ">="), comparison),
    **dict.fromkeys(("//", "%"), division),
    "*": product,
}
"""Operation -> how two numbers are worked out."""
