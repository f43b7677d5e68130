"""The causes that mistakes of a model of the level `alone` are counted by."""

import pytest

pytest.importorskip("torch", reason="no torch: would have proved that mistakes are sorted by cause")

from benchmarks.alone_errors import Tally, cause
from deskcheck_levels.alone.lesson import Writer
from deskcheck_levels.alone.text import AloneState, read_program

from tests.teach.conftest import call

CODE = "def f(n, m):\n    while n % 12 > m & 3:\n        n = n // 2\n    return n\n"


def answer(line: int) -> list[str]:
    return Writer().step(read_program(CODE), AloneState("line", line, {"n": 31, "m": 6}))[0]


@pytest.mark.parametrize(
    ("line", "at", "told"),
    [
        (2, 4, "copy of the line"),
        (2, answer(2).index(";") + 1, "order of operations"),
        (2, answer(2).index(";") + 4, "operand or result"),
        (2, answer(2).index(":", answer(2).index(";")) + 2, "digit of %"),
        (2, answer(2).index("bit") + 1, "digit of &"),
        (2, answer(2).index("test") + 1, "branch"),
        (2, answer(2).index("out T") + 3, "next line"),
        (3, answer(3).index("so") + 1, "answer"),
    ],
)
def test_causes(line: int, at: int, told: str) -> None:
    right = answer(line)
    assert cause(right, [*right[:at], "gone", *right[at + 1 :]]) == told
    if at == 4:
        assert cause(right, right[:at]) == told  # an answer that does not go on


def test_a_right_state_by_a_wrong_working_is_counted() -> None:
    class _Recorded:
        program = call("a", CODE, "(31, 6)")

    tally, right = Tally(0), answer(3)
    tally.add(_Recorded(), "", right, right, True)  # type: ignore[arg-type]
    tally.add(_Recorded(), "", right, [right[0], "I0", *right[2:]], True)  # type: ignore[arg-type]
    tally.add(_Recorded(), "", right, [*right[:-1], "gone"], False)  # type: ignore[arg-type]
    assert (tally.working, tally.lucky, tally.scores) == (2, 1, [1, 1, 0])
    assert tally.causes == {"copy of the line": 1, "answer": 1}
