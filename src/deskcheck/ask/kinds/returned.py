"""The result of a call as an answer if it is not plain data: objects with their contents when the call
returns, functions and classes by name.

`recording.render` writes them, with numbers only where they are needed. An object that the question shows has
the same number there. An object that occurs twice has a new number. Not covered: iterators, generators,
arrays, tables, lists that contain themselves, and values that are not recorded whole.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from deskcheck.ask.answers.objects import UnreadableObject, compare, is_clear, read
from deskcheck.ask.samples.kind import ANSWER_CHARS
from deskcheck.ask.samples.places import Unfit, check_all_recorded
from deskcheck.recording import Event, Kind, Program, Recording, Value, render

_CONTAINERS = frozenset({"list", "dict", "set", "bytearray"})
_TOLD = frozenset(
    {"atom", "tuple", "frozenset", "range", "slice", "object", "exception", "text", "function", "class"}
    | {"method", "ref", *_CONTAINERS}
)
NO_DATA = "the result is neither plain data nor an object that can be shown completely"
_NUMBER = re.compile(r"#(\d+)")


@dataclass(frozen=True, slots=True)
class Returned:
    """text: the answer. numbers: those of the objects that the question shows."""

    text: str
    numbers: tuple[int, ...]
    required_texts: tuple[str, ...] = ()
    """Names of modules and docstrings that the result holds: the prompt has to hold them, too."""


def ends(recording: Recording) -> tuple[Event, Event]:
    """The events with which the call begins and returns."""
    rows = recording.trace.rows
    if not rows or rows[0].kind != Kind.CALL:
        raise Unfit("where it begins is not recorded")
    last = [row.index for row in rows if row.kind == Kind.RETURN and row.frame == rows[0].frame]
    if len(last) != 1:
        raise Unfit("where it returns is not recorded")
    return recording.trace[rows[0].index], recording.trace[last[0]]


def returned(recording: Recording) -> Returned:
    """The result of the call."""
    check_all_recorded(recording)
    called, returning = ends(recording)
    if returning.value is None:
        raise Unfit(NO_DATA)
    return _answer_of(returning.value, _shown_numbers(recording.program, called))


def made(recording: Recording) -> Returned:
    """The object that a call of ``__init__`` fills, when it returns."""
    check_all_recorded(recording)
    called, returning = ends(recording)
    numbers = _shown_numbers(recording.program, called)
    first = next((value for value in called.locals.values() if numbers.get(value.id or 0) == 1), None)
    after = next((value for value in returning.locals.values() if first and value.id == first.id), None)
    if after is None:
        raise Unfit("the object that is made is not shown")
    return _answer_of(after, numbers)


def _shown_numbers(program: Program, called: Event) -> dict[int, int]:
    """Number in the recording -> number in the question, of the objects that it shows."""
    objects = program.extra.get("numbers")
    if not isinstance(objects, Mapping):
        if program.extra.get("arguments", "literal") != "literal" and _NUMBER.search(program.arguments or ""):
            raise Unfit("which objects its arguments are is not recorded")
        return {}
    numbers: dict[int, int] = {}
    for number, (name, *steps) in objects.items():
        value = called.locals.get(name)
        for step in steps:
            value = None if value is None else _inside(value, step)
        if value is None or value.id is None:
            raise Unfit("which objects its arguments are is not recorded")
        numbers[value.id] = int(number)
    return numbers


def _inside(value: Value, step: int | str) -> Value | None:
    """step: the name of a field, or the place of an item, where keys and values of pairs take turns."""
    if isinstance(step, str):
        return dict(value.fields).get(step)
    flat = [part for item in value.items for part in (item if isinstance(item, tuple) else (item,))]
    return flat[step] if step < len(flat) else None


def _answer_of(value: Value, numbers: Mapping[int, int]) -> Returned:
    for part in value.walk():
        nothing = part.kind == "opaque" and part.type == "object"
        if part.cut is not None or (part.kind not in _TOLD and not nothing) or part.bare:
            raise Unfit(NO_DATA)
    if any(part.kind == "ref" and part.text in _CONTAINERS for part in value.walk()):
        raise Unfit(NO_DATA)
    times = Counter(part.id for part in _met(value) if part.id is not None)
    free = iter(range(max(numbers.values(), default=0) + 1, 10_000))
    number_of = dict(numbers)
    text = render(_Writer(times, number_of, free).renumbered(value))
    if len(text) > ANSWER_CHARS:
        raise Unfit("the answer is too long")
    shown_numbers = tuple(sorted(numbers.values()))
    try:
        again = compare(text, text, shown_numbers)
        if again is None or not again.same or not is_clear(read(text)):
            raise Unfit(NO_DATA)
    except UnreadableObject:
        raise Unfit(NO_DATA) from None
    return Returned(text, shown_numbers, tuple(_said(value)))


def _said(value: Value) -> Iterator[str]:
    for holder in value.walk():
        for name, part in holder.fields:
            if name in ("__module__", "__doc__") and isinstance(part.atom, str):
                yield render(part)[1:-1]


def _met(value: Value) -> Iterator[Value]:
    """Objects, as often as they occur in a text that writes each out once."""
    ids: set[int] = set()
    todo = [value]
    while todo:
        part = todo.pop()
        if part.kind in ("object", "exception", "ref", "opaque"):
            yield part
        if part.id is None or part.id not in ids or part.kind in _CONTAINERS:
            ids.add(part.id or 0)
            todo += part.children()


class _Writer:
    """Values with the numbers that the answer has."""

    def __init__(self, times: Counter[int], number_of: dict[int, int], free: Iterator[int]) -> None:
        self.times = times
        self.number_of = number_of
        self.free = free
        self.written: set[int] = set()

    def renumbered(self, value: Value) -> Value:
        if value.kind in ("function", "class"):
            name = (value.text or "").partition(" ")[2]
            text = f"<class {name!r}>" if value.kind == "class" else f"<function {name}>"
            return Value("text", value.type, text=text)
        number = None
        if value.id is not None and value.kind not in _CONTAINERS:
            if value.id not in self.number_of and self.times[value.id] > 1:
                self.number_of[value.id] = next(self.free)
            number = self.number_of.get(value.id)
            if value.kind == "ref" or (value.id in self.written and value.kind != "opaque"):
                return Value("ref", value.type, text="object", id=number)
            self.written.add(value.id)
        items = tuple(
            tuple(map(self.renumbered, item)) if isinstance(item, tuple) else self.renumbered(item)
            for item in value.items
        )
        fields = tuple((name, self.renumbered(part)) for name, part in value.fields)
        return replace(value, id=number, items=items, fields=fields)
