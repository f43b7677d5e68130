"""Attacks on the scorer: every completion gets the score that it deserves, and quickly."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.ask import QUESTIONS, AnswerScore, Sample, score_answer
from deskcheck.ask.answers.lenient import Expected
from deskcheck.ask.answers.parsing import CLOSE, answer_in, asserted_in, line_in, lines_in
from deskcheck.ask.results.rows import MEASURED, ScoredSample
from deskcheck.ask.scoring.sandbox import score_in, shared
from deskcheck.ask.scoring.score import METRICS, Reading
from deskcheck.recording import Outcome, Program, Recording, RunResult
from tests.ask.conftest import OF_RETURNS, soon, table

Record = Callable[..., Recording]
Run = Callable[[Program], RunResult]
ANSWERS, ARGUMENTS = table("answers"), table("attacks/arguments")

CODE = """\
TABLE = {"red": 3}

class Sly:
    def __eq__(self, other):
        return True
    __hash__ = None

def f(words, n):
    kept = []
    for word in words:
        if len(word) > n:
            kept.append(word.upper())
    return kept
"""


def said(answer: object) -> str:
    return f"Let me see.\n[ANSWER]{answer}[/ANSWER]\n"


def refuse(program: Program) -> RunResult:
    raise AssertionError(f"was run: {program.arguments}")


def _always(run_result: RunResult, program: Program) -> RunResult:
    return run_result


@pytest.fixture(scope="module")
def samples(record: Record) -> dict[str, Sample]:
    recording = record(CODE, "f", "(['red', 'of'], 2)")
    return {kind: next(iter(QUESTIONS[kind](recording))) for kind in OF_RETURNS}


@pytest.fixture(scope="module")
def stdout(record: Record) -> Sample:
    return next(iter(QUESTIONS["output"](record("print('a b ')\nprint(7)\n"))))


def test_the_reference_scores_one(samples: dict[str, Sample], stdout: Sample, run_trusted: Run) -> None:
    """Every kind: the sample's own answer is right, in prose too. In a fence a person takes it."""
    for sample in [*samples.values(), stdout]:
        for text, strict in (
            (sample.answer, 1),
            (f"\n{sample.answer}\n", 1),
            (f"```python\n{sample.answer}\n```", 0),
            (f"`{sample.answer}`", 0),
        ):
            if "\n" in sample.answer and text.startswith("`a"):
                continue
            found = score_answer(sample, said(text), run=run_trusted)
            assert (found.score, found.metrics["lenient"]) == (strict, 1), text


@pytest.mark.parametrize(("kind", "near"), ANSWERS["near_misses"].items())
def test_near_misses_score_nothing(
    samples: dict[str, Sample], kind: str, near: list[str], run_trusted: Run
) -> None:
    """Almost right is wrong."""
    for answer in near:
        given_ = score_answer(samples[kind], said(answer), run=run_trusted)
        assert given_.score == 0, answer
        assert given_.reason


@pytest.mark.parametrize(
    "completion",
    [
        "['RED']",
        "The answer is ['RED'].",
        "[ANSWER]",
        "[/ANSWER]",
        "[/ANSWER]['RED'][ANSWER]",
        "[ANSWER]['RED'] or [ANSWER]['BLUE']",
        "[answer]['RED'][/answer]",
    ],
)
def test_unreadable_answers_are_wrong_and_stay(samples: dict[str, Sample], completion: str) -> None:
    """No answer between the marks: score 0 with a reason, never an exception and never dropped. A person may
    read it all the same."""
    for sample in samples.values():
        found = score_answer(sample, completion, run=lambda program: RunResult(outcome=Outcome.RAISED))
        lenient = found.metrics["lenient"]
        metrics = dict.fromkeys(METRICS[sample.data["form"]], 0.0) | {"lenient": lenient}
        assert found == AnswerScore(
            0.0, None, "no answer between [ANSWER] and [/ANSWER]", metrics, Reading.UNREADABLE
        )
        assert lenient == (
            sample.answer == "['RED']" and completion in ("['RED']", "The answer is ['RED'].", said_small)
        )


said_small = "[answer]['RED'][/answer]"


@pytest.mark.parametrize(
    ("completion", "stop_reason", "reading"),
    [
        ("", None, "empty"),
        ("   \n", "stop", "empty"),
        ("", "max_tokens", "cut"),
        ("[ANSWER]['RED', 'BL", "length", "cut"),
        ("[ANSWER]['RED', 'BLUE']", "max_tokens", "cut"),
        ("maximum context length is 8192", "model_length", "refused"),
        ("", "content_filter", "refused"),
        ("", "refusal", "refused"),
        ("I do not know.", "stop", "unreadable"),
        ("I do not know.", "no such reason", "unreadable"),
    ],
)
def test_a_completion_without_an_answer_is_one_of_four(
    samples: dict[str, Sample], completion: str, stop_reason: str | None, reading: str
) -> None:
    """Cut at the limit of tokens, empty, refused by the provider, or unreadable: all are wrong, none is another."""
    for sample in samples.values():
        found = score_answer(sample, completion, run=refuse, stop_reason=stop_reason)
        assert (found.score, found.answer, found.reading) == (0.0, None, reading)
        assert found.reason


@pytest.mark.parametrize("stop_reason", [None, "stop", "end_turn", "stop_sequence"])
def test_a_stop_word_closes_the_answer(samples: dict[str, Sample], stop_reason: str | None) -> None:
    """A server that stops at [/ANSWER] does not send it: the [ANSWER] is closed by the end. Without that stop word
    a person alone closes it, and with the limit of tokens as the end nobody does."""
    sample = samples["output"]
    right = f"So: [ANSWER]{sample.answer}"
    assert score_answer(sample, right, stop_reason=CLOSE) == AnswerScore(
        1.0, sample.answer, metrics={"lenient": 1.0}
    )
    found = score_answer(sample, right, stop_reason=stop_reason)
    assert (found.score, found.metrics["lenient"], found.reading) == (0, 1, "unreadable")
    assert score_answer(sample, "[ANSWER]\n", stop_reason=stop_reason).answer is None
    assert score_answer(sample, f"[ANSWER]x {right}", stop_reason=stop_reason).answer is None
    assert score_answer(sample, f"{right}[/ANSWER]", stop_reason="max_tokens").score == 1
    assert score_answer(sample, right, stop_reason="max_tokens").reading == "cut"


def test_an_answer_in_the_wrong_form_is_unreadable(samples: dict[str, Sample]) -> None:
    """Whatever ended the completion."""
    for stop_reason in (None, "stop", "max_tokens"):
        found = score_answer(samples["next_line"], "[ANSWER]somewhere[/ANSWER]", stop_reason=stop_reason)
        assert (found.answer, found.reading) == (None, "unreadable")


ATTACKS = [
    "",
    " ",
    "a" * 10_000_000,
    "1," * 5_000_000,
    "[" * 1_000_000,
    "(" * 3_000,
    "[[[[" * 40 + "]]]]" * 40,
    "-" * 19_000 + "1",
    "f(" * 300 + ")" * 300,
    "f([" + "1," * 9_000 + "], 2)",
    "f(" + "lambda: " * 900 + "0, 2)",
    "f(" + "(" * 100 + "0" + ").real" * 100 + ", 2)",
    "9" * 15_000,
    "`" * 100_000,
    "```" * 100_000,
    "```\n" * 100_000 + "```",
    "line " * 1_000_000 + "7",
    "7 " * 5_000_000 + "x",
    "[ANSWER]" * 100_000,
    "\x00\ud800",
    "assert " * 1000 + "1",
    "==" * 100_000,
    "f(1)" + " == 1" * 2_000,
    "__import__('os')._exit(0)",
    "exit()",
    "f(__import__('os')._exit(0), 2)",
    "f(*open('/etc/passwd'), 2)",
    "print(['RED'])",
    "print('[ANSWER]')",
    "f(10 ** 10 ** 10, 2)",
    "f('a' * 10 ** 9, 2)",
    "f('a' * 999999999, 2)",
    "f([0] * 1000 * 1000 * 1000, 2)",
    "f(list(range(10 ** 9)), 2)",
    "f(range(1000000000), 2)",
    "f(1 << 10 ** 9, 2)",
    "type('X', (), {'__eq__': lambda a, b: True})()",
    "f(type('X', (), {'__eq__': lambda a, b: True})(), 2)",
]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda text: repr(text[:30]))
def test_attacks_score_nothing(samples: dict[str, Sample], stdout: Sample, attack: str) -> None:
    """Whatever an answer holds: it is wrong, without much work and without an exception."""

    def ran(program: Program) -> RunResult:
        assert "import" not in (program.arguments or "")
        return RunResult(outcome=Outcome.RAISED)

    for sample in [*samples.values(), stdout]:
        with soon():
            given_ = score_answer(sample, said(attack), run=ran)
        assert given_.score == 0
        assert given_.answer is None or len(given_.answer) <= 20_000 or sample.question == "path"


@given(st.text(max_size=200))
def test_no_text_raises(samples: dict[str, Sample], text: str) -> None:
    """Any text as completion and as answer, for every kind."""
    run_result = RunResult(outcome=Outcome.RAISED)
    for sample in samples.values():
        assert score_answer(sample, text, run=lambda program: run_result).score in (0.0, 1.0)
        assert score_answer(sample, said(text), run=lambda program: run_result).score in (0.0, 1.0)


@pytest.mark.parametrize(("completion", "strict", "lenient"), ANSWERS["first"])
def test_the_first_answer_counts(
    samples: dict[str, Sample], completion: str, strict: int, lenient: int
) -> None:
    """Strictly, the first that is complete; as a person reads, the last before a new question. No draft."""
    found = score_answer(samples["output"], completion.format(right=said("['RED']"), wrong=said("['BLUE']")))
    assert (found.score, found.metrics["lenient"]) == (strict, lenient)


@pytest.mark.parametrize(
    "completion",
    [
        "<think>it may be [ANSWER]['RED'][/ANSWER], but",
        "[ANSWER]['BLUE'][/ANSWER",
        "<reasoning>[ANSWER]['RED'][/ANSWER]",
        "<|channel|>analysis<|message|>[ANSWER]['RED'][/ANSWER]",
    ],
)
def test_a_thought_without_an_end_says_nothing(samples: dict[str, Sample], completion: str) -> None:
    """Whatever ended it."""
    for stop_reason in (None, "stop", "length"):
        found = score_answer(samples["output"], completion, stop_reason=stop_reason)
        assert (found.score, found.metrics["lenient"], found.answer) == (0, 0, None)
        assert found.reading == ("cut" if completion[0] == "<" or stop_reason == "length" else "unreadable")


def test_an_assertion_is_read_for_its_value(samples: dict[str, Sample]) -> None:
    """A person reads the value of `f(x) == value`, `assert f(x) == value` and `== value`."""
    for form in ("f(['red', 'of'], 2) == ['RED']", "assert f(1) == ['RED']", "== ['RED']"):
        found = score_answer(samples["output"], said(form))
        assert (found.score, found.metrics["lenient"]) == (0, 1)
    assert asserted_in("'a == b'") is asserted_in("1 == 2 == 3") is None
    found = score_answer(samples["output"], said("['RED'] == f(1)"))
    assert (found.score, found.metrics["lenient"]) == (0, 0)


def test_line_numbers_are_read_with_some_tolerance(samples: dict[str, Sample]) -> None:
    """By a person: a number, with the word line or the text of the line; nothing that names two lines."""
    line, path = Expected("line"), Expected("path")
    for text in ("7", "line 7", "7: x = 3", "Line 07."):
        assert line.exact(text) == "7"
    assert (line.exact("'return'"), line.exact("Raises")) == ("return", "raise")
    for text in ("7 8", "seven", "-7", "7.5", "", "return 7"):
        assert line.exact(text) is line_in(text) is None
    for text in ("[2, 3]", "2 -> 3", "2,3", "lines 2, line 3", "2\n3\n", "(2; 3)", "2 → 3"):
        assert lines_in(path.exact(text) or "") == [2, 3]
    assert lines_in("[]") == []
    assert path.exact("two") is None
    assert lines_in("two") is None


def test_a_path_may_name_any_line_of_a_statement_and_repeat_it(record: Record) -> None:
    """The answer is counted as the recording is: first lines of statements, repeats on end once."""
    code = 'def f(a):\n    """Doc."""\n    b = (a +\n         1)\n    return b\n'
    (sample,) = QUESTIONS["path"](record(code, "f", "(1,)"))
    assert sample.answer == "[3, 5]"
    for right in ("[3, 5]", "[3, 4, 5]", "[3, 4, 3, 5]", "[2, 3, 5, 5]"):
        assert score_answer(sample, said(right)).score == 1
    for wrong in ("[3]", "[1, 3, 5]", "[5, 3]", "[3, 5, 3]", "[3, 99, 5]"):
        assert score_answer(sample, said(wrong)).score == 0


@pytest.mark.parametrize("printed", ["`x`", "```python\nx = 1\n```", "```\n`x`\n```", "`"])
def test_printed_marks_of_code_belong_to_the_answer(record: Record, printed: str) -> None:
    """A program may print backticks or a fence: the text as it is printed is right. A person also takes it with a
    fence around it."""
    (sample,) = QUESTIONS["output"](record(f"print({printed!r})\n"))
    for said, strict in ((printed, 1), (f"```\n{printed}\n```", 0), (f"\n{printed}\n", 1)):
        found = score_answer(sample, f"[ANSWER]{said}[/ANSWER]")
        assert (found.score, found.metrics["lenient"]) == (strict, 1), said
    assert score_answer(sample, f"[ANSWER]{printed.replace('x', 'y')}z[/ANSWER]").score == 0


def test_printed_text_is_compared_by_lines(stdout: Sample) -> None:
    """White space at line ends does not count, anything else does."""
    assert score_answer(stdout, "[ANSWER]\na b\n7\n[/ANSWER]").score == 1
    assert score_answer(stdout, "[ANSWER]a b  \n7[/ANSWER]").score == 1
    assert score_answer(stdout, "[ANSWER]a b 7[/ANSWER]").score == 0
    assert score_answer(stdout, "[ANSWER]a b\u20287[/ANSWER]").score == 0
    assert score_answer(stdout, "[ANSWER]a  b\n7[/ANSWER]").score == 0


def test_any_input_that_gives_the_value_is_right(samples: dict[str, Sample], run_trusted: Run) -> None:
    """Also by keyword; for a person from an expression, as an assertion, or without the name of the function."""
    for answer in ("f(['Red'], 0)", "f(n=1, words=['RED'])", "f([\n    'red',\n], 2)"):
        assert score_answer(samples["input"], said(answer), run=run_trusted).score == 1, answer
    for answer in (
        "f(*[['red']], **{'n': 2})",
        "f([w for w in ['red']], 1 + 1)",
        "f(map(str.lower, ['RED']), 2)".replace("str.lower", "lambda s: s.lower()"),
        "f(['re' + 'd'], 2)",
        "assert f(['red'], 2) == ['RED']",
        "['red'], 2",
        "f(['red'], 2)  # since red is longer",
    ):
        found = score_answer(samples["input"], said(answer), run=run_trusted)
        assert (found.score, found.metrics["lenient"]) == (0, 1), answer


@pytest.mark.parametrize("answer", ARGUMENTS["cheats"])
def test_cheats_are_refused_before_anything_runs(samples: dict[str, Sample], answer: str) -> None:
    """Reaching into the function, the interpreter or another call is no argument list."""
    given_ = score_answer(samples["input"], said(answer), run=refuse)
    assert given_.score == 0
    assert given_.reason


RICH: str = ARGUMENTS["rich_program"]


@pytest.fixture(scope="module")
def rich(record: Record) -> Sample:
    return next(iter(QUESTIONS["input"](record(RICH, "f", "(1,)"))))


@pytest.mark.parametrize("cheat", ARGUMENTS["rich_cheats"])
def test_what_a_program_offers_gives_no_way_around(rich: Sample, cheat: str) -> None:
    """What changes the program, or reaches the interpreter, through what the program has: refused, not run."""
    found = score_answer(rich, said(f"f({cheat})"), run=refuse)
    assert (found.score, bool(found.reason)) == (0, True)


@pytest.mark.parametrize(("arguments", "kind"), ARGUMENTS["rich_uses"])
def test_what_a_program_offers_may_be_used(
    record: Record, run_trusted: Run, arguments: str, kind: str
) -> None:
    """Its plain values, its functions and classes where they leave it as it is, and harmless modules."""
    (sample,) = QUESTIONS["input"](record(RICH, "f", f"({arguments},)"))
    assert sample.data["expected"] == f"[{kind!r}, 0]"
    assert score_answer(sample, said(f"f({arguments})"), run=run_trusted).score == 1


def test_an_object_that_is_equal_to_everything_wins_nothing(record: Record, run_trusted: Run) -> None:
    """The result is judged by what the watcher recorded of it, not by its own __eq__ or __repr__."""
    code = CODE + "\ndef g(x):\n    return x\n"
    (sample,) = QUESTIONS["input"](record(code, "g", "([1],)"))
    assert score_answer(sample, said("g(Sly())"), run=run_trusted).score == 0
    lying = RunResult(outcome=Outcome.RETURNED, result="[1]", result_builtin=False)
    assert score_answer(sample, said("g(Sly())"), run=lambda program: lying).score == 0


def test_how_the_run_of_an_answer_ended_decides(samples: dict[str, Sample]) -> None:
    """Exit status 0, printed results and everything but a return score nothing."""
    for outcome in Outcome:
        run_result = RunResult(
            outcome=outcome, result="['RED']", result_builtin=True, stdout="['RED']", exit_status=0
        )
        given_ = score_answer(samples["input"], said("f([], 2)"), run=partial(_always, run_result))
        assert given_.score == (1 if outcome is Outcome.RETURNED else 0)
    silent = RunResult(outcome=Outcome.RETURNED, stdout="['RED']", result=None)
    assert score_answer(samples["input"], said("f([], 2)"), run=lambda program: silent).score == 0


def test_input_is_run_as_the_program_of_the_sample(samples: dict[str, Sample]) -> None:
    """The runner gets the recorded program with other arguments and an id of its own."""
    ran: list[Program] = []

    def run(program: Program) -> RunResult:
        ran.append(program)
        return RunResult(outcome=Outcome.RETURNED, result="['RED']", result_builtin=True)

    assert score_answer(samples["input"], said("f(['x'],n=1)"), run=run).score == 1
    (program,) = ran
    assert program.code == CODE
    assert program.arguments == "(['x'], n=1)"
    assert program.id.startswith(samples["input"].program)
    with pytest.raises(ValueError, match="give run="):
        score_answer(samples["input"], said("f(1, 2)"))


def test_the_looseness_of_a_sample_is_its_own(samples: dict[str, Sample], record: Record) -> None:
    """A strict sample takes 1 and True apart, one of a published set that scores by == does not."""
    (sample,) = QUESTIONS["output"](record("def f(x):\n    return x > 1\n", "f", "(2,)"))
    assert score_answer(sample, said("1")).score == 0
    assert score_answer(replace(sample, data={**sample.data, "strict": False}), said("1")).score == 1


def test_answer_in_is_linear() -> None:
    """Ten megabytes of marks are read at once."""
    with soon():
        assert answer_in("[ANSWER]" * 600_000 + "[/ANSWER]" * 600_000) == ""
        assert answer_in("[/ANSWER]" * 1_000_000) is None


@pytest.mark.slow
def test_answers_run_in_the_sandbox(record: Record) -> None:
    """An endless or exiting call is scored 0 by how it ended; a right one 1."""
    code = (
        "import sys\ndef f(x):\n    while x == '': pass\n    if x == 'exit': sys.exit(0)\n    return len(x)\n"
    )
    (sample,) = QUESTIONS["input"](record(code, "f", "('abcd',)"))
    assert score_in(shared(), sample, said("f('wxyz')")).score == 1
    for answer in ("f('abc')", "f('exit')", "f('')", "f(1)"):
        assert score_in(shared(), sample, said(answer)).score == 0


def test_each_metric_has_its_column() -> None:
    """Of ``samples.parquet``, with the type of a number."""
    metrics = {name for names in METRICS.values() for name in names}
    assert metrics <= {*MEASURED}
    assert {*MEASURED} <= {*ScoredSample.__dataclass_fields__}
