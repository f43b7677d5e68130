"""All windows that any operation on any whole numbers can show, and the word that is right at each.

Rules of single windows give the right word; tests show that they result in Python's arithmetic for all
numbers. A rule gives None for a window that no operation shows.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

from deskcheck_levels.paper.cells import CARRY, CELL, COUNT, EMPTY, NUMBER, ZERO, Window, cell
from deskcheck_levels.paper.working import (
    ADD,
    COMPARE,
    COMPLEMENT,
    DIVIDED,
    END,
    FALSE,
    INCREASE,
    LESS,
    MORE,
    NEGATIVE,
    NONE,
    OUT,
    POSITIVE,
    RAISE,
    REST,
    ROW,
    SAME,
    SCAN,
    SHORT,
    START,
    SUBTRACT,
    SWAPPED,
    TRUE,
)

PLUS, MINUS, TIMES, NEGATED, TRUTH, NOT, IF, UNLESS = (
    NUMBER[word] for word in ("+", "-", "*", "neg", "truth", "not", "if", "unless")
)
COMPARISONS = {
    NUMBER[word]: operations
    for word, operations in {
        "<": (True, False, False),
        "<=": (True, True, False),
        "==": (False, True, False),
        "!=": (True, False, True),
        ">": (False, False, True),
        ">=": (False, True, True),
    }.items()
}
"""Operation -> what it says where the first is less, the same, more."""
SIGNS = (POSITIVE, NEGATIVE)
DIGIT = range(ZERO, ZERO + 10)
CELLS = (EMPTY, *DIGIT)


def right(window: Window) -> int | None:
    """The word that is right at a window; None where no operation shows it."""
    op = window[0]
    if op in (PLUS, MINUS):
        return _additive(window)
    if op in COMPARISONS:
        return _comparing(window)
    if op == TIMES:
        return _multiplying(window)
    if op in (DIVIDED, REST):
        return _dividing(window)
    return _choosing(window)


def _truth(value: bool) -> int:
    return TRUE if value else FALSE


def _other(sign: int) -> int:
    return NEGATIVE if sign == POSITIVE else POSITIVE


def _carried(last: int, mark: int) -> int | None:
    """The carry of the digit before; 0 right after the mark."""
    if last == mark:
        return 0
    return last - CARRY if CARRY <= last < CARRY + 10 else None


def _digit(word: int) -> int:
    return word - ZERO if word else 0


def _trail(last: int, first: int, second: int) -> int:
    a, b = _digit(first), _digit(second)
    if a != b:
        return LESS if a < b else MORE
    return SAME if last == COMPARE else last


def _additive(window: Window) -> int | None:
    op, mark, last, first, second, sign = window
    if mark == START:
        return ADD if (first == second) == (op == PLUS) else COMPARE
    if mark == COMPARE:
        if first or second:
            return _trail(last, first, second)
        return {LESS: SWAPPED, SAME: SUBTRACT, MORE: SUBTRACT}.get(last)
    carry = _carried(last, mark)
    if carry is None or carry > 1:
        return None
    if mark == ADD:
        if first or second or carry:
            return cell(_digit(first) + _digit(second) + carry)
        return sign
    return _difference(first, second, carry, sign if mark == SUBTRACT else _other(sign))


def _difference(first: int, second: int, borrowed: int, sign: int) -> int | None:
    """A digit of the larger number minus one of the smaller, which may have leading zeros; the sign where
    both have ended."""
    if not first and (borrowed or _digit(second)):
        return None
    if not first and not second:
        return sign
    value = _digit(first) - _digit(second) - borrowed
    return cell(value) if value >= 0 else cell(10 + value + 10)


def _comparing(window: Window) -> int | None:
    op, mark, last, first, second, sign = window
    less, same, more = COMPARISONS[op]
    if mark == START:
        if first == second:
            return COMPARE
        return _truth(less if first == NEGATIVE else more)
    if first or second:
        return _trail(last, first, second)
    if last == COMPARE:
        return None
    if last == SAME:
        return _truth(same)
    return _truth(less if (last == LESS) == (sign == POSITIVE) else more)


def _multiplying(window: Window) -> int | None:
    _, mark, last, first, second, standing = window
    if mark == START:
        return POSITIVE if first == second else NEGATIVE
    if mark in SIGNS:
        return ROW
    carry = _carried(last, mark)
    if carry is None:
        return None
    if not second:
        return END if last == ROW else None
    if first:
        return cell(_digit(first) * _digit(second) + _digit(standing) + carry)
    if standing or last == ROW:
        return None
    return cell(carry) if carry else ROW


def _dividing(window: Window) -> int | None:
    op, mark, last, first, second, third = window
    if mark == START:
        if second:
            return COUNT
        return RAISE if first == ZERO else SHORT
    if mark == SHORT:
        carried = _carried(last, mark)
        if not first:
            return None if carried is None or last == mark or carried >= _digit(second) else SCAN
        if carried is None or carried >= _digit(second):
            return None
        quotient, remainder = divmod(10 * carried + _digit(first), _digit(second))
        return CELL + 10 * remainder + quotient
    if COUNT <= mark < COUNT + 10:
        return _trying(mark, last, first, second)
    if mark == OUT:
        return COUNT if first else SCAN
    if mark == SCAN:
        if second == third:  # of the same sign: the rest stays
            return (POSITIVE if op == DIVIDED else third) if last == SCAN else None
        if not first:
            return (NEGATIVE if op == DIVIDED else POSITIVE) if last == SAME else None
        if first == ZERO:
            return SAME
        return INCREASE if op == DIVIDED else COMPLEMENT
    if mark == INCREASE:
        carry = 1 if last == INCREASE else _carried(last, mark)
        if carry is None or carry > 1:
            return None
        return cell(_digit(first) + carry) if first or carry else NEGATIVE
    borrowed = _carried(last, mark)
    if borrowed is None or borrowed > 1:
        return None
    return _difference(first, second, borrowed, third)


def _trying(mark: int, last: int, first: int, second: int) -> int | None:
    """A row of an attempt to subtract the divisor once more."""
    borrowed = _carried(last, mark)
    if borrowed is None or borrowed > 1:
        return None
    if second:
        value = _digit(first) - _digit(second) - borrowed
        return cell(value) if value >= 0 else cell(10 + value + 10)
    if last == mark:
        return None
    if not borrowed:
        return mark + 1 if mark < COUNT + 9 else None
    return cell(_digit(first) - 1) if first and first != ZERO else OUT


def _choosing(window: Window) -> int | None:
    op, _, last, first, _, _ = window
    if op == NEGATED:
        return _other(first)
    if op == TRUTH:
        if last == SAME and not first:
            return FALSE
        if first in DIGIT:
            return SAME if first == ZERO else TRUE
        if last == START and first in (TRUE, FALSE, NONE):
            return _truth(first == TRUE)
        return None
    if op == NOT:
        return _truth(first != TRUE)
    return _truth((first == TRUE) == (op == IF))


def _shapes() -> Iterator[tuple[tuple[int, ...], ...]]:
    """Sets of words for each place of a window. All combinations are considered."""
    start, empty, carries = (START,), (EMPTY,), tuple(range(CARRY, CARRY + 10))
    bits = carries[:2]
    for op in (PLUS, MINUS):
        yield (op,), start, start, SIGNS, SIGNS, empty
        yield (op,), (COMPARE,), (COMPARE, LESS, SAME, MORE), CELLS, CELLS, empty
        for mark in (ADD, SUBTRACT, SWAPPED):
            yield (op,), (mark,), (mark, *bits), CELLS, CELLS, SIGNS
    for op in COMPARISONS:
        yield (op,), start, start, SIGNS, SIGNS, empty
        yield (op,), (COMPARE,), (COMPARE, LESS, SAME, MORE), CELLS, CELLS, SIGNS
    yield (TIMES,), start, start, SIGNS, SIGNS, empty
    for sign in SIGNS:
        yield (TIMES,), (sign,), (sign,), empty, empty, empty
    yield (TIMES,), (ROW,), (ROW, *carries), CELLS, CELLS, CELLS
    for op in (DIVIDED, REST):
        yield (op,), start, start, tuple(DIGIT), CELLS, empty
        yield (op,), (SHORT,), (SHORT, *carries), CELLS, tuple(DIGIT)[1:], empty
        for mark in range(COUNT, COUNT + 10):
            yield (op,), (mark,), (mark, *bits), CELLS, CELLS, empty
        yield (op,), (OUT,), (OUT,), CELLS, empty, empty
        yield (op,), (SCAN,), (SCAN, SAME), CELLS, SIGNS, SIGNS
    yield (DIVIDED,), (INCREASE,), (INCREASE, *bits), CELLS, empty, empty
    yield (REST,), (COMPLEMENT,), (COMPLEMENT, *bits), CELLS, CELLS, SIGNS
    yield (NEGATED,), start, start, SIGNS, empty, empty
    yield (TRUTH,), start, (START, SAME), (*CELLS, TRUE, FALSE, NONE), empty, empty
    yield (NOT,), start, start, (TRUE, FALSE, NONE), empty, empty
    for op in (IF, UNLESS):
        yield (op,), start, start, (TRUE, FALSE), empty, empty


@cache
def all_windows() -> dict[Window, int]:
    """Every window that an operation can show -> the word that is right there."""
    words: dict[Window, int] = {}
    for shape in _shapes():
        for window in product(*shape):
            word = right(window)  # type: ignore[arg-type]
            if word is not None:
                words[window] = word  # type: ignore[index]
    return words
