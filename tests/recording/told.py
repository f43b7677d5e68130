"""Rows as a tracer may tell them, for Hypothesis: right ones, of every form in docs/format.md."""

import json
from collections import Counter
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


def encoded(known: list[int]) -> st.SearchStrategy[Any]:
    """Encoded values, which refer to these objects."""
    atoms = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts
    atoms |= st.floats(allow_nan=False, allow_infinity=False)
    cut = {"length": lengths, "cut": _CUTS}
    leaves = st.one_of(
        atoms,
        *([st.sampled_from(known).map(lambda number: {"ref": number})] if known else []),
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


def _names(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(texts, values, max_size=3)


def _items(way: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    one = {"pairs": st.lists(values, min_size=2, max_size=2), "bytes": st.integers(0, 255), "values": values}
    return st.lists(one[way], max_size=3)


_WAYS = {"list": "values", "set": "values", "dict": "pairs", "bytearray": "bytes", "table": "pairs"}
_KINDS = ("list", "dict", "set", "bytearray", "array", "table", "object", "exception", "iterator", "function")


@st.composite
def rows(draw: st.DrawFn, most: int = 12, threads: tuple[int, ...] = (0, 0, 0, 1, 3)) -> list[Row]:
    """Rows of several threads, in order."""
    found: list[Row] = []
    indices: Counter[int] = Counter()
    objects: dict[int, dict[int, str]] = {}
    for _ in range(draw(st.integers(0, most))):
        thread = draw(st.sampled_from(threads))
        known = objects.setdefault(thread, {})
        told: dict[str, Any] = {}
        new = draw(st.sets(st.integers(0, 9), max_size=3))
        ways = {number: draw(st.sampled_from(_KINDS)) for number in new}
        values = encoded(sorted({*known, *new}))
        gone = set()
        for number, kind in ways.items():
            way = _WAYS.get(kind, "values")
            if number in known and draw(st.booleans()):
                change = {"splice": st.tuples(lengths, lengths, _items(known[number], values))}
                change |= {"fields": _names(values), "length": st.none() | lengths, "cut": st.none() | _CUTS}
                told[str(number)] = draw(_form({}, {**change, "text": st.none() | texts}))
            else:
                more = {"items": _items(way, values), "fields": _names(values), "text": texts, "length": lengths}
                more |= {"cut": _CUTS, "shape": st.lists(lengths, max_size=2), "dtype": texts}
                told[str(number)] = draw(_form({"kind": st.just(kind), "type": texts}, more))
                known[number] = way
        for number in sorted(known.keys() - new):
            if draw(st.integers(0, 9)) == 0:
                gone.add(number)
        values = encoded(sorted(known.keys() - gone))
        if not (gone and told):
            told |= dict.fromkeys(map(str, sorted(gone)))
            for number in gone:
                del known[number]
        caller = {"frame": st.integers(0, 2**31 - 1), "offset": int32s}
        more = {"at": st.lists(st.none() | int32s, max_size=4), "via": st.none() | texts, "locals": _names(values)}
        columns = {
            "locals": _names(values),
            "stack": st.lists(values, max_size=3),
            "globals": _names(values),
            "caller": _form(caller, {**more, "stack": st.lists(values, max_size=2)}),
            "value": values,
            "left_out": st.dictionaries(texts, lengths, max_size=2),
        }
        here = {name: draw(st.none() | strategy.map(_written)) for name, strategy in columns.items()}
        found.append(
            Row(
                thread=thread,
                index=indices[thread],
                kind=draw(st.sampled_from(list(Kind))).value,
                frame=draw(st.integers(0, 2**31 - 1)),
                function=draw(texts),
                file=draw(texts),
                line=draw(int32s),
                offset=draw(int32s),
                objects=_written(told) if told else None,
                output=draw(st.none() | texts),
                instruction=draw(st.none() | texts),
                **here,
            )
        )
        indices[thread] += 1
    return found


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
