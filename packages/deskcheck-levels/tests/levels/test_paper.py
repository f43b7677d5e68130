"""Operations on squared paper: right by their rules, of any length, and shown in no window that is not listed."""

import operator
import random
from collections.abc import Callable
from typing import Any

import pytest
from deskcheck_levels.paper.arithmetic import Arithmetic
from deskcheck_levels.paper.cells import NUMBER, Window
from deskcheck_levels.paper.judging import Judged, JudgedArithmetic
from deskcheck_levels.paper.windows import all_windows
from deskcheck_levels.paper.working import DivisionByNought, UnreadableWorking

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


def by_rules() -> Arithmetic:
    """A window that is not listed is a KeyError."""
    return Arithmetic(all_windows().__getitem__, remember=False)


@pytest.mark.parametrize("op", OPERATIONS)
def test_every_pair_of_small_numbers(op: str) -> None:
    """All pairs from -33 to 33, as Python computes them."""
    arithmetic = by_rules()
    for a in range(-33, 34):
        for b in range(-33, 34):
            if b == 0 and op in ("//", "%"):
                with pytest.raises(DivisionByNought):
                    arithmetic.binary(op, a, b)
                continue
            told, true = arithmetic.binary(op, a, b), OPERATIONS[op](a, b)
            assert (type(told), told) == (type(true), true), (a, op, b)


@pytest.mark.parametrize("op", OPERATIONS)
def test_long_numbers(op: str) -> None:
    """Up to sixty digits, far longer than any lesson: nines, noughts, nearly equal ones, quotients of all sizes."""
    chance = random.Random(7)
    arithmetic = by_rules()
    for _ in range(150):
        digits = chance.randint(1, 60)
        a = chance.choice((chance.randrange(10**digits), 10**digits - 1, 10 ** (digits - 1)))
        b = chance.choice(
            (chance.randrange(1, 10 ** chance.randint(1, digits)), a + chance.choice((-1, 0, 1)), 7)
        )
        a, b = a * chance.choice((1, -1)), (b or 1) * chance.choice((1, -1))
        assert arithmetic.binary(op, a, b) == OPERATIONS[op](a, b), (a, op, b)


def test_truth_and_sign() -> None:
    arithmetic = by_rules()
    for a in (0, 1, -1, 10, 100, -700, 5 * 10**30):
        assert arithmetic.truth(a) is bool(a)
        assert arithmetic.negated(a) == -a
    for value in (True, False, None):
        assert arithmetic.truth(value) is bool(value)
        assert arithmetic.choice("not", value) is not bool(value)
    assert [arithmetic.choice(op, value) for op in ("if", "unless") for value in (True, False)] == [
        True,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("word", ["", "7", "start", "less", "row", "0'0", "q3", "positive"])
def test_nonsense_is_no_endless_row(word: str) -> None:
    """Whoever writes one word for ever gets a result or an error, and soon."""
    arithmetic = Arithmetic(lambda window: NUMBER[word], remember=False)
    for op in OPERATIONS:
        try:
            found = arithmetic.binary(op, 98_765, 43)
        except UnreadableWorking:
            continue
        assert isinstance(found, int)
    assert arithmetic.asked.words < 2000


def test_a_right_result_by_a_wrong_working_is_counted() -> None:
    """Of 12 < 21 the trail begins with a wrong word, which the next digit covers; of 2 <= 1 it stays."""
    right = all_windows()
    for answer, expected in (
        (right.__getitem__, Judged()),
        (_forgets_more, Judged(wrong_workings=2, lucky=1)),
    ):
        arithmetic = JudgedArithmetic(answer)
        told = [arithmetic.binary("<", 12, 21), arithmetic.binary("<=", 2, 1), arithmetic.binary("<=", 2, 1)]
        assert told == [True, expected.lucky == 1, expected.lucky == 1]
        with pytest.raises(DivisionByNought):
            arithmetic.binary("//", 7, 0)
        assert not arithmetic.choice("truth", None)
        assert arithmetic.negated(-5) == 5
        assert arithmetic.judged == expected


def _forgets_more(window: Window) -> int:
    word = all_windows()[window]
    return NUMBER["same"] if word == NUMBER["more"] else word


def test_what_comes_to_no_result_is_a_wrong_working() -> None:
    arithmetic = JudgedArithmetic(lambda window: NUMBER["+"])
    with pytest.raises(UnreadableWorking):
        arithmetic.binary("+", 1, 2)
    assert arithmetic.judged == Judged(wrong_workings=1, unreadable=1)
