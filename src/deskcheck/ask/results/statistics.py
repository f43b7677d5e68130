"""Statistics of scores from 0 to 1: means and paired differences with 95 % intervals, and tests.

Samples that share a program are not independent: a program is a cluster (Miller 2024, "Adding Error Bars to
Evals", arXiv:2411.00640, section 2.2). `holm` adjusts p-values for many comparisons; intervals are not
adjusted.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float | None
    """None with fewer than `LEAST_CLUSTERS` effective clusters, as is high."""
    high: float | None
    n: int
    """Samples."""
    clusters: int
    effective: float
    """`effective_clusters`."""
    by_execution: tuple[float, float] | None = None
    """The interval with each sample as a cluster, on request if there is none by cluster."""


FEW_CLUSTERS = 10
"""An interval with fewer effective clusters is rough."""
LEAST_CLUSTERS = 5
"""Fewer effective clusters have no interval."""
TOO_FEW = "too few programs for an interval"
BY_EXECUTION = "by execution, not by notebook: too narrow if executions of a notebook are alike"


def bounds_text(low: float | None, high: float | None, *, form: str = ".3f", between: str = " to ") -> str:
    """The bounds of an interval, or why there are none."""
    return TOO_FEW if low is None or high is None else f"{low:{form}}{between}{high:{form}}"


def interval_text(estimate: Any, *, form: str = ".3f", between: str = " to ") -> str:
    """The bounds of an `Interval` or `Effect`, by execution if there are only these."""
    if estimate.by_execution is None:
        return bounds_text(estimate.low, estimate.high, form=form, between=between)
    return f"{bounds_text(*estimate.by_execution, form=form, between=between)} by execution"


def effective_clusters(counts: Sequence[int]) -> float:
    """Clusters of one size that weigh as much: (sum of sizes)^2 / (sum of squared sizes). Kish 1965, Survey
    Sampling, section 11.7. One cluster of 200 and nine of 1 are 1.09."""
    return sum(counts) ** 2 / sum(count * count for count in counts)


def few_clusters(clusters: Iterable[tuple[str, float]]) -> str | None:
    """A warning if names have few effective clusters; a name that comes twice counts with the fewer."""
    fewest: dict[str, float] = {}
    for name, count in clusters:
        fewest[name] = min(count, fewest.get(name, count))
    few = [
        f"{name}: {math.floor(10 * count) / 10:g}" for name, count in fewest.items() if count < FEW_CLUSTERS
    ]
    if not few:
        return None
    return (
        f"fewer than {FEW_CLUSTERS} effective programs ({', '.join(few)}): intervals from so few are rough, "
        f"and below {LEAST_CLUSTERS} there are none."
    )


def mean_interval(
    scores: Sequence[float], clusters: Sequence[str], *, by_execution: bool = False
) -> Interval:
    """The mean of scores with a 95 % interval that allows for clusters.

    The bounds are those of `_bounds`, where a score of mean p has the variance p(1 - p). With one sample a
    cluster they are Wilson's (1927, J. Am. Stat. Assoc. 22, 209). benchmarks/intervals.py measures them.

    Raises:
        ValueError: no scores, a score outside 0 to 1, or not one cluster for each score.
    """
    if len(clusters) != len(scores):
        raise ValueError(f"{len(scores)} scores but {len(clusters)} clusters: give one cluster per score")
    if not all(0 <= score <= 1 for score in scores):
        raise ValueError("a score lies outside 0 to 1")
    return interval_of(*_in_clusters(scores, clusters), by_execution=by_execution)


def interval_of(counts: Sequence[int], totals: Sequence[float], *, by_execution: bool = False) -> Interval:
    """`mean_interval` from the number of scores in each cluster and their sums. Raises ValueError without
    any."""
    n = sum(counts)
    if n == 0:
        raise ValueError("no scores: the mean of nothing does not exist")
    mean, effective = min(1.0, math.fsum(totals) / n), effective_clusters(counts)
    enough = effective >= LEAST_CLUSTERS
    low, high = _mean_bounds(counts, totals) if enough else (None, None)
    alone = by_execution and not enough and n >= LEAST_CLUSTERS
    return Interval(
        value=mean,
        low=low,
        high=high,
        n=n,
        clusters=len(counts),
        effective=effective,
        by_execution=_mean_bounds([1] * n, [mean] * n) if alone else None,
    )


def _mean_bounds(counts: Sequence[int], totals: Sequence[float]) -> tuple[float, float]:
    return _bounds(counts, totals, 0.0, lambda mean: max(0.0, mean * (1 - mean)))


def _bounds(
    counts: Sequence[int], totals: Sequence[float], least: float, variance: Callable[[float], float]
) -> tuple[float, float]:
    """The 95 % interval of the mean of values from `least` to 1, in at least two effective clusters.

    `variance` is that of one sample by the mean. A bound x is t standard errors away from the mean m. The
    standard error at m is that of `_variance_of_mean`; at x it is variance(x) / variance(m) times that,
    because rare successes come in few clusters, and a small mean can have missed them all. t is Student's,
    with `effective_clusters` - 1 degrees of freedom.

    The distance is at most that of independent samples, as many as there are effective clusters: samples of a
    cluster cannot be more alike than equal. It is at least that of as many independent samples as the sum of
    the squared sizes, so that it is never 0. With one sample a cluster the two are the same.
    """
    mean, effective = min(1.0, math.fsum(totals) / sum(counts)), effective_clusters(counts)
    spread, error = variance(mean), math.sqrt(_variance_of_mean(counts, totals))
    scaled = _student_t(effective - 1) * error / spread if spread > _ROUNDING else 1 / _ROUNDING
    longest = _Z / math.sqrt(effective)
    shortest = _Z / math.sqrt(sum(count * count for count in counts))

    def bound(end: float) -> float:
        outside = _furthest(mean, end, lambda x: longest * math.sqrt(variance(x)))
        return _furthest(
            mean, outside, lambda x: max(shortest * math.sqrt(variance(x)), scaled * variance(x))
        )

    return bound(least), bound(1.0)


_ROUNDING = 1e-12


def _furthest(start: float, end: float, away: Callable[[float], float]) -> float:
    """The furthest x towards `end` that is at most `away(x)` from the start, by bisection."""
    if abs(end - start) <= away(end):
        return end
    inside, outside = start, end
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if abs(middle - start) <= away(middle):
            inside = middle
        else:
            outside = middle
    return inside


_HALVINGS = 32


def _in_clusters(values: Sequence[float], clusters: Sequence[str]) -> tuple[list[int], list[float]]:
    """The number of values in each cluster, and their sums."""
    by_cluster: dict[str, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        by_cluster.setdefault(cluster, []).append(value)
    groups = by_cluster.values()
    return [len(group) for group in groups], [math.fsum(group) for group in groups]


def _variance_of_mean(counts: Sequence[int], totals: Sequence[float]) -> float:
    """The variance of a mean of independent clusters, CR2 (Bell and McCaffrey 2002, Survey Methodology 28,
    169). Unlike Miller's (2024, equation 4) it counts the pull of a large cluster."""
    n = sum(counts)
    mean = math.fsum(totals) / n
    return (
        math.fsum(
            (total - count * mean) ** 2 / (1 - count / n) for count, total in zip(counts, totals, strict=True)
        )
        / n**2
    )


def paired_difference(
    first: Mapping[str, float],
    second: Mapping[str, float],
    clusters: Mapping[str, str],
    *,
    by_execution: bool = False,
) -> Interval:
    """The mean of second minus first, each sample -> score, with a 95 % interval that allows for clusters.

    The bounds are those of `_bounds`. A sample whose difference has the mean x has the variance d - x^2, if d
    is the share that differs: the measured share, or |x| if that is more. The interval has a width even if
    the two never differ, and always contains the observed difference.

    Raises:
        ValueError: no samples, or not the same samples.
    """
    if first.keys() != second.keys():
        odd = sorted(first.keys() ^ second.keys())
        raise ValueError(f"not the same samples: {len(odd)} are in one only, such as {odd[0]!r}")
    if not first:
        raise ValueError("no samples: the difference of nothing does not exist")
    ids = sorted(first)
    differences = [second[id_] - first[id_] for id_ in ids]

    share = math.fsum(map(abs, differences)) / len(ids)

    def bounds(clusters: Sequence[str]) -> tuple[float, float] | None:
        counts, totals = _in_clusters(differences, clusters)
        enough = effective_clusters(counts) >= LEAST_CLUSTERS
        return difference_bounds(counts, totals, share) if enough else None

    clusters_of = [clusters[id_] for id_ in ids]
    low, high = bounds(clusters_of) or (None, None)
    counts, _ = _in_clusters(differences, clusters_of)
    return Interval(
        value=math.fsum(differences) / len(ids),
        low=low,
        high=high,
        n=len(ids),
        clusters=len(counts),
        effective=effective_clusters(counts),
        by_execution=bounds(ids) if by_execution and low is None else None,
    )


def difference_bounds(counts: Sequence[int], totals: Sequence[float], share: float) -> tuple[float, float]:
    """The interval of `paired_difference` from the samples and the sums of differences of at least two
    clusters, and the mean of absolute differences."""
    return _bounds(counts, totals, -1.0, lambda mean: max(0.0, max(share, abs(mean)) - mean * mean))


def mcnemar(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """The two-sided p-value of the exact test for pairs of right and wrong (McNemar 1947, Psychometrika 12,
    153). Without an effect, the better of n pairs that differ are Binomial(n, 1/2). It treats samples as
    independent; `sign_flip` does not.

    Raises:
        ValueError: not the same samples, or a score that is neither 0 nor 1.
    """
    if first.keys() != second.keys():
        raise ValueError("not the same samples")
    if not {*first.values(), *second.values()} <= {0.0, 1.0}:
        raise ValueError("a score is neither 0 nor 1")
    better = sum(second[id_] > first[id_] for id_ in first)
    n = better + sum(second[id_] < first[id_] for id_ in first)
    tail = sum(math.comb(n, k) for k in range(min(better, n - better) + 1))
    return min(1.0, float(2 * tail / 2**n))


_GRAIN = 1000


def sign_flip(first: Mapping[str, float], second: Mapping[str, float], clusters: Mapping[str, str]) -> float:
    """The two-sided p-value of the exact sign-flip test by cluster (Canay, Romano and Shaikh 2017,
    Econometrica 85, 1013). Without an effect, a cluster's sum of differences is as likely with the other
    sign.

    It is the share of all 2^clusters signs whose sum is at least as far from 0. The sums come from a
    convolution (Pagano and Tritchler 1983, J. Am. Stat. Assoc. 78, 435), with each cluster's sum rounded to a
    thousandth. With 5 clusters that differ it cannot be below 1/16.

    Raises:
        ValueError: not the same samples.
    """
    if first.keys() != second.keys():
        raise ValueError("not the same samples")
    sums: dict[str, float] = {}
    for id_ in sorted(first):
        sums[clusters[id_]] = sums.get(clusters[id_], 0.0) + second[id_] - first[id_]
    steps = [step for step in (round(total * _GRAIN) for total in sums.values()) if step]
    common = math.gcd(*steps)
    if not common:
        return 1.0
    steps = [step // common for step in steps]
    observed, reach = abs(sum(steps)), sum(map(abs, steps))
    # A polynomial whose coefficient at x^k counts the signs with sum 2k - reach, in one integer: of each
    # coefficient, as many bytes as the largest count may need.
    width = len(steps) // 8 + 1
    counts = 1
    for step in map(abs, steps):
        counts += counts << (8 * width * step)
    digits = counts.to_bytes(width * (reach + 1), "little")
    # Sums come in pairs of either sign: those below -observed + 1, twice.
    low = (reach - observed) // 2 + 1
    tail = sum(int.from_bytes(digits[width * k : width * (k + 1)], "little") for k in range(low))
    return min(1.0, float(2 * tail / 2 ** len(steps)))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number, in their order (Holm 1979, Scandinavian Journal of Statistics 6,
    65). If none of them has an effect, the chance that any is 0.05 or less is at most 0.05."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """The power of a test of two models on the same samples."""

    smallest: float
    """The smallest difference that these samples find."""
    needed: int
    """Programs that find the wanted difference, with as many samples of each."""


def power_of(differences: Sequence[float], clusters: Sequence[str], difference: float) -> Power:
    """The power of samples like these, from paired differences of two models' scores in a pilot: a difference
    is found with a chance of 0.8, with a chance of 0.05 that one is found if there is none.

    The variance of a mean falls as the number of clusters grows, and a difference is found if it is
    (t_level/2 + t_power) standard errors from 0 (Miller 2024, with the variance clustered, as in
    `mean_interval`, and quantiles of Student's t for the effective clusters).

    Raises:
        ValueError: fewer than two clusters, no difference anywhere, or `difference` is not above 0.
    """
    if not 0 < difference <= 1:
        raise ValueError(f"a difference of {difference} is not possible: give a number above 0, up to 1")
    counts, totals = _in_clusters(differences, clusters)
    if len(counts) < 2:
        raise ValueError("a variance needs two programs at least")
    variance = _variance_of_mean(counts, totals)
    if variance <= 0:
        raise ValueError("the two never differ: their variance is not known")
    share = effective_clusters(counts) / len(counts)

    def away(groups: int) -> float:
        """Standard errors from 0."""
        degrees = max(1, int(share * groups) - 1)
        return _quantile(_CONFIDENCE, degrees) + _quantile(2 * _POWER - 1, degrees)

    needed = len(counts)
    for _ in range(5):  # fewer clusters need more standard errors: it settles at once
        needed = max(3, math.ceil(len(counts) * variance * (away(needed) / difference) ** 2))
    return Power(smallest=away(len(counts)) * math.sqrt(variance), needed=needed)


_CONFIDENCE = 0.95
_POWER = 0.8
_Z = NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2)


def _student_t(degrees: float) -> float:
    """The quantile of Student's t for the interval; between whole degrees by interpolation in 1 / degrees."""
    whole = int(degrees)
    low, high = _quantile(_CONFIDENCE, whole + 1), _quantile(_CONFIDENCE, whole)
    return low + (high - low) * (whole + 1 - degrees) * whole / degrees


@cache
def _quantile(confidence: float, degrees: int) -> float:
    """The two-sided quantile of Student's t; with many degrees of freedom that of the normal distribution."""
    if degrees > 10_000:
        return NormalDist().inv_cdf(0.5 + confidence / 2)
    low, high = 0.0, 1.0
    while student_t_within(high, degrees) < confidence:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if student_t_within(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def student_t_within(t: float, degrees: int) -> float:
    """The chance that Student's t is between -t and t, by the finite series of Abramowitz and Stegun, 26.7.3
    (odd degrees of freedom) and 26.7.4 (even)."""
    theta = math.atan(t / math.sqrt(degrees))
    cos2 = math.cos(theta) ** 2
    term, total = 1.0, 0.0
    if degrees % 2:
        term = math.cos(theta)
        for k in range(3, degrees + 1, 2):
            total += term
            term *= cos2 * (k - 1) / k
        return 2 / math.pi * (theta + math.sin(theta) * total)
    for k in range(2, degrees + 1, 2):
        total += term
        term *= cos2 * (k - 1) / k
    return math.sin(theta) * total
