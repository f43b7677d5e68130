"""A kind of question: a function from a recording to samples, each with its answer.

A recording is asked about only if its run returned or, by the kinds that say `of_raised`, an exception left
it, if it is recorded whole and is not known to differ between two runs. Whatever is not asked about is
counted with its reason in `excluded`. The places of a recording that are asked about are drawn from a
generator seeded with the text ``seed:recording:kind``. So the choice does not depend on the other questions.

Not covered: other threads than the main one; questions about notebooks.
"""

import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Protocol, TypeVar

from deskcheck.ask.answers.lenient import ANSWERS
from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.samples.places import (
    SCANNED_EVENTS,
    Arrival,
    Run,
    Unfit,
    call_source,
    files_of,
    once,
    plain,
    where,
)
from deskcheck.ask.samples.prompts import (
    OBJECTS,
    add_words,
    functions_text,
    how_run,
    own_parts,
    parts_of,
)
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import ShownSource, cluster_of
from deskcheck.ask.samples.tables import draws_random, filled_elsewhere, reads_docstrings
from deskcheck.notation.calls import begun_by
from deskcheck.notation.state import BEGINS, ENDS
from deskcheck.recording import Outcome, Recording, render

ANSWER_CHARS = 1000
SHOWN_VALUE_CHARS = 400


class Ask(Protocol):
    """Yields samples of a recording, and an Unfit for each place that cannot be asked about, to be counted.
    Only the first `per_recording` samples are used. Raises Unfit if a recording cannot be asked about."""

    def __call__(
        self, recording: Recording, rng: random.Random, per_recording: int, /
    ) -> Iterator[Sample | Unfit]: ...


Score = Callable[[Sample, str], float]
"""From a sample and an answer (the text between the marks) to a score from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Question:
    """A kind of question."""

    name: str
    ask: Ask
    few: int
    """Samples of one recording by default."""
    about: str
    """A sentence that describes the question."""
    score: Score | None = None
    """Scores answers whose form is ``own``. It must not run them, nor raise for whatever a model wrote."""
    of_raised: bool = False
    """Whether runs that an exception left are asked about, too."""
    shows_globals: bool = False
    """Whether its prompts show global variables. Other prompts get those whose values differ from those in
    the source."""
    shows_call: bool = True
    """Whether its prompts show the call: objects and functions among the arguments are explained below."""
    none: str = ""
    """The reason that is counted for a recording without a sample; empty: none is."""

    def __call__(
        self,
        recording: Recording,
        *,
        seed: int = 0,
        per_recording: int | None = None,
        excluded: Counter[str] | None = None,
    ) -> Iterator[Sample]:
        """Up to `per_recording` samples of a recording; if there are none, the reason is added to
        `excluded`."""
        count = self.few if per_recording is None else per_recording
        if count < 1:
            raise ValueError(
                f"per_recording={count} must be at least 1. To leave a question out, do not ask it."
            )
        excluded = Counter() if excluded is None else excluded
        rng = random.Random(f"{seed}:{recording.id}:{self.name}")
        sample_count = 0
        try:
            _check(recording, raised=self.of_raised)
            below = self._below(recording)
            for sample in self.ask(recording, rng, count):
                if isinstance(sample, Unfit):
                    excluded[str(sample)] += 1
                    continue
                if OPEN in sample.answer or CLOSE in sample.answer:
                    raise Unfit("the answer contains the marks that enclose answers")
                parts = sample.parts
                if below:
                    parts = parts | {"question": parts["question"] + below}
                yield replace(sample, parts=parts, data=sample.data | _size(recording))
                sample_count += 1
                if sample_count == count:
                    return
            if not sample_count and self.none:
                raise Unfit(self.none)
        except Unfit as reason:
            excluded[str(reason)] += 1

    def _below(self, recording: Recording) -> str:
        """The text below a question about values that its prompt does not show otherwise."""
        below = "" if self.shows_globals else globals_text(recording)
        if self.shows_call and recording.program.extra.get("arguments") == "shown":
            below = f"\n{OBJECTS}{functions_text(recording.program)}{below}"
        return below


def kind(
    name: str,
    about: str,
    few: int = 1,
    *,
    words: Mapping[str, Any] | None = None,
    answers: str = "",
    **fields: Any,
) -> Callable[[Ask], Question]:
    """Make a kind of question of the function that asks it. fields: of `Question`.

    words: the task and the worked example of its prompts, as a section of ``prompts.toml``, which has those
    of other kinds. answers: ``count`` or ``truth`` if the answers are numbers of times, or truth values: the
    lenient score then reads sentences that say so.
    """
    if words is not None:
        add_words(name, words)
    if answers:
        ANSWERS[name] = answers
    return lambda ask: Question(name, ask, few, about, **fields)


@once
def _size(recording: Recording) -> dict[str, int]:
    """The number of events of the trace, and the maximum depth of calls unless the trace is very long."""
    trace = recording.trace
    size = {"events": len(trace)}
    if len(trace) <= SCANNED_EVENTS:
        depth = deepest = 0
        for row in trace.rows:
            depth += (row.kind in BEGINS) - (row.kind in ENDS)
            deepest = max(deepest, depth + (row.kind in ENDS))
        size["depth"] = deepest
    return size


_BY_DEPTH = frozenset({"RecursionError", "MemoryError"})
"""Exceptions that another machine may raise at another place."""


def _check(recording: Recording, *, raised: bool) -> None:
    fit = {Outcome.RETURNED, Outcome.RAISED} if raised else {Outcome.RETURNED}
    if recording.outcome not in fit:
        raise Unfit(f"ended otherwise: {recording.outcome}")
    if recording.run_result.exception in _BY_DEPTH:
        raise Unfit("it reached the recursion limit, which depends on its caller")
    if recording.run_result.cut or any(trace.cut for trace in recording.traces):
        raise Unfit("the recording is cut")
    if recording.doubt is not None:
        raise Unfit(recording.doubt)
    if "run" in recording.program.extra:
        raise Unfit("recorded by `deskcheck run`, with arguments, input and files that are not shown")
    begun = begun_by(recording.program, call_source(recording))
    if begun == "decorated":
        raise Unfit("it calls a decorated generator or coroutine, which the decorator may run")
    if begun and recording.outcome is Outcome.RETURNED and recording.run_result.detail:
        raise Unfit("its generator was closed before its end")
    if reads_docstrings(recording):
        raise Unfit("it reads a docstring that is not shown")
    if draws_random(recording):
        raise Unfit("it draws random numbers, which the tests have seeded")


T = TypeVar("T")


def globals_text(recording: Recording) -> str:
    """The part of a prompt about global variables whose values differ from those in the source."""
    lines = []
    several = len({row.file for row in recording.trace.rows}) > 1
    for (file, name), value in filled_elsewhere(recording).items():
        if not plain(value) or len(text := render(value)) > SHOWN_VALUE_CHARS:
            raise Unfit("a global variable that other code filled cannot be shown")
        lines.append(f"    {name} = {text}" + (f" in {file}" if several else ""))
    return "\nGlobals when the call is made:\n" + "\n".join(lines) if lines else ""


def in_turns(
    places: Iterable[T], rng: random.Random, answer: Callable[[T], Hashable], where: Callable[[T], Hashable]
) -> Iterator[T]:
    """The candidates in a drawn order in which the answers take turns. A candidate comes after all others if
    one with the same answer at the same place was drawn before."""
    shuffled = list(places)
    rng.shuffle(shuffled)
    for group in first_and_repeated(shuffled, lambda candidate: (where(candidate), answer(candidate))):
        by_answer: dict[Hashable, list[T]] = {}
        for candidate in group:
            by_answer.setdefault(answer(candidate), []).append(candidate)
        for row in zip_longest(*by_answer.values()):
            yield from (candidate for candidate in row if candidate is not None)


def first_and_repeated(places: Iterable[T], key: Callable[[T], Hashable]) -> tuple[list[T], list[T]]:
    """The places with a new key, and those that repeat a key, both in their order."""
    keys: set[Hashable] = set()
    first: list[T] = []
    repeated: list[T] = []
    for candidate in places:
        (repeated if key(candidate) in keys else first).append(candidate)
        keys.add(key(candidate))
    return first, repeated


def sample_of(
    recording: Recording,
    kind: str,
    files: Sequence[ShownSource],
    question: str,
    answer: str,
    *,
    form: str = "value",
    id_part: str = "",
    data: Mapping[str, Any] | None = None,
) -> Sample:
    """A sample about a run, in the words that `prompts` has for its kind. The question begins with how the
    program is run.

    question: lines of ``Label: text``. id_part: differs between samples of one recording, together with
    ``data["file"]`` if that is not the program's own file.
    """
    began = f"How it is run: {how_run(recording.program, call_source(recording))}"
    file = (data or {}).get("file", recording.program.filename)
    elsewhere = "" if file == recording.program.filename or not id_part else file
    parts = parts_of(kind, files, "\n".join(filter(None, (began, question))))
    return _sample(recording, kind, [elsewhere, id_part], parts, answer, {"form": form, **(data or {})})


def _sample(
    recording: Recording,
    kind: str,
    id_parts: Sequence[str],
    parts: dict[str, str],
    answer: str,
    data: Mapping[str, Any],
) -> Sample:
    strict = {"strict": True} if data["form"] == "value" else {}
    return Sample(
        id=":".join(filter(None, (recording.id, kind, *id_parts))),
        question=kind,
        program=recording.id,
        cluster=cluster_of(recording.program),
        parts=parts,
        answer=answer,
        data={"form": data["form"], **strict, **data},
    )


def sample_at(
    recording: Recording,
    kind: str,
    run: Run,
    arrival: Arrival,
    question: str,
    answer: str,
    *,
    form: str = "value",
    **data: str,
) -> Sample:
    """A sample about the k-th time that a line runs. data: values that differ between samples about this
    moment."""
    id_part = ":".join([str(arrival.line), str(arrival.k), *data.values()])
    # The order of the keys is part of the digest by which a run is resumed.
    variable = {"variable": data.pop("variable")} if "variable" in data else {}
    place = {"file": arrival.file, "line": arrival.line, "k": arrival.k, **variable, "event": arrival.index}
    return sample_of(
        recording,
        kind,
        run.files,
        question,
        answer,
        form=form,
        id_part=id_part,
        data=place | data,
    )


def sample_of_variable(
    recording: Recording, kind: str, run: Run, arrival: Arrival, name: str, answer: str, form: str = "value"
) -> Sample:
    """A sample about a variable just before a line runs for the k-th time."""
    question = (
        f"Variable: {name}, just before line {arrival.line}{where(run.files, arrival.file)} "
        f"runs for time number {arrival.k}"
    )
    return sample_at(recording, kind, run, arrival, question, answer, form=form, variable=name)


def sample_about(
    recording: Recording,
    name: str,
    *,
    task: str,
    asked: str,
    answer: str,
    form: str = "value",
    place: str = "",
    data: Mapping[str, Any] | None = None,
) -> Sample:
    """A sample of a kind that you define. The prompt is the task, the program and the question.

    task: the instructions; the marks around the answer are added. asked: this question. answer: the right
    answer, up to 1,000 characters. form: how answers are compared: ``value``, as values of Python;
    ``stdout``, as printed text; ``line``, as a line number (the prompt has line numbers); ``own``, by the
    question's `score`. place: differs between samples of one recording. data: for `score`, JSON-able.

    Raises Unfit for an answer that is too long.
    """
    if len(answer) > ANSWER_CHARS:
        raise Unfit("the answer is too long")
    parts = own_parts(task, files_of(recording), asked, numbered=form == "line")
    return _sample(recording, name, [place], parts, answer, {"form": form, **(data or {})})
