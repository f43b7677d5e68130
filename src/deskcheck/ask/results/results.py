"""What came of asking, as data: a row for each answer, what it took, and scores with intervals."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskcheck.ask.results.attempts import by_question, measured
from deskcheck.ask.results.effects import by_sample
from deskcheck.ask.results.statistics import Interval, mean_interval
from deskcheck.ask.results.steps import PredictedRun, Steps, steps_of
from deskcheck.ask.scoring.score import Reading
from deskcheck.notation import Divergence, RunAgreement

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.model import ModelUsage


MEASURED = (
    "lenient",
    *("exact", "rouge_l", "chrf", "by_value", "by_running"),
    *("right_line", "right_class", "right_message", "right_place", "right_values", "right_whether", "prefix"),
    "right_fields",
    *("tests_passed", "missing_module", "base_right", "new_right", "correct", "cost"),
)
"""Columns of ``samples.parquet`` that are metrics."""


STEPS = ("steps_asked", "steps_judged", "steps_exact", "steps_places", "steps_values")
"""Columns of ``samples.parquet`` that count steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSample:
    """One sample as it was answered and scored: a row of ``samples.parquet``.

    answer: what was read from the completion, None if nothing could be. expected: the reference answer (of an
    ``input`` question, one of the right ones). reason: why the score is 0. state: of questions about
    notebooks the view of the state, else empty. reading: what the completion is (`score.Reading`).
    stop_reason: why it ended, in Inspect's words; None where that is not known. epoch: which of several
    answers of the model to this sample, from 1. lenient: the score of the answer as a person would read it.
    exact, rouge_l, chrf, by_value: of those questions the metrics (`score.METRICS`), None where a question
    has not that one. by_running: of next cells, where that
    was asked for (`running`), None where it cannot be told. ran: what came of running it: the first
    difference, or why nothing can be told. right_line, right_class, right_message: of exceptions, each part.
    right_place, right_values: of a state one step on, each part. right_whether: of a cell that may raise,
    whether it does. prefix: of a path, the share of it before the first mistake. right_class, right_fields:
    of an object, its class and the share of its attributes and items.
    tests_passed: of a program, the share of its tests; missing_module: whether a module is not installed that
    it needs; base_right, new_right: of two functions, each with the reference's other one. correct, cost: of
    a program to make faster, whether it passes its tests, and its instructions as a share of the slow
    one's; 1 where it is wrong, or not faster.

    solver: the method (`solvers.METHODS`). Of those that predict the run: run: equal for samples that were
    answered from the same predicted run; steps_asked and so on: its steps (`steps.Ran`); divergence: kind of
    the first, empty if there is none; ended: what could not be read, where that ended it; predicted: the
    trace as the model wrote it, cut if it is long.

    prompt: the question; of methods that predict the run the model did not see it.

    attempts: of methods that run code, the transcript as JSON (`results.transcript`), else empty.
    """

    id: str
    program: str
    cluster: str
    question: str
    model: str
    solver: str
    completion: str
    answer: str | None
    expected: str
    score: float
    reason: str
    data: str
    """`Sample.data` as JSON: of questions about notebooks also what went into the prompt and what was cut."""
    state: str = ""
    reading: str = ""
    stop_reason: str | None = None
    epoch: int = 1
    lenient: float | None = None
    exact: float | None = None
    rouge_l: float | None = None
    chrf: float | None = None
    by_value: float | None = None
    by_running: float | None = None
    right_line: float | None = None
    right_class: float | None = None
    right_message: float | None = None
    right_place: float | None = None
    right_values: float | None = None
    right_whether: float | None = None
    prefix: float | None = None
    right_fields: float | None = None
    tests_passed: float | None = None
    missing_module: float | None = None
    base_right: float | None = None
    new_right: float | None = None
    correct: float | None = None
    cost: float | None = None
    ran: str = ""
    run: str = ""
    steps_asked: int | None = None
    steps_judged: int | None = None
    steps_exact: int | None = None
    steps_places: int | None = None
    steps_values: int | None = None
    divergence: str = ""
    ended: str = ""
    predicted: str = ""
    prompt: str = ""
    attempts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskProgress:
    """How far a run is. done: answers that are scored, of `total`, `before` of them when this process began.
    Tokens, US dollars (None: not known) and requests that were made again are those of this process."""

    done: int
    total: int
    before: int
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    retries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one sample took: a row of ``usage.parquet``. Of a run that answers several samples the first of
    them has it all.

    input_tokens, output_tokens: as the provider counted them; input has what was read from and written to its
    cache. cost: in US dollars, where Inspect knows the model's prices. time_s: of work, without waiting for
    others. None: not known.
    """

    id: str
    question: str
    model: str
    solver: str
    state: str
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    time_s: float | None
    epoch: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The score of one model on one question. `low` and `high` bound the 95 % interval, clustered by program.

    programs: how many different ones there are, by their code: three asserts about one function are one.
    effective: of these (`statistics.effective_clusters`).
    state: of questions about notebooks the view of the state; programs are notebooks then. metrics: name ->
    mean with its interval, where a question has several. steps: of methods that predict the run, what its
    steps say.

    n: samples; epochs: answers to each, whose mean is its score. score, low and high are None if there was
    nothing to ask (n is 0), low and high also if there are too few programs. cut, empty, refused,
    unreadable: completions without an answer, by what they are (`score.Reading`); they count as wrong.
    excluded: reason -> number of recordings not asked about.
    """

    question: str
    model: str
    solver: str
    n: int
    programs: int
    score: float | None
    low: float | None
    high: float | None
    cut: int
    empty: int
    refused: int
    unreadable: int
    excluded: Mapping[str, int]
    samples: tuple[ScoredSample, ...]
    folder: str
    state: str = ""
    metrics: Mapping[str, Interval] = field(default_factory=dict)
    steps: Steps | None = None
    usage: tuple[Usage, ...] = ()
    epochs: int = 1
    effective: float = 0.0
    attempts: Mapping[str, Interval] = field(default_factory=dict)
    """Of several answers to each sample: ``pass@k``, ``majority``, ``consistency`` (`attempts`)."""
    failed: Mapping[str, int] = field(default_factory=dict)
    """Why requests failed -> how many; they are not among the samples."""

    @property
    def lenient(self) -> Interval | None:
        """The score of the answers as a person would read them. None: logs of earlier versions have none."""
        return self.metrics.get("lenient")

    @property
    def parts(self) -> dict[str, Interval]:
        """The metrics that only this kind of question has."""
        return {name: found for name, found in self.metrics.items() if name != "lenient"}

    def to_dict(self) -> dict[str, Any]:
        """Everything but the samples and what they took, JSON-able."""
        names = [name for name in self.__dataclass_fields__ if name not in ("samples", "usage", "failed")]
        told = {
            part: {name: asdict(found) for name, found in getattr(self, part).items()}
            for part in ("metrics", "attempts")
        }
        row = {name: getattr(self, name) for name in names}
        steps = None if self.steps is None else self.steps.to_dict()
        return row | {"excluded": dict(self.excluded), **told, "steps": steps}


def scored_of(log: "EvalLog", question: str, state: str, method: str) -> Iterator[ScoredSample]:
    """The samples of a log of one of our tasks, as they were answered and scored."""
    for sample in log.samples or ():
        if sample.error is not None:
            continue
        score = (sample.scores or {})["scored"]
        told = dict(score.metadata or {})
        reason = score.explanation or ""
        if sample.limit is not None and told.get("reading") == Reading.EMPTY:
            told["reading"] = Reading.CUT.value
            reason = f"the sample met its limit before there was an answer: {sample.limit.type}"
        steps: dict[str, Any] = {}
        if "steps" in sample.metadata:
            ran = PredictedRun.from_dict(sample.metadata["steps"])
            steps = {"run": ran.key, "steps_asked": ran.asked, "ended": ran.why}
            steps |= {f"steps_{name}": getattr(ran.agreement, name) for name in _JUDGED}
            steps |= {"divergence": ran.agreement.first or "", "predicted": sample.metadata["predicted"]}
        yield ScoredSample(
            id=str(sample.id),
            program=sample.metadata["program"],
            cluster=sample.metadata["cluster"],
            question=question,
            model=log.eval.model,
            solver=method,
            completion=sample.output.completion,
            answer=score.answer,
            expected=sample.metadata["answer"],
            score=float(score.as_float()),
            reason=reason,
            data=json.dumps(sample.metadata["data"]),
            state=state,
            reading=told.get("reading", ""),
            stop_reason=told.get("stop_reason"),
            epoch=sample.epoch,
            prompt=sample.input if isinstance(sample.input, str) else "",
            attempts=json.dumps(sample.metadata["attempts"]) if "attempts" in sample.metadata else "",
            **told.get("metrics", {}),
            **steps,
        )


def usage_of(log: "EvalLog", question: str, state: str, method: str) -> Iterator[Usage]:
    """What the samples of a log took."""
    for sample in log.samples or ():
        used = list(sample.model_usage.values())
        costs = [usage.total_cost for usage in used if usage.total_cost is not None]
        yield Usage(
            id=str(sample.id),
            question=question,
            model=log.eval.model,
            solver=method,
            state=state,
            input_tokens=sum(input_tokens(usage) for usage in used) if used else None,
            output_tokens=sum(usage.output_tokens for usage in used) if used else None,
            cost=sum(costs) if costs else None,
            time_s=sample.working_time,
            epoch=sample.epoch,
        )


def input_tokens(usage: "ModelUsage") -> int:
    """What was read, from the provider's cache too."""
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached


_JUDGED = ("judged", "exact", "places", "values")


def _ran(row: ScoredSample) -> PredictedRun:
    """The predicted run of a row that has one."""
    first = Divergence(row.divergence) if row.divergence else None
    judged = RunAgreement(**{name: getattr(row, f"steps_{name}") for name in _JUDGED}, first=first)
    return PredictedRun(key=row.run, asked=row.steps_asked or 0, agreement=judged, why=row.ended)


def result_of(
    question: str,
    state: str,
    method: str,
    model: str,
    rows: tuple[ScoredSample, ...],
    excluded: Mapping[str, int],
    folder: Path,
    usage: tuple[Usage, ...] = (),
    failed: Mapping[str, int] | None = None,
) -> Result:
    """What the samples of one model come to."""
    clusters = {row.id: row.cluster for row in rows}
    known = _interval(by_sample(rows, "score"), clusters)
    metrics = {}
    for name in MEASURED:
        found = _interval(by_sample(rows, name), clusters, by_execution=bool(state))
        if found is not None:
            metrics[name] = found
    tries = {}
    for name, values in measured(by_question((row.id, row.score, row.answer) for row in rows)).items():
        if (found := _interval(values, clusters)) is not None:
            tries[name] = found
    readings = Counter(reading(row) for row in rows)
    return Result(
        question=question,
        model=model,
        solver=method,
        n=len(clusters),
        programs=known.clusters if known else 0,
        score=known.value if known else None,
        low=known.low if known else None,
        high=known.high if known else None,
        cut=readings[Reading.CUT],
        empty=readings[Reading.EMPTY],
        refused=readings[Reading.REFUSED],
        unreadable=readings[Reading.UNREADABLE],
        excluded=dict(excluded),
        samples=rows,
        folder=str(folder),
        state=state,
        metrics=metrics,
        steps=steps_of((_ran(row), row.cluster) for row in rows if row.run),
        usage=usage,
        epochs=max((row.epoch for row in rows), default=1),
        effective=known.effective if known else 0.0,
        attempts=tries,
        failed=dict(failed or {}),
    )


def _interval(
    values: Mapping[str, float], clusters: Mapping[str, str], *, by_execution: bool = False
) -> Interval | None:
    if not values:
        return None
    clusters_of = [clusters[id_] for id_ in values]
    return mean_interval(list(values.values()), clusters_of, by_execution=by_execution)


def reading(row: ScoredSample) -> str:
    """What a completion is; of rows of earlier versions, which do not have it, as far as they tell."""
    return row.reading or (Reading.ANSWERED if row.answer is not None else Reading.UNREADABLE)
