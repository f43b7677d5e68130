"""How often 95 % intervals hold the truth, by the sizes of clusters and how alike samples of one are.

    python -m benchmarks.intervals > coverage.md

Samples of a cluster are right with one chance, which is drawn from a beta distribution: mean p, and rho, the
correlation of two samples of a cluster. Of differences, the chances of a gain and of a loss are drawn from a
Dirichlet distribution in the same way. A cell is one list of sizes with one rho. Its coverage is an average
over the truth, drawn for each run: p uniform from 0.05 to 0.95; the share of samples that differ in the same
way, and the part of gains uniform from 0 to 1. The coverage of single truths follows, beside that of as many
independent samples as there are effective clusters. The seed is fixed. It takes half an hour on two
processors and needs numpy.
"""

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deskcheck.ask.results.statistics import (
    LEAST_CLUSTERS,
    difference_bounds,
    effective_clusters,
    interval_of,
)

RHOS = (0.0, 0.1, 0.3, 0.6, 0.9)
LEAST, GREATEST = 0.05, 0.95
MEANS = (0.05, 0.1, 0.3, 0.5)
DIFFERENCES = ((0.05, 0.05), (0.12, 0.02), (0.3, 0.1), (0.25, 0.25), (0.5, 0.05))
"""The chances of a gain and of a loss."""
CLUSTERS = (3, 5, 6, 8, 10, 15, 20, 30, 50, 100)
LARGE = (5, 20, 60, 200)
RANGES = ((5, 10), (10, 30), (30, 1000))
"""Of effective clusters: from, below."""
BAND = (0.93, 0.97)


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


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """The shares of intervals that hold the truth: the average over truths, then each single one."""

    means: list[float]
    """Averaged; at each of `MEANS`."""
    differences: list[float]
    """Averaged; at each of `DIFFERENCES`."""


def outcomes(
    draw: np.random.Generator, shares: NDArray[np.float64], rho: float, sizes: list[int]
) -> NDArray[np.int64]:
    """Of each run and cluster, how many samples have each outcome; each run has its shares of outcomes."""
    runs, number = shares.shape
    wide = np.broadcast_to(shares[:, None], (runs, len(sizes), number))
    if rho:
        drawn = draw.gamma(wide * (1 - rho) / rho)
        total = drawn.sum(-1, keepdims=True)
        # Where all are below a float, a cluster has one outcome only.
        one_only = draw.multinomial(1, wide)
        wide = np.where(total > 1e-290, drawn / np.maximum(total, 1e-290), one_only)
    return draw.multinomial(np.array(sizes), wide)


def mean_coverage(draw: np.random.Generator, p: NDArray[np.float64], rho: float, sizes: list[int]) -> float:
    """The share of runs whose interval holds the p of the run."""
    held = 0
    right = outcomes(draw, np.stack([p, 1 - p], -1), rho, sizes)[..., 0]
    for truth, totals in zip(p.tolist(), right.tolist(), strict=True):
        mean = interval_of(sizes, totals)
        assert mean.low is not None
        assert mean.high is not None
        held += mean.low <= truth <= mean.high
    return held / len(p)


def difference_coverage(
    draw: np.random.Generator, shares: NDArray[np.float64], rho: float, sizes: list[int]
) -> float:
    """The share of runs whose interval holds the difference of gains and losses of the run."""
    held = 0
    of = outcomes(draw, np.column_stack([shares, 1 - shares.sum(-1)]), rho, sizes)
    totals, differ = of[..., 0] - of[..., 1], of[..., :2].sum((1, 2)) / sum(sizes)
    truths = shares[:, 0] - shares[:, 1]
    for truth, row, share in zip(truths.tolist(), totals.tolist(), differ.tolist(), strict=True):
        low, high = difference_bounds(sizes, row, share)
        held += low <= truth + 1e-12 and truth - 1e-12 <= high
    return held / len(shares)


def coverage(sizes: list[int], rho: float, *, seed: list[int], runs: int) -> Coverage:
    """The coverage of one cell; a quarter of the runs for each single truth."""
    draw = np.random.default_rng(seed)
    p, share = draw.uniform(LEAST, GREATEST, (2, runs))
    part = draw.random(runs)
    pairs = np.stack([share * part, share * (1 - part)], -1)
    return Coverage(
        means=[
            mean_coverage(draw, truths, rho, sizes)
            for truths in (p, *(np.full(runs // 4, mean) for mean in MEANS))
        ],
        differences=[
            difference_coverage(draw, truths, rho, sizes)
            for truths in (pairs, *(np.full((runs // 4, 2), pair) for pair in DIFFERENCES))
        ],
    )


def main() -> None:
    """Print a table for means and one for differences, and the coverage of single truths."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=4000, help="for each cell")
    parser.add_argument("--seed", type=int, default=20261128)
    options = parser.parse_args()
    cells = [
        (family, sizes, rho) for family, sizes in shapes() for rho in (RHOS if max(sizes) > 1 else (0.0,))
    ]
    numbers = [round(effective_clusters(sizes)) for _, sizes, _ in cells]
    with ProcessPoolExecutor() as pool:
        clustered = [
            pool.submit(coverage, sizes, rho, seed=[options.seed, 0, place], runs=options.runs)
            for place, (_, sizes, rho) in enumerate(cells)
        ]
        independent = {
            number: pool.submit(
                coverage, [1] * number, 0.0, seed=[options.seed, 1, number], runs=options.runs
            )
            for number in set(numbers)
        }
    for title, truths in (("means", MEANS), ("differences", DIFFERENCES)):
        of_cells = [getattr(future.result(), title) for future in clustered]
        of_numbers = [getattr(independent[number].result(), title) for number in numbers]
        print_table(title, cells, [of_truth[0] for of_truth in of_cells])
        print(f"| {title} | least | below | within | above", end="")
        print(" | independent: least | below | within | above |")
        print("| --- |" + " ---: |" * 8)
        for place, truth in enumerate(("averaged", *truths)):
            columns = [[of_truth[place] for of_truth in some] for some in (of_cells, of_numbers)]
            print(f"| {truth} | {' | '.join(text for column in columns for text in figures(column))} |")
        print()


def figures(coverages: list[float]) -> list[str]:
    """The least coverage, and the shares of those below, within and above the band."""
    low, high = BAND
    shares = (
        sum(coverage < low for coverage in coverages),
        sum(low <= coverage <= high for coverage in coverages),
        sum(coverage > high for coverage in coverages),
    )
    return [f"{min(coverages):.3f}", *(f"{share / len(coverages):.1%}" for share in shares)]


def print_table(title: str, cells: list[tuple[str, list[int], float]], coverages: list[float]) -> None:
    """Least and greatest coverage, by family, effective clusters and rho; shares in the band; the lowest."""
    print(f"| {title}: sizes of programs | effective | {' | '.join(f'rho {rho:g}' for rho in RHOS)} |")
    print("| --- | --- |" + " --- |" * len(RHOS))
    by_row: dict[tuple[str, int, int], dict[float, list[float]]] = {}
    for (family, sizes, rho), held in zip(cells, coverages, strict=True):
        effective = effective_clusters(sizes)
        low, high = next(bounds for bounds in RANGES if bounds[0] <= effective < bounds[1])
        by_row.setdefault((family, low, high), {}).setdefault(rho, []).append(held)
    for (family, low, high), by_rho in sorted(by_row.items()):
        texts = [f"{min(by_rho[rho]):.3f}-{max(by_rho[rho]):.3f}" for rho in RHOS]
        effective_text = f"{low} to {high}" if high < RANGES[-1][1] else f"from {low}"
        print(f"| {family} | {effective_text} | {' | '.join(texts)} |")
    for low, _ in RANGES[:2]:
        some = [
            held
            for (_, sizes, _), held in zip(cells, coverages, strict=True)
            if effective_clusters(sizes) >= low
        ]
        least, below, within, above = figures(some)
        print(
            f"\n{len(some)} cells of {title} with {low} effective programs or more: least {least}, {below} "
            f"below {BAND[0]}, {within} from {BAND[0]} to {BAND[1]}, {above} above."
        )
    print()
    for held, (_, sizes, rho) in sorted(zip(coverages, cells, strict=True))[:12]:
        text = ", ".join(f"{sizes.count(size)} of {size}" for size in sorted(set(sizes)))
        print(f"- {held:.3f}: {text}; rho {rho:g}")
    print()


if __name__ == "__main__":
    main()
