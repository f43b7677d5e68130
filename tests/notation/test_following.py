"""Lines that may follow: what a program's text says, held against what programs did."""

from collections.abc import Callable, Mapping
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.notation import moments
from deskcheck.notation.following import following
from deskcheck.recording import Kind, Recording
from deskcheck.sources import programs
from tests.sample import spread


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("x = 1\ny = 2", {1: (2,), 2: ()}),
        ("if x:\n    y\nelif z:\n    w\nv", {1: (2, 3), 2: (5,), 3: (4, 5), 4: (5,), 5: ()}),
        (
            "while x:\n    if y:\n        break\n    continue\nelse:\n    z",
            {1: (2, 6), 2: (3, 4), 3: (), 4: (1,), 6: ()},
        ),
        ("while True:\n    x\ny", {1: (2,), 2: (1,), 3: ()}),
        ("for i in x:\n    y\nz", {1: (2, 3), 2: (1,), 3: ()}),
        ("def f():\n    'doc'\n    global a\n    return a\nf()", {1: (4, 5), 4: (), 5: ()}),
        ("with a:\n    b\nc", {1: (2, 3), 2: (1,), 3: ()}),
        (
            "try:\n    a\nexcept B:\n    c\nexcept D:\n    e\nelse:\n    f\nfinally:\n    g\nh",
            {1: (2,), 2: (8,), 3: (4, 5), 4: (10,), 5: (6,), 6: (10,), 8: (10,), 10: (11,), 11: ()},
        ),
        (
            "match a:\n    case 1:\n        b\n    case _:\n        c\nd",
            {1: (2,), 2: (3, 4), 3: (6,), 4: (5, 6), 5: (6,), 6: ()},
        ),
        ("@a\nclass B:\n    c = 1\nd", {1: (3, 4), 3: (), 4: ()}),
        ("no python", {}),
    ],
)
def test_ways(code: str, lines: dict[int, tuple[int, ...]]) -> None:
    assert following(code) == lines


@given(st.text())
def test_any_text(code: str) -> None:
    assert isinstance(following(code), Mapping)


@pytest.mark.parametrize("source", spread(["generated:60,inputs=1,seed=3", "family:all,inputs=1,seed=3"], 2))
def test_what_programs_did(source: str, record: Callable[..., Recording]) -> None:
    """Wherever a frame goes from a line to another, that is one of those that may follow."""
    steps = 0
    for program in programs(source):
        known = following(program.code)
        made = record(program.code, program.entry, program.arguments)
        lines: list[int] = []  # of the frames that are running
        for moment in islice(moments(made.trace, file=made.program.filename), 300):
            line = moment.running.line
            if moment.kind is Kind.LINE and len(lines) == len(moment.frames) and line != lines[-1]:
                steps += 1
                assert line in known[lines[-1]], (program.id, lines[-1], line)
            goes_on = moment.kind in (Kind.LINE, Kind.CALL)
            lines = [frame.line for frame in moment.frames] if goes_on else []
    assert steps > 500
