"""An answer as a row: the question, the text of the model, the score, and tokens, cost and time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from deskcheck.ask.results.steps import JUDGED, PredictedRun
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.score import AnswerScore, Reading
from deskcheck.errors import InputError
from deskcheck.notation import Divergence, RunAgreement


class Key(NamedTuple):
    """The parts that name a result. state: the view of a kernel's state, empty for other questions."""

    question: str
    state: str
    method: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSample:
    """A scored answer to a sample: a row of ``samples.parquet``."""

    id: str
    program: str
    cluster: str
    question: str
    model: str
    solver: str
    """The method, with its options."""
    completion: str
    answer: str | None
    """The part of the completion that was scored; None if no answer could be read."""
    expected: str
    """The reference answer; of an ``input`` question one of the right ones."""
    score: float
    reason: str
    """The reason why the score is 0."""
    data: str
    """`Sample.data` as JSON."""
    state: str = ""
    reading: str = ""
    """A `score.Reading`."""
    stop_reason: str | None = None
    epoch: int = 1
    """The number of this answer among several of the model to the sample."""
    # Metrics of a kind of answer (`score.METRICS`), and by_running (`scoring.running`).
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
    """The first difference that running a next cell showed, or why it could not be run."""
    run: str = ""
    """Equal for samples that were answered from the same predicted run."""
    steps_asked: int | None = None
    steps_judged: int | None = None
    steps_exact: int | None = None
    steps_places: int | None = None
    steps_values: int | None = None
    divergence: str = ""
    """The kind of the first divergence of a predicted run."""
    ended: str = ""
    """The reason why a predicted run could not be read further."""
    predicted: str = ""
    """The predicted trace, which may be cut."""
    prompt: str = ""
    attempts: str = ""
    """The transcript (`results.transcript`) as JSON, of methods that run code."""

    @property
    def key(self) -> Key:
        return Key(self.question, self.state, self.solver, self.model)

    @property
    def predicted_run(self) -> PredictedRun:
        """The predicted run from which the sample was answered."""
        first = Divergence(self.divergence) if self.divergence else None
        agreement = RunAgreement(**{name: getattr(self, f"steps_{name}") for name in JUDGED}, first=first)
        return PredictedRun(key=self.run, asked=self.steps_asked or 0, agreement=agreement, why=self.ended)


MEASURED = tuple(
    field.name for field in fields(ScoredSample) if field.type == float | None and field.name != "score"
)
"""Columns of ``samples.parquet`` that are metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, cost and time of a sample: a row of ``usage.parquet``. None: unknown.

    If a predicted run answers several samples, the first of them has all of it.
    """

    id: str
    question: str
    model: str
    solver: str
    state: str
    input_tokens: int | None
    """As counted by the provider, with those read from and written to its cache."""
    output_tokens: int | None
    cost: float | None
    """US dollars, if Inspect knows the prices of the model."""
    time_s: float | None
    """Working time, without waiting for other requests."""
    epoch: int = 1

    @property
    def key(self) -> Key:
        return Key(self.question, self.state, self.solver, self.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRun:
    """The answers of one key in one log or folder. started: seconds since the epoch."""

    key: Key
    folder: Path
    started: float
    samples: Sequence[ScoredSample]
    usage: Sequence[Usage] = ()
    excluded: Mapping[str, int]


def by_sample(rows: Sequence[ScoredSample], metric: str) -> dict[str, float]:
    """Sample -> the mean of a metric over its answers, without samples that do not have the metric."""
    values: dict[str, list[float]] = {}
    for row in rows:
        value = getattr(row, metric)
        if value is not None:
            values.setdefault(row.id, []).append(value)
    return {id_: scores[0] if len(scores) == 1 else fmean(scores) for id_, scores in values.items()}


def reading(row: ScoredSample) -> str:
    """The `Reading` of a row; rows of earlier versions do not have it."""
    return row.reading or (Reading.ANSWERED if row.answer is not None else Reading.UNREADABLE)


def scored_here(sample: Sample, scored: AnswerScore, model: str, **columns: Any) -> ScoredSample:
    """The row of an answer that another program fetched and deskcheck scored."""
    metrics: dict[str, Any] = {name: scored.metrics.get(name) for name in MEASURED}
    return ScoredSample(
        program=sample.program,
        cluster=sample.cluster,
        question=sample.question,
        model=model,
        solver="direct",
        answer=scored.answer,
        expected=sample.answer,
        score=scored.score,
        reason=scored.reason,
        data=json.dumps(sample.data),
        prompt=sample.prompt,
        **{"id": sample.id_in_all_views, "reading": scored.reading.value, **metrics, **columns},
    )


def scored_elsewhere(
    sample_id: str, fields: Mapping[str, Any], cluster: str | None, file: str, **columns: Any
) -> ScoredSample:
    """The row of a sample that another program scored. fields: its metadata; numbers and short texts in them
    are kept. cluster: the field by which samples belong together.

    Raises InputError: the sample does not have that field.
    """
    if cluster is not None and cluster not in fields:
        raise InputError(
            f"{file}: sample {sample_id} has no {cluster!r}: it has {', '.join(fields) or 'no fields'}."
        )
    data = {name: value for name, value in fields.items() if _is_short(value)}
    value = sample_id if cluster is None else str(fields[cluster])
    return ScoredSample(
        id=sample_id, program=sample_id, cluster=value, reason="", data=json.dumps(data), **columns
    )


def _is_short(value: object) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= 200)


def seconds(date: object, file: Path) -> float:
    """Seconds since the epoch of a date in a card or log; without one, of the file."""
    try:
        return datetime.fromisoformat(str(date)).timestamp()
    except ValueError:
        return file.stat().st_mtime
