"""Whether two recordings of one program are the same, and where they first differ.

The rows are compared as text first. Where the text differs the states are compared: a set holds the
same members in any order (the order follows the hash seed), and identity numbers are only names. What
the program *did* with the order of a set shows as a difference of its own at a later event.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from deskcheck.recording.block import rows
from deskcheck.recording.recording import Ending
from deskcheck.recording.trace import Event, State, Trace
from deskcheck.recording.value import Value


def difference(
    first: tuple[Ending, Callable[[], Iterable[bytes]]], second: tuple[Ending, Callable[[], Iterable[bytes]]]
) -> str | None:
    """Where two runs first differ, in words; None if they are the same.

    Each run is its ending and a function that gives its blocks of events again, from the start, as
    the tracer wrote them.
    """
    one, other = first[0], second[0]
    if one.outcome != other.outcome:
        return f"outcome: {one.outcome} and {other.outcome}"
    if one.stdout != other.stdout:
        return f"output: {first_difference(one.stdout, other.stdout)}"
    # Where a limit cut both, it did so at no particular event: what both have is compared.
    cut = one.cut is not None and other.cut is not None
    pair = zip if cut else itertools.zip_longest
    if all(a == b for a, b in pair(first[1](), second[1]())):
        return _endings(one, other)
    where = _states(pair(_events(first[1]()), _events(second[1]())))
    return where or _endings(one, other, loosely=True)


def _endings(one: Ending, other: Ending, *, loosely: bool = False) -> str | None:
    if one.result != other.result and not loosely:
        return f"result: {one.result} and {other.result}"
    if one.exception != other.exception:
        return f"exception: {one.exception} and {other.exception}"
    return None


def first_difference(one: str, other: str) -> str:
    """Where two different texts begin to differ, in words."""
    at = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return f"{one[at : at + 60]!r} and {other[at : at + 60]!r} at character {at}"


def _events(blocks: Iterable[bytes]) -> Iterator[Event]:
    """Events of the main thread with their state."""
    trace, state = Trace([]), State()
    for row in itertools.chain.from_iterable(map(rows, blocks)):
        if row.thread == 0:
            state.apply(row)
            yield Event(row, trace, state)


def _states(pairs: Iterable[tuple[Event | None, Event | None]]) -> str | None:
    for a, b in pairs:
        if a is None or b is None:
            index = next(event.index for event in (a, b) if event is not None)
            return f"event {index}: one run ends before it"
        here = f"event {a.index} ({a.file} line {a.line})"
        if (a.kind, a.function, a.line, a.instruction) != (b.kind, b.function, b.line, b.instruction):
            return f"{here}: {a!r} and {b!r}"
        if a.output != b.output:
            return f"{here}: output {first_difference(a.output, b.output)}"
        for what, x, y in (("", a.locals, b.locals), ("global ", a.globals, b.globals)):
            if x.keys() != y.keys():
                return f"{here}: {what}names {sorted(x.keys() ^ y.keys())} in one run only"
            for name in x:
                if not same(x[name], y[name]):
                    return f"{here}: {what}{name} is {x[name]!r:.80} and {y[name]!r:.80}"
        values = [(a.value, b.value), *itertools.zip_longest(a.stack, b.stack)]
        for p, q in values:
            if (p is None) != (q is None) or (p is not None and q is not None and not same(p, q)):
                return f"{here}: {p!r:.80} and {q!r:.80}"
    return None


def same(one: Value, other: Value) -> bool:
    """Whether two values are alike: as rendered, but for identity numbers and the order of sets."""
    return bool(_shape(one, {}) == _shape(other, {}))


def _shape(value: Value, names: dict[int, int]) -> Any:
    if value.id is not None:
        known = names.get(value.id)
        if known is not None:
            return ("again", known)
        names[value.id] = len(names)
    head = (
        value.kind,
        value.type,
        repr(value.atom),
        value.text,
        value.length,
        value.cut,
        value.shape,
        value.dtype,
    )
    fields = tuple((name, _shape(item, names)) for name, item in value.fields if name != "(frame)")
    unordered = value.kind in ("set", "frozenset") or value.names == ("set",)
    if unordered:
        return (head, fields, tuple(sorted(repr(_shape(item, {})) for item in value.items)))
    items = tuple(
        tuple(_shape(part, names) for part in item) if isinstance(item, tuple) else _shape(item, names)
        for item in value.items
    )
    return (head, fields, items)
