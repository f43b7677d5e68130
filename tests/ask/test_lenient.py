"""Answers are read as a person reads them, and in one way only: no wrong value becomes a right one."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.ask.answers.lenient import RULES, Expected, read_leniently
from deskcheck.ask.answers.values import same
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.score import score_answer
from deskcheck.recording import Outcome, Program, RunResult
from deskcheck.recording.program import Mode
from tests.ask.conftest import table

GUIDE = Path(__file__).parents[2] / "docs" / "reference" / "questions.md"

ANSWERS = table("answers")
PHRASES = ANSWERS["phrases"]

_ATOMS = (
    st.integers(-20, 20)
    | st.sampled_from([1000, 10_000, 123_456, 10**9])
    | st.booleans()
    | st.none()
    | st.floats(allow_nan=False)
    | st.sampled_from(
        ["", "a", "it's", "a = 5", "x: 1", "a -> b", "10", "yes.", "a, b", "x is 3", "#c", "a\nb", b"a"]
    )
    | st.text(max_size=5)
)
VALUES = st.recursive(
    _ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    ),
    max_leaves=6,
)


def about(right: str, form: str = "value", question: str = "output", **data: Any) -> Sample:
    data = {"form": form, "strict": True, **data}
    return Sample(id="x", question=question, program="p", cluster="c", parts={}, answer=right, data=data)


def sample_of(case: dict[str, Any]) -> Sample:
    data = {"first": {}, "silent": [], "message": None, **case.get("data", {})}
    return about(case["right"], case["form"], case["question"], **data)


def mutants(value: Any) -> list[Any]:
    """Values that are nearly the same."""
    found: list[Any] = [str(value), [value], (value,), {"a": value}, repr(value)]
    if isinstance(value, int):
        found += [value + 1, -value, float(value) if abs(value) < 2**53 else value + 2, value * 10, not value]
    if isinstance(value, str):
        found += [value.upper(), value + ".", f"{value} ", value.encode("utf-8", "replace")]
    if isinstance(value, (list, tuple)):
        found += [[*value], (*value,), [*value, 0], [*value][::-1]]
    return found


@given(VALUES, VALUES, st.sampled_from(PHRASES))
def test_a_wrong_value_is_never_right(right: Any, other: Any, phrase: str) -> None:
    """Whatever it looks like, and however near it is."""
    for wrong in (other, *mutants(right)):
        if not same(repr(wrong), repr(right)):
            found = score_answer(about(repr(right)), phrase.format(repr(wrong)))
            assert (found.score, found.metrics["lenient"]) == (0, 0), (phrase, wrong)


@given(st.integers() | st.lists(st.integers(), max_size=4) | st.booleans(), st.sampled_from(PHRASES))
def test_a_right_value_is_right(right: Any, phrase: str) -> None:
    assert score_answer(about(repr(right)), phrase.format(repr(right))).metrics["lenient"] == 1


@pytest.mark.parametrize(("right", "said"), ANSWERS["ambiguous"])
def test_what_says_two_things_or_another_is_not_right(right: str, said: str) -> None:
    found = score_answer(about(right), f"[ANSWER]{said}[/ANSWER]")
    assert (found.score, found.metrics["lenient"]) == (0, 0)


@pytest.mark.parametrize("case", ANSWERS["accepted"])
def test_forms_that_a_person_accepts(case: dict[str, Any]) -> None:
    """Wrong in the form that was asked for, and right as a person reads them."""
    for answer in case["answers"]:
        assert score_answer(sample_of(case), f"[ANSWER]{answer}[/ANSWER]").metrics["lenient"] == 1, answer


@pytest.mark.parametrize("case", ANSWERS["refused"])
def test_other_lines_and_names_stay_wrong(case: dict[str, Any]) -> None:
    for answer in case["answers"]:
        found = score_answer(sample_of(case), f"[ANSWER]{answer}[/ANSWER]")
        assert (found.score, found.metrics["lenient"]) == (0, 0), answer


def test_arguments_by_name_are_run() -> None:
    program = Program(id="p", code="def f(n):\n    return [n]\n", mode=Mode.CALL, entry="f", arguments="(4)")
    data = {"program": program.to_dict(), "entry": "f", "sources": [], "expected": "[4]"}
    ran: list[str | None] = []

    def run(program: Program) -> RunResult:
        ran.append(program.arguments)
        return RunResult(outcome=Outcome.RAISED)

    score_answer(about("f(4)", "arguments", "input", **data), "[ANSWER]n = 4[/ANSWER]", run=run)
    assert ran[0] == "(n=4)"


def test_a_wrong_form_is_unreadable_and_not_another_value() -> None:
    """So that the share of failures of form shows."""
    for said, reading in (("**10**", "unreadable"), ("ten", "unreadable"), ("11", "answered")):
        found = score_answer(about("10"), f"[ANSWER]{said}[/ANSWER]")
        assert (found.score, found.reading.value) == (0, reading)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_reference_page_has_each_rule(rule: Any) -> None:
    """With an example that is read as it says."""
    text, read = rule.example
    form = rule.forms[0] if rule.forms else "value"
    questions = {
        "changes": "changes",
        "unit": "iterations",
        "only count": "iterations",
        "brackets": "history",
        "whether it runs": "coverage",
        "names": "alias",
        "arguments in parentheses": "input",
    }
    question = questions.get(rule.name, "output")
    rights = {
        **dict.fromkeys(("constant", "yes or no", "whether it runs"), "True"),
        **dict.fromkeys(("list", "assignment"), "[0]"),
        "changes": "{'xs': []}",
        "names": "{'xs'}",
    }
    right = rights.get(rule.name, "f(5)" if form == "arguments" else "10")
    found = read_leniently(text, Expected(form, right, question=question, marked=True))
    assert found is not None
    assert re.sub(r"\s", "", found) == re.sub(r"\s", "", read)
    assert f"| {rule.name} | {code(text)} | {code(read)} |" in GUIDE.read_text(encoding="utf-8")


def code(text: str) -> str:
    """A text as the tables of the page show it."""
    shown = text.replace("\n", "⏎").replace("|", "\\|")
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def test_a_tuple_after_is_is_no_aside() -> None:
    """The parentheses of a value that has names in it, after words."""
    for text in ("(True, 0)", "(True, [[1], [1], [0]])", "(None, 'ab')"):
        expected = Expected(form="value", right=text, question="output")
        assert read_leniently(f"The answer is {text}", expected) == text
