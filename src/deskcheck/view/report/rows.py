"""Common parts of tables of results: the columns that identify a result, and those of its score."""

from collections.abc import Iterable, Iterator

from deskcheck.ask.results.effects import Effect
from deskcheck.ask.results.results import Result
from deskcheck.ask.results.statistics import TOO_FEW, Interval
from deskcheck.view.report.sheets import Column, Entry

METHOD, STATE = Column("method"), Column("state")
KEYS = (Column("question"), METHOD, STATE, Column("model"))


def interval(format: str = ".3f") -> tuple[Column, Column]:
    return Column("low", format, unknown=TOO_FEW), Column("high", format)


INTERVAL = interval()
COUNTED = (Column("n", "d"), Column("programs", "d"))
SCORED = (Column("score", ".3f"), *INTERVAL, *COUNTED)


def in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def rows_of(name: str, estimate: Interval | Effect) -> Iterator[tuple[str, float | None, float | None]]:
    """A name with the bounds of an estimate, then with those by execution, if any."""
    yield name, estimate.low, estimate.high
    if estimate.by_execution is not None:
        yield f"{name}, by execution", *estimate.by_execution


def entries_of(mean: Interval) -> tuple[Entry, ...]:
    """The entries of `SCORED` columns."""
    return mean.value, mean.low, mean.high, mean.n, mean.clusters


def names_of(result: Result | Effect) -> tuple[str, str, str, str]:
    return (result.question, result.solver, result.state or "-", result.model)


def key_of(result: Result) -> dict[str, str]:
    return {
        "question": result.question,
        "solver": result.solver,
        "state": result.state,
        "model": result.model,
        "what": what_of(result),
    }


def what_of(result: Result) -> str:
    """Question, method and view in words, without defaults."""
    parts = [result.question, "" if result.solver == "direct" else result.solver]
    return ", ".join([*filter(None, parts), *([f"state: {result.state}"] if result.state else [])])
