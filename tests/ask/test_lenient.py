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

GUIDE = Path(__file__).parents[2] / "docs" / "reference" / "questions.md"

PHRASES = [
    "[ANSWER]{}[/ANSWER]",
    "[ANSWER]**{}**[/ANSWER]",
    "[ANSWER]`{}`[/ANSWER]",
    "[ANSWER]```python\n{}\n```[/ANSWER]",
    "[ANSWER]t = {}[/ANSWER]",
    "[ANSWER]return {}[/ANSWER]",
    "[ANSWER]f(5) -> {}[/ANSWER]",
    "[ANSWER]f(5) == {}[/ANSWER]",
    "[ANSWER]f(5) returns {}.[/ANSWER]",
    "[ANSWER]The function returns {}[/ANSWER]",
    "[answer]{}[/answer]",
    "<answer>{}</answer>",
    "[ANSWER]\\boxed{{{}}}[/ANSWER]",
    "[ANSWER]$\\boxed{{{}}}$[/ANSWER]",
    "The answer is {}.",
    "So, the final answer is: {}",
    "Let me think.\nThe loop runs 5 times.\n\n**Answer:** {}",
    "[ANSWER]{}  # as computed[/ANSWER]",
    "[ANSWER]Output: {}[/ANSWER]",
    "[ANSWER]{}, because the loop adds all[/ANSWER]",
    "[ANSWER]{} (the sum of all)[/ANSWER]",
    "[ANSWER]\n>>> f(5)\n{}\n[/ANSWER]",
    "<think>maybe [ANSWER]15[/ANSWER]</think>[ANSWER]{}[/ANSWER]",
    "[ANSWER]{}[/ANSWER]\n\nNow yours.\n\nProgram:\n[ANSWER]10[/ANSWER]",
    "{}",
    "```\n{}\n```",
    "[ANSWER]Result: `{}`[/ANSWER]",
    "Step 1: t = 0\nStep 2: t = 1\nTherefore f(5) = {}",
    "The call returns `{}`",
    "[ANSWER]The value of t is now {}.[/ANSWER]",
]

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


TRACEBACK = """\
Traceback (most recent call last):
  File "a.py", line 9, in <module>
    f()
  File "a.py", line 7, in f
    raise ValueError("no")
ValueError: no"""


def about(right: str, form: str = "value", question: str = "output", **data: Any) -> Sample:
    data = {"form": form, "strict": True, **data}
    return Sample(id="x", question=question, program="p", cluster="c", parts={}, answer=right, data=data)


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


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ("10", "10 or 15"),
        ("10", "not 10"),
        ("10", "0+1+2+3+4"),
        ("10", "it is 10 if n is 5"),
        ("10", "either 10, or nothing"),
        ("10", "10\n15"),
        ("10", "t is 3 and u is 10"),
        ("10", "maybe 10"),
        ("10", "At first it was 10; now it is 15."),
        ("10", "t is 10. Then u becomes 15."),
        ("True", "I cannot say whether the line runs."),
        ("True", "If n is 0 the line runs."),
        ("10", '"10"'),
        ("10", "15 -> 10 -> 15"),
        ("'a'", "a"),
        ("''", "(empty string)"),
        ("[0, 1]", "0, 1"),
        ("[0, 1]", "(0, 1)"),
    ],
)
def test_what_says_two_things_or_another_is_not_right(right: str, said: str) -> None:
    found = score_answer(about(right), f"[ANSWER]{said}[/ANSWER]")
    assert (found.score, found.metrics["lenient"]) == (0, 0)


@pytest.mark.parametrize(
    ("form", "question", "right", "lenient", "data"),
    [
        (
            "line",
            "next_line",
            "4",
            ["L4", "line number 4", "4 (t += i)", "#4", "next line is 4", "**4**"],
            {},
        ),
        (
            "line",
            "move",
            "6",
            ["Line 4 is skipped and the debugger stops at line 6.", "It stops at line **6**."],
            {},
        ),
        (
            "value",
            "output",
            "9",
            ["total = 4\ntotal = 9\n\n#### 9", "It adds all. **9**", "Résultat : 9"],
            {},
        ),
        (
            "value",
            "coverage",
            "True",
            ["It runs, and raises. **Yes.**", "Yes - b is -2, so it runs.", "so → True"],
            {},
        ),
        (
            "value",
            "coverage",
            "False",
            ["The list is empty, so the body is never entered.", "It breaks first. So line 4 doesn't run."],
            {},
        ),
        (
            "value",
            "output",
            "''",
            ["It is the last text. The call returns the empty string `''`.", "print(f(5))  # ''"],
            {},
        ),
        ("value", "output", "[None, True]", ["[null, true]", "xs = [None,  # first\n  True]"], {}),
        (
            "value",
            "state",
            "9",
            ["Just before line 4 runs for the second time, total is 9, since 5 was added.", '{"total": 9}'],
            {"variable": "total"},
        ),
        ("line", "visit", "6", ["It isn't line 4 that runs next but line 6."], {}),
        ("path", "path", "[2]", ["Only line 2 runs: it raises."], {}),
        ("line", "next_line", "return", ["it returns", "the function returns"], {}),
        (
            "path",
            "path",
            "[2, 3, 4]",
            ["1. 2\n2. 3\n3. 4", "L2 -> L3 -> L4", "2: t = 0\n3: for i\n4: t += i"],
            {},
        ),
        ("name", "type", "int", ["type: int", "the type is int", "`int`", "int (a number)"], {}),
        ("crash", "crash", "None", ["no exception is raised", "No error"], {}),
        ("value", "iterations", "5", ["5 times", "5 iterations", "The body runs 5 times."], {}),
        ("value", "history", "[0, 1, 2]", ["0 -> 1 -> 2", "- 0\n- 1\n- 2", "1. 0\n2. 1\n3. 2"], {}),
        ("value", "changes", "{'xs': [0, 1]}", ["xs: [0, 1]", "xs is now [0, 1]", "`xs` -> [0, 1]"], {}),
        ("value", "state", "10", ["t = 10", "t is 10", "value: 10"], {"variable": "t"}),
        ("value", "output", "10000000", ["10,000,000", "10000000."], {}),
        ("value", "branch", "True", ["true", "**True**", "True."], {}),
        (
            "exception",
            "exception",
            "7: ValueError: no",
            [
                "ValueError: no (line 7)",
                'line 7: ValueError("no")',
                "7 ValueError",
                "raises ValueError on line 7",
                TRACEBACK,
            ],
            {"line": 7, "exception": "ValueError", "message": None},
        ),
    ],
)
def test_forms_that_a_person_accepts(
    form: str, question: str, right: str, lenient: list[str], data: dict[str, Any]
) -> None:
    """Wrong in the form that was asked for, and right as a person reads them."""
    data = {"first": {}, "silent": [], **data}
    for said in lenient:
        found = score_answer(about(right, form, question, **data), f"[ANSWER]{said}[/ANSWER]")
        assert found.metrics["lenient"] == 1, said


@pytest.mark.parametrize(
    ("form", "question", "right", "wrong", "data"),
    [
        ("line", "next_line", "4", ["4 or 5", "5", "4, 5", "L5", "14", "return 4", "4.5"], {}),
        ("path", "path", "[2, 3, 4]", ["2-4", "1. 3\n2. 3\n3. 4", "2, 3, 4, return", "L2 -> L3"], {}),
        ("name", "type", "int", ["integer", "type: float", "not int", "int or float"], {}),
        ("value", "state", "10", ["i = 10", "10 times"], {"variable": "t"}),
        ("value", "history", "[0, 1, 2]", ["0 -> 1", "1. 0\n2. 1"], {}),
        (
            "exception",
            "exception",
            "7: ValueError: no",
            [
                "ValueError on line 7 or 8",
                "TypeError, line 7",
                "7",
                "ValueError",
                "KeyError or ValueError, line 7",
            ],
            {"line": 7, "exception": "ValueError", "message": None},
        ),
    ],
)
def test_other_lines_and_names_stay_wrong(
    form: str, question: str, right: str, wrong: list[str], data: dict[str, Any]
) -> None:
    data = {"first": {}, "silent": [], **data}
    for said in wrong:
        found = score_answer(about(right, form, question, **data), f"[ANSWER]{said}[/ANSWER]")
        assert (found.score, found.metrics["lenient"]) == (0, 0), said


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
        "bare list": "history",
        "whether it runs": "coverage",
    }
    question = questions.get(rule.name, "output")
    rights = {
        **dict.fromkeys(("constant", "yes or no", "whether it runs"), "True"),
        **dict.fromkeys(("list", "assignment"), "[0]"),
        "changes": "{'xs': []}",
        "call": "f(5)",
    }
    right = rights.get(rule.name, "10")
    found = read_leniently(text, Expected(form, right, question=question))
    assert found is not None
    assert re.sub(r"\s", "", found) == re.sub(r"\s", "", read)
    shown = text.replace("\n", "⏎").replace("|", "\\|")
    code = f"`` {shown} ``" if "`" in shown else f"`{shown}`"
    assert f"| {rule.name} | {code} | `{read}` |" in GUIDE.read_text(encoding="utf-8")
