"""Parsing what was rendered gives the same states: for our own programs, published ones, and programs that nobody wrote."""

import json
import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from deskcheck.notation import NOTATIONS, moments, state_text, transitions
from deskcheck.notation.edits import edit_text, edited
from deskcheck.recording import Kind, Program, Trace
from deskcheck.recording.trace import fingerprint
from deskcheck.tracer import Granularity, TraceLimits
from tests.notation.states import BY_LINE, differs, kept_up
from tests.sample import examples, some, spread
from tests.tracer.agree import Runner, Setting, native_is_built, own_programs
from tests.tracer.conftest import FILE, run_traced
from tests.tracer.generated import programs

EVENTS = 60
"""Of each program: states that grow with every event make texts that grow with their square."""
PROGRAMS = {program.id: program for program in own_programs()}
CRUXEVAL = Path(os.environ.get("DESKCHECK_SHARED", Path(__file__).parents[3] / "shared")) / "data/cruxeval"


@pytest.fixture(scope="module", params=list(Granularity), ids=str)
def trace(request: pytest.FixtureRequest) -> Iterator[Callable[[Program], Trace]]:
    """Records a program natively, in a process of its own; its main thread's trace."""
    granularity = request.param
    if not native_is_built():
        pytest.skip("no native tracer: would have proved the round trip on traces that it makes")
    setting = Setting(limits=TraceLimits(events=EVENTS), granularity=granularity)
    with Runner("native", setting) as runner:
        yield lambda program: Trace(runner.run(program).threads.get(0, []))


@pytest.mark.parametrize("name", spread(sorted(PROGRAMS), 8, 3))
@pytest.mark.parametrize("trace", [Granularity.LINE], indirect=True, ids=str)
def test_own_programs(trace: Callable[[Program], Trace], name: str) -> None:
    """Each program of tests/programs, in every notation by line."""
    recorded, file = trace(PROGRAMS[name]), PROGRAMS[name].filename
    states = list(moments(recorded, file=file))
    for notation in BY_LINE:
        assert differs(notation, states, PROGRAMS[name].code) == ""
    assert kept_up(recorded.rows, file) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", some(sorted(PROGRAMS), *sorted(PROGRAMS)[::12]))
@pytest.mark.parametrize("trace", [Granularity.INSTRUCTION], indirect=True, ids=str)
def test_own_programs_by_instruction(trace: Callable[[Program], Trace], name: str) -> None:
    """Each program of tests/programs, a state at each instruction; and by line from the same recording."""
    recorded = trace(PROGRAMS[name])
    states = list(moments(recorded, file=PROGRAMS[name].filename, instructions=True))
    assert any(state.kind is Kind.INSTRUCTION for state in states) or not states
    assert differs("dynamic_instruction", states, PROGRAMS[name].code) == ""
    by_line = list(moments(recorded, file=PROGRAMS[name].filename))
    assert differs("compact", by_line, PROGRAMS[name].code) == ""
    assert kept_up(recorded.rows, PROGRAMS[name].filename, instructions=True) == ""


@pytest.mark.slow
@pytest.mark.parametrize("trace", [Granularity.LINE], indirect=True, ids=str)
@pytest.mark.parametrize("part", range(4))
def test_cruxeval(trace: Callable[[Program], Trace], part: int) -> None:
    """CRUXEval, every tenth program, in every notation by line."""
    path = CRUXEVAL / "cruxeval_600.jsonl"
    if not path.exists():
        pytest.skip(
            "no CRUXEval in DESKCHECK_SHARED or ../shared: would have proved the round trip on its programs"
        )
    for row in [json.loads(line) for line in path.read_text("utf-8").splitlines()][part * 10 :: 40]:
        code = f"{row['code']}\nf({row['input']})\n"
        recorded = trace(Program(id=row["id"], code=code))
        states = list(moments(recorded, file=FILE))
        for notation in BY_LINE:
            assert differs(notation, states, code) == "", row["id"]
        assert kept_up(recorded.rows, FILE) == "", row["id"]


@settings(
    max_examples=examples(5),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
@given(source=programs())
def test_generated_programs(source: str) -> None:
    """Programs that nobody wrote, in every notation by line, with the reference tracer."""
    trace = run_traced(source, TraceLimits(events=60)).trace
    states = list(moments(trace, file=FILE))
    for notation in BY_LINE:
        assert differs(notation, states, source) == ""
    for every in (1, 4):
        assert kept_up(trace.rows, FILE, every=every) == ""


PIECES = {
    "frames": "def f(n):\n    return n and f(n - 1) + f(n - 1)\nf(2)",
    "callbacks": "def key(x):\n    return -x\nsorted([1, 2], key=key)",
    "exceptions": "def f():\n    raise KeyError('k')\ntry:\n    f()\nexcept KeyError as error:\n    kept = error",
    "iterators": "for a in [1, 2]:\n    for b in {'k': a}.items():\n        c = zip('xy', range(3))\n        next(c)",
    "generators": "def g(n):\n    got = yield n\n    yield got\ni = g(1)\nnext(i)\ni.send([2])",
    "aliases": "a = b = [1]\nb.append(a)\nc = (a, {'a': a})\na = None\nb.pop()\nd = [b]",
    "cuts": "a = list(range(2000))\nb = 'x' * 20000\nc = 10 ** 5000\nd = dict.fromkeys(range(1100))\ne = b'x' * 20000",
    "names": "globals()['a b'] = 1\nglobals()['class'] = 2\nπ = 3\ndel π\nx = [y for y in 'ab']",
    "objects": (
        "from collections import *\nP = namedtuple('P', 'x y')\nclass A:\n    pass\na = A()\na.b = P(1, a)\n"
        "class L(list):\n    pass\nl = L([1]); l.n = 2\nd = defaultdict(list, x=[1]); o = OrderedDict(a=1)\n"
        "q = deque([1], 3)\nm = l.append\nc = Counter('aab')\ne = Exception\nf = frozenset({1}); s = slice(1)\nz = 0j, -0.0\n"
    ),
    "numbers": "a = float('inf'), float('nan'), -0.0, 1e-300, 10 ** 30, -(10 ** 19), 1j, complex(-0.0, -1.5), True",
    "texts": "a = 'a\\'\"\\n\\x00\\ud800é', b'\\xff\\'', bytearray(b'a'), '<|frame_sep|>  # (1) ', ' -> 3 | '",
    "output": "print('a')\nprint('b', end='')",
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("name", BY_LINE)
def test_pieces(piece: str, name: str) -> None:
    """What a trace can hold, each in every notation by line."""
    states = list(moments(run_traced(PIECES[piece]).trace, file=FILE))
    assert len(states) > 2
    assert differs(name, states, PIECES[piece]) == ""


@pytest.mark.parametrize("piece", PIECES)
def test_pieces_by_instruction(piece: str) -> None:
    """The same with a state at each instruction."""
    trace = run_traced(PIECES[piece], granularity=Granularity.INSTRUCTION).trace
    states = list(moments(trace, file=FILE, instructions=True))
    assert differs("dynamic_instruction", states, PIECES[piece]) == ""


@pytest.mark.parametrize("granularity", Granularity, ids=str)
def test_edits_of_pieces(granularity: Granularity) -> None:
    """From the first state of each and the edits after it, every state comes back; few edits are whole states."""
    whole = count = 0
    for piece, code in PIECES.items():
        trace = run_traced(code, granularity=granularity).trace
        states = moments(trace, file=FILE, instructions=granularity is Granularity.INSTRUCTION)
        texts = [state_text(state) for state in states]
        again = texts[:1]
        for edit in [edit_text(*pair) for pair in pairwise(texts)]:
            again.append(edited(again[-1], edit))
            whole += edit.startswith("= ")
            count += 1
        assert again == texts, piece
    assert whole < count / 8


@pytest.mark.parametrize("name", BY_LINE)
def test_gaps(name: str) -> None:
    """Where calls or repetitions are not recorded, the states that there are come back, with what was left out."""
    code = "def f(n):\n    return [f(n - 1)] if n else n\ndef g():\n    for i in range(3):\n        yield i\nf(3)\nfor x in g():\n    f(x)"
    for limits in (TraceLimits(call_depth=2), TraceLimits(repetitions=1), TraceLimits(only=("f",))):
        trace = run_traced(code, limits).trace
        states = list(moments(trace, file=FILE))
        assert limits.only or any(state.left_out for state in states)
        assert differs(name, states, code) == ""
        assert kept_up(trace.rows, FILE) == ""


def test_states_are_told_apart_as_the_recording_does() -> None:
    """Two states have one text by themselves if and only if the recording says that they are equal, offsets aside."""
    code = "def f(n):\n    a = [n % 2]\n    b = a if n % 3 else [n % 2]\n    return a\nfor n in range(12):\n    f(n)\nwhile n:\n    n -= 1\n"
    trace = run_traced(code).trace
    pairs: set[tuple[str, str]] = set()
    for event, state in zip(trace, moments(trace, file=FILE), strict=True):
        pairs.add((fingerprint(event.state), state_text(state)))
    assert len(pairs) > 50
    assert len({one for one, _ in pairs}) == len(pairs) == len({two for _, two in pairs})


def test_a_jump_leads_n_events_on() -> None:
    """`transitions` pairs each state with the one so many events later."""
    trace = run_traced("a = 1\nfor i in range(3):\n    a += i\n").trace
    texts = [state_text(state) for state in moments(trace, file=FILE)]
    for jump in (1, 2, 5):
        found = list(transitions(moments(trace, file=FILE), jump))
        assert found == list(zip(texts, texts[jump:], strict=False))
    with pytest.raises(ValueError, match="jump=0"):
        list(transitions([], 0))


def test_the_renderings_know_the_cut(record: Any) -> None:
    """Where events are missing at the end, each notation's text says so, and it is read."""
    recording = record("def f():\n    return 1", "f", "()")
    recording.trace.cut = "events"
    for name in BY_LINE:
        text = NOTATIONS[name].render(recording)
        assert text.endswith("cut: events")
        told = NOTATIONS[name].parse(text, recording.program.code)
        assert (told.cut, told.unreadable) == ("events", ())
