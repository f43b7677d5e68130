"""Tables that compare models, views of the state and methods; and the sample sizes that this needs."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from deskcheck.ask.results.effects import Effect
from deskcheck.ask.results.results import Result
from deskcheck.ask.results.rows import by_sample
from deskcheck.ask.results.statistics import (
    BY_EXECUTION,
    holm,
    mean_interval,
    paired_difference,
    power_of,
    sign_flip,
)
from deskcheck.view.report.rows import (
    COUNTED,
    INTERVAL,
    KEYS,
    entries_of,
    interval,
    names_of,
    rows_of,
    what_of,
)
from deskcheck.view.report.sheets import Column, Entry, Sheet

_DIFFERENCE = (Column("difference", "+.3f"), *interval("+.3f"))
_P_VALUES = (Column("p", ".2g"), Column("p, Holm", ".2g"))
_P_NOTE = "p: exact, by sign flips of programs. Holm: p adjusted for the number of comparisons in this table."


def effects_sheet(name: str, title: str, effects: Sequence[Effect], what: str) -> Sheet:
    compared = "the state, minus that without" if what == "state" else "this method, minus the other"
    changes = (Column("better", "d"), Column("worse", "d"))
    return Sheet(
        name=name,
        title=title,
        columns=(*KEYS, Column("minus"), Column("metric"), *_DIFFERENCE, *changes, *_P_VALUES, *COUNTED),
        rows=[
            (
                *(*names_of(e), e.against, metric, e.difference, low, high),
                *(e.better, e.worse, e.sign_flip, adjusted, e.n, e.clusters),
            )
            for e, adjusted in zip(effects, holm([e.sign_flip for e in effects]), strict=True)
            for metric, low, high in rows_of(e.metric, e)
        ],
        note=f"Score with {compared}, over the same samples. {_P_NOTE} By execution: {BY_EXECUTION}.",
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """The difference of two models over the samples that both answered: the second minus the first."""

    base: Result
    result: Result
    first: Mapping[str, float]
    second: Mapping[str, float]
    clusters: Mapping[str, str]


def _pairs(results: Sequence[Result]) -> Iterator[_Pair]:
    """Each model against the first that was asked the same in the same way."""
    first: dict[tuple[str, str, str], Result] = {}
    for result in results:
        base = first.setdefault((result.question, result.solver, result.state), result)
        base_scores, scores = (by_sample(answered.samples, "score") for answered in (base, result))
        both = sorted(base_scores.keys() & scores.keys())
        if base is not result and both:
            yield _Pair(
                base,
                result,
                {id_: base_scores[id_] for id_ in both},
                {id_: scores[id_] for id_ in both},
                {row.id: row.cluster for row in base.samples},
            )


def models_sheet(results: Sequence[Result]) -> Sheet:
    pairs = [*_pairs(results)]
    tests = [sign_flip(pair.first, pair.second, pair.clusters) for pair in pairs]
    rows: list[tuple[Entry, ...]] = []
    for pair, p, adjusted in zip(pairs, tests, holm(tests), strict=True):
        mean = paired_difference(pair.first, pair.second, pair.clusters)
        *difference, samples, programs = entries_of(mean)
        rows.append((*names_of(pair.result), pair.base.model, *difference, p, adjusted, samples, programs))
    return Sheet(
        name="models",
        title="Models on the same samples",
        columns=(*KEYS, Column("minus"), *_DIFFERENCE, *_P_VALUES, *COUNTED),
        rows=rows,
        note=f"Each model minus the first that was asked, over the samples that both answered. {_P_NOTE}",
    )


_Way = tuple[str, str, str]
"""Question, method and view of the state."""


def leaderboard_sheet(results: Sequence[Result]) -> Sheet:
    """Every model with its scores on all questions, the best mean first.

    Empty for a single model or question."""
    ways: dict[str, set[tuple[str, str]]] = {}
    for result in results:
        ways.setdefault(result.question, set()).add((result.solver, result.state))
    scores: dict[str, dict[_Way, float]] = {}
    names: dict[_Way, str] = {}
    for result in results:
        if result.score is not None:
            way = (result.question, result.solver, result.state)
            names[way] = what_of(result) if len(ways[result.question]) > 1 else result.question
            scores.setdefault(result.model, {})[way] = result.score
    means = {
        model: fmean(by_way.values()) if len(by_way) == len(names) else None
        for model, by_way in scores.items()
    }
    best = sorted(means, key=lambda model: -(means[model] or 0.0))
    rows = [(model, means[model], *map(scores[model].get, names)) for model in best]
    return Sheet(
        name="leaderboard",
        title="All questions side by side",
        columns=(Column("model"), *(Column(name, ".3f") for name in ("mean", *names.values()))),
        rows=rows if len(rows) > 1 and len(names) > 1 else [],
        note="The mean over questions, with equal weights; a dash if one was not asked.",
    )


_REVAL = ("coverage", "state", "next_line", "output")
"""The questions whose order makes REval's consistency, each easier if the one before is understood."""


def consistency_sheet(results: Sequence[Result]) -> Sheet:
    """The consistency of each model's answers to several questions about the same run.

    The measure is that of REval (arXiv:2403.16437)."""
    scores_by_model: dict[tuple[str, str], dict[str, dict[str, tuple[float, str]]]] = {}
    for result in results:
        if result.question in _REVAL:
            of_model = scores_by_model.setdefault((result.model, result.solver), {})
            for row in result.samples:
                run_scores = of_model.setdefault(row.program, {})
                score, _ = run_scores.get(result.question, (1.0, ""))
                run_scores[result.question] = (min(score, float(row.score >= 1)), row.cluster)
    rows: list[tuple[Entry, ...]] = []
    for (model, solver), runs in scores_by_model.items():
        complete = [run for run in runs.values() if len(run) == len(_REVAL)]
        if not complete:
            continue
        clusters = [run["output"][1] for run in complete]
        right = [tuple(run[question][0] for question in _REVAL) for run in complete]
        together = mean_interval([min(of_run) for of_run in right], clusters)
        consistent = mean_interval([_incremental(of_run) for of_run in right], clusters)
        *all_right, samples, programs = entries_of(together)
        rows.append((model, solver, *all_right, *entries_of(consistent)[:3], samples, programs))
    return Sheet(
        name="consistency",
        title="Several questions about one run",
        columns=(
            *(Column("model"), Column("method")),
            *(Column("all right", ".3f"), *INTERVAL),
            *(Column("consistency", ".3f"), *INTERVAL),
            *(Column("runs", "d"), Column("programs", "d")),
        ),
        rows=rows,
        note="Runs with questions about coverage, state, next_line and output. Consistency: REval's "
        "incremental consistency. 1 if all are right, in this order; a half, a quarter, an eighth if only "
        "the first three, two, one are; 0 if a right one follows a wrong one, or none is right. If a "
        "question has several samples, all must be right.",
    )


def _incremental(right: Sequence[float]) -> float:
    correct = sum(right)
    in_order = list(right) == sorted(right, reverse=True)
    return 0.5 ** (len(right) - correct) if in_order and correct else 0.0


def power_sheet(results: Sequence[Result], difference: float) -> Sheet:
    """The differences that these samples can find, and the programs needed to find `difference`."""
    rows: list[tuple[Entry, ...]] = []
    for pair in _pairs(results):
        ids = list(pair.first)
        differences = [pair.second[id_] - pair.first[id_] for id_ in ids]
        clusters = [pair.clusters[id_] for id_ in ids]
        entries: tuple[Entry, ...] = (None, None)
        with contextlib.suppress(ValueError):  # the two never differ, or there is one program
            power = power_of(differences, clusters, difference)
            entries = (power.smallest, power.needed)
        rows.append((*names_of(pair.result), pair.base.model, *entries, len(ids), len(set(clusters))))
    return Sheet(
        name="power",
        title=f"Programs needed to find a difference of {difference:g}",
        columns=(*KEYS, Column("minus"), Column("finds", ".3f"), Column("programs needed", ",d"), *COUNTED),
        rows=rows,
        note="For a test at 0.05 with a power of 0.8. Finds: the smallest difference that these samples can "
        "find. Programs needed: with the present number of samples for each. Both depend on how much the two "
        "models differ from program to program; a dash if they never differ.",
    )
