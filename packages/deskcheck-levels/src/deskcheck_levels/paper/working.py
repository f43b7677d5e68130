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
    return UnreadableWorking(f"word {word} in a wrong place")


def sum_or_difference(operator: int, lhs: Number, rhs: Number) -> Asking:
    """lhs + rhs or lhs - rhs."""
    first = _sign(lhs[0])
    method = yield operator, START, START, first, _sign(rhs[0]), EMPTY
    above, below = lhs[1], rhs[1]
    if method == COMPARE:
        method = yield from _compared(operator, lhs[1], rhs[1], EMPTY)
        if method == SWAPPED:
            above, below = below, above
    if method not in (ADD, SUBTRACT, SWAPPED):
        raise _unreadable(method)
    digits: list[int] = []
    last = method
    for column in range(max(len(above), len(below)) + 2):
        word = yield operator, method, shown(last), _at(above, column), _at(below, column), first
        if word in (POSITIVE, NEGATIVE):
            return word == NEGATIVE, digits
        if word < CELL:
            raise _unreadable(word)
        digits.append((word - CELL) % 10)
        last = word
    raise UnreadableWorking("a row without end")


def _compared(operator: int, lhs: list[int], rhs: list[int], sign: int) -> Generator[Window, int, int]:
    """The word after the comparison of two numbers from the last digit to the first."""
    last = COMPARE
    for column in range(max(len(lhs), len(rhs)) + 1):
        word = yield operator, COMPARE, last, _at(lhs, column), _at(rhs, column), sign
        if word not in (LESS, SAME, MORE):
            return word
        last = word
    raise UnreadableWorking("a row without end")


def comparison(operator: int, lhs: Number, rhs: Number) -> Asking:
    """The result of a comparison."""
    word = yield operator, START, START, _sign(lhs[0]), _sign(rhs[0]), EMPTY
    if word == COMPARE:
        word = yield from _compared(operator, lhs[1], rhs[1], _sign(lhs[0]))
    if word not in (TRUE, FALSE):
        raise _unreadable(word)
    return word == TRUE


def product(operator: int, lhs: Number, rhs: Number) -> Asking:
    """lhs * rhs: the longer one above, then a row for each digit of the shorter one."""
    sign = yield operator, START, START, _sign(lhs[0]), _sign(rhs[0]), EMPTY
    if sign not in (POSITIVE, NEGATIVE):
        raise _unreadable(sign)
    above, below = (lhs[1], rhs[1]) if len(lhs[1]) >= len(rhs[1]) else (rhs[1], lhs[1])
    standing: list[int] = []
    word = yield operator, sign, sign, EMPTY, EMPTY, EMPTY
    for row in range(len(below) + 1):
        if word != ROW:
            raise _unreadable(word)
        last = ROW
        for column in range(len(above) + 2):
            word = yield (
                *(operator, ROW, shown(last), _at(above, column), _at(below, row)),
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


def division(operator: int, lhs: Number, rhs: Number) -> Asking:
    """lhs // rhs or lhs % rhs, rounded down like in Python."""
    method = yield operator, START, START, _at(rhs[1], 0), _at(rhs[1], 1), EMPTY
    if method == RAISE:
        raise DivisionByNought
    if method == SHORT:
        quotient, remainder = yield from _short_division(operator, lhs[1], rhs[1])
    elif method == COUNT:
        quotient, remainder = yield from _long_division(operator, lhs[1], rhs[1])
    else:
        raise _unreadable(method)
    signs = _sign(lhs[0]), _sign(rhs[0])
    word = last = SCAN
    for column in range(len(remainder) + 1):
        word = yield operator, SCAN, last, _at(remainder, column), *signs
        if word != SAME:
            break
        last = word
    if word in (POSITIVE, NEGATIVE):
        return word == NEGATIVE, quotient if operator == DIVIDED else remainder
    if word not in (INCREASE, COMPLEMENT):
        raise _unreadable(word)
    mark = last = word
    above, below, sign = (quotient, [], EMPTY) if mark == INCREASE else (rhs[1], remainder, signs[1])
    digits: list[int] = []
    for column in range(max(len(above), len(below)) + 2):
        word = yield operator, mark, shown(last), _at(above, column), _at(below, column), sign
        if word in (POSITIVE, NEGATIVE):
            return word == NEGATIVE, digits
        if word < CELL:
            break
        digits.append((word - CELL) % 10)
        last = word
    raise UnreadableWorking("a row without end")


def _short_division(
    operator: int, lhs: list[int], rhs: list[int]
) -> Generator[Window, int, tuple[list[int], list[int]]]:
    """By one digit: a digit of the quotient with the rest that it leaves, from the first digit on."""
    quotient: list[int] = []
    last = SHORT
    for column in range(len(lhs) - 1, -2, -1):
        word = yield operator, SHORT, shown(last), _at(lhs, column), _at(rhs, 0), EMPTY
        if word == SCAN and quotient:
            return quotient[::-1], [(last - CELL) // 10]
        if word < CELL:
            break
        quotient.append((word - CELL) % 10)
        last = word
    raise UnreadableWorking("a row without end")


def _long_division(
    operator: int, lhs: list[int], rhs: list[int]
) -> Generator[Window, int, tuple[list[int], list[int]]]:
    """By subtracting: below each digit of `lhs` as often as possible. The failed last attempt is deleted."""
    standing, quotient = list(lhs), [0] * len(lhs)
    offset, mark = len(lhs) - 1, COUNT
    for _ in range(11 * len(lhs)):
        tried, last, word = list(standing), mark, mark
        for column in range(offset, offset + len(rhs) + 2):
            word = yield (
                operator,
                mark,
                shown(last),
                _at(standing, column),
                _at(rhs, column - offset),
                EMPTY,
            )
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
            mark = yield operator, OUT, OUT, _at(lhs, offset), EMPTY, EMPTY
            if mark == SCAN:
                return quotient, standing
            if mark != COUNT or offset < 0:
                raise _unreadable(mark)
        else:
            raise _unreadable(word)
    raise UnreadableWorking("rows without end")


def negated(operator: int, value: Number) -> Asking:
    """The negative number."""
    sign = yield operator, START, START, _sign(value[0]), EMPTY, EMPTY
    if sign not in (POSITIVE, NEGATIVE):
        raise _unreadable(sign)
    return sign == NEGATIVE, value[1]


def truth(operator: int, value: Number) -> Asking:
    """Whether a number is not nought."""
    last = START
    for column in range(len(value[1]) + 1):
        word = yield operator, START, last, _at(value[1], column), EMPTY, EMPTY
        if word in (TRUE, FALSE):
            return word == TRUE
        if word != SAME:
            raise _unreadable(word)
        last = word
    raise UnreadableWorking("a row without end")


def choice(operator: int, value: bool | None) -> Asking:
    """Of a truth value: `truth` and `not` of it; `if` and `unless`, whether to jump."""
    truth_word = NONE if value is None else TRUE if value else FALSE
    word = yield operator, START, START, truth_word, EMPTY, EMPTY
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
