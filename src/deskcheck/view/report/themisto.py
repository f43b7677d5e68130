"""The result table of Themisto (Grotov and Titov 2025, arXiv:2504.12365), with paired differences.

A row is a model with a view of runtime information, beside the same model without. A second table has the
same by whether the answers need runtime information (`ask.questions.notebook_past.need`).
"""

from collections.abc import Iterator, Mapping, Sequence

from deskcheck.ask.results.effects import WITHOUT
from deskcheck.ask.results.results import Result
from deskcheck.ask.results.rows import by_sample
from deskcheck.ask.results.statistics import interval_text, mean_interval, paired_difference
from deskcheck.files import read_json
from deskcheck.recording import InputError
from deskcheck.view.report.rows import in_order
from deskcheck.view.report.sheets import Column, Entry, Sheet

METRICS: Mapping[str, str] = {"exact": "EM", "rouge_l": "ROUGE-L", "chrf": "ChrF"}
"""Metric -> its name in the paper."""
_NEED = "need"


def themisto_sheets(results: Sequence[Result]) -> list[Sheet]:
    """The tables. Raises InputError if there are no answers to questions about notebooks without a view, or
    none with one."""
    notebooks = [r for r in results if r.state and r.question in ("cell_output", "next_cell") and r.samples]
    base = {(r.question, r.solver, r.model): r for r in notebooks if r.state == WITHOUT}
    pairs = [
        (base[key], result)
        for result in notebooks
        if result.state != WITHOUT and (key := (result.question, result.solver, result.model)) in base
    ]
    if not pairs:
        raise InputError(
            "--table themisto: needs answers to cell_output or next_cell without and with runtime "
            "information. Ask with --state none,used."
        )
    heads = [Column("question"), Column("model"), Column("view")]
    counted = [Column("n", "d"), Column("notebooks", "d")]
    scores = [
        Column(f"{name}{what}") for name in METRICS.values() for what in (", without", ", with", ": effect")
    ]
    all_rows = [
        (without.question, _model(without), with_.state, *entries)
        for without, with_ in pairs
        if (entries := _entries(without, with_, None)) is not None
    ]
    return [
        Sheet(
            name="themisto",
            title="Runtime information: models without and with it",
            columns=(*heads, *counted, *scores),
            rows=all_rows,
            note="95 % intervals by notebook. Effects are paired: with minus without, over the same samples.",
        ),
        Sheet(
            name="themisto_need",
            title="The effect by what the answers need",
            columns=(*heads, Column("the answer is"), *counted, *scores),
            rows=list(_by_need(pairs)),
            note="shown: the cells before have all its numbers and words. in the state: only the values of "
            "variables have some of them. computed: neither.",
        ),
    ]


def _model(result: Result) -> str:
    return result.model if result.solver == "direct" else f"{result.model}, {result.solver}"


def _by_need(pairs: Sequence[tuple[Result, Result]]) -> Iterator[tuple[Entry, ...]]:
    for without, with_ in pairs:
        needs = {row.id: read_json(row.data, f"{row.id}: data").get(_NEED) for row in without.samples}
        for kind in sorted(filter(None, in_order(needs.values()))):
            ids = frozenset(id_ for id_, need in needs.items() if need == kind)
            if (entries := _entries(without, with_, ids)) is not None:
                yield (without.question, _model(without), with_.state, kind, *entries)


def _entries(without: Result, with_: Result, ids: frozenset[str] | None) -> tuple[Entry, ...] | None:
    """Numbers of samples and notebooks, and for each metric the means and the effect.

    None without samples.
    """
    clusters = {row.id: row.cluster for row in without.samples}
    texts: list[Entry] = []
    views_asked: set[str] = set()
    for metric in METRICS:
        scores = [by_sample(result.samples, metric) for result in (without, with_)]
        both = [id_ for id_ in scores[0] if id_ in scores[1] and (ids is None or id_ in ids)]
        if not both:
            return None
        views_asked.update(both)
        for by_id in scores:
            mean = mean_interval(
                [by_id[id_] for id_ in both], [clusters[id_] for id_ in both], by_execution=True
            )
            texts.append(f"{mean.value:.3f} ({interval_text(mean)})")
        before, after = ({id_: by_id[id_] for id_ in both} for by_id in scores)
        effect = paired_difference(before, after, clusters, by_execution=True)
        texts.append(f"{effect.value:+.3f} ({interval_text(effect, form='+.3f')})")
    return (len(views_asked), len({clusters[id_] for id_ in views_asked}), *texts)
