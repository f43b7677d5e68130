"""Scoring: from a sample and a completion to a score. Never raises for anything that a model wrote.

An answer that cannot be read is wrong; it is scored, not dropped. Values are compared as values
(`values.same`), without running the answer. Two kinds of answer are run: arguments, which pass a gate
(`allowed`) and are run with the program by `run`; and programs, which a `judge` runs with their tests
(`programs`). The verdict is the result as the watcher of the process rendered it, or that of a check in
another process. Nothing that the program printed decides, nor an object's own opinion of equality.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import takewhile
from typing import NamedTuple

from deskcheck.ask.answers.allowed import Refused, arguments_in, names_of
from deskcheck.ask.answers.code import code_in
from deskcheck.ask.answers.lenient import Expected, read_leniently
from deskcheck.ask.answers.objects import compare
from deskcheck.ask.answers.outputs import same_output
from deskcheck.ask.answers.parsing import (
    answer_in,
    exception_in,
    line_in,
    lines_in,
    name_in,
    next_line_in,
    value_in,
    without_thinking,
)
from deskcheck.ask.answers.similarity import chrf, exact, lines_of, rouge_l
from deskcheck.ask.answers.values import read_value, same, same_as_one, same_text
from deskcheck.ask.kinds.program import FORMS, SPEED
from deskcheck.ask.kinds.runs import path_of
from deskcheck.ask.methods.solvers import inside, read_state
from deskcheck.ask.questions.notebooks import NO_EXCEPTION
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.judge import Judge
from deskcheck.ask.scoring.programs import run_tests
from deskcheck.ask.scoring.speed import run_fast
from deskcheck.fences import fenced_texts
from deskcheck.notation import compare_step
from deskcheck.recording import Outcome, Program, RunResult
from deskcheck.recording.raised import message_of

Run = Callable[[Program], RunResult]
"""Runs an untrusted program."""
PROGRAM_FORMS = FORMS
"""Forms of answers that are programs: a `Judge` runs them."""
RUN_FORMS = frozenset({"arguments", *PROGRAM_FORMS})
"""Forms of answers that are run."""

_ANSWER_CHARS = 10_000
_SHOWN_CHARS = 60
_MEASURED_CHARS = 200_000
"""The limit of an answer about a notebook for the metrics of text; a longer one is never an exact match."""
_PARTS = {
    "cell_output": ("exact", "rouge_l", "chrf", "by_value"),
    "next_cell": ("exact", "rouge_l", "chrf"),
    "crash": ("right_class", "right_whether"),
    "path": ("prefix",),
    "text": ("by_value",),
    "exception": ("right_line", "right_class", "right_message"),
    "step": ("right_place", "right_values"),
    "object": ("right_class", "right_fields"),
    "program": ("tests_passed", "missing_module"),
    "self_invoking": ("tests_passed", "missing_module", "base_right", "new_right"),
    "speed": ("tests_passed", "missing_module", "correct", "cost"),
}
_FORMS = ("value", "object", "one_of", "stdout", "line", "name", "arguments", "own", *_PARTS)
METRICS = {form: ("lenient", *_PARTS.get(form, ())) for form in _FORMS}
"""Form of an answer -> the metrics of its score, each from 0 to 1.

``lenient`` is the score of the answer as a person would read it, in any form (`answers.lenient`).
``right_...`` are parts of an answer, ``prefix`` and ``right_fields`` shares of it, ``exact``, ``rouge_l``,
``chrf`` similarities (`answers.similarity`), ``by_value`` is equality as a value; ``tests_passed`` is the
share of tests, ``missing_module`` whether a module is not installed, ``base_right`` and ``new_right`` each of
two functions with the reference's other one; ``correct`` and ``cost`` are in `speed`.
"""


class Reading(StrEnum):
    """The kind of a completion by its answer. All but the first count as wrong."""

    ANSWERED = "answered"
    CUT = "cut"
    """No answer: the completion ended at the limit of tokens."""
    EMPTY = "empty"
    """Nothing but white space."""
    REFUSED = "refused"
    """No answer: the provider refused the request, for its content or length."""
    UNREADABLE = "unreadable"
    """The text has no answer in the form that was asked for, although it was not cut."""


_WRITTEN = frozenset({"stdout", "text", "cell_output", "next_cell"})
"""Forms of answers that are any text: a fence or backticks around one may belong to it."""
_FREE = frozenset({*_WRITTEN, "step", "object", "own"})
"""Forms of answers whose whole text counts, between other marks or without any."""
_CUT = frozenset({"max_tokens", "length", "max_output_tokens"})
_REFUSED = frozenset(
    {"model_length", "context_length_exceeded", "content_filter", "refusal", "safety", "prohibited_content"}
)


def reading_of(completion: str, stop_reason: str | None) -> Reading:
    """The reading of a completion without an answer. stop_reason: in the words of Inspect, OpenAI, vLLM or
    Anthropic; None: unknown."""
    reason = (stop_reason or "").lower()
    if reason in _CUT:
        return Reading.CUT
    if reason in _REFUSED:
        return Reading.REFUSED
    return Reading.UNREADABLE if completion.strip() else Reading.EMPTY


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The score of an answer."""

    score: float
    """1.0 or 0.0; of a kind of question of your own also between."""
    answer: str | None
    """The part of the completion that was read, cut if it is long; None if no answer could be read."""
    reason: str = ""
    """The reason why the score is not 1; empty for 1."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """`METRICS` of the form of the answer."""
    reading: Reading = Reading.ANSWERED

    @property
    def readable(self) -> bool:
        return self.answer is not None


_WHY_NONE = {
    Reading.CUT: "the completion ends at the limit of tokens",
    Reading.EMPTY: "the completion is empty",
    Reading.REFUSED: "the provider refused the request",
    Reading.UNREADABLE: "no answer between [ANSWER] and [/ANSWER]",
}


def score_answer(
    sample: Sample,
    completion: str,
    *,
    run: Run | None = None,
    judge: Judge | None = None,
    stop_reason: str | None = None,
) -> AnswerScore:
    """The score of one completion. run: for ``input`` questions. judge: for answers that are programs.
    stop_reason: why the completion ended (`reading_of`).

    Raises:
        ValueError: `run` or `judge` is missing, or the sample has an unknown form.
        SandboxError: the place where answers are run failed, which says nothing about the answer.
    """
    text, thinks = without_thinking(completion)
    otherwise = reading_of(completion if thinks else text, stop_reason)
    if thinks and otherwise is not Reading.REFUSED:
        otherwise = Reading.CUT
    if (stop_reason or "").lower() == "refusal":  # the text is the provider's
        return _no_answer(sample, Reading.REFUSED)
    complete = otherwise not in (Reading.CUT, Reading.REFUSED)
    if sample.data["form"] in PROGRAM_FORMS:
        if judge is None:
            raise ValueError(f"{sample.id}: scoring a program runs it; give judge=...")
        scored = _score_program(sample, text, otherwise, complete, judge)
        return _with_lenient(scored, scored.score)
    strict = _strictly(sample, text, otherwise, complete, run)
    return _with_lenient(strict, _leniently(sample, text, complete, strict, run))


def _with_lenient(scored: AnswerScore, lenient: float) -> AnswerScore:
    metrics = {name: figure for name, figure in scored.metrics.items() if name != "lenient"}
    return replace(scored, metrics={"lenient": lenient, **metrics})


def _strictly(sample: Sample, text: str, otherwise: Reading, complete: bool, run: Run | None) -> AnswerScore:
    """The score of the answer in the form that was asked for."""
    form = sample.data["form"]
    answer = answer_in(text, complete=complete)
    if answer is None and form == "step" and complete and text.strip():
        blocks = [block for block in fenced_texts(text) if inside(block)]
        answer = blocks[0] if blocks else text  # a state may be in a fence, or be the whole text
    if answer is None:
        return _no_answer(sample, otherwise)
    scored = _scored(sample, answer, run)
    if scored.score < 1 and form in _WRITTEN:
        wrapped = answer_in(text, complete=complete, wrapped=True)
        if wrapped is not None and wrapped != answer:
            scored = max(_scored(sample, wrapped, run), scored, key=lambda candidate: candidate.score)
    return scored if scored.readable else replace(scored, reading=Reading.UNREADABLE)


def _leniently(sample: Sample, text: str, complete: bool, strict: AnswerScore, run: Run | None) -> float:
    """The score of the answer as a person would read it."""
    data = sample.data
    answer = answer_in(text, complete=complete, lenient=True)
    if answer is None:
        return strict.score
    first = answer_in(text, complete=complete)
    strict_score = strict.score if first is None or answer == first else 0.0
    if data["form"] not in _FREE:
        right = data["right"][0] if data["form"] == "one_of" else sample.answer
        expected = Expected(data["form"], right, data.get("variable"), sample.question)
        answer = read_leniently(answer, expected) if answer else answer
    if answer is None:  # such as where the marks are mentioned once more
        return strict.score
    return strict_score if answer == first else max(strict_score, _scored(sample, answer, run).score)


def _no_answer(sample: Sample, reading: Reading, reason: str = "") -> AnswerScore:
    """The score of a completion without an answer."""
    return AnswerScore(0.0, None, reason or _WHY_NONE[reading], _none(sample), reading)


def _none(sample: Sample) -> dict[str, float]:
    """The metrics of no answer. It costs as much as the slow program."""
    return {name: float(name == "cost") for name in METRICS.get(sample.data["form"], ())}


# -- forms -----------------------------------------------------------------------------------------------


class _Unread(Exception):
    """The text is not an answer in the form that was asked for, with the reason."""


class _Judged(NamedTuple):
    reason: str
    """The reason why the answer is wrong; empty if it is right."""
    metrics: Mapping[str, float] = {}
    answer: str | None = None
    """The answer, if it differs from the text that was read."""


def _scored(sample: Sample, answer: str, run: Run | None) -> AnswerScore:
    form, text = sample.data["form"], answer[:_ANSWER_CHARS]
    if form == "own" and sample.question in QUESTIONS and (score := QUESTIONS[sample.question].score):
        figure = float(score(sample, answer))
        return AnswerScore(figure, text, "" if figure == 1 else "another answer")
    try:
        if form == "arguments":
            judged = _judge_arguments(sample, answer, run)
        elif form in _JUDGES:
            judged = _JUDGES[form](sample, answer)
        else:
            raise ValueError(f"{sample.id}: unknown form of answer {form!r}")
    except _Unread as reason:
        return AnswerScore(0.0, None, str(reason), _none(sample))
    return AnswerScore(
        float(not judged.reason),
        text if judged.answer is None else judged.answer,
        judged.reason,
        judged.metrics,
    )


def _unless(right: bool, reason: str) -> str:
    return "" if right else reason


def _judge_value(sample: Sample, answer: str) -> _Judged:
    value = value_in(answer)
    right = same(value, sample.answer, strict=sample.data["strict"])
    if not right and read_value(sample.answer)[0] and not read_value(value)[0]:
        raise _Unread(f"no value: {value[:_SHOWN_CHARS]}")
    return _Judged(_unless(right, "another value"))


def _judge_text(sample: Sample, answer: str) -> _Judged:
    by_value = same(value_in(answer), sample.answer, strict=False)
    right = same_text(answer, sample.answer)
    return _Judged(_unless(right, "another text"), {"by_value": float(by_value)})


def _judge_printed(sample: Sample, answer: str) -> _Judged:
    return _Judged(_unless(lines_of(answer) == lines_of(sample.answer), "another text"))


def _judge_one_of(sample: Sample, answer: str) -> _Judged:
    """Several answers are right."""
    if sample.data["of"] == "value":
        right = same_as_one(value_in(answer), sample.data["right"])
        return _Judged(_unless(right, "another value"))
    line = next_line_in(answer)
    if line is None:
        raise _Unread("no line number")
    return _Judged(_unless(line in sample.data["right"], "another line"), answer=line)


def _judge_line(sample: Sample, answer: str) -> _Judged:
    line = line_in(answer)
    if line is None:
        raise _Unread("no line number, return or raise")
    return _Judged(_unless(line == sample.answer, "another line"), answer=line)


def _judge_name(sample: Sample, answer: str) -> _Judged:
    name = name_in(answer)
    if name is None:
        raise _Unread("no name of a class")
    return _Judged(_unless(name == sample.answer, "another class"))


def _judge_path(sample: Sample, answer: str) -> _Judged:
    """The whole path decides; a metric is the share before the first mistake."""
    lines = lines_in(answer)
    if lines is None:
        raise _Unread("no list of line numbers")
    first = {int(line): start for line, start in sample.data["first"].items()}
    path = path_of(lines, first, frozenset(sample.data["silent"]))[: sample.data.get("most")]
    expected = lines_in(sample.answer) or []
    right = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(path, expected, strict=False)))
    reason = _unless(path == expected, "another path")
    return _Judged(reason, {"prefix": right / len(expected)}, answer=str(lines))


def _judge_exception(sample: Sample, answer: str) -> _Judged:
    """Line and class decide; the message has a metric, and is right if it is not asked for."""
    exception = exception_in(answer)
    if exception is None:
        raise _Unread("no line and class of an exception")
    line, name, message = exception
    metrics = {
        "right_line": float(line == sample.data["line"]),
        "right_class": float(name == sample.data["exception"]),
        "right_message": float(sample.data["message"] in (None, message_of(message))),
    }
    reason = _unless(metrics["right_class"] == 1, "another class")
    return _Judged(reason or _unless(metrics["right_line"] == 1, "another line"), metrics)


def _judge_object(sample: Sample, answer: str) -> _Judged:
    """The whole object decides; metrics are its class and the share of its fields."""
    compared = compare(answer, sample.answer, sample.data["numbers"])
    if compared is None:
        raise _Unread("not a value")
    reason = "another value" if compared.right_class else "another class"
    metrics = {"right_class": float(compared.right_class), "right_fields": compared.right_fields}
    return _Judged(_unless(compared.same, reason), metrics)


def _judge_crash(sample: Sample, answer: str) -> _Judged:
    """The class decides; a metric is whether anything is raised."""
    name = name_in(answer)
    if name is None:
        raise _Unread("no name of a class and not None")
    right = name == sample.answer
    whether = (name == NO_EXCEPTION) == (sample.answer == NO_EXCEPTION)
    reason = "the cell raises nothing" if sample.answer == NO_EXCEPTION else "the cell raises"
    metrics = {"right_class": float(right), "right_whether": float(whether)}
    return _Judged(_unless(right, "another class" if whether else reason), metrics)


def _judge_step(sample: Sample, answer: str) -> _Judged:
    """A state is right if its place (event, line, call stack) and its values are."""
    notation, previous = sample.data.get("notation", "dynamic"), sample.data.get("known", "")
    true = read_state(sample.answer, notation=notation, previous=previous)
    state = read_state(answer, notation=notation, previous=previous)
    assert not isinstance(true, str), sample.id
    if isinstance(state, str):
        raise _Unread(state)
    step = compare_step(state, true)
    metrics = {"right_place": float(step.place), "right_values": float(step.values)}
    return _Judged(_unless(step.exact, "other values" if step.place else "another place"), metrics)


def _judge_cell(sample: Sample, answer: str) -> _Judged:
    """Outputs must be equal as values; next cells must match exactly."""
    text = answer[:_MEASURED_CHARS]
    metrics = {
        "exact": exact(answer, sample.answer),
        "rouge_l": rouge_l(text, sample.answer),
        "chrf": chrf(text, sample.answer),
    }
    right = metrics["exact"] == 1
    if sample.data["form"] == "cell_output":
        right = same_output(answer, sample.answer, sample.data["value"])
        metrics["by_value"] = float(right)
    return _Judged(_unless(right, "another text"), metrics)


_JUDGES: dict[str, Callable[[Sample, str], _Judged]] = {
    "value": _judge_value,
    "object": _judge_object,
    "text": _judge_text,
    "one_of": _judge_one_of,
    "stdout": _judge_printed,
    "line": _judge_line,
    "name": _judge_name,
    "path": _judge_path,
    "exception": _judge_exception,
    "step": _judge_step,
    "cell_output": _judge_cell,
    "next_cell": _judge_cell,
    "crash": _judge_crash,
}


# -- answers that are run --------------------------------------------------------------------------------


def _judge_arguments(sample: Sample, answer: str, run: Run | None) -> _Judged:
    if run is None:
        raise ValueError(f"{sample.id}: scoring an answer to an input question runs it; give run=...")
    program = Program.from_dict(sample.data["program"])
    try:
        names = names_of(program.code, *sample.data["sources"])
        arguments = arguments_in(answer, sample.data["entry"], names)
    except Refused as reason:
        if str(reason) == "no argument list":
            raise _Unread(str(reason)) from None
        return _Judged(str(reason))
    except (RecursionError, MemoryError):
        return _Judged("too deep")
    run_result = run(replace(program, arguments=arguments, id=f"{program.id}:answer"))
    if run_result.outcome is not Outcome.RETURNED:
        return _Judged(f"the call did not return: {run_result.outcome}")
    if run_result.result is None or not run_result.result_builtin:
        return _Judged("the result is not plain data")
    right = same(run_result.result, sample.data["expected"], strict=sample.data["strict"])
    return _Judged(_unless(right, "another result"))


def _score_program(
    sample: Sample, completion: str, otherwise: Reading, complete: bool, judge: Judge
) -> AnswerScore:
    """All tests decide; a metric is the share that pass."""
    program = code_in(completion, sample.data["entry_point"], complete=complete)
    if program.code is None and not program.read:
        return _no_answer(sample, otherwise, program.why_not if otherwise is Reading.UNREADABLE else "")
    if program.code is None:
        return AnswerScore(0.0, completion.strip()[:_ANSWER_CHARS], program.why_not, _none(sample))
    if sample.data["form"] == SPEED:
        fast = run_fast(sample.data, program.code, judge)
        tested, reason = fast.tested, fast.reason
        more = {"correct": float(tested.right), "cost": fast.cost}
    else:
        tested = run_tests(sample.data, program.code, judge)
        reason = tested.reason
        more = {name: float(right) for name, right in tested.parts.items()}
    metrics = {
        "tests_passed": tested.passed / tested.of,
        "missing_module": float(tested.missing is not None),
    }
    text = program.code[:_ANSWER_CHARS]
    return AnswerScore(float(not reason), text, reason, _none(sample) | metrics | more)
