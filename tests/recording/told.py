"""Rows as a tracer may tell them, for Hypothesis: right ones, of every form in docs/reference/format.md."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from deskcheck.recording.trace import Kind, Row

texts = st.text(max_size=20)
lengths = st.integers(0, 2**53)
int32s = st.integers(-(2**31), 2**31 - 1)
_FLOATS = st.sampled_from(["nan", "inf", "-inf", "1.5", "-0.0", "1e+300"])
_CUTS = st.sampled_from(["long", "deep", "many", "masked"])


def _form(needs: dict[str, Any], may: dict[str, Any] | None = None) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(needs, optional=may or {})


def _encoded() -> st.SearchStrategy[Any]:
    floats = st.floats(allow_nan=False, allow_infinity=False)
    atoms = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), texts, floats)
    cut = {"length": lengths, "cut": _CUTS}
    leaves = st.one_of(
        atoms,
        st.integers(0, 9).map(lambda number: {"ref": number}),
        _form({"str": texts, **cut}),
        _form({"int": st.integers().map(str)}),
        _form({"int": st.just(""), **cut}),
        _form({"float": _FLOATS}),
        _form({"bytes": st.text(st.characters(max_codepoint=255), max_size=9)}, cut),
        _form({"complex": st.lists(_FLOATS, min_size=2, max_size=2)}),
        _form({"text": texts, "type": texts}, cut),
        _form({"unbound": st.just(True)}),
        _form({"cut": _CUTS, "type": texts}),
    )
    return st.recursive(
        leaves,
        lambda inside: st.one_of(
            _form(
                {"tuple": st.lists(inside, max_size=3)},
                {"type": texts, "names": st.lists(texts, max_size=3), **cut},
            ),
            _form({"frozenset": st.lists(inside, max_size=3)}, {"type": texts, **cut}),
            _form({"array": st.lists(inside, max_size=3), "dtype": texts}, cut),
            _form({"range": st.lists(inside, min_size=3, max_size=3)}),
            _form({"slice": st.lists(inside, min_size=3, max_size=3)}),
            _form({"method": texts, "self": inside}),
        ),
        max_leaves=4,
    )


encoded = _encoded()
"""Encoded values, which refer to any of ten objects."""


def _leading(told: Any, known: Iterable[int]) -> Any:
    """The same, referring to objects that are known alone."""
    if isinstance(told, list):
        return [_leading(part, known) for part in told]
    if not isinstance(told, dict):
        return told
    if "ref" in told and type(told["ref"]) is int:
        return told if told["ref"] in known else None
    return {name: _leading(part, known) for name, part in told.items()}


_names = st.dictionaries(texts, encoded, max_size=3)
_stack = st.lists(encoded, max_size=3)
_ITEMS = {
    "pairs": st.lists(st.lists(encoded, min_size=2, max_size=2), max_size=3),
    "bytes": st.lists(st.integers(0, 255), max_size=3),
    "values": st.lists(encoded, max_size=3),
}
_WAYS = {"list": "values", "set": "values", "dict": "pairs", "bytearray": "bytes", "table": "pairs"}
_KINDS = ("list", "dict", "set", "bytearray", "array", "table", "object", "exception", "iterator", "function")
_CHANGES = {
    way: _form(
        {},
        {
            "splice": st.tuples(lengths, lengths, items).map(list),
            "fields": _names,
            "length": st.none() | lengths,
            "cut": st.none() | _CUTS,
            "text": st.none() | texts,
        },
    )
    for way, items in _ITEMS.items()
}
_CONTENTS = {
    kind: _form(
        {"kind": st.just(kind), "type": texts},
        {
            "items": _ITEMS[_WAYS.get(kind, "values")],
            "fields": _names,
            "text": texts,
            "length": lengths,
            "cut": _CUTS,
            "shape": st.lists(lengths, max_size=2),
            "dtype": texts,
        },
    )
    for kind in _KINDS
}
_COLUMNS = {
    "locals": _names,
    "stack": _stack,
    "globals": _names,
    "caller": _form(
        {"frame": st.integers(0, 2**31 - 1), "offset": int32s},
        {
            "at": st.lists(st.none() | int32s, max_size=4),
            "via": st.none() | texts,
            "locals": _names,
            "stack": _stack,
        },
    ),
    "value": encoded,
    "left_out": st.dictionaries(texts, lengths, max_size=2),
}
_HEAD = st.tuples(
    st.sampled_from(list(Kind)).map(str), st.integers(0, 2**31 - 1), texts, texts, int32s, int32s
)
_PRESENT = st.sets(st.sampled_from([*_COLUMNS, "objects", "output", "instruction"]))


@st.composite
def rows(draw: st.DrawFn, most: int = 12, threads: tuple[int, ...] = (0, 0, 0, 1, 3)) -> list[Row]:
    """Rows of several threads, in order."""
    found: list[Row] = []
    indices: Counter[int] = Counter()
    objects: dict[int, dict[int, str]] = {}
    for _ in range(draw(st.integers(0, most))):
        thread = draw(st.sampled_from(threads))
        known = objects.setdefault(thread, {})
        present = draw(_PRESENT)
        told: dict[str, Any] = {}
        for number in draw(st.sets(st.integers(0, 9), max_size=3)) if "objects" in present else ():
            what = draw(st.sampled_from(["new", "changed", "gone"]))
            if number not in known or what == "new":
                kind = draw(st.sampled_from(_KINDS))
                told[str(number)] = draw(_CONTENTS[kind])
                known[number] = _WAYS.get(kind, "values")
            elif what == "changed":
                told[str(number)] = draw(_CHANGES[known[number]])
            else:
                told[str(number)] = None
                del known[number]
        columns = {name: draw(strategy) for name, strategy in _COLUMNS.items() if name in present}
        if told:
            columns["objects"] = told
        texts_here: dict[str, Any] = {
            name: draw(texts) for name in ("output", "instruction") if name in present
        }
        kind, *place = draw(_HEAD)
        row = Row(thread, indices[thread], kind, *place, *[None] * 9)
        written: dict[str, Any] = {name: _written(_leading(part, known)) for name, part in columns.items()}
        found.append(row._replace(**written, **texts_here))
        indices[thread] += 1
    return found


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
