"""What can be said from scores: a mean with its interval, a paired difference with interval and tests.

Samples that share a program are no independent observations: a program is a cluster (Miller 2024,
"Adding Error Bars to Evals", arXiv:2411.00640, section 2.2). Intervals are not adjusted for many
comparisons; p-values are, by `holm`. Not covered: scores outside 0 to 1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its interval. n: samples. clusters: programs they come from."""

    value: float
    low: float
    high: float
    n: int
    clusters: int


FEW_CLUSTERS = 10
"""With fewer clusters an interval is rough: it rests on how these few happen to differ."""


def mean_interval(scores: Sequence[float], clusters: Sequence[str], *, confidence: float = 0.95) -> Interval:
    """The mean of scores between 0 and 1 with a confidence interval that allows for clusters.

    Wilson's interval (Wilson 1927, J. Am. Stat. Assoc. 22, 209) for the effective sample size
    n* = p(1-p) / V, with V the cluster-robust variance of the mean: what Korn and Graubard (1998, Survey
    Methodology 24, 193) do for proportions of clustered surveys with Clopper and Pearson's. With one sample a
    cluster n* is n, and this is Wilson's interval exactly. Where all scores are equal V says nothing,
    and n* is the number of clusters. With real clusters the quantile is Student's t with clusters - 1
    degrees of freedom; few clusters give a wide interval, a single one counts as one observation.

    Raises:
        ValueError: no scores (the mean of nothing does not exist), a score outside 0 to 1, or not one cluster
            for each score.
    """
    n = len(scores)
    if n == 0:
        raise ValueError("no scores: the mean of nothing does not exist")
    if len(clusters) != n:
        raise ValueError(f"{n} scores but {len(clusters)} clusters: give one cluster per score")
    if not all(0 <= score <= 1 for score in scores):
        raise ValueError("a score lies outside 0 to 1")
    return interval_of(*_in_clusters(scores, clusters), confidence=confidence)


def interval_of(counts: Sequence[int], totals: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """`mean_interval` from how many scores each cluster has, at least one, and what they add up to.

    Raises ValueError where there is no cluster.
    """
    n, groups = sum(counts), len(counts)
    if n == 0:
        raise ValueError("no scores: the mean of nothing does not exist")
    mean = min(1.0, math.fsum(totals) / n)
    size = _effective_size(counts, totals, mean * (1 - mean))
    # With one cluster the size is one observation, which Student's t cannot describe.
    z = _quantile(confidence, groups - 1 if 1 < groups < n else None)
    spread = z * math.sqrt(mean * (1 - mean) / size + z * z / (4 * size * size))
    middle = mean + z * z / (2 * size)
    scale = 1 + z * z / size
    low, high = (middle - spread) / scale, (middle + spread) / scale
    # At 0 and 1 the bound is the mean itself; rounding must not move it past.
    return Interval(
        value=mean, low=max(0.0, min(low, mean)), high=min(1.0, max(high, mean)), n=n, clusters=groups
    )


def _in_clusters(values: Sequence[float], clusters: Sequence[str]) -> tuple[list[int], list[float]]:
    """Of each cluster, how many values it has and their sum."""
    found: dict[str, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        found.setdefault(cluster, []).append(value)
    return [len(some) for some in found.values()], [math.fsum(some) for some in found.values()]


def _effective_size(counts: Sequence[int], totals: Sequence[float], variance: float) -> float:
    """How many independent values of this variance would give the mean the variance that it has."""
    n, groups = sum(counts), len(counts)
    if groups == n:
        return float(n)
    if groups == 1:
        return 1.0
    robust = _variance_of_mean(counts, totals)
    if variance <= 0 or robust <= variance * 1e-12:
        return float(groups)
    return min(float(n), max(1.0, variance / robust))


def _variance_of_mean(counts: Sequence[int], totals: Sequence[float]) -> float:
    """Cluster-robust variance of a mean: sum over clusters of (sum of deviations)^2, over n^2.

    Miller 2024, equation 4, times G/(G-1) (n-1)/n: unbiased enough for few clusters, and for singletons
    the plain p(1-p)/n.
    """
    n, groups = sum(counts), len(counts)
    mean = math.fsum(totals) / n
    total = math.fsum((in_one - count * mean) ** 2 for count, in_one in zip(counts, totals, strict=True))
    return total / n**2 * groups / (groups - 1) * (n - 1) / n


def paired_difference(
    first: Mapping[str, float],
    second: Mapping[str, float],
    clusters: Mapping[str, str],
    *,
    confidence: float = 0.95,
) -> Interval:
    """Mean of second minus first over the same samples, with an interval that allows for clusters.

    first and second: sample id -> score between 0 and 1. clusters: sample id -> cluster.

    Agresti and Min's interval for matched pairs (2005, Statistics in Medicine 24, 729: half an
    observation added to each cell of the two-by-two table), with the counts scaled to the effective
    sample size, as in `mean_interval`. It has a width even where the two never differ, and always holds the
    difference that was observed.

    Raises:
        ValueError: no samples, or the two were not asked the same samples.
    """
    if first.keys() != second.keys():
        odd = sorted(first.keys() ^ second.keys())
        raise ValueError(f"not the same samples: {len(odd)} are in one only, such as {odd[0]!r}")
    if not first:
        raise ValueError("no samples: the difference of nothing does not exist")
    ids = sorted(first)
    differences = [second[id_] - first[id_] for id_ in ids]
    groups_of = [clusters[id_] for id_ in ids]
    n, groups = len(ids), len(set(groups_of))
    mean = math.fsum(differences) / n
    square = math.fsum(d * d for d in differences) / n
    size = _effective_size(*_in_clusters(differences, groups_of), square - mean * mean)
    z = _quantile(confidence, groups - 1 if 1 < groups < n else None)
    middle = mean * size / (size + 2)
    variance = ((square * size + 1) / (size + 2) - middle * middle) / (size + 2)
    spread = z * math.sqrt(max(variance, 0.0))
    return Interval(
        value=mean,
        low=max(-1.0, min(middle - spread, mean)),
        high=min(1.0, max(middle + spread, mean)),
        n=n,
        clusters=groups,
    )


def mcnemar(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Two-sided p-value of the exact test for matched pairs of right and wrong (McNemar 1947, Psychometrika
    12, 153): of the pairs that differ, those in favour of the second are Binomial(n, 1/2) if there is no
    effect.

    It takes pairs for independent observations: where samples share a cluster `sign_flip` is the safer one.

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
    """Two-sided p-value of the exact sign-flip test by cluster.

    If there is no effect a cluster's sum of differences is as likely with the other sign; clusters are
    independent of each other, samples in one need not be (Canay, Romano and Shaikh 2017, Econometrica 85,
    1013). All 2^clusters signs count: their sums by convolution (Pagano and Tritchler 1983, J. Am. Stat.
    Assoc. 78, 435), for which a cluster's sum is rounded to a thousandth. The p-value is the share of signs
    whose sum is at least as far from 0; with few clusters that differ it cannot be small: with 5, not below
    1/16.

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
    65): where those up to 0.05 are taken for effects, the chance that any is none is at most 0.05."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What a test of two models on the same samples can find. smallest: the smallest difference that the
    samples at hand find. needed: programs that a given difference needs, with as many samples of each."""

    smallest: float
    needed: int


def power_of(
    differences: Sequence[float],
    clusters: Sequence[str],
    difference: float,
    *,
    power: float = 0.8,
    level: float = 0.05,
) -> Power:
    """What samples like these can tell: paired differences of two models' scores, as a pilot gave them.

    The variance of a mean falls as the number of clusters grows, and a difference is found where it is
    (t_level/2 + t_power) standard errors from 0 (Miller 2024, with the variance clustered, as in
    `mean_interval`, and quantiles of Student's t). It is as good as the pilot's variance is.

    Raises:
        ValueError: fewer than two clusters, no difference anywhere, or `difference` is not above 0.
    """
    if not 0 < difference <= 1:
        raise ValueError(f"a difference of {difference} cannot be looked for: it lies above 0, up to 1")
    counts, totals = _in_clusters(differences, clusters)
    if len(counts) < 2:
        raise ValueError("a variance needs two programs at least")
    variance = _variance_of_mean(counts, totals)
    if variance <= 0:
        raise ValueError("the two never differ: their variance is not known")

    def away(groups: int) -> float:
        """Standard errors from 0."""
        return _quantile(1 - level, groups - 1) + _quantile(2 * power - 1, groups - 1)

    one = len(counts) * variance
    needed = len(counts)
    for _ in range(5):  # fewer clusters need more standard errors: it settles at once
        needed = max(3, math.ceil(one * (away(needed) / difference) ** 2))
    return Power(smallest=away(len(counts)) * math.sqrt(variance), needed=needed)


def _quantile(confidence: float, degrees: int | None) -> float:
    """Two-sided quantile: of the normal distribution, or of Student's t with that many degrees of freedom."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence} must lie between 0 and 1, as 0.95 does")
    if degrees is None or degrees > 10_000:
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
    """Chance that Student's t with a whole number of degrees of freedom lies between -t and t.

    The finite series of Abramowitz and Stegun, 26.7.3 (odd) and 26.7.4 (even).
    """
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
