"""Texts that are kept up event by event are those that are written from nothing, character for character.

`test_round_trip` says the same of the programs that it reads.
"""

import pytest

from deskcheck.tracer import Granularity
from tests.notation.states import kept_up
from tests.notation.test_round_trip import PIECES
from tests.sample import spread
from tests.tracer.conftest import FILE, run_traced


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("granularity", list(Granularity))
def test_pieces(piece: str, granularity: Granularity) -> None:
    """What a trace can hold, at each level; asked for at every event and now and then."""
    rows = run_traced(PIECES[piece], granularity=granularity).trace.rows
    for instructions in {False, granularity is Granularity.INSTRUCTION}:
        for every in (1, 3):
            assert kept_up(rows, FILE, instructions=instructions, every=every) == ""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "a = None\nfor i in range(30):\n    a = [a, i]\nwhile a:\n    a = a[0]\n", id="lists in lists"
        ),
        pytest.param(
            "class N:\n    pass\nfirst = last = N()\nfor i in range(30):\n    n = N()\n    n.before = last\n    last.after = n\n    last = n\n",
            id="a list linked both ways",
        ),
        pytest.param(
            "a = []\nnodes = [a]\nfor i in range(30):\n    a.append((i, (i, [])))\n    a = a[0][1][1]\n    nodes.append(a)\n",
            id="tuples and lists, all also in one",
        ),
        pytest.param(
            "def f(row, n):\n    if n:\n        row.append([n])\n        return f(row, n - 1)\n    return row\nf([], 9)\nf = None\n",
            id="one list in all frames",
        ),
        pytest.param(
            "def g():\n    for x in [1, 2]:\n        yield [x]\ndef f(i):\n    return next(i), next(i)\ni = g()\nf(i)\n",
            id="a generator is resumed from elsewhere",
        ),
        pytest.param(
            "def f():\n    global a, f\n    a = [1]\n    b = f\n    f = a\n    return [b for c in a]\nf()\n", id="globals change below"
        ),
        pytest.param("class A:\n    f = [1]\n    for x in f:\n        y = [x]\n    g = lambda: 1\na = A()\n", id="a class body"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("granularity", spread(Granularity, 2))
def test_depth_and_sharing(code: str, granularity: Granularity) -> None:
    """What decides labels: depth, cycles, objects that several frames have."""
    rows = run_traced(code, granularity=granularity).trace.rows
    assert len(rows) > 10
    assert kept_up(rows, FILE, instructions=granularity is Granularity.INSTRUCTION) == ""


def test_a_line_number_that_stands_in_the_call_too() -> None:
    """A frame at line 5 that was called from line 5."""
    code = "def f(n):\n    return n\n\n\ndef g(n): return n and g(n - 1)\ng(3)"
    rows = run_traced(code).trace.rows
    assert any(row.line == 5 and "5" in (row.caller or "") for row in rows)
    assert kept_up(rows, FILE) == ""
