"""Two tracers' traces of one run compared, event for event, whatever numbers they give to objects.

The reference tracer knows an object by its address: a list that dies within a line and a new one at the same
address are one list to it. So the other tracer may give an object a new number where its type has no weak
references. It may never give two objects one number. `runs` compares two runs.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from deskcheck.recording.trace import Row, State, plain
from deskcheck.recording.value import loads

_HEAD = (
    *("thread", "index", "kind", "frame", "function", "file", "line", "offset"),
    *("output", "instruction", "left_out"),
)
_SEEN_TO_DIE = frozenset({"set", "function", "class", "generator"})
"""Kinds all of whose types have weak references."""


@dataclass(frozen=True, slots=True)
class TraceDifference:
    """Where two traces first differ. event: its index. field: a column of the event, or which part of the
    state (``locals of frame 2.x``); ``event`` where one trace ends before it. one, two: what they say there,
    of long values what surrounds the difference."""

    event: int
    field: str
    one: str
    two: str

    def __str__(self) -> str:
        return f"event {self.event}: {self.field}: {self.one} and {self.two}"


class Different(Exception):
    """What differs. `where` says it in parts."""

    def __init__(self, event: int, field: str, one: object, two: object) -> None:
        self.where = TraceDifference(event, field, *_around(str(one), str(two)))
        super().__init__(str(self.where))


def first_difference(
    reference: Iterable[Row], other: Iterable[Row], *, may_end: bool = False, may_split: bool = False
) -> TraceDifference | None:
    """Where a thread's trace by the reference and another of the same run first tell something else; None if
    they tell the same. Both are gone through several times, so neither is an iterator.

    may_end: one may end before the other.
    may_split: the other may give any object a new number, as the reference tracer does where the native
    core is not built."""
    for rows in (reference, other):
        if iter(rows) is rows:
            raise TypeError("a trace is gone through several times, and an iterator goes once: give a list")
    pair = zip if may_end else itertools.zip_longest
    if all(x == y for x, y in pair(reference, other)):
        return None
    try:
        check(reference, other, may_split=may_split)
    except Different as different:
        return different.where
    if not may_end:
        for at, (x, y) in enumerate(itertools.zip_longest(reference, other)):
            if x is None or y is None:
                return TraceDifference(
                    at, "event", *("has ended" if row is None else row.kind for row in (x, y))
                )
    return None


def check(reference: Iterable[Row], other: Iterable[Row], *, may_split: bool = False) -> None:
    """Raises Different where one thread's traces, up to the shorter one's end, tell of different states."""
    one, two = State(), State()
    same = True
    known: dict[int, int] = {}
    taken: dict[int, int] = {}
    for at, (x, y) in enumerate(zip(reference, other, strict=False)):
        if same and x == y:
            one = one.after(x)
            continue
        if same:
            same, two = False, one
            known.update((number, number) for number in one.objects)
            taken.update(known)
        for column in _HEAD:
            if getattr(x, column) != getattr(y, column):
                raise Different(at, column, repr(getattr(x, column)), repr(getattr(y, column)))
        one = one.after(x)
        try:
            two = two.after(y)
        except (KeyError, IndexError, TypeError) as error:
            raise Different(at, "changes", "those before it", f"cannot be applied: {error!r}") from error
        _Walk(one, two, known, taken, at, may_split).compare(x, y)


class _Walk:
    """The graphs of objects of two states, side by side."""

    def __init__(
        self, one: State, two: State, known: dict[int, int], taken: dict[int, int], at: int, may_split: bool
    ) -> None:
        self.one = one
        self.two = two
        self.known = known
        """Number in the other trace -> number in the reference, over the whole of the traces."""
        self.taken = taken
        """The other way round: the last number that something in the other trace had."""
        self.at = at
        self.seen_to_die = frozenset() if may_split else _SEEN_TO_DIE
        self.forth: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.todo: list[tuple[str, Any, Any]] = []

    def compare(self, x: Row, y: Row) -> None:
        push = self.todo.append
        if (x.value is None) != (y.value is None):
            self.fail("value", x.value, y.value)
        if x.value is not None and y.value is not None:
            push(("value", loads(x.value), loads(y.value)))
        numbers = [x.frame]
        callers = [loads(row.caller) if row.caller else {} for row in (x, y)]
        if callers[0] or callers[1]:
            calls = [{k: v for k, v in c.items() if k not in ("locals", "stack")} for c in callers]
            push(("caller", calls[0], calls[1]))
            numbers.append(callers[0].get("frame", x.frame))
        for number in numbers:
            f, g = self.one.frames[number], self.two.frames[number]
            self.names(f"locals of frame {number}", plain(f.locals), plain(g.locals))
            push((f"stack of frame {number}", list(f.stack), list(g.stack)))
        one, two = (plain(state.globals.get(x.file, {})) for state in (self.one, self.two))
        self.names("globals", one, two)
        self.walk()
        # What changed may hang on another frame alone.
        for m, n in self.touched():
            if m in self.one.objects and n in self.two.objects:
                self.objects("objects", m, n)
        self.walk()

    def touched(self) -> Iterator[tuple[int, int]]:
        """The objects that one of the events made or changed, by both their numbers."""
        yield from ((m, self.taken[m]) for m in self.one.touched if m in self.taken)
        yield from ((self.known[n], n) for n in self.two.touched if n in self.known)

    def walk(self) -> None:
        while self.todo:
            self.pair(*self.todo.pop())

    def fail(self, where: str, a: object, b: object) -> None:
        raise Different(self.at, where, a, b)

    def names(self, where: str, a: dict[str, Any], b: dict[str, Any]) -> None:
        """Names of the program's own, which may be `ref`, with their values."""
        if list(a) != list(b):
            self.fail(where, a, b)
        self.todo += [(f"{where}.{name}", a[name], b[name]) for name in a]

    def pair(self, where: str, a: Any, b: Any) -> None:
        if type(a) is not type(b):
            self.fail(where, a, b)
        elif isinstance(a, dict):
            if "ref" in a and "ref" in b:
                self.objects(where, a["ref"], b["ref"])
                return
            if a.keys() != b.keys():
                self.fail(where, a, b)
            self.todo += [(f"{where}.{key}", a[key], b[key]) for key in a]
        elif isinstance(a, list):
            if len(a) != len(b):
                self.fail(where, a, b)
            self.todo += [(f"{where}[{n}]", x, y) for n, (x, y) in enumerate(zip(a, b, strict=True))]
        elif a != b or (isinstance(a, float) and repr(a) != repr(b)):  # -0.0 is not 0.0
            self.fail(where, a, b)

    def objects(self, where: str, m: int, n: int) -> None:
        if m in self.forth or n in self.back:
            if self.forth.get(m) != n or self.back.get(n) != m:
                self.fail(where, f"the same object elsewhere, #{m}", f"another, #{n}")
            return
        self.forth[m], self.back[n] = n, m
        a, b = self.one.objects.get(m, {}), self.two.objects.get(n, {})
        if n not in self.known and m in self.taken and b.get("kind") in self.seen_to_die:
            self.fail(where, f"an old object, #{m}", f"a new one, #{n}: {b}")
        self.taken[m] = n
        if self.known.setdefault(n, m) != m:
            self.fail(where, f"a new object, #{m}", f"an old one, #{n}")
        place = f"{where} #{m}/#{n}"
        self.names(f"{place}.fields", a.get("fields", {}), b.get("fields", {}))
        rest = [{key: part for key, part in content.items() if key != "fields"} for content in (a, b)]
        self.todo.append((place, rest[0], rest[1]))


def _around(first: str, second: str) -> tuple[str, str]:
    """Two texts, cut to what surrounds their first difference."""
    at = next(
        (n for n, (x, y) in enumerate(zip(first, second, strict=False)) if x != y),
        min(len(first), len(second)),
    )
    start = max(0, at - 100) if at > 150 else 0
    lead = "..." if start else ""
    return lead + first[start : at + 200], lead + second[start : at + 200]
