"""A check in another process: what asserts beside the program would let pass is found wrong."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import Checked, Confinement, Limits, Sandbox, _plain

CHECK = (
    "def check(candidate):\n    assert candidate(1) == [1, 2]\n    assert candidate(5) == [5, 6]\ncheck(f)\n"
)
LIMITS = Limits(cpu_s=1, wall_s=60, memory_bytes=1 << 30)


@pytest.fixture(scope="module", params=[Confinement.STRICT, Confinement.STANDARD])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(request.param, limits=LIMITS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("def f(x):\n    return [x, x + 1]\n", Outcome.RETURNED),
        ("class L(list): pass\ndef f(x):\n    return L([x, x + 1])\n", Outcome.RETURNED),
        ("def f(x):\n    return [x, x + 2]\n", Outcome.WRONG),
        ("class E:\n    def __eq__(self, other): return True\ndef f(x): return E()\n", Outcome.WRONG),
        ("class E(list):\n    def __eq__(self, other): return True\ndef f(x): return E()\n", Outcome.WRONG),
        ("def f(x):\n    raise KeyError(x)\n", Outcome.WRONG),
        ("import os\ndef f(x): os._exit(0)\n", Outcome.EXITED),
        ("import sys\nsys.exit(0)\n", Outcome.EXITED),
        ("def f(x):\n    while True: pass\n", Outcome.TIMED_OUT),
        ("1 / 0\n", Outcome.RAISED),
        ("def f(x):\n    return [0] * (1 << 34)\n", Outcome.OUT_OF_MEMORY),
        ("import json\njson.dumps = lambda value: 'x'\ndef f(x):\n    return [x, x + 1]\n", Outcome.WRONG),
        ("x = [0] * (1 << 34)\n", Outcome.OUT_OF_MEMORY),
        (  # it finds the function that reports, through the frames, and has it say that all is well
            (
                "import os, sys\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n"
                "        run = frame.f_locals.get('run') or frame.f_locals.get('self')\n"
                "        if hasattr(run, 'report'):\n            run.report('returned')\n            os._exit(0)\n"
                "        frame = frame.f_back\n"
            ),
            Outcome.WRONG,
        ),
    ],
)
def test_a_check_cannot_be_forged(sandbox: Sandbox, code: str, outcome: Outcome) -> None:
    """Only right values pass; what else a program does keeps its own outcome."""
    ending = sandbox.check_one(Checked(Program(id="p", code=code), CHECK, ("f",)))
    assert ending.outcome is outcome, ending.detail


@pytest.mark.parametrize("ordered", [True, False])
def test_many_are_checked_as_workers_get_free(sandbox: Sandbox, ordered: bool) -> None:
    """Each result goes with its program; no more are taken than a few ahead; nothing runs on after the last."""
    taken = 0

    def answers() -> Iterator[Checked]:
        nonlocal taken
        for number in range(60):
            taken += 1
            code = f"def f(x):\n    return [x, x + {1 + number % 2}]\n"
            yield Checked(Program(id=str(number), code=code), CHECK, ("f",))

    results = sandbox.check(answers(), ordered=ordered)
    seen = [next(results) for _ in range(20)]
    assert taken < 60
    seen += results
    assert sorted(int(result.program.id) for result in seen) == list(range(60))
    assert not ordered or [int(result.program.id) for result in seen] == list(range(60))
    wanted = {0: Outcome.RETURNED, 1: Outcome.WRONG}
    assert all(result.ending.outcome is wanted[int(result.program.id) % 2] for result in seen)


def test_checking_can_be_left(sandbox: Sandbox) -> None:
    """To close the iterator kills what still runs, and the sandbox goes on."""
    endless = Checked(Program(id="endless", code="def f(x):\n    while True: pass\n"), CHECK, ("f",))
    right = Checked(Program(id="right", code="def f(x):\n    return [x, x + 1]\n"), CHECK, ("f",))
    results = sandbox.check([right, endless, endless])
    assert next(results).ending.outcome is Outcome.RETURNED
    results.close()  # type: ignore[attr-defined]
    assert sandbox.check_one(right).outcome is Outcome.RETURNED


def test_an_argument_is_changed_in_place(sandbox: Sandbox) -> None:
    """A check sees what a function did to the list that it was given."""
    check = "items = [3, 1, 2]\nassert f(items) is None\nassert items == [1, 2, 3]\n"
    ending = sandbox.check_one(Checked(Program(id="p", code="def f(x): x.sort()\n"), check, ("f",)))
    assert ending.outcome is Outcome.RETURNED, ending.detail


def test_a_check_that_cannot_be_made_is_our_failure(sandbox: Sandbox) -> None:
    """A function cannot be handed over: that says nothing about the program."""
    check = "assert f(lambda: 1) == 1\n"
    ending = sandbox.check_one(Checked(Program(id="p", code="def f(g): return g()\n"), check, ("f",)))
    assert ending.outcome is Outcome.HARNESS_ERROR
    assert "function" in ending.detail


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
KEYS = st.recursive(
    LEAVES, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=4
)
VALUES = st.recursive(
    LEAVES
    | st.complex_numbers(allow_nan=False)
    | st.builds(bytearray, st.binary())
    | st.builds(range, st.integers()),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.sets(KEYS) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


@given(VALUES)
@settings(deadline=None)
def test_plain_values_come_back(value: object) -> None:
    """What crosses is equal to what was sent, and of the same types."""
    back = _plain.loads(_plain.dumps(value))
    assert back == value
    assert type(back) is type(value)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5), lambda i: st.lists(i, max_size=4), max_leaves=9
    )
)
@settings(deadline=None)
def test_whatever_comes_is_plain_or_refused(form: object) -> None:
    """Any JSON is a plain value or one clear error."""
    try:
        value = _plain.loads(json.dumps(form).encode())
    except _plain.CannotCross:
        return
    assert _plain.loads(_plain.dumps(value)) == value
