"""Texts that are kept up event by event are those that are written from nothing, character for character."""

import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings

from deskcheck.notation import moments, state_text
from deskcheck.notation.forms.running import RunningTexts
from deskcheck.recording import Program, Row, Trace
from deskcheck.tracer import Granularity, TraceLimits
from tests.notation.test_round_trip import CRUXEVAL, PIECES, PROGRAMS, trace
from tests.sample import examples, some, spread
from tests.tracer.conftest import FILE, run_traced
from tests.tracer.generated import programs

__all__ = ["trace"]


def differ(rows: Sequence[Row], file: str, *, instructions: bool = False, every: int = 1) -> str:
    """Where the kept-up texts are not those of `state_text`; only every n-th is asked for. Empty where they are."""
    running = RunningTexts(file=file, instructions=instructions)
    found = []
    at = 0
    for row in rows:
        if running.advance(row):
            if at % every == 0:
                found.append((running.text(), running.depth))
            at += 1
    wanted = [
        (state_text(moment), len(moment.frames))
        for number, moment in enumerate(moments(Trace(rows), file=file, instructions=instructions))
        if number % every == 0
    ]
    if len(found) != len(wanted):
        return f"{len(found)} texts, not {len(wanted)}"
    for number, (one, two) in enumerate(zip(found, wanted, strict=True)):
        if one != two:
            return f"state {number * every}:\n{one}\n{two}"
    return ""


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("granularity", list(Granularity))
def test_pieces(piece: str, granularity: Granularity) -> None:
    """What a trace can hold, at each level; asked for at every event and now and then."""
    rows = run_traced(PIECES[piece], granularity=granularity).trace.rows
    for instructions in {False, granularity is Granularity.INSTRUCTION}:
        for every in (1, 3):
            assert differ(rows, FILE, instructions=instructions, every=every) == ""


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
    assert differ(rows, FILE, instructions=granularity is Granularity.INSTRUCTION) == ""


def test_gaps() -> None:
    """Where calls or repetitions are not recorded, and the state at a frame that went on unseen."""
    code = "def f(n):\n    return [f(n - 1)] if n else n\ndef g():\n    for i in range(3):\n        yield i\nf(3)\nfor x in g():\n    f(x)"
    for limits in (TraceLimits(call_depth=2), TraceLimits(repetitions=1), TraceLimits(only=("f",))):
        assert differ(run_traced(code, limits).trace.rows, FILE) == ""


def test_a_line_number_that_stands_in_the_call_too() -> None:
    """A frame at line 5 that was called from line 5."""
    code = "def f(n):\n    return n\n\n\ndef g(n): return n and g(n - 1)\ng(3)"
    rows = run_traced(code).trace.rows
    assert any(row.line == 5 and "5" in (row.caller or "") for row in rows)
    assert differ(rows, FILE) == ""


@pytest.mark.parametrize("name", spread(sorted(PROGRAMS), 8, 3))
@pytest.mark.parametrize("trace", [Granularity.LINE], indirect=True, ids=str)
def test_own_programs(trace: Callable[[Program], Trace], name: str) -> None:
    """Each program of tests/programs."""
    assert differ(trace(PROGRAMS[name]).rows, PROGRAMS[name].filename) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", some(sorted(PROGRAMS), *sorted(PROGRAMS)[::9]))
@pytest.mark.parametrize("trace", [Granularity.INSTRUCTION], indirect=True, ids=str)
def test_own_programs_by_instruction(trace: Callable[[Program], Trace], name: str) -> None:
    """Each program of tests/programs at each instruction."""
    assert differ(trace(PROGRAMS[name]).rows, PROGRAMS[name].filename, instructions=True) == ""


@pytest.mark.slow
@pytest.mark.parametrize("trace", list(Granularity), indirect=True, ids=str)
def test_cruxeval(trace: Callable[[Program], Trace]) -> None:
    """CRUXEval, every sixth program, at both levels."""
    path = CRUXEVAL / "cruxeval_600.jsonl"
    if not path.exists():
        pytest.skip(
            "no CRUXEval in DESKCHECK_SHARED or ../shared: would have proved the texts of its programs"
        )
    for row in [json.loads(line) for line in path.read_text("utf-8").splitlines()][::6]:
        rows = trace(Program(id=row["id"], code=f"{row['code']}\nf({row['input']})\n")).rows
        instructions = any(one.kind == "instruction" for one in rows)
        assert differ(rows, FILE, instructions=instructions) == "", row["id"]


@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
@given(source=programs())
def test_generated_programs(source: str) -> None:
    """Programs that nobody wrote, with the reference tracer, at both levels."""
    for granularity in Granularity:
        rows = run_traced(source, TraceLimits(events=150), granularity=granularity).trace.rows
        for every in (1, 4):
            assert differ(rows, FILE, instructions=granularity is Granularity.INSTRUCTION, every=every) == ""
