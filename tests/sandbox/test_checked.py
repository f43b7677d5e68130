"""A check in another process: what asserts beside the program would let pass is found wrong."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import Checked, Confinement, Limits, Sandbox
from deskcheck.sandbox.inside import codec as _codec
from tests.sample import spread

CHECK = (
    "def check(candidate):\n    assert candidate(1) == [1, 2]\n    assert candidate(5) == [5, 6]\ncheck(f)\n"
)
LIMITS = Limits(cpu_s=1, wall_s=60, memory_bytes=1 << 30)


@pytest.fixture(scope="module", params=spread([Confinement.STRICT, Confinement.STANDARD], 2))
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
    run_result = sandbox.check_one(Checked(Program(id="p", code=code), CHECK, ("f",)))
    assert run_result.outcome is outcome, run_result.detail


@pytest.mark.parametrize("ordered", spread([True, False], 2))
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
    assert all(result.run_result.outcome is wanted[int(result.program.id) % 2] for result in seen)


def test_checking_can_be_left(sandbox: Sandbox) -> None:
    """To close the iterator kills what still runs, and the sandbox goes on."""
    endless = Checked(Program(id="endless", code="def f(x):\n    while True: pass\n"), CHECK, ("f",))
    right = Checked(Program(id="right", code="def f(x):\n    return [x, x + 1]\n"), CHECK, ("f",))
    results = sandbox.check([right, endless, endless])
    assert next(results).run_result.outcome is Outcome.RETURNED
    results.close()  # type: ignore[attr-defined]
    assert sandbox.check_one(right).outcome is Outcome.RETURNED


def test_an_argument_is_changed_in_place(sandbox: Sandbox) -> None:
    """A check sees what a function did to the list that it was given."""
    check = "items = [3, 1, 2]\nassert f(items) is None\nassert items == [1, 2, 3]\n"
    run_result = sandbox.check_one(Checked(Program(id="p", code="def f(x): x.sort()\n"), check, ("f",)))
    assert run_result.outcome is Outcome.RETURNED, run_result.detail


PROGRAMS = tomllib.loads(Path(__file__).with_name("checked.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def strict() -> Iterator[Sandbox]:
    with Sandbox(Confinement.STRICT, limits=LIMITS) as opened:
        yield opened


@pytest.mark.parametrize("name", PROGRAMS["right"])
def test_what_is_right_is_found_right(strict: Sandbox, name: str) -> None:
    """Values of every type that can be told, what a call did to its arguments, functions and iterators."""
    texts = PROGRAMS["right"][name]
    compile(texts["check"], "check", "exec")
    run_result = strict.check_one(Checked(Program(id="p", code=texts["code"]), texts["check"], ("f",)))
    assert run_result.outcome is Outcome.RETURNED, run_result.detail


@pytest.mark.parametrize("name", PROGRAMS["wrong"])
def test_what_is_wrong_is_found_wrong(strict: Sandbox, name: str) -> None:
    """Also where in one process it would pass: objects that lie, exceptions that end the check's loops."""
    texts = PROGRAMS["wrong"][name]
    run_result = strict.check_one(Checked(Program(id="p", code=texts["code"]), texts["check"], ("f",)))
    assert run_result.outcome is Outcome.WRONG, run_result.detail


@pytest.mark.parametrize(
    ("code", "check", "reason"),
    [
        ("class Own: pass\ndef f(): return [Own()]", "f()", "the result: 'Own' is not a plain type"),
        ("class Own: pass\ndef f(): return Own()", "try:\n    f()\nexcept Exception:\n    pass", "'Own'"),
        ("class Own: pass\ndef f(): return Own()", "try:\n    f()\nexcept:\n    pass", "'Own'"),
        ("async def f(): return 1", "import asyncio\nassert asyncio.run(f()) == 1", "'coroutine'"),
        ("def f(x): return 1", "class Own: pass\nf(Own())", "an argument: 'Own' is not a plain type"),
        (
            "import numpy as np\ndef f(): return np.array([object()])",
            "f()",
            "an array of object",
        ),
    ],
)
def test_what_cannot_be_compared_is_said_so(strict: Sandbox, code: str, check: str, reason: str) -> None:
    """Neither passed nor wrong, nor a failure of ours; with the reason, and whatever the check catches."""
    run_result = strict.check_one(Checked(Program(id="p", code=code), check, ("f",)))
    assert run_result.outcome is Outcome.NOT_COMPARED, run_result.detail
    assert run_result.detail.startswith("cannot be compared: ")
    assert reason in run_result.detail


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
    back = _codec.loads(_codec.dumps(value))
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
        value = _codec.loads(json.dumps(form).encode())
    except _codec.CannotCross:
        return
    assert _codec.loads(_codec.dumps(value)) == value


TAGS = st.sampled_from(
    "list dict set tuple frozenset bytearray deque defaultdict Counter OrderedDict ndarray again number int bytes "
    "complex range slice constant dict_keys dict_values dict_items error class function iterator decimal.Decimal "
    "fractions.Fraction datetime.datetime datetime.timezone zoneinfo.ZoneInfo uuid.UUID ValueError eval type <i4 "
    "|O 00 ../../x call returned raised".split()
)
FORMS = st.recursive(
    st.none() | st.integers(-3, 4) | TAGS,
    lambda inner: st.builds(lambda tag, parts: [tag, *parts], TAGS, st.lists(inner, max_size=5)),
    max_leaves=12,
)


@given(FORMS)
@settings(deadline=None)
def test_no_message_makes_anything_else(form: object) -> None:
    """Made of the right words in any order: a value of a known type, or one clear error; what was known stays
    what it is."""
    known: list[object] = [[1], {"a": 1}, {2}, bytearray(b"c"), (4,)]
    kinds = [type(each) for each in known]
    stood: list[object] = []

    def stands_in(kind: str, number: int, name: str) -> object:
        stood.append((kind, number, name))
        return len

    decoder = _codec.PlainDecoder(known, stands_in)
    try:
        value = decoder.loads(json.dumps(form).encode())
    except _codec.CannotCross:
        return
    assert [type(each) for each in known] == kinds
    todo, seen = [value], set()
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        base = type(each).__mro__[1] if isinstance(each, BaseException) else type(each)
        assert base.__module__.split(".")[0] in (
            *("builtins", "collections", "decimal", "fractions", "datetime", "zoneinfo", "uuid", "numpy"),
            "deskcheck",
        )
        if isinstance(each, dict):
            todo += each.values()
        elif isinstance(each, (list, tuple, set, frozenset)):
            todo += each
