"""Tables for terminals of any width, without cutting names."""

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deskcheck.ask.results.statistics import BY_EXECUTION, TOO_FEW, interval_text
from deskcheck.terminal import visible

_BETWEEN = 3
"""Cells between two columns."""


def print_table(
    console: Console,
    names: Sequence[str],
    numbers: Sequence[str],
    rows: Sequence[tuple[Sequence[str], Sequence[str]]],
    *,
    title: str | None = None,
    optional: Sequence[str] = (),
) -> None:
    """Print rows of names and numbers.

    If the table is wider than the console, the names are printed first, with a number for each row, and the
    rows of figures begin with these numbers.

    names, numbers: headings of the columns. optional: columns of numbers to leave out if every row has 0.
    """
    shown_numbers = [
        n for n, name in enumerate(numbers) if name not in optional or any(row[1][n] != "0" for row in rows)
    ]
    rows = [(named, [cells[n] for n in shown_numbers]) for named, cells in rows]
    numbers = [numbers[n] for n in shown_numbers]
    if title is not None:
        console.print(title, style="bold", markup=False)
    if _width([[*names, *numbers], *([*named, *cells] for named, cells in rows)]) > console.width:
        for position, (named, _) in enumerate(rows, 1):
            console.print(f"{position}  {', '.join(map(visible, named))}", markup=False, soft_wrap=True)
        names, rows = ["row"], [([str(position)], cells) for position, (_, cells) in enumerate(rows, 1)]
    table = Table(show_edge=False, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", overflow="fold")
    for named, cells in rows:
        table.add_row(*(escape(visible(text)) for text in (*named, *cells)))
    console.print(table)


def _width(rows: Sequence[Sequence[str]]) -> int:
    """The width of a table with these rows, in cells."""
    columns = zip(*rows, strict=True)
    widest = [
        max((cell_len(line) for text in column for line in text.split("\n")), default=0) for column in columns
    ]
    return sum(widest) + _BETWEEN * (len(widest) - 1)


def print_steps(console: Console, names: Sequence[str], steps: Sequence[tuple[Sequence[str], Any]]) -> None:
    """Print a row for each `Steps`, with its names."""
    rows = []
    for named, s in steps:
        shares = ["-" if i is None else f"{i.value:.4f}" for i in (s.exact, s.places, s.values)]
        first = "\n".join(f"{n} {kind}" for kind, n in s.divergences.items())
        counts = [str(s.runs), str(s.whole), str(s.judged), *shares, str(s.longest), _half_after(s)]
        rows.append((named, [*counts, first]))
    numbers = (
        *("runs", "right", "steps", "state", "next line", "values", "longest", "half after"),
        "first wrong",
    )
    title = "steps of the runs that were predicted, up to where each first goes wrong"
    print_table(console, names, numbers, rows, title=title)


def print_attempts(
    console: Console, names: Sequence[str], results: Sequence[tuple[Sequence[str], Any]]
) -> None:
    """Print the measures over several answers to each sample, for results or scores that have them."""
    several = [(named, result) for named, result in results if result.attempts]
    measures = list(dict.fromkeys(name for _, result in several for name in result.attempts))
    rows = [
        (named, [with_interval(result.attempts.get(name), result.n) for name in measures])
        for named, result in several
    ]
    if rows:
        print_table(console, names, measures, rows, title="several answers to each sample")


def _half_after(steps: Any) -> str:
    """The half-success horizon with its interval, in steps."""
    horizon = steps.horizon
    if horizon is None:
        return "-"
    value, low, high = ("oo" if h is None else f"{h:.0f}" for h in (horizon.value, horizon.low, horizon.high))
    return f"{value} ({low}-{high})" if steps.exact.low is not None else f"{value} ({TOO_FEW})"


def print_by_execution(console: Console, scored: Sequence[tuple[str, Any]]) -> None:
    """Explain intervals by execution, if a question has them. scored: names of questions with metrics."""
    for name in dict.fromkeys(
        name
        for name, score in scored
        if any(mean.by_execution is not None for mean in score.metrics.values())
    ):
        console.print(f"{name}: {TOO_FEW}; {BY_EXECUTION}", markup=False)


def with_interval(mean: Any, n: int, form: str = ".3f", bounds_form: str = ".2f") -> str:
    """A mean with its 95 % interval, and its number of values if that differs from `n`."""
    if mean is None:
        return "-"
    count = f" n={mean.n}" if mean.n != n else ""
    return f"{mean.value:{form}} ({interval_text(mean, form=bounds_form, between='-')}){count}"
