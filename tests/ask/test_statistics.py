"""Intervals and paired differences."""

import itertools
import math
import operator
import random
from statistics import fmean, variance

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.ask.results import statistics
from deskcheck.ask.results.statistics import (
    effective_clusters,
    few_clusters,
    holm,
    mcnemar,
    mean_interval,
    paired_difference,
    power_of,
    sign_flip,
    student_t_within,
)
from tests.sample import examples

_scores = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.integers(0, 8)), min_size=1, max_size=60)


def test_singletons_give_wilsons_interval() -> None:
    """Newcombe 1998 (Statistics in Medicine 17, 857, table I, method 3): 81/263, 15/148, 0/20, 1/29."""
    for right, n, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        scores = [1.0] * right + [0.0] * (n - right)
        found = mean_interval(scores, [str(i) for i in range(n)])
        assert found.low == pytest.approx(low, abs=5e-5)
        assert found.high == pytest.approx(high, abs=5e-5)
        assert (found.n, found.clusters) == (n, n)


def test_no_scores_have_no_mean() -> None:
    """n = 0 is refused, never filled in."""
    with pytest.raises(ValueError, match="no scores"):
        mean_interval([], [])
    with pytest.raises(ValueError, match="no samples"):
        paired_difference({}, {}, {})


def test_what_cannot_be_used_is_refused() -> None:
    """Scores outside 0 to 1, clusters that do not fit, ids that differ."""
    with pytest.raises(ValueError, match="outside"):
        mean_interval([1.5], ["a"])
    with pytest.raises(ValueError, match="outside"):
        mean_interval([math.nan], ["a"])
    with pytest.raises(ValueError, match="one cluster per score"):
        mean_interval([1.0, 0.0], ["a"])
    with pytest.raises(ValueError, match="'b'"):
        paired_difference({"a": 1}, {"a": 1, "b": 0}, {"a": "p", "b": "p"})


def test_too_few_effective_clusters_have_no_interval() -> None:
    """One program of 200 samples and nine of 1 weigh as 1.09; four of 60 and sixteen of 1 as 4.55; five as 5."""
    assert effective_clusters([200] + [1] * 9) == pytest.approx(1.0918, abs=1e-4)
    assert effective_clusters([60] * 4 + [1] * 16) == pytest.approx(4.546, abs=1e-3)
    for sizes in ([200] + [1] * 9, [60] * 4 + [1] * 16, [3] * 4):
        few = statistics.interval_of(sizes, [1] * len(sizes))
        assert (few.low, few.high, few.by_execution) == (None, None, None)
        assert few.value > 0
        assert statistics.bounds_text(few.low, few.high) == "too few programs for an interval"
    five = statistics.interval_of([3] * 5, [1] * 5)
    assert five.effective == 5
    assert five.low is not None


def test_by_execution_every_sample_is_a_cluster() -> None:
    """Asked for, and only where there is no interval by cluster: as if each sample had one of its own."""
    scores, ids = [1.0, 0.0] * 8, [str(n) for n in range(16)]
    alone = mean_interval(scores, ids)
    few = mean_interval(scores, [*"ab"] * 8, by_execution=True)
    assert (few.low, few.by_execution) == (None, (alone.low, alone.high))
    assert mean_interval(scores, ids, by_execution=True).by_execution is None
    assert mean_interval(scores[:4], [*"ab"] * 2, by_execution=True).by_execution is None, "four executions"
    first, second = dict.fromkeys(ids, 0.5), dict(zip(ids, scores, strict=True))
    known = paired_difference(first, second, {id_: id_ for id_ in ids})
    pair = paired_difference(first, second, dict.fromkeys(ids, "a"), by_execution=True)
    assert (pair.low, pair.high, pair.by_execution) == (None, None, (known.low, known.high))


def test_all_of_one_cluster_counts_as_one_observation() -> None:
    """A hundred right answers about each of five programs say as much as one about each."""
    five = mean_interval([1.0] * 5, [*"abcde"])
    many = mean_interval([1.0] * 500, [*"abcde"] * 100)
    assert (five.low, five.high) == (many.low, many.high)
    assert five.value == five.high == 1.0
    assert five.low == pytest.approx(5 / (5 + 1.959964**2), abs=1e-6)


def test_copies_within_clusters_do_not_narrow() -> None:
    """Ten identical samples of each program: the interval of the programs."""
    scores = [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0] * 3
    programs = [str(i) for i in range(30)]
    single = mean_interval(scores, programs)
    tenfold = mean_interval([s for s in scores for _ in range(10)], [p for p in programs for _ in range(10)])
    assert tenfold.value == pytest.approx(single.value)
    assert tenfold.effective == 30
    assert _width(tenfold) == pytest.approx(_width(single), rel=0.05)


def test_cluster_variance_by_hand() -> None:
    """A cluster's sum less its share of the total, squared, over 1 less its share of the samples.

    Of equal clusters it is the variance of their means over their number.
    """
    assert statistics._variance_of_mean([3, 3], [2, 1]) == pytest.approx(2 * 0.5**2 / (1 - 1 / 2) / 6**2)
    four = statistics._variance_of_mean([4, 2, 1, 1], [2, 2, 0, 1])
    by_hand = (0.5**2 / (4 / 8) + 0.75**2 / (6 / 8) + (0.625**2 + 0.375**2) / (7 / 8)) / 8**2
    assert four == pytest.approx(by_hand)
    means = [0.2, 0.6, 0.4, 1.0, 0.4]
    equal = statistics._variance_of_mean([5] * 5, [5 * mean for mean in means])
    assert equal == pytest.approx(variance(means) / 5)


@given(_scores)
def test_interval_holds_the_mean(pairs: list[tuple[float, int]]) -> None:
    """Whatever the scores: 0 <= low <= mean <= high <= 1, and never of no width."""
    scores, clusters = [p[0] for p in pairs], [str(p[1]) for p in pairs]
    found = mean_interval(scores, clusters)
    assert (found.low is None) == (found.high is None) == (found.effective < 5)
    if found.low is None or found.high is None:
        return
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high
    mirrored = mean_interval([1 - score for score in scores], clusters)
    assert mirrored.high == pytest.approx(1 - found.low)
    again = list(zip(scores, clusters, strict=True))
    random.Random(0).shuffle(again)
    shuffled = mean_interval([s for s, _ in again], [c for _, c in again])
    assert shuffled.low == pytest.approx(found.low)


@given(_scores, st.randoms(use_true_random=False))
def test_difference_is_antisymmetric(pairs: list[tuple[float, int]], rng: random.Random) -> None:
    """Swapping the models swaps the signs; the interval holds the difference and has a width."""
    first = {str(i): score for i, (score, _) in enumerate(pairs)}
    second = {id_: float(rng.random() < 0.5) for id_ in first}
    clusters = {str(i): str(cluster) for i, (_, cluster) in enumerate(pairs)}
    found, swapped = paired_difference(first, second, clusters), paired_difference(second, first, clusters)
    assert found.value == pytest.approx(-swapped.value)
    if found.low is None or found.high is None or swapped.high is None:
        assert max(found.effective, swapped.effective) < 5
        return
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high
    assert found.low == pytest.approx(-swapped.high)


def test_difference_of_singletons_by_hand() -> None:
    """Approval ratings of Agresti (Categorical Data Analysis, table 10.1): 794, 150, 86, 570 of 1600.

    A bound x solves n (x - difference)^2 = z^2 (share that differs - x^2), a quadratic equation; the book's
    interval is -0.0589 to -0.0211. Of n pairs that never differ, x is Wilson's bound of 0 of n.
    """
    cells = [(1.0, 1.0)] * 794 + [(1.0, 0.0)] * 150 + [(0.0, 1.0)] * 86 + [(0.0, 0.0)] * 570
    first = {str(i): pair[0] for i, pair in enumerate(cells)}
    second = {str(i): pair[1] for i, pair in enumerate(cells)}
    ids = {id_: id_ for id_ in first}
    found = paired_difference(first, second, ids)
    assert found.value == pytest.approx(-0.04)
    n, z2, share = 1600, 1.959964**2, 236 / 1600
    root = math.sqrt(z2 * (share * (n + z2) - n * 0.04**2))
    assert found.low == pytest.approx((-n * 0.04 - root) / (n + z2))
    assert found.high == pytest.approx((-n * 0.04 + root) / (n + z2))
    assert found.low == pytest.approx(-0.0589, abs=4e-4)
    assert found.high == pytest.approx(-0.0211, abs=4e-4)
    same = paired_difference(first, first, ids)
    assert same.low == pytest.approx(-z2 / (n + z2))
    assert same.high == pytest.approx(z2 / (n + z2))


@pytest.mark.parametrize(
    "right", [[3, 1, 4, 1, 5, 2, 6, 5], [0, 0, 1, 0, 0, 0, 2, 0], [6, 6, 6, 5, 6, 6, 6, 6]]
)
def test_bounds_of_clusters_solve_their_equation(right: list[int]) -> None:
    """Eight clusters of six samples: the distance to a bound p is t s p(1 - p) / (m(1 - m)), or Wilson's.

    m and s are of the eight means, and t of 7 degrees of freedom is from a table.
    """
    found = statistics.interval_of([6] * 8, right)
    means = [count / 6 for count in right]
    m, s = fmean(means), math.sqrt(variance(means) / 8)
    a = 2.364624 * s / (m * (1 - m))
    # m - p = a p (1 - p), and p - m = a p (1 - p).
    low = (1 + a - math.sqrt((1 + a) ** 2 - 4 * a * m)) / (2 * a)
    high = (a - 1 + math.sqrt((a - 1) ** 2 + 4 * a * m)) / (2 * a)
    widest, narrowest = _wilson(m * 8, 8), _wilson(m * 8 * 36, 8 * 36)
    assert found.low == pytest.approx(max(widest[0], min(narrowest[0], low)), abs=1e-5)
    assert found.high == pytest.approx(min(widest[1], max(narrowest[1], high)), abs=1e-5)


def _wilson(right: float, n: int) -> tuple[float, float]:
    p, z = right / n, 1.959964
    middle, away = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - away) / (1 + z * z / n), (middle + away) / (1 + z * z / n)


def _width(found: statistics.Interval) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


@pytest.mark.parametrize(
    ("degrees", "t"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (9, 2.262), (10, 2.228), (30, 2.042), (120, 1.980)],
)
def test_student_t_against_the_tables(degrees: int, t: float) -> None:
    """Two-sided 5 % points of Student's t as every table has them; 4.5 degrees by SciPy 1.17."""
    assert statistics._quantile(0.95, degrees) == pytest.approx(t, abs=5e-4)
    assert statistics._student_t(degrees) == pytest.approx(t, abs=5e-4)
    assert student_t_within(t, degrees) == pytest.approx(0.95, abs=5e-5)
    assert statistics._student_t(4.5) == pytest.approx(2.6589, rel=2e-3)


@pytest.mark.parametrize("rho", [0.05, 0.9])
@pytest.mark.parametrize(
    "sizes", [[8] * 20, [60] + [20] * 9, [60] * 8 + [1] * 42, [round(1.3**n) for n in range(18)]], ids=str
)
def test_coverage_with_clusters(sizes: list[int], rho: float) -> None:
    """Of 95 % intervals 92 to 98 % hold the truth (1,000 draws, seed 7), whatever the sizes of the clusters.

    p is drawn from 0.05 to 0.95 in each run, as in benchmarks/intervals.py, which has many more cases.
    """
    rng = random.Random(7)
    scale = (1 - rho) / rho
    held = pairs_held = 0
    for _ in range(1000):
        p, part = rng.uniform(0.05, 0.95), rng.random()
        gains, differing = [], []
        for size in sizes:
            differs = rng.betavariate(p * scale, (1 - p) * scale)
            better = rng.betavariate(part * scale, (1 - part) * scale)
            differing.append(sum(rng.random() < differs for _ in range(size)))
            gains.append(sum(rng.random() < better for _ in range(differing[-1])))
        found = statistics.interval_of(sizes, differing)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= p <= found.high
        totals = [2 * gain - count for gain, count in zip(gains, differing, strict=True)]
        low, high = statistics.difference_bounds(sizes, totals, sum(differing) / sum(sizes))
        pairs_held += low <= p * (2 * part - 1) <= high
    assert 0.92 <= held / 1000 <= 0.98
    assert 0.92 <= pairs_held / 1000 <= 0.985


def test_mcnemar_by_hand() -> None:
    """Nine pairs better, one worse: 2 * (1 + 10) / 2^10. Pairs that agree say nothing."""
    first = {str(n): float(n in (0, 20, 21)) for n in range(30)}
    second = {str(n): float(n in (20, 21) or 1 <= n < 10) for n in range(30)}
    assert mcnemar(first, second) == 22 / 1024
    assert mcnemar(second, first) == 22 / 1024
    assert mcnemar(first, first) == 1
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        mcnemar({"a": 0.5}, {"a": 1.0})
    with pytest.raises(ValueError, match="not the same samples"):
        mcnemar({"a": 0.0}, {"b": 1.0})


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 6)), max_size=12),
)
def test_sign_flip_is_what_trying_every_sign_gives(rows: list[tuple[int, int, int]]) -> None:
    """The exact p-value, by enumeration of 2^clusters signs."""
    first = {str(n): a / 1000 for n, (a, _, _) in enumerate(rows)}
    second = {str(n): b / 1000 for n, (_, b, _) in enumerate(rows)}
    clusters = {str(n): str(c) for n, (_, _, c) in enumerate(rows)}
    sums = [sum(b - a for a, b, c in rows if c == cluster) for cluster in range(7)]
    observed = abs(sum(sums))
    signs = list(itertools.product((-1, 1), repeat=7))
    far = sum(abs(sum(map(operator.mul, each, sums))) >= observed for each in signs)
    assert sign_flip(first, second, clusters) == far / len(signs)


def test_sign_flip_counts_clusters_and_not_samples() -> None:
    """A hundred samples of one notebook are one observation; McNemar's test takes them for a hundred."""
    first, second = ({str(n): value for n in range(100)} for value in (0.0, 1.0))
    assert sign_flip(first, second, dict.fromkeys(first, "one")) == 1
    assert sign_flip(first, second, {id_: id_ for id_ in first}) == 2 / 2**100
    assert mcnemar(first, second) == 2 / 2**100
    assert sign_flip({}, {}, {}) == 1


def test_the_tests_keep_their_level() -> None:
    """No effect, samples of a cluster alike: the sign-flip test finds one at 5 % in at most about 5 % of 400 sets.

    McNemar's test, which takes samples for independent, finds many more: why both are told.
    """
    rng = random.Random(3)
    found = {"sign_flip": 0, "mcnemar": 0}
    for _ in range(400):
        first, second, clusters = {}, {}, {}
        for cluster in range(12):
            shift = rng.choice((0.0, 1.0))
            for n in range(8):
                id_ = f"{cluster}.{n}"
                clusters[id_] = str(cluster)
                same = rng.random() < 0.5
                first[id_] = 0.5 if same else 1 - shift
                second[id_] = 0.5 if same else shift
        found["sign_flip"] += sign_flip(first, second, clusters) <= 0.05
        binary = [{k: float(v > 0.5) for k, v in each.items()} for each in (first, second)]
        found["mcnemar"] += mcnemar(*binary) <= 0.05
    assert found["sign_flip"] <= 32  # Binomial(400, 0.05): more in 1 of 200 seeds
    assert found["mcnemar"] > 80


def test_holm_by_hand() -> None:
    """The smallest times their number, the next times one less, never below the one before, never above 1."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_rejects_what_its_steps_reject(ps: list[float]) -> None:
    """Against the procedure as Holm wrote it: reject the smallest while it is at most 0.05 over those left."""
    rejected = set()
    for left, place in zip(range(len(ps), 0, -1), sorted(range(len(ps)), key=ps.__getitem__), strict=True):
        if ps[place] * left > 0.05:
            break
        rejected.add(place)
    assert {place for place, p in enumerate(holm(ps)) if p <= 0.05} == rejected


def draws(
    rng: random.Random, clusters: int, effect: float
) -> tuple[dict[str, float], dict[str, float], dict[str, str]]:
    """Answers of two models to three samples of each program; programs differ in how hard they are."""
    first, second, of = {}, {}, {}
    for cluster in range(clusters):
        ease = rng.betavariate(2, 2) * (1 - effect)
        for number in range(3):
            id_ = f"{cluster}/{number}"
            of[id_] = str(cluster)
            first[id_] = float(rng.random() < ease)
            second[id_] = float(rng.random() < ease + effect)
    return first, second, of


@pytest.mark.slow
def test_what_power_says_is_what_happens() -> None:
    """A difference of 0.1, with as many programs as a large pilot asks for: found in 80 of 100 runs, within 3."""
    rng = random.Random(5)
    first, second, of = draws(rng, 4000, 0.1)
    ids = list(first)
    needed = power_of([second[i] - first[i] for i in ids], [of[i] for i in ids], 0.1).needed
    assert 60 < needed < 160
    found = sum(sign_flip(*draws(rng, needed, 0.1)) <= 0.05 for _ in range(2000))
    assert found / 2000 == pytest.approx(0.8, abs=0.03)


def test_what_no_power_can_be_told_of() -> None:
    """One program, models that never differ, a difference that is none."""
    for differences, clusters, difference in (
        ([0.0, 1.0], "aa", 0.1),
        ([0.0, 0.0], "ab", 0.1),
        ([0, 1], "ab", 0),
    ):
        with pytest.raises(ValueError, match=r"two programs|never differ|above 0"):
            power_of(differences, list(clusters), difference)


def test_a_warning_names_each_question_once() -> None:
    """Two models that were asked the same have one entry, with the fewer programs; enough programs have none."""
    warning = few_clusters([("output", 6.0), ("output", 5.96), ("state", 12.0), ("path", 3.0)])
    assert warning is not None
    assert "(output: 5.9, path: 3)" in warning
    assert few_clusters([("output", 10.0)]) is None
