"""Effects on scores, of showing the state of the kernel and of methods, paired over the same samples."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from deskcheck.ask.results.results import Result
from deskcheck.ask.results.rows import by_sample
from deskcheck.ask.results.statistics import mcnemar, paired_difference, sign_flip

WITHOUT = "none"
"""The view with which the others are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The score with a view of the state minus that without, or by a method minus that by another, with a
    95 % interval clustered by program or notebook (`statistics.paired_difference`)."""

    question: str
    model: str
    solver: str
    """The method."""
    state: str
    against: str
    """The view or method to compare with."""
    metric: str
    """``score``, or of questions about notebooks one of `score.METRICS`."""
    n: int
    clusters: int
    difference: float
    low: float | None
    high: float | None
    better: int
    """Samples whose score rose."""
    worse: int
    sign_flip: float
    """Exact p-value by cluster, not adjusted for the number of comparisons."""
    mcnemar: float | None
    """Exact p-value that takes samples for independent, if all scores are 0 or 1. Not adjusted either."""
    by_execution: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields, JSON-able."""
        return asdict(self)


def effects(results: Sequence[Result]) -> list[Effect]:
    """The effect of each view of the state against none, and of each method against the first, by metric."""
    without = {(r.question, r.model, r.solver): r for r in results if r.state == WITHOUT}
    first: dict[tuple[str, str, str], Result] = {}
    pairs: list[tuple[Result, Result, str]] = []
    for result in results:
        base = without.get((result.question, result.model, result.solver))
        if base is not None and result.state not in ("", WITHOUT):
            pairs.append((base, result, WITHOUT))
        base = first.setdefault((result.question, result.model, result.state), result)
        if base is not result:
            pairs.append((base, result, base.solver))
    return [effect for base, result, against in pairs for effect in _effects(base, result, against)]


def _effects(base: Result, result: Result, against: str) -> Iterator[Effect]:
    clusters = {row.id: row.cluster for row in base.samples}
    for metric in (result.parts if result.state else None) or ("score",):
        before, after = (by_sample(each.samples, metric) for each in (base, result))
        if before.keys() != after.keys():  # some metrics are unknown for some answers
            both = before.keys() & after.keys()
            before, after = ({id_: scores[id_] for id_ in both} for scores in (before, after))
        if not before:
            continue
        mean = paired_difference(before, after, clusters, by_execution=bool(result.state))
        binary = {*before.values(), *after.values()} <= {0.0, 1.0}
        yield Effect(
            question=result.question,
            model=result.model,
            solver=result.solver,
            state=result.state,
            against=against,
            metric=metric,
            n=mean.n,
            clusters=mean.clusters,
            difference=mean.value,
            low=mean.low,
            high=mean.high,
            better=sum(after[id_] > before[id_] for id_ in before),
            worse=sum(after[id_] < before[id_] for id_ in before),
            sign_flip=sign_flip(before, after, clusters),
            mcnemar=mcnemar(before, after) if binary else None,
            by_execution=mean.by_execution,
        )
