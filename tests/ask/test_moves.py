"""Where a debugger goes: what a person reads off small programs, and what `bdb` itself does."""

import pytest

from deskcheck.ask import QUESTIONS, score_answer
from deskcheck.ask.baselines import guess
from deskcheck.recording import Mode, Outcome, Program, Recording
from tests.ask.conftest import Record, answers, reasons, record_here
from tests.ask.test_control_and_objects import CALLS, LOOPS, SHARED
from tests.witness.debugged import compare, programs_of

RAISES = """\
def part(xs, i):
    try:
        x = xs[i]
    finally:
        i += 1
    return 10 // x

def f(xs):
    total = 0
    for i in range(4):
        try:
            total += part(xs, i)
        except ZeroDivisionError:
            total -= 1
    return total
"""
TURNS = """\
def count(n):
    while n:
        n -= 1
        yield n

def f(n):
    total = 0
    for x in count(n):
        total += x
    return (total,
            n)
"""


def test_where_commands_lead(record: Record) -> None:
    """Into a call and out of it, out of a loop, to the end of a call, and its value."""
    found = answers("move", record(LOOPS, "f", "([3, -1, 2],)"))
    assert found.items() >= {
        "16:1:step": "2", "13:1:step": "17", "8:2:step": "9", "5:1:step": "3",
        "8:2:until": "9", "9:1:until": "10", "5:1:until": "6", "12:2:until": "13", "8:4:until": "10",
        "3:1:return": "([3, 3, 2, 2], 2)", "13:2:return": "([], 2)", "17:1:return": "([3, 3, 2, 2], 2, [], 2)",
    }.items()  # fmt: skip
    assert "18:1:until" not in found, "the line says itself that it returns"
    assert "18:1:step" not in found, "the run ends"


def test_a_frame_that_holds_a_function_alone(record: Record) -> None:
    """Its values are not shown; that it has none is not said."""
    found = record(
        "def one():\n    return 1\n\ndef f():\n    return call(one)\n\ndef call(g):\n    return g()\n",
        "f",
        "()",
    )
    told = {s.data["line"]: s.prompt for s in QUESTIONS["move"](found, per_recording=1000)}
    assert "Values: functions and classes alone\n" in told[8]
    assert "Values: none yet\n" in told[5]


def test_calls_that_end_by_an_exception(record: Record) -> None:
    found = record(RAISES, "f", "([5, 0],)")
    assert found.outcome is Outcome.RAISED
    told = answers("move", found)
    assert (
        told.items() >= {"6:2:until": "raise", "3:2:until": "5", "12:2:step": "2", "6:2:step": "13"}.items()
    )
    assert told["3:1:return"] == "2"
    assert "3:2:return" not in told, "this call returns nothing"


def test_what_has_no_command(record: Record) -> None:
    """Generators halt where they yield; a script has nobody to return to; at a prompt each statement stands alone."""
    told = answers("move", record(TURNS, "f", "(2,)"))
    assert {name for name in told if name.endswith(":step") and name[0] in "234"}
    assert not {name for name in told if not name.endswith(":step") and name[0] in "234"}
    script = record_here(Program(id="p", code="x = 1\ny = 2\n", mode=Mode.MODULE))
    assert answers("move", script) == {"1:1:step": "2", "1:1:until": "2", "2:1:until": "return"}
    nothing = record("def f(x):\n    return None\n", "f", "(1,)")
    assert reasons("move", nothing) == ["no line from which a command leads to another"]


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (LOOPS, "([3, -1, 2],)"),
        (CALLS, "([2, 1],)"),
        (SHARED, "(3,)"),
        (RAISES, "([5, 0],)"),
        (RAISES, "([5, 0, 2, 1],)"),
        (TURNS, "(3,)"),
    ],
    ids=["loops", "calls", "shared", "raises", "caught", "turns"],
)
def test_the_debugger_of_python_agrees(record: Record, code: str, arguments: str) -> None:
    found = [(s.id, s.answer, answer) for s, answer in compare(record(code, "f", arguments))]
    assert len(found) >= 8
    assert [one for one in found if one[1] != one[2]] == []


@pytest.mark.slow
def test_the_debugger_agrees_about_cruxeval() -> None:
    """Every tenth program, at most twelve questions of each. In full: `python -m tests.witness.debugged cruxeval`."""
    programs = [*programs_of("cruxeval")][::10]
    if not programs:
        pytest.skip("no CRUXEval here: would have proved that bdb agrees about it")
    found = [pair for program in programs for pair in compare(record_here(program), 12)]
    assert len(found) > 300
    assert {sample.data["command"] for sample, _ in found} == {"step", "until", "return"}
    assert [sample.id for sample, answer in found if sample.answer != answer] == []


def test_answers_of_both_forms_are_scored(record: Record) -> None:
    """Lines as lines, values as values; the guess answers both, and is right about few."""
    found: Recording = record(LOOPS, "f", "([3, -1, 2],)")
    samples = list(QUESTIONS["move"](found, per_recording=1000))
    assert {sample.data["form"] for sample in samples} == {"line", "value"}
    for sample in samples:
        assert score_answer(sample, f"[ANSWER]{sample.answer}[/ANSWER]").score == 1
        assert score_answer(sample, "[ANSWER]99[/ANSWER]").score == 0
    guessed = [score_answer(sample, guess.completion(sample.prompt)).score for sample in samples]
    assert 0.2 < sum(guessed) / len(guessed) < 0.7
    few = list(QUESTIONS["move"](found))
    assert {sample.data["command"] for sample in few} == {"step", "until", "return"}
