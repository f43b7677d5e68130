"""Scores by properties of the samples: length and depth of their runs, and values of any field.

The ranges of lengths and depths are fixed, so that reports of different runs can be compared.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, NamedTuple

from deskcheck.ask.results.results import Result
from deskcheck.ask.results.rows import by_sample
from deskcheck.ask.results.statistics import Interval, mean_interval
from deskcheck.files import read_json
from deskcheck.recording import InputError
from deskcheck.view.report.rows import KEYS, SCORED, entries_of, in_order, key_of, names_of
from deskcheck.view.report.sheets import Column, Entry, Sheet

LENGTHS = (1, 10, 30, 100, 300, 1000, 3000, 10_000, 100_000)
"""The starts of ranges. The last range has no upper bound."""
DEPTHS = (1, 2, 3, 4, 5, 10, 30, 100)


def range_of(value: float, starts: Sequence[int], *, integers: bool = True) -> tuple[int, str]:
    """Index and name of the range with this value.

    integers: whether all values are integers, so that names can contain the last one of the range.
    """
    index = sum(start <= value for start in starts) - 1
    if index < 0:
        return -1, f"below {starts[0]:,}"
    if index + 1 == len(starts):
        return index, f"{starts[index]:,} and more"
    if not integers:
        return index, f"{starts[index]:,} to below {starts[index + 1]:,}"
    last = starts[index + 1] - 1
    return index, f"{last:,}" if last == starts[index] else f"{starts[index]:,} to {last:,}"


AXES: Mapping[str, tuple[str, Sequence[int]]] = {
    "events": ("events of the trace", LENGTHS),
    "depth": ("nested calls", DEPTHS),
    "step": ("earlier steps of the notebook", LENGTHS),
}
"""Key of a sample's data -> description of the counted items, and starts of ranges."""


class _Sample(NamedTuple):
    """A sample with its data."""

    cluster: str
    score: float
    """Mean over several answers."""
    data: Mapping[str, Any]


def _samples(result: Result) -> list[_Sample]:
    scores = by_sample(result.samples, "score")
    first = {row.id: row for row in reversed(result.samples)}
    return [
        _Sample(first[id_].cluster, score, read_json(first[id_].data, f"{id_}: data"))
        for id_, score in scores.items()
    ]


def _interval(samples: Sequence[_Sample]) -> Interval:
    return mean_interval([sample.score for sample in samples], [sample.cluster for sample in samples])


def lengths_of(results: Sequence[Result]) -> Iterator[dict[str, Any]]:
    for result in results:
        samples = _samples(result)
        for axis, (counts, starts) in AXES.items():
            placed = [
                (range_of(sample.data[axis], starts), sample) for sample in samples if axis in sample.data
            ]
            placed.sort(key=lambda pair: pair[0])
            for (order, name), group in groupby(placed, key=lambda pair: pair[0]):
                interval = _interval([sample for _, sample in group])
                yield (
                    key_of(result)
                    | {"axis": axis, "counts": counts, "order": order, "range": name}
                    | asdict(interval)
                )


_MOST = 30
"""Maximum number of different values of a field. If numbers have more, they are put into ranges."""
_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])(-\d\d.*)?")


def slices_sheet(results: Sequence[Result], fields: Sequence[str]) -> Sheet:
    """Scores by fields of the samples' data. Many different numbers are put into ranges, dates into months.

    Raises InputError if no sample has a field, or if it has too many values other than numbers.
    """
    rows: list[tuple[Entry, ...]] = []
    samples_by_result = [(result, _samples(result)) for result in results]
    for field in fields:
        values = [
            sample.data[field]
            for _, samples in samples_by_result
            for sample in samples
            if field in sample.data
        ]
        if not values:
            names = sorted(
                {name for _, samples in samples_by_result for sample in samples for name in sample.data}
            )
            raise InputError(
                f"--by {field}: no sample has this field. The fields are {', '.join(names) or 'none'}."
            )
        slice_of = _places(field, values)
        for result, samples in samples_by_result:
            placed = [(slice_of(sample.data[field]), sample) for sample in samples if field in sample.data]
            placed.sort(key=lambda pair: pair[0])
            for (_, name), group in groupby(placed, key=lambda pair: pair[0]):
                mean = _interval([sample for _, sample in group])
                rows.append((*names_of(result), field, name, *entries_of(mean)))
    return Sheet(
        name="slices",
        title="Scores by " + ", ".join(fields),
        columns=(*KEYS, Column("of what"), Column("is"), *SCORED),
        rows=rows,
    )


def _places(field: str, values: Sequence[object]) -> Callable[[Any], tuple[float, str]]:
    """A function from a value to the position and name of its slice."""
    numbers = [value for value in values if isinstance(value, (int, float))]
    texts = in_order(map(str, values))
    if len(numbers) == len(values) and len(texts) > _MOST:
        only_integers = all(float(value).is_integer() for value in numbers)
        return lambda value: range_of(value, LENGTHS, integers=only_integers)
    if len(numbers) == len(values):
        return lambda value: (float(value), str(value))
    if all(_DATE.fullmatch(text) for text in texts):
        texts = sorted({text[:7] for text in texts})
        return lambda value: (texts.index(str(value)[:7]), str(value)[:7])
    if len(texts) > _MOST:
        raise InputError(
            f"--by {field}: it has {len(texts)} different values, such as {texts[0]!r}; the limit is {_MOST}."
        )
    texts.sort()
    return lambda value: (texts.index(str(value)), str(value))


def lengths_sheet(lengths: Sequence[Mapping[str, Any]]) -> Sheet:
    names = "question solver state model counts range value low high n clusters".split()
    return Sheet(
        name="lengths",
        title="Scores over length and depth",
        columns=(*KEYS, Column("of what"), Column("range"), *SCORED),
        rows=[tuple(row[name] or "-" if name == "state" else row[name] for name in names) for row in lengths],
    )
