"""Tables of runs that models predicted, step by step."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def print_steps(console: Console, names: Sequence[str], found: Sequence[tuple[Sequence[str], Any]]) -> None:
    """One row for the `Steps` of each."""
    table = Table(
        *names,
        show_edge=False,
        pad_edge=False,
        title="steps of the runs that were predicted, up to where each first goes wrong",
        title_justify="left",
        title_style="bold",
    )
    for name in ("runs", "right", "steps", "state", "next line", "values", "longest", "half after"):
        table.add_column(name, justify="right")
    table.add_column("first wrong")
    for named, s in found:
        shares = ["-" if i is None else f"{i.value:.4f}" for i in (s.exact, s.places, s.values)]
        first = "\n".join(f"{n} {kind}" for kind, n in s.divergences.items())
        row = (*named, str(s.runs), str(s.whole), str(s.judged), *shares)
        table.add_row(*row, str(s.longest), _half_after(s.horizon), first)
    console.print(table)


def of_methods(title: str) -> Table:
    table = Table(show_edge=False, pad_edge=False, title=title, title_justify="left", title_style="bold")
    table.add_column("question")
    table.add_column("model", overflow="fold")
    table.add_column("method", no_wrap=True)
    return table


def _half_after(horizon: Any) -> str:
    """The half-success horizon with its interval, in steps."""
    if horizon is None:
        return "-"
    value, low, high = ("oo" if h is None else f"{h:.0f}" for h in (horizon.value, horizon.low, horizon.high))
    return f"{value} ({low}-{high})"


def with_interval(found: Any, n: int) -> str:
    if found is None:
        return "-"
    of = f" n={found.n}" if found.n != n else ""
    return f"{found.value:.3f} ({found.low:.2f}-{found.high:.2f}){of}"
