"""What predicted runs say about single steps: accuracy of a step, longest exact run, half-success horizon,
how runs first go wrong. Every run counts once, however many questions were read from it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deskcheck.ask.results.statistics import Interval, mean_interval
from deskcheck.notation import Divergence, RunAgreement


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedRun:
    """One predicted run against its recording. key: equal for samples that were read from the same run.
    asked: states that were asked for or told. why: what could not be read, where that ended it."""

    key: str
    asked: int
    agreement: RunAgreement
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields, JSON-able; `PredictedRun.from_dict` reads them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> "PredictedRun":
        """Inverse of `to_dict`."""
        known = dict(row["agreement"])
        first = known.pop("first")
        made = RunAgreement(**known, first=None if first is None else Divergence(first))
        return cls(key=row["key"], asked=row["asked"], agreement=made, why=row["why"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """Steps after which half of all runs are still exact, if steps err independently: ln 0.5 / ln p, with p
    the accuracy of a step. low, high: of the 95 % interval, None also if the accuracy has none. None: beyond
    any number, p is 1."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The steps of many runs, each judged up to where its run first went wrong (`RunAgreement`).

    runs, whole: how many, and how many are right from end to end. asked, judged: steps. exact, places,
    values: share of the judged that are right: the state, its place (event and line) and its values, with 95
    % intervals clustered by program; None if no step was judged. longest: most steps right in a row from a
    run's start. divergences: kind of the first one -> runs.
    """

    runs: int
    whole: int
    asked: int
    judged: int
    exact: Interval | None
    places: Interval | None
    values: Interval | None
    longest: int
    horizon: Horizon | None
    divergences: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """The fields, JSON-able."""
        return asdict(self)


def horizon(accuracy: Interval) -> Horizon:
    """The half-success horizon of a step's accuracy; its bounds are those of the accuracy."""
    return Horizon(value=_half(accuracy.value), low=_half(accuracy.low), high=_half(accuracy.high))


def _half(p: float | None) -> float | None:
    """Steps until a chance of p a step has made one half. 0 for p = 0, None for p = 1."""
    if p is None or p >= 1:
        return None
    return math.log(0.5) / math.log(p) if p > 0 else 0.0


def steps_of(rows: Iterable[tuple[PredictedRun, str]]) -> Steps | None:
    """The steps of runs, each with its cluster; None where nothing was run."""
    runs = {ran.key: (ran, cluster) for ran, cluster in rows}
    if not runs:
        return None
    found = [(ran.agreement, cluster) for ran, cluster in runs.values()]
    judged = sum(a.judged for a, _ in found)

    def share(name: str) -> Interval | None:
        if not judged:
            return None
        scores: list[float] = []
        clusters: list[str] = []
        for a, cluster in found:
            right = getattr(a, name)
            scores += [1.0] * right + [0.0] * (a.judged - right)
            clusters += [cluster] * a.judged
        return mean_interval(scores, clusters)

    exact = share("exact")
    return Steps(
        runs=len(runs),
        whole=sum(a.first is None for a, _ in found),
        asked=sum(ran.asked for ran, _ in runs.values()),
        judged=judged,
        exact=exact,
        places=share("places"),
        values=share("values"),
        longest=max(a.exact for a, _ in found),
        horizon=None if exact is None else horizon(exact),
        divergences=dict(Counter(a.first.value for a, _ in found if a.first is not None)),
    )
