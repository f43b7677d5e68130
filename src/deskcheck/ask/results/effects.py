"""What runtime information and methods do: the same samples with a view of the kernel's state and without,
and by one method and another, paired."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Protocol

from deskcheck.ask.results.statistics import mcnemar, paired_difference, sign_flip

WITHOUT = "none"
"""The view that the others are compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Score of a model with a view of the state minus its score without, or by a method (`solver`) minus by
    another, over the same samples.

    against: the view or the method that it is compared with. metric: ``score``, or of questions about
    notebooks as in `score.METRICS`. n: samples; clusters: notebooks. low, high, by_execution: 95 % interval,
    clustered by notebook (`statistics.paired_difference`, `Interval`). better, worse: samples whose score
    rose, and fell. sign_flip: exact p-value by cluster; mcnemar: exact p-value for scores of 0 and 1, which
    takes samples for independent, None for other metrics. Neither is adjusted for the number of comparisons.
    """

    question: str
    model: str
    solver: str
    state: str
    against: str
    metric: str
    n: int
    clusters: int
    difference: float
    low: float | None
    high: float | None
    better: int
    worse: int
    sign_flip: float
    mcnemar: float | None
    by_execution: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields, JSON-able."""
        return asdict(self)


class _Row(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def cluster(self) -> str: ...


class _Result(Protocol):
    @property
    def question(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def solver(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def samples(self) -> Sequence[_Row]: ...
    @property
    def parts(self) -> Mapping[str, object]: ...


def by_sample(rows: Sequence[_Row], metric: str) -> dict[str, float]:
    """Sample -> its value; the mean, where it was answered several times (epochs). Without those that have
    none."""
    found: dict[str, list[float]] = {}
    for row in rows:
        value = getattr(row, metric)
        if value is not None:
            found.setdefault(row.id, []).append(value)
    return {id_: values[0] if len(values) == 1 else fmean(values) for id_, values in found.items()}


def effects(results: Sequence[_Result]) -> list[Effect]:
    """Of every question and model that was asked without the state and with it, and by several methods:
    against the one without, and the method that comes first; for each view, method and metric."""
    without = {(r.question, r.model, r.solver): r for r in results if r.state == WITHOUT}
    first: dict[tuple[str, str, str], _Result] = {}
    found: list[Effect] = []
    for result in results:
        base = without.get((result.question, result.model, result.solver))
        if base is not None and result.state not in ("", WITHOUT) and result.samples:
            found += _effects(base, result, WITHOUT)
        base = first.setdefault((result.question, result.model, result.state), result)
        if base is not result and result.samples:
            found += _effects(base, result, base.solver)
    return found


def _effects(base: _Result, result: _Result, against: str) -> Iterator[Effect]:
    clusters = {row.id: row.cluster for row in base.samples}
    for metric in (result.parts if result.state else None) or ("score",):
        first, second = (by_sample(each.samples, metric) for each in (base, result))
        if first.keys() != second.keys():  # of one alone nothing can be told, as by running
            both = first.keys() & second.keys()
            first, second = ({id_: each[id_] for id_ in both} for each in (first, second))
        if not first:
            continue
        known = paired_difference(first, second, clusters, by_execution=bool(result.state))
        binary = {*first.values(), *second.values()} <= {0.0, 1.0}
        yield Effect(
            question=result.question,
            model=result.model,
            solver=result.solver,
            state=result.state,
            against=against,
            metric=metric,
            n=known.n,
            clusters=known.clusters,
            difference=known.value,
            low=known.low,
            high=known.high,
            better=sum(second[id_] > first[id_] for id_ in first),
            worse=sum(second[id_] < first[id_] for id_ in first),
            sign_flip=sign_flip(first, second, clusters),
            mcnemar=mcnemar(first, second) if binary else None,
            by_execution=known.by_execution,
        )
