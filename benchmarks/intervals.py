"""How often 95 % intervals hold the truth, by the sizes of clusters and how alike samples of one are.

    python -m benchmarks.intervals > coverage.md

Samples of a cluster are right with one chance, which is drawn from a beta distribution: mean p, and rho, the
correlation of two samples of a cluster. Of differences, the chances of a gain and of a loss are drawn from a
Dirichlet distribution in the same way. The seed is fixed. It takes some minutes and needs numpy.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from deskcheck.ask.results.statistics import (
    LEAST_CLUSTERS,
    difference_bounds,
    effective_clusters,
    interval_of,
)

RHOS = (0.0, 0.1, 0.3, 0.6, 0.9)
MEANS = (0.1, 0.5, 0.9)
DIFFERENCES = ((0.05, 0.05), (0.12, 0.02), (0.3, 0.1), (0.25, 0.25), (0.5, 0.05))
"""The chances of a gain and of a loss."""
CLUSTERS = (3, 5, 6, 8, 10, 15, 20, 30, 50, 100)
LARGE = (5, 20, 60, 200)
RANGES = ((5, 10), (10, 30), (30, 1000))
"""Of effective clusters: from, below."""


def shapes() -> Iterator[tuple[str, list[int]]]:
    """Families of cluster sizes, those with an interval."""
    for clusters in CLUSTERS:
        of_family = [("equal sizes", [size] * clusters) for size in (1, 5, 20)]
        for large in LARGE:
            of_family.append(("one large", [large] + [1] * (clusters - 1)))
            of_family.append(("one large", [3 * large] + [large] * (clusters - 1)))
            of_family += [
                ("a few large", [large] * few + [1] * (clusters - few))
                for few in (4, 8)
                if clusters > 2 * few
            ]
        for ratio in (1.1, 1.3, 1.6):
            sizes = [max(1, round(ratio**power)) for power in range(clusters)]
            of_family += [("geometric", sizes)] if max(sizes) <= max(LARGE) else []
        yield from (
            (family, sizes) for family, sizes in of_family if effective_clusters(sizes) >= LEAST_CLUSTERS
        )


def chances(
    draw: np.random.Generator, shares: Sequence[float], rho: float, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Of each cluster, the chances of these outcomes; they have these means and correlate by rho."""
    if not rho:
        return np.broadcast_to(np.array(shares), (*shape, len(shares)))
    drawn = draw.gamma(np.broadcast_to(np.array(shares) * (1 - rho) / rho, (*shape, len(shares))))
    total = drawn.sum(-1, keepdims=True)
    one_only = np.eye(len(shares))[
        draw.choice(len(shares), p=shares, size=shape)
    ]  # where all are below a float
    return np.where(total > 1e-290, drawn / np.maximum(total, 1e-290), one_only)


def mean_coverage(draw: np.random.Generator, sizes: list[int], p: float, rho: float, runs: int) -> float:
    right = draw.binomial(sizes, chances(draw, (p, 1 - p), rho, (runs, len(sizes)))[..., 0])
    held = 0
    for totals in right.tolist():
        mean = interval_of(sizes, totals)
        assert mean.low is not None
        assert mean.high is not None
        held += mean.low <= p <= mean.high
    return held / runs


def difference_coverage(
    draw: np.random.Generator, sizes: list[int], pair: tuple[float, float], rho: float, runs: int
) -> float:
    gain, loss = pair
    of = chances(draw, (gain, loss, 1 - gain - loss), rho, (runs, len(sizes)))
    gains = draw.binomial(sizes, of[..., 0])
    rest = np.minimum(1.0, of[..., 1] / np.maximum(1 - of[..., 0], 1e-300))
    losses = draw.binomial(np.array(sizes) - gains, rest)
    held = 0
    for ups, downs in zip(gains.tolist(), losses.tolist(), strict=True):
        low, high = difference_bounds(sizes, ups, downs)
        held += low <= gain - loss + 1e-12 and gain - loss - 1e-12 <= high
    return held / runs


def main() -> None:
    """Print a table for means and one for differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000, help="for each case")
    parser.add_argument("--seed", type=int, default=20261128)
    options = parser.parse_args()
    draw = np.random.default_rng(options.seed)
    means, differences = defaultdict(list), defaultdict(list)
    worst: list[tuple[float, str]] = []
    for family, sizes in shapes():
        effective = effective_clusters(sizes)
        low, high = next(bounds for bounds in RANGES if bounds[0] <= effective < bounds[1])
        for rho in RHOS if max(sizes) > 1 else (0.0,):
            for p in MEANS:
                held = mean_coverage(draw, sizes, p, rho, options.runs)
                means[family, low, high, rho].append(held)
                worst.append((held, f"{family}: {max(sizes)}, {len(sizes)} clusters, rho {rho}, p {p}"))
            for pair in DIFFERENCES:
                held = difference_coverage(draw, sizes, pair, rho, options.runs // 4)
                differences[family, low, high, rho].append(held)
    for title, held_by in (("mean", means), ("difference", differences)):
        print_table(title, held_by)
    print("Lowest of means:\n")
    for held, case in sorted(worst)[:12]:
        print(f"- {held:.3f}: {case}")


def print_table(title: str, held_by: dict[tuple[str, int, int, float], list[float]]) -> None:
    """Least, median and greatest coverage, by family and effective clusters; and the share of the cases."""
    print(f"| {title}: cluster sizes | effective | {' | '.join(f'rho {rho:g}' for rho in RHOS)} |")
    print("| --- | ---: |" + " ---: |" * len(RHOS))
    for family, low, high in dict.fromkeys(key[:3] for key in held_by):
        cells = []
        for rho in RHOS:
            some = held_by.get((family, low, high, rho))
            cells.append(f"{min(some):.3f} {median(some):.3f} {max(some):.3f}" if some else "")
        effective = f"{low} to {high}" if high < RANGES[-1][1] else f"from {low}"
        print(f"| {family} | {effective} | {' | '.join(cells)} |")
    every = [held for some in held_by.values() for held in some]
    shares = [
        sum(held < 0.93 for held in every),
        sum(0.93 <= held <= 0.97 for held in every),
        sum(held > 0.97 for held in every),
    ]
    below, within, above = (f"{share / len(every):.1%}" for share in shares)
    print(
        f"\n{len(every)} cases, least {min(every):.3f}, median {median(every):.3f}: {below} below 0.93, ",
        end="",
    )
    print(f"{within} from 0.93 to 0.97, {above} above.\n")


if __name__ == "__main__":
    main()
