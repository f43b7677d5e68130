"""Questions made from recordings: their answers, their places, what is left out and why."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deskcheck.ask import QUESTIONS, Sample, score_answer
from deskcheck.ask.samples import prompts
from deskcheck.ask.samples.guessing import GUESSES
from deskcheck.ask.samples.source import statements, without_answer
from deskcheck.recording import Mode, Outcome, Program, Recording
from deskcheck.tracer import Granularity
from tests.ask.conftest import OF_RETURNS, answers, ask, reasons

Record = Callable[..., Recording]

SUMS = """\
def f(numbers):
    total = 0
    for n in numbers:
        if n % 2:
            total += n
        else:
            total -= 1
    return total
"""


def test_output_of_a_call(record: Record) -> None:
    """The answer is the result; the prompt holds the program and the call, and not the answer."""
    (sample,) = ask("output", record(SUMS, "f", "([31, 2, 57],)"))
    assert sample.answer == "87"
    assert "f([31, 2, 57],)" in sample.prompt
    assert SUMS.strip() in sample.prompt
    assert "87" not in sample.prompt


def test_questions_are_those_of_the_lines(record: Record) -> None:
    """A recording that holds instructions too is asked the same about: samples but for the numbers of events."""
    fine = record(SUMS, "f", "([31, 2, 57, 4, 6],)", granularity=Granularity.INSTRUCTION)
    coarse = record(SUMS, "f", "([31, 2, 57, 4, 6],)")
    assert len(fine.trace) > 3 * len(coarse.trace)
    for kind in OF_RETURNS:
        asked = [(s.prompt, s.answer, s.data.get("line"), s.data.get("k")) for s in ask(kind, fine)]
        assert asked == [(s.prompt, s.answer, s.data.get("line"), s.data.get("k")) for s in ask(kind, coarse)]
        assert asked


def test_a_published_set_is_scored_as_it_scores(record: Record) -> None:
    """Calls of CRUXEval, which have its answer, are scored by ==, as its benchmark is; the same call of one's own is not,
    nor a mutant of CRUXEval's, whose answer nobody published."""
    home = "https://huggingface.co/datasets/cruxeval-org/cruxeval (as some.jsonl)"
    for source, expected, right in ((home, "1.0", 1), ("mine.jsonl", "1.0", 0), (home, None, 0)):
        one = record("def f(x):\n    return x\n", "f", "(1.0,)", source=source, expected=expected)
        (sample,) = ask("output", one)
        assert score_answer(sample, "[ANSWER]1[/ANSWER]").score == right
        assert ask("input", one)[0].data["strict"] is not bool(right)


def test_output_of_a_module_with_an_assert(record: Record) -> None:
    """The value that the module's own call returned; the prompt does not show what the assert expects."""
    test = "assert sorted(f([3, 4])) == [64, 81]"
    code = f"def f(xs):\n    return g(xs)\ndef g(xs):\n    return [x ** (3 + x % 2) for x in xs]\n{test}\n"
    recording = record(code, extra={"assert": test, "entry": "f"})
    (sample,) = ask("output", recording)
    assert sample.answer == "[81, 64]"
    assert sample.parts["question"] == "Call: f([3, 4])"
    for kind in OF_RETURNS:
        for other in ask(kind, recording):
            assert "[64, 81]" not in other.prompt


def test_an_assert_that_cannot_be_hidden_is_not_asked(record: Record) -> None:
    """Two calls in one assert, or an assert over several lines: the prompt would tell the answer."""
    test = "assert f(1) == f(2)"
    recording = record(f"def f(x):\n    return 3\n{test}\n", extra={"assert": test, "entry": "f"})
    assert reasons("output", recording) == ["the assert does not contain exactly one call"]
    assert reasons("path", recording) == ["the assert does not contain exactly one call"]


def test_hiding_keeps_line_numbers() -> None:
    """The assert gives way to its call in its own line."""
    test = "assert f(1) == 2"
    program = Program(
        id="p", code=f"def f(x):\n    return 2\n\n\n{test}", extra={"assert": test, "entry": "f"}
    )
    shown = without_answer(program)
    assert shown is not None
    assert shown.code.splitlines() == ["def f(x):", "    return 2", "", "", "f(1)"]


def test_output_of_a_script(record: Record) -> None:
    """What it prints; a script that prints nothing has no output to ask about."""
    (sample,) = ask("output", record("for i in range(3):\n    print(i * 7)\n"))
    assert sample.answer == "0\n7\n14\n"
    assert reasons("output", record("x = 1\n")) == ["prints nothing"]


def test_input_holds_what_is_needed_to_run_it(record: Record) -> None:
    """The reference is the call as made, and the program travels with the sample."""
    (sample,) = ask("input", record(SUMS, "f", "([1, 2],)"))
    assert sample.answer == "f([1, 2],)"
    assert sample.data["expected"] == "0"
    assert Program.from_dict(sample.data["program"]).code == SUMS
    assert Sample.from_dict(sample.to_dict()) == sample
    assert "[1, 2]" not in sample.parts["question"]


def test_input_needs_arguments_that_an_answer_may_have(record: Record) -> None:
    """Arguments that the gate would refuse have no reference answer."""
    code = "import os\ndef f(x):\n    return 1\n"
    assert reasons("input", record(code, "f", "(os.sep,)")) == [
        "the arguments cannot be written in the form of an answer"
    ]


def test_a_function_that_only_ever_returns_none_is_not_asked_for_it(record: Record) -> None:
    """Its None is no finding; that of a function which could have returned something is."""
    check = "def f(x):\n    assert x\n"
    for kind in ("output", "input"):
        assert reasons(kind, record(check, "f", "(1,)")) == ["returns nothing but None"]
    assert ask("output", record("def f(x):\n    if x:\n        return 3\n", "f", "(0,)"))


def test_doctests_are_not_shown(record: Record) -> None:
    """A docstring with doctests tells what calls return: it is left out, line numbers stay."""
    code = 'def f(x):\n    """Seven times.\n\n    >>> f(3)\n    21\n    """\n    y = x * 7\n    return y\n'
    recording = record(code, "f", "(3,)")
    for kind in OF_RETURNS:
        (sample, *_) = ask(kind, recording)
        assert "21" not in sample.parts["program"]
    (sample, *_) = ask("state", recording)
    assert "1 | def f(x):\n  |     ...\n7 |     y = x * 7\n8 |     return y" in sample.prompt


@pytest.mark.parametrize("kind", QUESTIONS)
def test_runs_that_read_what_is_not_shown_are_not_asked_about(record: Record, kind: str) -> None:
    """A docstring with a doctest is left out of every prompt, so no kind asks about a run that reads it."""
    code = '''
def f(n):
    """Count.

    >>> f(2)
    9
    """
    size = len(f.__doc__.split())
    for k in range(n):
        if k:
            size += k
    return size
'''
    excluded: Counter[str] = Counter()
    assert not [*QUESTIONS[kind](record(code, "f", "(4)"), excluded=excluded)]
    assert excluded == {"it reads a docstring that is not shown": 1}
    plain = record(code.replace(">>> f(2)", "and more"), "f", "(4)")
    assert [*QUESTIONS[kind](plain)] or kind in (
        "exception",
        "alias",
        "calls",
        "changes",
        "coverage",
        "input",
    )


def test_calls_of_one_function_are_one_cluster(record: Record) -> None:
    """Whatever a function is called with, and whichever assert follows it."""
    code = "def f(x):\n    return x\n"
    (one,), (two,) = (ask("output", record(code, "f", text)) for text in ("(1,)", "(2,)"))
    assert one.cluster == two.cluster != ask("output", record(code + "# other\n", "f", "(1,)"))[0].cluster
    asserts = [f"assert f({n}) == {n}" for n in (1, 2)]
    (one,), (two,) = (
        ask("output", record(code + test, extra={"assert": test, "entry": "f"})) for test in asserts
    )
    assert one.cluster == two.cluster


def test_next_line_answers(record: Record) -> None:
    """All places of a small run: the answers are the lines that follow, in the frame."""
    samples = ask("next_line", record(SUMS, "f", "([1, 2],)"), per_recording=100)
    steps = sorted((s.data["event"], s.data["line"], s.answer) for s in samples)
    assert [(line, answer) for _, line, answer in steps] == [
        (2, "3"),
        (3, "4"),
        (4, "5"),
        (5, "3"),
        (3, "4"),
        (4, "7"),
        (7, "3"),
        (3, "8"),
    ]
    (sample,) = [s for s in samples if s.answer == "5"]
    assert "    n = 1\n" in sample.parts["question"]
    assert "<list_iterator#" in sample.parts["question"]


def test_next_line_is_in_the_frame(record: Record) -> None:
    """Lines of a called function do not count; leaving by an exception is `raise`."""
    code = """\
def f(x):
    try:
        y = g(x)
    except ValueError:
        y = 6
    return y

def g(x):
    if x:
        x = 10
        raise ValueError(x)
    return 12
"""
    samples = ask("next_line", record(code, "f", "(1,)"), per_recording=100)
    answers = {(s.data["line"], s.answer) for s in samples}
    assert answers == {(2, "3"), (3, "4"), (4, "5"), (5, "6"), (9, "10"), (10, "11"), (11, "raise")}


def test_next_line_asks_only_what_has_one_reading(record: Record) -> None:
    """Not asked about: comprehensions, lambdas, one-line blocks, `with`, several statements on a line."""
    code = """\
import contextlib
def f(xs):
    a = 3
    b = [x for x in xs]
    c = 5; d = 5
    with contextlib.nullcontext():
        e = 7
    for x in xs: e = 8
    g = max(xs, key=lambda x: -x)
    h = (10 +
         a)
    return h
"""
    samples = ask("next_line", record(code, "f", "([1, 2],)"), per_recording=100)
    assert {(s.data["line"], s.answer) for s in samples} == {(10, "12")}


def test_next_line_is_not_told_by_the_text_alone(record: Record) -> None:
    """Places where the run goes on in the next line of the text take turns with the others."""
    recording = record(SUMS, "f", "([1, 2, 3, 4, 5, 6],)")
    for seed in range(20):
        samples = ask("next_line", recording, seed=seed, per_recording=4)
        assert Counter(s.data["falls_through"] for s in samples) == {True: 2, False: 2}


STATES = {
    "the k-th time, over the whole run": (
        "def f(n):\n    twice = n * 2\n    if n:\n        rest = f(n - 1)\n        twice += rest\n    return twice\n",
        "(2,)",
        {
            "3:1:twice": "4", "3:2:twice": "2", "3:3:twice": "0", "4:1:twice": "4", "4:2:twice": "2",
            "5:1:twice": "2", "5:1:rest": "0", "5:2:twice": "4", "5:2:rest": "2", "6:1:twice": "0",
            "6:2:twice": "2", "6:2:rest": "0", "6:3:twice": "6", "6:3:rest": "2",
        },
    ),
    "changes inside a parameter": (
        "def f(xs):\n    xs.append(2)\n    y = 3\n    return y\n",
        "([1],)",
        {"3:1:xs": "[1, 2]", "4:1:xs": "[1, 2]", "4:1:y": "3"},
    ),
    "a module": ("a = 1\nb = a + 1\nc = b + 1\n", None, {"2:1:a": "1", "3:1:a": "1", "3:1:b": "2"}),
    "no cycle and no object": (
        "class C: pass\ndef f():\n    a = []\n    a.append(a)\n    b = C()\n    return 1\n",
        "()",
        {"4:1:a": "[]"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_state_answers(record: Record, name: str) -> None:
    """The k-th time that a line runs, whatever frame it runs in; a parameter as it was passed is no question."""
    code, arguments, states = STATES[name]
    assert answers("state", record(code, "f" if arguments else None, arguments)) == states


def test_of_a_long_path_the_beginning_is_asked(record: Record) -> None:
    """And how much of an answer is right is told apart."""
    (sample,) = ask("path", record(SUMS, "f", "(range(100),)"))
    (short,) = ask("path", record(SUMS, "f", "(range(3),)"))
    lines = json.loads(sample.answer)
    assert (len(lines), sample.data["most"]) == (60, 60)
    assert "How many: the first 60" in sample.parts["question"]
    assert "How many" not in short.parts["question"]
    for said, score, prefix in (
        (lines, 1, 1),
        ([*lines, 99], 1, 1),
        (lines[:30], 0, 0.5),
        ([*lines[:45], 99, *lines[46:]], 0, 0.75),
        ([99], 0, 0),
    ):
        found = score_answer(sample, f"[ANSWER]{said}[/ANSWER]")
        assert (found.score, found.metrics) == (score, {"lenient": score, "prefix": prefix}), said
    whole = json.loads(short.answer)
    assert score_answer(short, f"[ANSWER]{whole}[/ANSWER]").metrics["prefix"] == 1
    assert score_answer(short, f"[ANSWER]{[*whole, 2]}[/ANSWER]").score == 0
    assert score_answer(short, "[ANSWER]none[/ANSWER]").metrics["prefix"] == 0


def test_path_is_bounded(record: Record) -> None:
    """Of few lines that run very many times on end the path is short, and to look for its end takes long."""
    code = "def f(n):\n    while n: n -= 1\n    return n\n"
    assert reasons("path", record(code, "f", "(7000,)")) == ["the path is too long"]


def test_the_library_is_shown_as_far_as_it_ran(record: Record) -> None:
    """Events in a file other than the program's: what ran of it is shown, by its own line numbers."""
    code = "from statistics import fmean\ndef f(): return 1\n"
    recording = record(code, "f", "()")
    library = "\n".join(["def unused():", "    return 0", *["# filler"] * 150, *SUMS.splitlines()])
    rows = [
        row._replace(file="lib.py", line=row.line + 152) for row in record(SUMS, "f", "([1, 2],)").trace.rows
    ]
    trace = type(recording.trace)(rows)
    run_result = replace(recording.run_result, sources={"lib.py": library})
    (sample, *_) = ask("state", replace(recording, traces=(trace,), run_result=run_result))
    assert (
        "File lib.py (what does not matter here is left out):\n```python\n    | ...\n153 | def f(numbers):"
        in sample.prompt
    )
    assert "unused" not in sample.prompt


@pytest.mark.parametrize("kind", OF_RETURNS)
def test_unfit_recordings_are_counted(record: Record, kind: str) -> None:
    """A run that a limit stopped, is cut or not repeatable is not asked about, and the reason is kept."""
    fit = record(SUMS, "f", "([1],)")
    assert reasons(kind, replace(fit, repeatable=False)) == ["not repeatable"]
    assert reasons(kind, replace(fit, run_result=replace(fit.run_result, cut="events"))) == [
        "the recording is cut"
    ]
    ended = replace(fit.run_result, outcome=Outcome.TIMED_OUT)
    assert reasons(kind, replace(fit, run_result=ended)) == ["ended otherwise: timed_out"]
    if kind in ("output", "input"):
        raised = replace(fit.run_result, outcome=Outcome.RAISED)
        assert reasons(kind, replace(fit, run_result=raised)) == ["ended otherwise: raised"]
    assert ask(kind, replace(fit, repeatable=True)), "repeatable is asked about"
    refused = replace(fit, run_result=replace(fit.run_result, refused={"socket": 1}))
    assert reasons(kind, refused) == ["the sandbox refused it something"]
    assert ask(kind, replace(fit, run_result=replace(fit.run_result, refused={})))


@pytest.mark.parametrize("kind", OF_RETURNS)
def test_samples_depend_on_seed_recording_and_kind_only(record: Record, kind: str) -> None:
    """Asking twice gives the same samples with distinct ids; per_recording bounds them."""
    recording = record(SUMS, "f", "([1, 2, 3],)")
    samples = ask(kind, recording, seed=5)
    assert samples == ask(kind, recording, seed=5)
    assert len({s.id for s in samples}) == len(samples)
    assert all(s.id.startswith(recording.id) and s.program == recording.id for s in samples)
    assert len(ask(kind, recording, per_recording=1)) == 1
    with pytest.raises(ValueError, match="per_recording=0"):
        ask(kind, recording, per_recording=0)


def test_answers_with_the_marks_in_them_are_not_asked(record: Record) -> None:
    """An answer that holds [/ANSWER] could not be told from its end."""
    code = "def f():\n    return '[' + '/ANSWER]'\n"
    assert reasons("output", record(code, "f", "()")) == [
        "the answer contains the marks that enclose answers"
    ]


def test_a_session_is_asked_what_it_shows(record: Record) -> None:
    """A session's output is what the prompt shows, asked as printed text."""
    recording = record("print(3)\n", mode=Mode.SESSION)
    (sample,) = ask("output", recording)
    assert sample.data["form"] == "stdout"
    assert "interactive prompt" in sample.prompt


def test_statements_by_line() -> None:
    """Lines belong to the statement, or the header of the block, that covers them."""
    source = """\
@first(
    2)
def f(a,
      b):
    if (a and
        b):
        return (7
                + 8)
    elif b: return 9
    try:
        global x
    except (A,
            B):
        pass
    match a:
        case [1,
              2]:
            y = [z for z in a]
"""
    known = statements(source)
    assert known is not None
    first = {line: start for line, start in known.first.items() if line != start}
    assert first == {2: 1, 4: 3, 6: 5, 8: 7, 13: 12, 17: 16}
    assert known.plain == {5, 7, 10, 12, 14, 15, 16}
    assert known.silent == {11}


def test_every_sample_of_cruxeval_is_whole(cruxeval: list[Recording]) -> None:
    """On published code every kind yields samples, with ids of their own and answers in the prompt's form."""
    for kind in OF_RETURNS:
        samples = [sample for recording in cruxeval for sample in ask(kind, recording)]
        assert len(samples) >= 0.8 * len(cruxeval)
        assert len({sample.id for sample in samples}) == len(samples)
        assert all(sample.prompt.count("[ANSWER]") == 2 for sample in samples)


@pytest.mark.parametrize("kind", QUESTIONS.built_in)
def test_a_kind_is_whole(kind: str) -> None:
    """Each has its words, an example, a guess, and a line of the documentation."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "questions.md"
    missing = {
        "its words (`words` of `kind`)": kind != "step" and kind not in prompts.WORDS,
        "a guess": kind != "step" and kind not in GUESSES,
        "the table of docs/reference/questions.md": f"\n| `{kind}` |" not in page.read_text(),
    }
    places = "\n- ".join(place for place, lacks in missing.items() if lacks)
    assert not places, f"the kind of question {kind!r} is missing in\n- {places}"


LAST_LINE = """
import re

from deskcheck.ask.samples.guessing import guesses, numbered_lines
from deskcheck.ask.samples.kind import kind, sample_of
from deskcheck.ask.samples.places import whole_run_of


@kind(
    "last_line",
    "which line runs last?",
    words={
        "task": "Which line runs last?\\nYou see a Python program. Give the number of a line. $tags",
        "example": "How it is run: $call\\n[ANSWER]6[/ANSWER]",
    },
)
def last_line(recording, rng, per_recording):
    run = whole_run_of(recording)
    yield sample_of(recording, "last_line", run.files, "", str(run.visits[-1].line), form="line")


@guesses("last_line")
def first(prompt):
    return str(numbered_lines(prompt)[0][0])
"""
WITH_A_FILE = """
import sys
import deskcheck.ask.kinds
deskcheck.ask.kinds.__path__.append(sys.argv.pop(1))
from deskcheck.cli.app import main
main()
"""


def test_a_file_adds_a_kind(tmp_path: Path) -> None:
    """One more file in the folder of kinds is all that a kind needs: it is listed, named in the help, asked in its
    words, scored and guessed."""
    pytest.importorskip(
        "inspect_ai", reason="no deskcheck[ask]: would show that a file adds a kind of question"
    )
    kinds = tmp_path / "kinds"
    kinds.mkdir()
    (kinds / "last.py").write_text(LAST_LINE)
    (tmp_path / "sums.py").write_text(f"{SUMS}f([3, 4])\n")

    def deskcheck(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", WITH_A_FILE, str(kinds), *arguments],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    listed = json.loads(deskcheck("list", "questions", "--json"))["questions"]
    assert [*listed][: len(QUESTIONS.built_in) + 1] == [*QUESTIONS.built_in, "last_line"]
    assert "type, last_line; all" in " ".join(deskcheck("ask", "--help").replace("│", " ").split())
    deskcheck("record", "sums.py", "--sandbox", "trusted", "--out", "runs")
    asked = deskcheck(
        *("ask", "runs", "-q", "last_line", "-m", "deskcheck/oracle", "-m", "deskcheck/guess"),
        *("--out", "asked", "--json"),
    )
    assert [result["score"] for result in json.loads(asked)["results"]] == [1, 0]


PATHS = {
    "over several lines": (
        (
            'def f(xs):\n    """Doc."""\n    ys = g(\n        [x + 1 for x in xs],\n        5)\n    return ys\n\n'
            "def g(xs, n):\n    return [x for x in xs\n            if x < n]\n"
        ),
        "([1, 2],)",
        "[3, 9, 6]",
    ),
    "script": (
        '"""Doc."""\ndef f():\n    return 3\nclass C:\n    """Doc."""\n    x = f()\n',
        None,
        "[2, 4, 6, 3]",
    ),
    "stub": (
        "class P:\n    n: int\n    def size(self): ...\n    def name(self):\n        ...\nx = P().size()\n",
        None,
        "[1, 3, 4, 6, 3]",
    ),
    "comprehension": (
        "def g(x):\n    return x\n\ndef f(n):\n    y = [\n        g(k)\n        for k in range(n)\n    ]\n    return y\n",
        "(2,)",
        "[5, 2, 9]",
    ),
    "calls on one line": (
        "def g(x):\n    x += 1\n    return x\n\ndef f(n):\n    y = g(n) + g(\n        n\n    )\n    return y\n",
        "(2,)",
        "[6, 2, 3, 2, 3, 9]",
    ),
    "lambda": (
        (
            "def g(x):\n    return -x\n\n"
            "def f(n):\n    by = lambda k: (\n        g(k)\n    )\n    y = sorted([n, 1], key=by)\n    return y\n"
        ),
        "(2,)",
        "[5, 8, 2, 9]",
    ),
    "generator expression": (
        "def g(x):\n    return -x\n\ndef f(n):\n    y = (g(k) for k in range(n))\n    z = sum(y)\n    return z\n",
        "(2,)",
        "[5, 6, 2, 7]",
    ),
    "loop on one line": (
        "def g(x):\n    x += 1\n    return x\n\ndef f(n):\n    for k in range(n): g(k); k = 1\n    return n\n",
        "(2,)",
        "[6, 2, 3, 2, 3, 7]",
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_by_the_rule_of_its_prompt(record: Record, name: str) -> None:
    """A line is there where its call comes to it from another line; a comprehension or a lambda has none.

    Definitions count where they are executed, docstrings do not.
    """
    code, arguments, path = PATHS[name]
    (sample,) = ask("path", record(code, "f" if arguments else None, arguments))
    assert sample.answer == path


def test_two_statements_share_a_line(record: Record) -> None:
    """On which only one of them begins: its lines run for both, so neither is asked about."""
    code = "def f(n):\n    x = max(n,\n        2); y = 3\n    if (x and\n        y): x = 1\n    z = x\n    return z\n"
    recording = record(code, "f", "(1,)")
    excluded: Counter[str] = Counter()
    assert list(QUESTIONS["path"](recording, excluded=excluded)) == []
    assert [*excluded] == ["a statement begins on a line on which another ends"]
    for kind in ("visit", "next_line", "state", "coverage"):
        asked = {sample.data["line"] for sample in QUESTIONS[kind](recording, per_recording=99)}
        assert asked <= {6, 7}, kind


def test_moments_that_look_the_same(record: Record) -> None:
    """What a library holds is in no prompt: a line after which one or another runs is not asked about."""
    code = (
        "import warnings\ndef old():\n    warnings.warn('old')\n    return 8\n"
        "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    old()\n"
        "    warnings.simplefilter('error')\n    try:\n        old()\n    except UserWarning:\n        pass\n"
    )
    asked = list(QUESTIONS["next_line"](record(code), per_recording=99))
    assert asked
    assert not [sample for sample in asked if sample.data["line"] == 3]


def test_names_that_the_source_does_not_have(record: Record) -> None:
    """The interpreter's own in the body of a class, and those that it writes otherwise, are not asked for."""
    code = (
        'class A:\n    """Text."""\n    def f(self, n):\n        __m = n + 1\n        \u2115 = __m * 2\n        k = \u2115 + 1\n'
        "        return k\nx = A().f(3)\ny = x\n"
    )
    recording = record(code)
    names = {
        sample.data["variable"]
        for kind in ("state", "history", "type")
        for sample in QUESTIONS[kind](recording, per_recording=999)
    }
    assert names == {"x", "y", "n", "k", "A", "self"} & names
    assert {"x", "k"} <= names
