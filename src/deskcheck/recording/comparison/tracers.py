"""Compares the traces that two tracers made of one run, event by event, whatever numbers objects have.

The reference tracer identifies an object by its address. If a list dies within a line and a new list gets its
address, it takes them for one list. So the other tracer may give an object a new number if its type has no
weak references. It may never give two objects the same number. `runs` compares two runs.
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
"""Kinds of objects that have weak references, whatever their type."""


@dataclass(frozen=True, slots=True)
class TraceDifference:
    """The first difference between two traces."""

    event: int
    """Index of the event."""
    field: str
    """A column of the event, or a part of the state (``locals of frame 2.x``); ``event`` if one trace ends
    before this event."""
    one: str
    """Value in the first trace; of a long value only the part around the difference."""
    two: str
    """Value in the second trace."""

    def __str__(self) -> str:
        return f"event {self.event}: {self.field}: {self.one} and {self.two}"


class Different(Exception):
    """Two traces differ. `where` is the difference."""

    def __init__(self, event: int, field: str, first: object, second: object) -> None:
        self.where = TraceDifference(event, field, *_around(str(first), str(second)))
        super().__init__(str(self.where))


def first_difference(
    reference: Iterable[Row], candidate: Iterable[Row], *, may_end: bool = False, may_split: bool = False
) -> TraceDifference | None:
    """The first difference between the reference tracer's trace and another of the same thread and run.

    None if they agree. Both are read several times, so neither may be an iterator.

    may_end: one trace may end before the other.
    may_split: the candidate may give any object a new number, like the reference tracer without the native
    core.
    """
    for rows in (reference, candidate):
        if iter(rows) is rows:
            raise TypeError("a trace is read several times, and an iterator only once: pass a list")
    pair = zip if may_end else itertools.zip_longest
    if all(x == y for x, y in pair(reference, candidate)):
        return None
    try:
        check(reference, candidate, may_split=may_split)
    except Different as different:
        return different.where
    if not may_end:
        for at, (x, y) in enumerate(itertools.zip_longest(reference, candidate)):
            if x is None or y is None:
                return TraceDifference(
                    at, "event", *("has ended" if row is None else row.kind for row in (x, y))
                )
    return None


def check(reference: Iterable[Row], candidate: Iterable[Row], *, may_split: bool = False) -> None:
    """Raises Different at the first event where two traces of a thread disagree. One may end earlier."""
    first, second = State(), State()
    same = True
    reference_numbers: dict[int, int] = {}
    candidate_numbers: dict[int, int] = {}
    for at, (x, y) in enumerate(zip(reference, candidate, strict=False)):
        if same and x == y:
            first = first.after(x)
            continue
        if same:
            same, second = False, first
            reference_numbers.update((number, number) for number in first.objects)
            candidate_numbers.update(reference_numbers)
        for column in _HEAD:
            if getattr(x, column) != getattr(y, column):
                raise Different(at, column, repr(getattr(x, column)), repr(getattr(y, column)))
        first = first.after(x)
        try:
            second = second.after(y)
        except (KeyError, IndexError, TypeError) as error:
            raise Different(at, "changes", "those before it", f"cannot be applied: {error!r}") from error
        _Walk(first, second, reference_numbers, candidate_numbers, at, may_split).compare(x, y)


class _Walk:
    """Walks through the objects of two states side by side."""

    def __init__(
        self,
        first: State,
        second: State,
        reference_numbers: dict[int, int],
        candidate_numbers: dict[int, int],
        at: int,
        may_split: bool,
    ) -> None:
        self.first = first
        self.second = second
        self.reference_numbers = reference_numbers
        """Number in the candidate -> number in the reference, since the traces began."""
        self.candidate_numbers = candidate_numbers
        """Number in the reference -> the object's latest number in the candidate."""
        self.at = at
        self.seen_to_die = frozenset() if may_split else _SEEN_TO_DIE
        self.forth: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.todo: list[tuple[str, Any, Any]] = []

    def compare(self, reference_row: Row, candidate_row: Row) -> None:
        push = self.todo.append
        if (reference_row.value is None) != (candidate_row.value is None):
            self.fail("value", reference_row.value, candidate_row.value)
        if reference_row.value is not None and candidate_row.value is not None:
            push(("value", loads(reference_row.value), loads(candidate_row.value)))
        numbers = [reference_row.frame]
        callers = [loads(row.caller) if row.caller else {} for row in (reference_row, candidate_row)]
        if callers[0] or callers[1]:
            calls = [{k: v for k, v in c.items() if k not in ("locals", "stack")} for c in callers]
            push(("caller", calls[0], calls[1]))
            numbers.append(callers[0].get("frame", reference_row.frame))
        for number in numbers:
            first_frame, second_frame = self.first.frames[number], self.second.frames[number]
            self.names(f"locals of frame {number}", plain(first_frame.locals), plain(second_frame.locals))
            push((f"stack of frame {number}", list(first_frame.stack), list(second_frame.stack)))
        first, second = (
            plain(state.globals.get(reference_row.file, {})) for state in (self.first, self.second)
        )
        self.names("globals", first, second)
        self.walk()
        # A changed object may belong to another frame only.
        for m, n in self.touched():
            if m in self.first.objects and n in self.second.objects:
                self.objects("objects", m, n)
        self.walk()

    def touched(self) -> Iterator[tuple[int, int]]:
        """Both numbers of each object that one of the events made or changed."""
        yield from ((m, self.candidate_numbers[m]) for m in self.first.touched if m in self.candidate_numbers)
        yield from (
            (self.reference_numbers[n], n) for n in self.second.touched if n in self.reference_numbers
        )

    def walk(self) -> None:
        while self.todo:
            self.pair(*self.todo.pop())

    def fail(self, where: str, first: object, second: object) -> None:
        raise Different(self.at, where, first, second)

    def names(self, where: str, a: dict[str, Any], b: dict[str, Any]) -> None:
        """Compare names of the program with their values. A name may be `ref`."""
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
        first, second = self.first.objects.get(m, {}), self.second.objects.get(n, {})
        if (
            n not in self.reference_numbers
            and m in self.candidate_numbers
            and second.get("kind") in self.seen_to_die
        ):
            self.fail(where, f"an old object, #{m}", f"a new one, #{n}: {second}")
        self.candidate_numbers[m] = n
        if self.reference_numbers.setdefault(n, m) != m:
            self.fail(where, f"a new object, #{m}", f"an old one, #{n}")
        where_inside = f"{where} #{m}/#{n}"
        self.names(f"{where_inside}.fields", first.get("fields", {}), second.get("fields", {}))
        other_parts = [
            {key: part for key, part in content.items() if key != "fields"} for content in (first, second)
        ]
        self.todo.append((where_inside, other_parts[0], other_parts[1]))


def _around(first: str, second: str) -> tuple[str, str]:
    """The parts of two texts around their first difference."""
    at = next(
        (n for n, (x, y) in enumerate(zip(first, second, strict=False)) if x != y),
        min(len(first), len(second)),
    )
    start = max(0, at - 100) if at > 150 else 0
    lead = "..." if start else ""
    return lead + first[start : at + 200], lead + second[start : at + 200]
