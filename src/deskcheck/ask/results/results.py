"""Results: the score of a model on a kind of question, with intervals, from the rows of its answers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deskcheck.ask.results.attempts import by_question, measured
from deskcheck.ask.results.rows import MEASURED, ScoredSample, Usage, by_sample, reading
from deskcheck.ask.results.statistics import Interval, mean_interval
from deskcheck.ask.results.steps import Steps, steps_of
from deskcheck.ask.scoring.score import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The score on one kind of question, with a 95 % interval clustered by program."""

    question: str
    n: int
    """Questions."""
    programs: int
    """Programs that differ in their code; of questions about notebooks, notebooks."""
    effective: float = 0.0
    """`statistics.effective_clusters` of the programs."""
    score: float | None
    """None if nothing was asked; low and high also if there are too few programs."""
    low: float | None
    high: float | None
    cut: int
    """Completions without an answer, by `score.Reading`. They count as wrong."""
    empty: int
    refused: int
    unreadable: int
    state: str = ""
    """The view of the kernel's state, of questions about notebooks."""
    metrics: Mapping[str, Interval] = field(default_factory=dict)
    attempts: Mapping[str, Interval] = field(default_factory=dict)
    """With several answers to each question: ``pass@k``, ``majority``, ``consistency`` (`attempts`)."""


def figures_of(score: Interval | None, readings: Mapping[str, int]) -> dict[str, Any]:
    """The fields of `Figures` that follow from the interval of a score and the number of each reading."""
    return {
        "programs": score.clusters if score else 0,
        "effective": score.effective if score else 0.0,
        "score": score.value if score else None,
        "low": score.low if score else None,
        "high": score.high if score else None,
        "cut": readings.get(Reading.CUT, 0),
        "empty": readings.get(Reading.EMPTY, 0),
        "refused": readings.get(Reading.REFUSED, 0),
        "unreadable": readings.get(Reading.UNREADABLE, 0),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Figures):
    """The score of one model on one question by one method."""

    model: str
    solver: str
    """The method."""
    epochs: int = 1
    """Answers to each question, whose mean is its score."""
    excluded: Mapping[str, int]
    """Reason -> recordings that were not asked about."""
    steps: Steps | None = None
    """Only for methods that predict the run."""
    samples: tuple[ScoredSample, ...]
    usage: tuple[Usage, ...] = ()
    failed: Mapping[str, int] = field(default_factory=dict)
    """Reason -> requests that failed; they are not among the samples."""
    folder: str

    @property
    def lenient(self) -> Interval | None:
        """The score of the answers as a person would read them. None: logs of earlier versions."""
        return self.metrics.get("lenient")

    @property
    def parts(self) -> dict[str, Interval]:
        """The metrics that only this kind of question has."""
        return {name: interval for name, interval in self.metrics.items() if name != "lenient"}

    def to_dict(self) -> dict[str, Any]:
        """All fields but samples, usage and failed, JSON-able."""
        row = {name: getattr(self, name) for name in _KEYS}
        for name in ("metrics", "attempts"):
            row[name] = {key: asdict(interval) for key, interval in row[name].items()}
        steps = None if self.steps is None else self.steps.to_dict()
        return row | {"excluded": dict(self.excluded), "steps": steps}


_KEYS = (
    *("question", "model", "solver", "n", "programs", "score", "low", "high"),
    *("cut", "empty", "refused", "unreadable", "excluded", "folder"),
    *("state", "metrics", "steps", "epochs", "effective", "attempts"),
)
"""The order of keys in ``results.json``."""


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
    """The result of the answers of one model to one question by one method."""
    clusters = {row.id: row.cluster for row in rows}

    def interval(values: Mapping[str, float], *, by_execution: bool = False) -> Interval | None:
        if not values:
            return None
        clusters_of = [clusters[id_] for id_ in values]
        return mean_interval(list(values.values()), clusters_of, by_execution=by_execution)

    score = interval(by_sample(rows, "score"))
    metrics = {name: interval(by_sample(rows, name), by_execution=bool(state)) for name in MEASURED}
    several = measured(by_question((row.id, row.score, row.answer) for row in rows))
    attempts = {name: interval(values) for name, values in several.items()}
    return Result(
        question=question,
        model=model,
        solver=method,
        state=state,
        n=len(clusters),
        **figures_of(score, Counter(map(reading, rows))),
        metrics={name: figure for name, figure in metrics.items() if figure is not None},
        attempts={name: figure for name, figure in attempts.items() if figure is not None},
        epochs=max((row.epoch for row in rows), default=1),
        excluded=dict(excluded),
        steps=steps_of((row.predicted_run, row.cluster) for row in rows if row.run),
        samples=rows,
        usage=usage,
        failed=dict(failed or {}),
        folder=str(folder),
    )
