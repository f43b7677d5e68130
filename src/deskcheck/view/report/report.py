"""The results of `deskcheck ask` as figures and tables: the contents of the report page.

All statistics are computed here, by `ask.results.statistics`, with intervals clustered by program. The page
only draws them.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deskcheck._version import __version__
from deskcheck.ask.results.effects import WITHOUT, effects
from deskcheck.ask.results.logs import Logs
from deskcheck.ask.results.offline_scores import NOT_ANSWERED
from deskcheck.ask.results.results import Result
from deskcheck.ask.results.rows import ScoredSample, reading
from deskcheck.ask.results.statistics import BY_EXECUTION, FEW_CLUSTERS, few_clusters
from deskcheck.ask.samples.prompts import YOURS
from deskcheck.ask.scoring.score import Reading
from deskcheck.files import write_file
from deskcheck.view.page import page_of
from deskcheck.view.report.comparing import (
    consistency_sheet,
    effects_sheet,
    leaderboard_sheet,
    models_sheet,
    power_sheet,
)
from deskcheck.view.report.failed_steps import AskedRecordings, event_of, lines_sheet, write_pages
from deskcheck.view.report.rows import (
    COUNTED,
    INTERVAL,
    KEYS,
    METHOD,
    STATE,
    in_order,
    key_of,
    names_of,
    rows_of,
)
from deskcheck.view.report.sheets import Column, Sheet
from deskcheck.view.report.slicing import lengths_of, lengths_sheet, slices_sheet

_READINGS = (Reading.CUT, Reading.EMPTY, Reading.REFUSED, Reading.UNREADABLE)
_DEGENERATE = 0.9
EXAMPLES = 5
"""Maximum number of examples of a kind of failure by one model, from different programs if possible."""
SHOWN_CHARS = 4000
"""Maximum length of each text of an example, such as the prompt."""

Prices = Mapping[str, tuple[float, float]]
"""Model -> US dollars for a million tokens of input, and of output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPage:
    """The contents of a report."""

    facts: dict[str, Any]
    """Data of the page, JSON-able."""
    sheets: tuple[Sheet, ...]
    """Tables of the page."""
    asked: AskedRecordings
    """The recordings that the answers are about."""


def report_of(
    logs: Logs, prices: Prices | None = None, *, fields: Sequence[str] = (), difference: float | None = None
) -> ReportPage:
    """Figures and tables of results.

    fields: fields of the samples, for scores by their values. difference: a difference between two models,
    for a table of the programs needed to find it.

    Raises InputError if no sample has a field, or if it has too many values.
    """
    results = logs.results
    scores = [_score(result) for result in results]
    lengths = list(lengths_of(results))
    all_effects = effects(results)
    views = [effect for effect in all_effects if effect.against == WITHOUT and effect.state]
    methods = [effect for effect in all_effects if effect not in views]
    failures = list(_failures(results))
    asked = AskedRecordings()
    sheets = [
        _scores_sheet(results),
        leaderboard_sheet(results),
        _metrics_sheet(results),
        effects_sheet("views", "Effect of runtime information", views, "state"),
        effects_sheet("methods", "Effect of the method", methods, "solver"),
        models_sheet(results),
        *([] if difference is None else [power_sheet(results, difference)]),
        consistency_sheet(results),
        _steps_sheet(results),
        lengths_sheet(lengths),
        *([slices_sheet(results, fields)] if fields else []),
        _failures_sheet(failures),
        lines_sheet(results, asked),
        _usage_sheet(results, prices or {}),
        _excluded_sheet(results),
    ]
    idle = [column for column, says in _SAYS.items() if all(says(result) == "" for result in results)]
    filled = tuple(sheet.without(idle) for sheet in sheets if sheet.rows)
    facts = {
        "deskcheck": __version__,
        "verdict": _verdict(results),
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "folders": sorted({result.folder for result in results}),
        "models": in_order(result.model for result in results),
        "samples": sum(row.reading != NOT_ANSWERED for result in results for row in result.samples),
        "notes": [*logs.notes, *_notes(results)],
        "scores": scores,
        "lengths": lengths,
        "views": [e.to_dict() for e in views if e.metric == _SCORED.get(e.question, "score")],
        "failures": failures,
        "sheets": [sheet.to_dict() for sheet in filled],
    }
    return ReportPage(facts=facts, sheets=filled, asked=asked)


def report_page(report: ReportPage) -> str:
    """The page, as HTML. Its figures are drawn in the browser, from the facts."""
    return page_of("report", report.facts["verdict"], report.facts, bundle="report", images="data:")


def write_report(report: ReportPage, out: Path, *, pages: int) -> tuple[int, int]:
    """Write the page, and beside it a folder with pages of failing examples, at most `pages`.

    Returns the size of the page in bytes, and the number of the other pages. Raises InputError if a file
    cannot be written.
    """
    count = write_pages(report.facts["failures"], report.asked, out.with_name(f"{out.stem}-pages"), pages)
    return write_file(out, [report_page(report)]), count


def _verdict(results: Sequence[Result]) -> str:
    """The outcome in one sentence: how many answers of each model are right, the best model first."""
    counts: dict[str, list[float]] = {}
    for result in results:
        counts.setdefault(result.model, []).extend(row.score for row in result.samples)
    shares = {model: sum(scores) / len(scores) for model, scores in counts.items() if scores}
    if not shares:
        return "No answers"
    models = sorted(shares, key=lambda model: -shares[model])
    right = {
        model: (f"{sum(score == 1 for score in scores):,} of {len(scores):,}", f"({shares[model]:.0%})")
        for model, scores in counts.items()
        if scores
    }
    sentence = f"{models[0]} answers {' right '.join(right[models[0]])}"
    if len(models) > 1:
        sentence += f", {models[1]} {' '.join(right[models[1]])}"
    more = len(models) - 2
    return f"{sentence}, and {more} more model{'s' * (more > 1)}" if more > 0 else sentence


_SCORED = {"cell_output": "by_value", "next_cell": "exact", "crash": "right_class"}
"""Question about notebooks -> the metric that is its score (`AnswerScore`): the figure shows this one."""


def _notes(results: Sequence[Result]) -> Iterator[str]:
    """Notes on results that make scores hard to compare."""
    few: dict[str, float] = {}
    for question in in_order(result.question for result in results):
        answered = [result for result in results if result.question == question and result.n]
        if len({frozenset(row.id for row in result.samples) for result in answered}) > 1:
            yield (
                f"{question}: not all models were asked the same samples. Compare their scores only where "
                f"they are paired."
            )
        few[question] = min((result.effective for result in answered), default=FEW_CLUSTERS)
        expected = {row.id: row.expected for result in answered for row in result.samples}
        answer, count = Counter(expected.values()).most_common(1)[0] if expected else ("", 0)
        if count > _DEGENERATE * len(expected) and len(expected) >= FEW_CLUSTERS:
            yield (
                f"{question}: one answer, {_cut(repr(answer), 60)[0]}, is right for {count} of "
                f"{len(expected)} samples: a model that always gives it scores as much."
            )
    if (warning := few_clusters(few.items())) is not None:
        yield warning


# -- scores --------------------------------------------------------------------------------------


def _score(result: Result) -> dict[str, Any]:
    names = ("n", "programs", "score", "low", "high", *_READINGS)
    values = {name: getattr(result, name) for name in names}
    return key_of(result) | values


_SAYS: Mapping[Column, Callable[[Result], str]] = {
    METHOD: lambda result: result.solver if result.solver != "direct" else "",
    STATE: lambda result: result.state,
}
"""Columns that are left out if they are empty for all results."""


def _value(estimate: Any) -> Any:
    """The value of an interval or horizon, if there is one."""
    return None if estimate is None else estimate.value


def _scores_sheet(results: Sequence[Result]) -> Sheet:
    return Sheet(
        name="scores",
        title="Scores",
        columns=(
            *(*KEYS, Column("score", ".3f"), *INTERVAL, Column("lenient", ".3f"), *COUNTED),
            *(Column(name, "d") for name in _READINGS),
        ),
        rows=[
            (
                *(*names_of(r), r.score, r.low, r.high, _value(r.lenient), r.n, r.programs),
                *(getattr(r, name) for name in _READINGS),
            )
            for r in results
        ],
        note="Low and high bound the 95 % interval, clustered by program (by notebook for questions about "
        "notebooks). Answers in another form than the prompt asked for count as wrong; the lenient score "
        "reads them as a person would.",
    )


def _metrics_sheet(results: Sequence[Result]) -> Sheet:
    return Sheet(
        name="metrics",
        title="Other metrics",
        columns=(*KEYS, Column("metric"), Column("mean", ".3f"), *INTERVAL, *COUNTED),
        rows=[
            (*names_of(r), name, mean.value, low, high, mean.n, mean.clusters)
            for r in results
            for metric, mean in (*r.parts.items(), *r.attempts.items())
            for name, low, high in rows_of(metric, mean)
        ],
        note=f"By execution: {BY_EXECUTION}.",
    )


def _steps_sheet(results: Sequence[Result]) -> Sheet:
    rows: list[tuple[Any, ...]] = []
    for result in results:
        if (steps := result.steps) is None:
            continue
        shares = map(_value, (steps.exact, steps.places, steps.values))
        half = _value(steps.horizon)
        first = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in steps.divergences.items())
        rows.append(
            (*names_of(result), steps.runs, steps.whole, steps.judged, *shares, steps.longest, half, first)
        )
    return Sheet(
        name="steps",
        title="Steps of predicted runs",
        columns=(
            *KEYS,
            *(Column(name, "d") for name in ("runs", "right", "steps")),
            *(Column(name, ".4f") for name in ("state", "next line", "values")),
            *(Column("longest", "d"), Column("half after", ".0f"), Column("first wrong")),
        ),
        rows=rows,
        note="Steps up to the first wrong one of each run. Half after: steps until half of the runs have "
        "gone wrong, if steps err independently; a dash: they never do.",
    )


# -- failures ------------------------------------------------------------------------------------


def _kind(row: ScoredSample) -> str:
    """The way in which an answer is wrong."""
    if row.run and row.divergence:
        return f"the predicted run goes wrong: {row.divergence.replace('_', ' ')}"
    if row.answer is None:
        return f"{reading(row)}: {row.reason}"
    return row.reason or "wrong"


def _failures(results: Sequence[Result]) -> Iterator[dict[str, Any]]:
    for result in results:
        wrong: dict[str, list[ScoredSample]] = {}
        for row in result.samples:
            if row.score < 1:
                wrong.setdefault(_kind(row), []).append(row)
        for kind, rows in sorted(wrong.items(), key=lambda kind_and_rows: -len(kind_and_rows[1])):
            one_each = list({row.cluster: row for row in reversed(rows)}.values())[::-1]
            chosen = [*one_each, *(row for row in rows if row not in one_each)][:EXAMPLES]
            yield key_of(result) | {
                "kind": kind,
                "folder": result.folder,
                "count": len(rows),
                "n": len(result.samples),
                "examples": [_example(row) for row in chosen],
            }


def _example(row: ScoredSample) -> dict[str, Any]:
    texts = {
        # Without what every prompt of this kind begins with: the task, and an example.
        "question": row.prompt.rpartition(f"\n\n{YOURS}\n\n")[2],
        "right answer": row.expected,
        "answer": row.answer or "",
        "completion": "" if row.run else row.completion,
        "predicted run": row.predicted,
        "where it ended": row.ended,
    }
    return {
        "id": row.id,
        "program": row.program,
        "event": event_of(row),
        "reason": row.reason,
        "texts": [[name, *_cut(text)] for name, text in texts.items() if text],
    }


def _cut(text: str, chars: int = SHOWN_CHARS) -> tuple[str, int]:
    """The beginning of a text, and the number of missing characters."""
    return text[:chars], max(0, len(text) - chars)


def _failures_sheet(failures: Sequence[Mapping[str, Any]]) -> Sheet:
    return Sheet(
        name="failures",
        title="Kinds of failure",
        columns=(*KEYS, Column("how"), Column("answers", "d"), Column("share of all", ".3f")),
        rows=[
            (
                *(failure["question"], failure["solver"], failure["state"] or "-", failure["model"]),
                *(failure["kind"], failure["count"], failure["count"] / failure["n"]),
            )
            for failure in failures
        ],
    )


# -- what it took, what was left out -------------------------------------------------------------


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum of what is known; None if nothing is."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _usage_sheet(results: Sequence[Result], prices: Prices) -> Sheet:
    rows: list[tuple[Any, ...]] = []
    for result in results:
        if not result.usage:
            continue
        read, written = (
            _sum(getattr(used, name) for used in result.usage) for name in ("input_tokens", "output_tokens")
        )
        cost = _sum(used.cost for used in result.usage)
        if result.model in prices and read is not None and written is not None:
            each_read, each_written = prices[result.model]
            cost = (read * each_read + written * each_written) / 1e6
        times = [used.time_s for used in result.usage if used.time_s is not None]
        median = statistics.median(times) if times else None
        rows.append((*names_of(result), result.n, read, written, cost, _sum(times), median))
    return Sheet(
        name="usage",
        title="Cost and time",
        columns=(
            *(*KEYS, Column("n", "d"), Column("tokens read", ",.0f"), Column("tokens written", ",.0f")),
            *(Column("US dollars", ",.4f"), Column("seconds", ",.1f"), Column("median of a sample", ".3f")),
        ),
        rows=rows,
        note="Tokens as the provider counts them. Seconds of work, summed over samples that ran in parallel. "
        "Dollars by the prices given or known to Inspect; a dash without prices.",
    )


def _excluded_sheet(results: Sequence[Result]) -> Sheet:
    counted: dict[str, Counter[str]] = {}
    for result in results:  # the result of every model repeats the counts
        question_counts = counted.setdefault(result.question, Counter())
        for reason, count in result.excluded.items():
            question_counts[reason] = max(question_counts[reason], count)
    rows = [
        (question, reason, count)
        for question, reasons in counted.items()
        for reason, count in reasons.most_common()
    ]
    return Sheet(
        name="excluded",
        title="Not asked about",
        columns=(Column("question"), Column("why"), Column("recordings", "d")),
        rows=rows,
        note="Recordings (cells for questions about notebooks) that are not asked about.",
    )
