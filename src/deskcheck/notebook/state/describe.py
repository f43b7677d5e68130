"""Describes one variable, in one or more lines, for a model or an assistant."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from deskcheck.notebook.state.state import Variable, label_of
from deskcheck.notebook.state.truncate import DIGITS, fitting, truncate, with_rest
from deskcheck.recording.value import Value

Facts = dict[str, Any]
"""Facts about a variable, which `views` writes."""
_LARGE = 1_000_000
"""Size in bytes from which the size is mentioned."""
_SHORT = 60
"""Characters of parameters that fit in any case."""
_DOC_FROM = 60
_COLUMN_CHARS = 45
"""Minimum for the line of a column."""
_SIMILAR = 4
"""Number of similar columns that become one line."""
_NUMBERED = re.compile(r"(.*?)(\d+)", re.DOTALL)


def describe(variable: Variable, chars: int) -> tuple[Facts, str | None]:
    """Facts about a variable whose value may take `chars` characters (0: no value), and the name of the cut
    part (`views.Shown`). Numbers are exact, or rounded to `DIGITS` digits, which the facts mention."""
    value, live = variable.value, variable.seen
    described = dict(variable.described or {})
    facts: Facts = {"name": variable.name, "type": variable.type}
    if value.shape is not None:
        facts["shape"] = list(value.shape)
    if value.shape is not None and value.dtype is not None:
        facts["dtype"] = value.dtype
    if value.shape is None and variable.length is not None:
        facts["length"] = variable.length
    if variable.size_method == "nbytes" and (variable.size_bytes or 0) >= _LARGE:
        facts["size_bytes"] = variable.size_bytes
    facts |= {name: live[name] for name in live if name not in _LATER}
    later = {name: live[name] for name in live if name in _LATER}
    long = False if chars else _without_what_is_long(facts)
    if facts["type"].endswith(f".{facts.get('dtype')}"):
        del facts["dtype"]
    cut: str | None = None
    if "alias" in facts:
        facts["value"] = facts.pop("alias")
    elif value.kind == "table":
        cut = _table(value, chars, facts)
    elif not live.keys().isdisjoint(("call", "members", "weights")) or value.kind in ("function", "class"):
        cut = _later(later, chars, facts)
    elif (value.cut == "masked" or not (value.bare or value.kind == "opaque")) and not described.get("shape"):
        cut = _value(value, chars, facts)
    if described:
        cut = _described(described, chars, facts) or cut
    return facts, "type" if long else cut


def _without_what_is_long(facts: Facts) -> bool:
    """Shorten facts that would leave no room for other variables. Returns whether one was shortened."""
    long = False
    if len(facts.get("call", "")) > _SHORT:
        facts["call"], long = "(...)", True
    if sum(map(len, facts.get("parameters", {}).values())) > _SHORT:
        del facts["parameters"]
        long = True
    return long


_LATER = ("doc", "methods", "members", "layers")
"""Facts that need room for values."""


def _later(later: Mapping[str, Any], chars: int, facts: Facts) -> str | None:
    if chars < _DOC_FROM:
        return "type" if later else None
    for name, what in later.items():
        if isinstance(what, str):
            facts[name] = what
            continue
        facts[name] = with_rest(fitting(what, chars, _listed_size), len(what))
    return "value" if any(later[name] != facts[name] for name in later) else None


def _listed_size(text: str) -> int:
    """The size of one text in a row."""
    return len(text) + 2


def _value(value: Value, chars: int, facts: Facts) -> str | None:
    if not chars:
        return "type"
    if value.kind == "array":
        fields = dict(value.fields)
        if "name" in fields and fields["name"].atom is not None:
            facts["named"] = label_of(fields["name"])
        index = fields.get("index")
        if index is not None and not _is_count(index) and index.items:
            of_index = truncate(_days(index), chars // 2)
            facts["index"] = of_index.text
            chars //= 2
        if not value.items and value.length:
            return None
    shortened = truncate(_days(value), chars)
    facts["value"] = shortened.text
    if shortened.rounded:
        facts["rounded"] = DIGITS
    if not shortened.cut and value.whole:
        facts.pop("length", None)
    return "value" if shortened.cut else None


def _is_count(index: Value) -> bool:
    """Whether an index numbers its rows from 0."""
    return index.dtype == "range" and [item.atom for item in index.items] == [*range(len(index.items))]


def _described(described: dict[str, Any], chars: int, facts: Facts) -> str | None:
    """Add facts about tensors in the same way as about arrays, and facts of other describers unchanged."""
    if not {"shape", "dtype", "device"} <= described.keys():
        if chars:
            facts["described"] = described
        return None if chars else "type"
    facts |= {"shape": described["shape"], "dtype": described["dtype"]}
    more = {name: what for name, what in described.items() if name not in ("shape", "dtype", "head")}
    if more.get("device") == "cpu":
        del more["device"]
    if more:
        facts["described"] = more
    if "head" not in described:
        return None
    if not chars:
        return "type"
    numbers = [float(item) if item in ("nan", "inf", "-inf") else item for item in described["head"]]
    items = tuple(Value("atom", type(number).__name__, atom=number) for number in numbers)
    shape = tuple(described["shape"])
    total = math.prod(shape)
    cut = "long" if len(items) < total else None
    array = Value("array", "column", items=items, length=total, cut=cut, shape=shape)
    shortened = truncate(array if shape else items[0], chars)
    facts["value"] = shortened.text
    if any(type(item) is float and _digits(item) >= DIGITS for item in described["head"]):
        facts["rounded"] = DIGITS  # by who described it
    return "value" if shortened.cut else None


def _digits(number: float) -> int:
    """Number of significant digits in the text of a number."""
    return len(repr(number).partition("e")[0].replace(".", "").lstrip("-0"))


# -- tables ----------------------------------------------------------------------------------------


def _table(value: Value, chars: int, facts: Facts) -> str | None:
    """Add the names and types of the columns that fit, or, with more room, a line with values for each."""
    if not chars:
        return "type"
    fields = dict(value.fields)
    index = fields.get("index")
    columns = [(label_of(label), column) for label, column in value.items]
    groups = [*_similar(columns)]
    total = value.length if value.length is not None else len(columns)
    more = [{"more": total - len(columns)}] if total > len(columns) else []
    lines = len(groups) + (index is not None)
    if lines * _COLUMN_CHARS > chars:
        texts = [f"{label} ({column.dtype})" for label, column, _ in groups]
        fitting_labels = fitting(texts, 2 * chars, _listed_size)
        more_columns = total - sum(count for _, _, count in groups[: len(fitting_labels)])
        facts["labels"] = [*fitting_labels, *([f"... {more_columns} more"] if more_columns else [])]
        return "value"
    column_chars = max(chars // max(lines, 1) - _COLUMN_CHARS // 2, _COLUMN_CHARS // 2)
    index_column = [("index", index, 1)] if index is not None and not _is_count(index) else []
    rows: list[dict[str, Any]] = []
    cut = rounded = False
    for label, column, count in [*index_column, *groups]:
        if not column.items and column.length:  # as of a hierarchical index
            rows.append({"label": label, "dtype": column.dtype, "head": f"of {column.length}"})
            continue
        head = truncate(_days(column), column_chars)
        cut, rounded = cut or head.cut, rounded or head.rounded
        of_first = f"{label.partition(' to ')[0]} = " if count > 1 else ""
        rows.append({"label": label, "dtype": column.dtype, "head": f"{of_first}{head.text}"})
    facts["columns"] = [*rows, *more]
    if rounded:
        facts["rounded"] = DIGITS
    return "value" if cut else None


def _days(array: Value) -> Value:
    """Dates and times without the parts that are zero in all of them."""
    if not (array.dtype or "").startswith("datetime64"):
        return array
    for zero in (_MIDNIGHT, _MIDNIGHT[9:]):
        ends = [isinstance(item.atom, str) and item.atom.endswith(zero) for item in array.items]
        if ends and all(ends):
            items = (replace(item, atom=item.atom.removesuffix(zero)) for item in array.items)
            return replace(array, items=tuple(items))
    return array


_MIDNIGHT = "T00:00:00.000000"


def _similar(columns: list[tuple[str, Value]]) -> Iterator[tuple[str, Value, int]]:
    """Label, first column and size of each group of consecutive numbered columns of one type."""
    start = 0
    while start < len(columns):
        end = start + 1
        while end < len(columns) and _follows(columns[end - 1], columns[end]):
            end += 1
        label, column = columns[start]
        if end - start >= _SIMILAR:
            yield f"{label} to {columns[end - 1][0]}, {end - start} columns", column, end - start
        else:
            yield from ((name, values, 1) for name, values in columns[start:end])
        start = end


def _follows(first: tuple[str, Value], second: tuple[str, Value]) -> bool:
    before, after = _NUMBERED.fullmatch(first[0]), _NUMBERED.fullmatch(second[0])
    if before is None or after is None or first[1].dtype != second[1].dtype:
        return False
    return before[1] == after[1] and int(after[2]) == int(before[2]) + 1
