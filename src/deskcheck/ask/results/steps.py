"""Statistics of predicted runs: accuracy of a step, longest exact run, half-success horizon, divergences."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deskcheck.ask.results.statistics import Interval, mean_interval
from deskcheck.notation import Divergence, RunAgreement

JUDGED = ("judged", "exact", "places", "values")
"""The counts of a `RunAgreement`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedRun:
    """A predicted run against its recording."""

    key: str
    """Equal for samples that were answered from the same run."""
    asked: int
    """States that the model was asked for, or wrote."""
    agreement: RunAgreement
    why: str = ""
    """The reason why the run could not be read further."""

    def to_dict(self) -> dict[str, Any]:
        """The fields, JSON-able; `PredictedRun.from_dict` reads them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "PredictedRun":
        """Inverse of `to_dict`."""
        counts = dict(row["agreement"])
        first = counts.pop("first")
        agreement = RunAgreement(**counts, first=None if first is None else Divergence(first))
        return cls(key=row["key"], asked=row["asked"], agreement=agreement, why=row["why"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """Steps after which half of all runs are still exact, if steps err independently: ln 0.5 / ln p, with p
    the accuracy of a step. value is None if p is 1; low and high also if the accuracy has no interval."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The steps of many runs, each judged up to the first divergence of its run (`RunAgreement`)."""

    runs: int
    whole: int
    """Runs without a divergence."""
    asked: int
    judged: int
    """Steps, as are those asked."""
    exact: Interval | None
    """The share of judged steps whose state is right, clustered by program; None if none was judged."""
    places: Interval | None
    """The same of event and line."""
    values: Interval | None
    longest: int
    """Most steps in a row that are right, from the start of a run."""
    horizon: Horizon | None
    divergences: Mapping[str, int]
    """Kind of the first divergence -> runs."""

    def to_dict(self) -> dict[str, Any]:
        """The fields, JSON-able."""
        return asdict(self)


def horizon(accuracy: Interval) -> Horizon:
    """The half-success horizon of the accuracy of a step."""
    return Horizon(value=_half(accuracy.value), low=_half(accuracy.low), high=_half(accuracy.high))


def _half(p: float | None) -> float | None:
    if p is None or p >= 1:
        return None
    return math.log(0.5) / math.log(p) if p > 0 else 0.0


def steps_of(rows: Iterable[tuple[PredictedRun, str]]) -> Steps | None:
    """The steps of runs, each with its cluster; None without runs. A run counts once, however many samples
    were answered from it."""
    runs = {run.key: (run, cluster) for run, cluster in rows}
    if not runs:
        return None
    agreements = [(run.agreement, cluster) for run, cluster in runs.values()]
    judged = sum(agreement.judged for agreement, _ in agreements)

    def share(name: str) -> Interval | None:
        if not judged:
            return None
        scores: list[float] = []
        clusters: list[str] = []
        for agreement, cluster in agreements:
            right = getattr(agreement, name)
            scores += [1.0] * right + [0.0] * (agreement.judged - right)
            clusters += [cluster] * agreement.judged
        return mean_interval(scores, clusters)

    exact = share("exact")
    firsts = [agreement.first for agreement, _ in agreements]
    return Steps(
        runs=len(runs),
        whole=firsts.count(None),
        asked=sum(run.asked for run, _ in runs.values()),
        judged=judged,
        exact=exact,
        places=share("places"),
        values=share("values"),
        longest=max(agreement.exact for agreement, _ in agreements),
        horizon=None if exact is None else horizon(exact),
        divergences=dict(Counter(first.value for first in firsts if first is not None)),
    )
