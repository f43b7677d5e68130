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
from deskcheck.ask.answers.code import FoundCode, code_in, code_said
from deskcheck.ask.answers.lenient import Expected, is_marked, read_leniently, said_in
from deskcheck.ask.answers.objects import compare
from deskcheck.ask.answers.outputs import same_output
from deskcheck.ask.answers.parsing import (
    CLOSE,
    answer_in,
    asserted_in,
    call_in,
    closed,
    exception_in,
    line_in,
    lines_in,
    name_in,
    next_line_in,
    state_in,
    unfenced,
    value_in,
    without_thinking,
)
from deskcheck.ask.answers.similarity import chrf, exact, lines_of, rouge_l
from deskcheck.ask.answers.values import MAX_CHARS, read_value, same, same_as_one, same_text
from deskcheck.ask.kinds.program import FORMS, SPEED
from deskcheck.ask.kinds.runs import path_of
from deskcheck.ask.methods.solvers import read_state
from deskcheck.ask.questions.notebooks import NO_EXCEPTION
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.judge import Judge
from deskcheck.ask.scoring.programs import run_tests
from deskcheck.ask.scoring.speed import run_fast
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


_UNFENCED = frozenset({"cell_output", "next_cell"})
"""Forms of answers around which a code fence does not count, as their prompts say."""
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


_NO_STATE = "no state between two lines of ```, with nothing else"


def score_answer(
    sample: Sample,
    completion: str,
    *,
    run: Run | None = None,
    judge: Judge | None = None,
    stop_reason: str | None = None,
) -> AnswerScore:
    """The score of one completion. run: for ``input`` questions. judge: for answers that are programs.
    stop_reason: why the completion ended (`reading_of`). If it is the stop word [/ANSWER] itself, the end of
    the completion closes the answer.

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
    if stop_reason == CLOSE and complete:
        text = closed(text)
    if sample.data["form"] in PROGRAM_FORMS:
        if judge is None:
            raise ValueError(f"{sample.id}: scoring a program runs it; give judge=...")
        return _score_program(sample, text, otherwise, complete, judge)
    strict = _strictly(sample, text, otherwise, complete, run)
    return _with_lenient(strict, _leniently(sample, text, complete, strict, run))


def _with_lenient(scored: AnswerScore, lenient: float) -> AnswerScore:
    metrics = {name: figure for name, figure in scored.metrics.items() if name != "lenient"}
    return replace(scored, metrics={"lenient": lenient, **metrics})


def _strictly(sample: Sample, text: str, otherwise: Reading, complete: bool, run: Run | None) -> AnswerScore:
    """The score of the answer in the form that was asked for."""
    answer = _answer_of(sample, text)
    if answer is None:
        step = sample.data["form"] == "step" and otherwise is Reading.UNREADABLE
        return _no_answer(sample, otherwise, _NO_STATE if step else "")
    scored = _scored(sample, answer, run)
    if scored.score < 1 and sample.data["form"] in _UNFENCED and (bare := unfenced(answer)) != answer:
        scored = _scored(sample, bare, run)
    return scored if scored.readable else replace(scored, reading=Reading.UNREADABLE)


def _answer_of(sample: Sample, text: str) -> str | None:
    """The part of a text that is the answer: what is between the marks. The prompt of a step asks for nothing
    but the state, unless the method asked for marks. Prompts in other words may ask for an assertion."""
    form = sample.data["form"]
    if form != "step" or sample.data.get("marks"):
        answer = answer_in(text)
        if answer and sample.data.get("own_words") and form in ("value", "arguments"):
            return asserted_in(answer, call=form == "arguments") or answer
        return answer
    return text.strip() if state_in(text.strip()) is not None else None


def _leniently(sample: Sample, text: str, complete: bool, strict: AnswerScore, run: Run | None) -> float:
    """The score of the answer as a person would read it."""
    data = sample.data
    answer = said_in(text, complete=complete)
    if answer is None:
        return strict.score
    first = _answer_of(sample, text)
    strict_score = strict.score if first is None or answer == first else 0.0
    if answer:
        right = data["right"][0] if data["form"] == "one_of" else sample.answer
        expected = Expected(
            data["form"], right, data.get("variable"), sample.question, marked=is_marked(text)
        )
        answer = read_leniently(answer, expected)
    if answer is None:  # such as where the marks are mentioned once more
        return strict.score
    if answer == first and strict.readable:
        return strict_score
    return max(strict_score, _scored(sample, answer, run, exact=False).score)


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


def _scored(sample: Sample, answer: str, run: Run | None, *, exact: bool = True) -> AnswerScore:
    """exact: in the form that was asked for. Otherwise arguments may be expressions, and objects have numbers
    that they do not need."""
    form, text = sample.data["form"], answer[:_ANSWER_CHARS]
    if form == "own" and sample.question in QUESTIONS and (score := QUESTIONS[sample.question].score):
        figure = float(score(sample, answer))
        return AnswerScore(figure, text, "" if figure == 1 else "another answer")
    try:
        if form == "arguments":
            judged = _judge_arguments(sample, answer, run, exact=exact)
        elif form == "object":
            judged = _judge_object(sample, answer, exact=exact)
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
    limit = max(MAX_CHARS, 2 * len(sample.answer))
    if read_value(sample.answer, max_chars=limit)[0] and value_in(answer, max_chars=limit) is None:
        raise _Unread(f"no value as repr writes it: {answer[:_SHOWN_CHARS]}")
    return _Judged(_unless(same(answer, sample.answer, strict=sample.data["strict"]), "another value"))


def _judge_text(sample: Sample, answer: str) -> _Judged:
    by_value = same(answer, sample.answer, strict=False)
    right = same_text(answer, sample.answer)
    return _Judged(_unless(right, "another text"), {"by_value": float(by_value)})


def _judge_printed(sample: Sample, answer: str) -> _Judged:
    return _Judged(_unless(lines_of(answer) == lines_of(sample.answer), "another text"))


def _judge_one_of(sample: Sample, answer: str) -> _Judged:
    """Several answers are right."""
    if sample.data["of"] == "value":
        if value_in(answer) is None and answer not in sample.data["right"]:
            raise _Unread(f"no value as repr writes it: {answer[:_SHOWN_CHARS]}")
        right = same_as_one(answer, sample.data["right"])
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


def _judge_object(sample: Sample, answer: str, *, exact: bool) -> _Judged:
    """The whole object decides; metrics are its class and the share of its fields."""
    compared = compare(answer, sample.answer, sample.data["numbers"])
    if compared is None:
        raise _Unread("not a value")
    if exact and not compared.exact:
        raise _Unread("a value that is not written as the prompt says")
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
    written = state_in(answer)
    if written is None:
        raise _Unread(_NO_STATE)
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


def _judge_arguments(sample: Sample, answer: str, run: Run | None, *, exact: bool) -> _Judged:
    if run is None:
        raise ValueError(f"{sample.id}: scoring an answer to an input question runs it; give run=...")
    program = Program.from_dict(sample.data["program"])
    entry = sample.data["entry"]
    # Where the recorded arguments are no literals, the function may need such.
    if exact and call_in(answer, entry) is None and call_in(sample.answer, entry) is not None:
        raise _Unread(f"no call of {entry} with its arguments written out")
    try:
        names = names_of(program.code, *sample.data["sources"])
        arguments = arguments_in(answer, entry, names)
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
    """All tests decide; a metric is the share that pass. A program that a person would find elsewhere is run,
    too, for the lenient score."""
    entry = sample.data["entry_point"]
    strict = code_in(completion, entry)
    scored = _of_program(sample, completion, strict, otherwise, judge)
    person = code_said(completion, entry, complete=complete)
    if person.code is None or person.code == strict.code:
        return _with_lenient(scored, scored.score)
    return _with_lenient(scored, _of_program(sample, completion, person, otherwise, judge).score)


def _of_program(
    sample: Sample, completion: str, program: FoundCode, otherwise: Reading, judge: Judge
) -> AnswerScore:
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
