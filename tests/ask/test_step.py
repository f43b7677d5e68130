"""The kind `step`: one true state in, the next one out, asked of any model."""

from collections import Counter
from dataclasses import replace

import pytest

from deskcheck.ask import QUESTIONS, AnswerScore, Sample, score_answer
from deskcheck.ask.answers.parsing import written
from deskcheck.ask.baselines import guess
from deskcheck.ask.kinds.step import LIBRARY
from deskcheck.ask.methods.ground_truth import GroundTruth, ground_truth_of
from deskcheck.ask.methods.solvers import step_question
from deskcheck.notation import state_text
from deskcheck.recording import Recording
from tests.ask.conftest import Record, reasons

ROWS = """\
total = 0

def add(rows, n):
    global total
    total += n
    rows.append(n)
    return len(rows)

def f(n):
    rows = last = []
    for i in range(n):
        k = add(rows, i)
    print(k)
    return last
"""


def asked(recording: Recording, many: int = 1000) -> list[Sample]:
    return list(QUESTIONS["step"](recording, per_recording=many))


def scored(sample: Sample, answer: str) -> AnswerScore:
    return score_answer(sample, written("step", answer))


@pytest.fixture(scope="module")
def rows(record: Record) -> Recording:
    return record(ROWS, "f", "(3)")


def test_every_state_but_the_last_is_asked(rows: Recording) -> None:
    samples = asked(rows)
    truth = ground_truth_of(rows)
    assert isinstance(truth, GroundTruth)
    texts = [state_text(moment) for moment in truth.states()]
    by_number = {sample.data["state"]: sample for sample in samples}
    assert sorted(by_number) == list(range(len(texts) - 1))
    for number, sample in by_number.items():
        assert sample.answer == texts[number + 1]
        assert sample.prompt == step_question(truth, texts[number], explain=True), (
            "as dynamic_scratchpad asks"
        )


def test_a_person_takes_a_state_in_many_forms(rows: Recording) -> None:
    """The prompt asks for it between two lines of ```, and for nothing else."""
    for sample in asked(rows):
        right = sample.answer
        for text, strict in (
            (f"```\n{right}\n```", 1),
            (f"<think>so</think>\n```\n{right}\n```\n", 1),
            (right, 0),
            (f"[ANSWER]\n{right}\n[/ANSWER]", 0),
            (f"Here it is:\n```text\n{right}\n```\n", 0),
            (f"[ANSWER]\n```\n{right}\n```\n[/ANSWER]", 0),
        ):
            found = score_answer(sample, text)
            assert (found.score, found.metrics["lenient"]) == (strict, 1), text


def test_who_is_whom_counts_not_the_number(record: Record) -> None:
    samples = asked(record("def f(n):\n    a = b = [n]\n    c = [a, a]\n    return c\n", "f", "(1)"))
    (sample,) = [one for one in samples if "c=" in one.answer and one.data["comes"] == "line"]
    assert sample.answer.endswith("f 4: n=1, a=#1=[1], b=#1, c=[#1, #1]")
    assert scored(sample, sample.answer.replace("#1", "#7")).score == 1
    assert scored(sample, sample.answer.replace("b=#1", "b=[1]")).score == 0


def test_place_and_values_are_told_apart(rows: Recording) -> None:
    sample = next(one for one in asked(rows) if "\nf 12:" in one.answer and "i=0" in one.answer)
    for answer, score, place, values in (
        (sample.answer, 1, 1, 1),
        (sample.answer.replace("f 12", "f 13"), 0, 0, 1),
        (sample.answer.replace("i=0", "i=1"), 0, 1, 0),
        (sample.answer.replace("f 12", "f 13").replace("i=0", "i=1"), 0, 0, 0),
        (sample.answer.replace("f 12", "g 12"), 0, 0, 1),
    ):
        found = scored(sample, answer)
        assert (found.score, *found.metrics.values()) == (score, score, place, values), answer
        assert list(found.metrics) == ["lenient", "right_place", "right_values"]
    for nonsense in (
        "",
        "f",
        "f 12: n=",
        sample.answer + "\n" + sample.answer,
        "x" * 100_000,
        "[" * 5_000,
    ):
        found = scored(sample, nonsense)
        assert (found.score, found.readable) == (0, False), nonsense[:80]
    cut = score_answer(sample, sample.answer[:-3], stop_reason="max_tokens")
    assert (cut.score, cut.reading) == (0, "cut")


def test_kinds_of_steps_take_turns(rows: Recording) -> None:
    """Few samples of a run reach a call, a return and a line, not only lines."""
    assert len({sample.data["comes"] for sample in asked(rows, 5)}) >= 3


def test_exceptions_are_steps(record: Record) -> None:
    samples = asked(record("def f(x):\n    y = 1\n    return y / x\n", "f", "(0)"))
    assert {"raise", "unwind"} <= {sample.data["comes"] for sample in samples}
    assert all(scored(sample, sample.answer).score == 1 for sample in samples)


def test_what_cannot_be_told_is_left_out(record: Record) -> None:
    long = record("def f(n):\n    a = list(range(n))\n    return a\n", "f", "(2000)")
    assert all(len(sample.answer) <= 3000 for sample in asked(long))
    assert reasons("step", record("x = 1\n" * 301)) == ["the source is too long"]


def test_what_an_unfinished_expression_holds_is_explained(record: Record) -> None:
    """After `|` stand values and functions, which the prompt says, but no library's new to the reader."""
    code = "def add(a, b):\n    return a + b\n\ndef f(n):\n    return add(\n        n,\n        add(n, 1))"
    (waits, *_) = [one for one in asked(record(code, "f", "(3)")) if "frame f 7: n=3 | #1, 3" in one.answer]
    assert "what an unfinished expression has worked out\n  so far, functions that it" in waits.prompt
    library = record("def f(n):\n    k = max\n    m = k\n    return m(n, 1)\n", "f", "(3)")
    excluded: Counter[str] = Counter()
    samples = list(QUESTIONS["step"](library, per_recording=100, excluded=excluded))
    assert sorted(one.data["line"] for one in samples) == [1, 3, 4]
    assert excluded == {LIBRARY: 1}


def test_the_baseline_is_a_state(rows: Recording, record: Record) -> None:
    """It goes on in the text: right for an assignment that changes nothing, and never unreadable."""
    runs = [rows, record("def f(x):\n    pass\n    pass\n    return x\n", "f", "(1)")]
    scores = [score_answer(one, guess.completion(one.prompt)) for run in runs for one in asked(run)]
    assert all(found.readable for found in scores)
    assert 0 < sum(found.score for found in scores) < len(scores)


def test_it_is_scored_by_hand_written_files_too(rows: Recording) -> None:
    """A sample that was read back from a file is scored alike."""
    (sample, *_) = asked(rows)
    again = Sample.from_dict(replace(sample).to_dict())
    assert scored(again, sample.answer).score == 1
