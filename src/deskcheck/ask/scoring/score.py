"""Scoring: from a sample and a completion to a score. Never raises for anything that a model wrote.

An answer that cannot be read is wrong, and is scored, not dropped. Values are compared as values
(`values.same`), never by running the answer, except for ``input``: there the arguments pass a gate
(`allowed`) and the program is run with them by whatever `run` the caller gives, in deskcheck the sandbox;
and for programs, which a `judge` runs with their tests (`programs`). What decides is the rendering of the
result that the watcher of the process took, or a check in another process, never anything that the program
printed or an object's own opinion of equality.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import takewhile

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
from deskcheck.ask.scoring.programs import Judge, run_tests
from deskcheck.ask.scoring.speed import run_fast
from deskcheck.fences import fenced_texts
from deskcheck.notation import compare_step
from deskcheck.recording import Outcome, Program, RunResult
from deskcheck.recording.raised import message_of

Run = Callable[[Program], RunResult]
"""Runs a program that nobody trusts and says how that ended."""

KEPT_ANSWER_CHARS = 10_000
_SHOWN_CHARS = 60
MEASURED_CHARS = 200_000
"""Of an answer about a notebook, for the metrics of text; what is longer is never an exact match."""
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
"""Form of an answer -> the metrics of its score: ``lenient``, the score of the answer as a person would read
it, though it is in another form than was asked for (`answers.lenient`); of cells `similarity`'s and for
outputs by value (`outputs`); of exceptions and of states each part; of crashes whether there is one; of paths
the share of lines before the first mistake; of objects the class, and the share of attributes and items that
are right;
of texts that a set compares as text, whether they are the same value; of programs the share of tests that
pass, whether a module was missing, and of two functions each by itself; of programs to make faster
`speed`'s."""


class Reading(StrEnum):
    """What a completion is, as far as an answer can be read from it. All but the first count as wrong."""

    ANSWERED = "answered"
    CUT = "cut"
    """No answer: the completion ended at the limit of tokens."""
    EMPTY = "empty"
    """No text, or nothing but white space."""
    REFUSED = "refused"
    """No answer: the provider refused the request, as too long for the model or for its content."""
    UNREADABLE = "unreadable"
    """A whole text without an answer in the form that was asked for."""


_WRITTEN = frozenset({"stdout", "text", "cell_output", "next_cell"})
"""Forms of answers that are any text: a fence or backticks around one may belong to it."""
PROGRAM_FORMS = FORMS
"""Forms of answers that are programs: a `Judge` runs them."""
_CUT = frozenset({"max_tokens", "length", "max_output_tokens"})
_REFUSED = frozenset(
    {"model_length", "context_length_exceeded", "content_filter", "refusal", "safety", "prohibited_content"}
)


def reading_of(completion: str, stop_reason: str | None) -> Reading:
    """What a completion is in which no answer could be read. stop_reason: in the words of Inspect, of OpenAI,
    vLLM or Anthropic; None: not known."""
    reason = (stop_reason or "").lower()
    if reason in _CUT:
        return Reading.CUT
    if reason in _REFUSED:
        return Reading.REFUSED
    return Reading.UNREADABLE if completion.strip() else Reading.EMPTY


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """score: 1.0 or 0.0; for a question of one's own also between. answer: what was read from the completion,
    None if nothing could be; long ones are cut. reason: why the score is not 1; empty for 1. metrics: of
    questions about notebooks (`METRICS`), each from 0 to 1; the score is, of outputs, the one by value, of
    next cells the exact match. reading: what the completion is.
    """

    score: float
    answer: str | None
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
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
    """The score of one completion. `run` is needed for ``input`` questions only, `judge` for those whose
    answer is a program. stop_reason: why the completion ended, where that is known (`reading_of`).

    Raises:
        ValueError: an ``input`` sample without `run`, a program without `judge`, or a sample of an unknown
            form.
        SandboxError: the place where answers are run failed, which says nothing about the answer.
    """
    said, thinks = without_thinking(completion)
    otherwise = reading_of(completion if thinks else said, stop_reason)
    if thinks and otherwise is not Reading.REFUSED:
        otherwise = Reading.CUT
    whole = otherwise not in (Reading.CUT, Reading.REFUSED)
    if (stop_reason or "").lower() == "refusal":  # the text is the provider's
        return no_answer(sample, Reading.REFUSED)
    if sample.data["form"] in PROGRAM_FORMS:
        found = _score_program(sample, said, otherwise, whole, judge)
        return _with_lenient(found, found.score)
    strict = _strictly(sample, said, otherwise, whole, run)
    lenient = _leniently(sample, said, whole, strict, run)
    return _with_lenient(strict, lenient)


def _with_lenient(found: AnswerScore, lenient: float) -> AnswerScore:
    metrics = {name: figure for name, figure in found.metrics.items() if name != "lenient"}
    return replace(found, metrics={"lenient": lenient, **metrics})


def _strictly(sample: Sample, said: str, otherwise: Reading, whole: bool, run: Run | None) -> AnswerScore:
    """The score of the answer in the form that was asked for."""
    answer = answer_in(said, whole=whole)
    if answer is None and sample.data["form"] == "step" and whole and said.strip():
        blocks = [block for block in fenced_texts(said) if inside(block)]
        answer = blocks[0] if blocks else said  # a state stands in a fence, or alone
    if answer is None:
        return no_answer(sample, otherwise)
    found = _scored(sample, answer, run)
    if found.score < 1 and sample.data["form"] in _WRITTEN:
        wrapped = answer_in(said, whole=whole, wrapped=True)
        if wrapped is not None and wrapped != answer:
            found = max(_scored(sample, wrapped, run), found, key=lambda one: one.score)
    return found if found.readable else replace(found, reading=Reading.UNREADABLE)


def _leniently(sample: Sample, said: str, whole: bool, strict: AnswerScore, run: Run | None) -> float:
    """The score of the answer as a person would read it."""
    answer = answer_in(said, whole=whole, lenient=True)
    if answer is None:
        return strict.score
    first = answer_in(said, whole=whole)
    known = strict.score if first is None or answer == first else 0.0
    if sample.data["form"] not in _FREE:
        data = sample.data
        right = sample.data["right"][0] if sample.data["form"] == "one_of" else sample.answer
        expected = Expected(data["form"], right, data.get("variable"), sample.question)
        answer = read_leniently(answer, expected) if answer else answer
    if answer is None:  # as where the marks are mentioned once more
        return strict.score
    if answer == first:
        return known
    return max(known, _scored(sample, answer, run).score)


_FREE = frozenset({"stdout", "text", "cell_output", "next_cell", "step", "object", "own"})
"""Forms of answers whose text is taken as it is, between other marks or without any."""


def no_answer(sample: Sample, reading: Reading, reason: str | None = None) -> AnswerScore:
    """The score of a completion without an answer."""
    none = _none(sample)
    return AnswerScore(0.0, None, reason or _WHY_NONE[reading], none, reading)


def _none(sample: Sample) -> dict[str, float]:
    """The metrics of no answer. It costs what the slow program does."""
    return {name: float(name == "cost") for name in METRICS.get(sample.data["form"], ())}


def _scored(sample: Sample, answer: str, run: Run | None) -> AnswerScore:
    kept = answer[:KEPT_ANSWER_CHARS]
    match sample.data["form"]:
        case "value":
            value = value_in(answer)
            right = same(value, sample.answer, strict=sample.data["strict"])
            if not right and read_value(sample.answer)[0] and not read_value(value)[0]:
                return AnswerScore(0.0, None, f"no value: {value[:_SHOWN_CHARS]}")
            return AnswerScore(float(right), kept, "" if right else "another value")
        case "object":
            return _score_object(sample, answer, kept)
        case "text":
            right = same_text(answer, sample.answer)
            metrics = {"by_value": float(same(value_in(answer), sample.answer, strict=False))}
            return AnswerScore(float(right), kept, "" if right else "another text", metrics)
        case "one_of":
            return _score_one_of(sample, answer, kept)
        case "stdout":
            right = lines_of(answer) == lines_of(sample.answer)
            return AnswerScore(float(right), kept, "" if right else "another text")
        case "line":
            line = line_in(answer)
            if line is None:
                return AnswerScore(0.0, None, "no line number, return or raise")
            return AnswerScore(
                float(line == sample.answer), line, "" if line == sample.answer else "another line"
            )
        case "name":
            name = name_in(answer)
            if name is None:
                return AnswerScore(0.0, None, "no name of a class")
            return AnswerScore(
                float(name == sample.answer), kept, "" if name == sample.answer else "another class"
            )
        case "path":
            return _score_path(sample, answer)
        case "exception":
            return _score_exception(sample, answer, kept)
        case "step":
            return _score_step(sample, answer, kept)
        case "cell_output" | "next_cell":
            return _score_text(sample, answer, kept)
        case "crash":
            return _score_crash(sample, answer, kept)
        case "arguments":
            if run is None:
                raise ValueError(f"{sample.id}: scoring an answer to an input question runs it; give run=...")
            return _score_input(sample, answer, kept, run)
        case "own" if sample.question in QUESTIONS and (score := QUESTIONS[sample.question].score):
            found = float(score(sample, answer))
            return AnswerScore(found, kept, "" if found == 1 else "another answer")
    raise ValueError(f"{sample.id}: unknown form of answer {sample.data['form']!r}")


def _score_text(sample: Sample, answer: str, kept: str) -> AnswerScore:
    text = answer[:MEASURED_CHARS]
    metrics = {
        "exact": exact(answer, sample.answer),
        "rouge_l": rouge_l(text, sample.answer),
        "chrf": chrf(text, sample.answer),
    }
    score = metrics["exact"]
    if sample.data["form"] == "cell_output":
        score = metrics["by_value"] = float(same_output(answer, sample.answer, sample.data["value"]))
    return AnswerScore(score, kept, "" if score else "another text", metrics)


def _score_one_of(sample: Sample, answer: str, kept: str) -> AnswerScore:
    """Several answers are right."""
    if sample.data["of"] == "value":
        right = same_as_one(value_in(answer), sample.data["right"])
        return AnswerScore(float(right), kept, "" if right else "another value")
    line = next_line_in(answer)
    if line is None:
        return AnswerScore(0.0, None, "no line number")
    right = line in sample.data["right"]
    return AnswerScore(float(right), line, "" if right else "another line")


def _score_path(sample: Sample, answer: str) -> AnswerScore:
    """The whole path decides; how much of it is right before the first mistake is told apart."""
    lines = lines_in(answer)
    if lines is None:
        return AnswerScore(0.0, None, "no list of line numbers", {"prefix": 0.0})
    first = {int(line): start for line, start in sample.data["first"].items()}
    path = path_of(lines, first, frozenset(sample.data["silent"]))[: sample.data.get("most")]
    expected = lines_in(sample.answer) or []
    right = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(path, expected, strict=False)))
    reason = "" if path == expected else "another path"
    return AnswerScore(float(not reason), str(lines), reason, {"prefix": right / len(expected)})


def _score_exception(sample: Sample, answer: str, kept: str) -> AnswerScore:
    """Line and class decide; the message has a metric of its own, and is right where it is not asked for."""
    found = exception_in(answer)
    if found is None:
        none = dict.fromkeys(METRICS["exception"], 0.0)
        return AnswerScore(0.0, None, "no line and class of an exception", none)
    line, name, message = found
    wrong = {
        "right_line": "another line" if line != sample.data["line"] else "",
        "right_class": "another class" if name != sample.data["exception"] else "",
        "right_message": "another message"
        if sample.data["message"] not in (None, message_of(message))
        else "",
    }
    reason = wrong["right_class"] or wrong["right_line"]
    return AnswerScore(float(not reason), kept, reason, {part: float(not why) for part, why in wrong.items()})


def _score_object(sample: Sample, answer: str, kept: str) -> AnswerScore:
    """The whole object decides; class and share of what is in it are told apart."""
    found = compare(answer, sample.answer, sample.data["numbers"])
    if found is None:
        return AnswerScore(0.0, None, "no value", dict.fromkeys(METRICS["object"], 0.0))
    reason = "" if found.same else "another value" if found.right_class else "another class"
    metrics = {"right_class": float(found.right_class), "right_fields": found.right_fields}
    return AnswerScore(float(found.same), kept, reason, metrics)


def _score_crash(sample: Sample, answer: str, kept: str) -> AnswerScore:
    """The class decides; whether anything is raised is told apart."""
    name = name_in(answer)
    if name is None:
        return AnswerScore(0.0, None, "no name of a class and not None", dict.fromkeys(METRICS["crash"], 0.0))
    right = name == sample.answer
    whether = (name == NO_EXCEPTION) == (sample.answer == NO_EXCEPTION)
    reason = (
        ""
        if right
        else "another class"
        if whether
        else "the cell " + ("raises nothing" if sample.answer == NO_EXCEPTION else "raises")
    )
    return AnswerScore(
        float(right), kept, reason, {"right_class": float(right), "right_whether": float(whether)}
    )


def _score_step(sample: Sample, answer: str, kept: str) -> AnswerScore:
    """Place (event, line, call stack) and values are told apart; the state is right where both are."""
    notation, known = sample.data.get("notation", "dynamic"), sample.data.get("known", "")
    true = read_state(sample.answer, notation=notation, known=known)
    told = read_state(answer, notation=notation, known=known)
    assert not isinstance(true, str), sample.id
    if isinstance(told, str):
        return AnswerScore(0.0, None, told, dict.fromkeys(METRICS["step"], 0.0))
    step = compare_step(told, true)
    reason = "" if step.exact else "other values" if step.place else "another place"
    metrics = {"right_place": float(step.place), "right_values": float(step.values)}
    return AnswerScore(float(step.exact), kept, reason, metrics)


def _score_program(
    sample: Sample, completion: str, otherwise: Reading, whole: bool, judge: Judge | None
) -> AnswerScore:
    """All tests decide; how many pass is told apart."""
    if judge is None:
        raise ValueError(f"{sample.id}: scoring a program runs it; give judge=...")
    none = _none(sample)
    found = code_in(completion, sample.data["entry_point"], whole=whole)
    if found.code is None and not found.read:
        reason = found.why_not if otherwise is Reading.UNREADABLE else None
        return no_answer(sample, otherwise, reason)
    if found.code is None:
        return AnswerScore(0.0, completion.strip()[:KEPT_ANSWER_CHARS], found.why_not, none)
    if sample.data["form"] == SPEED:
        fast = run_fast(sample.data, found.code, judge)
        metrics = none | {
            "tests_passed": fast.tested.passed / fast.tested.of,
            "missing_module": float(fast.tested.missing is not None),
            "correct": float(fast.tested.right),
            "cost": fast.cost,
        }
        return AnswerScore(float(not fast.reason), found.code[:KEPT_ANSWER_CHARS], fast.reason, metrics)
    tested = run_tests(sample.data, found.code, judge)
    metrics = {
        "tests_passed": tested.passed / tested.of,
        "missing_module": float(tested.missing is not None),
        **{name: float(right) for name, right in tested.parts.items()},
    }
    return AnswerScore(float(tested.right), found.code[:KEPT_ANSWER_CHARS], tested.reason, none | metrics)


def _score_input(sample: Sample, answer: str, kept: str, run: Run) -> AnswerScore:
    program = Program.from_dict(sample.data["program"])
    try:
        names = names_of(program.code, *sample.data["sources"])
        arguments = arguments_in(answer, sample.data["entry"], names)
    except Refused as reason:
        return AnswerScore(0.0, None if str(reason) == "no argument list" else kept, str(reason))
    except (RecursionError, MemoryError):
        return AnswerScore(0.0, kept, "too deep")
    run_result = run(replace(program, arguments=arguments, id=f"{program.id}:answer"))
    if run_result.outcome is not Outcome.RETURNED:
        return AnswerScore(0.0, kept, f"the call did not return: {run_result.outcome}")
    if run_result.result is None or not run_result.result_builtin:
        return AnswerScore(0.0, kept, "the result is no plain data")
    right = same(run_result.result, sample.data["expected"], strict=sample.data["strict"])
    return AnswerScore(float(right), kept, "" if right else "another result")
