"""The first difference between the states of two runs of one program, event by event.

The order of a set and the identity numbers do not count.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from deskcheck.errors import DamagedRows
from deskcheck.recording.block import rows
from deskcheck.recording.trace import Event, Row, State
from deskcheck.recording.value import Value, decode, loads, reached

Global = tuple[str, str]
"""A global variable: the file as events name it, and the variable's name."""


def compared(
    first: Iterable[bytes],
    second: Iterable[bytes],
    *,
    cut: bool,
    reads: Callable[[Global], bool] | None = None,
    unread: set[Global] | None = None,
) -> str | None:
    """The first difference between the states of two runs.

    cut: a limit cut both runs, so that only the events that both have are compared.

    Rows that a program forged may contradict each other. The difference then says so.
    """
    pair = zip if cut else itertools.zip_longest
    states = _States(reads or (lambda name: True), set() if unread is None else unread)
    try:
        return states.difference(pair(_events(first), _events(second)))
    except DamagedRows as error:
        return f"the rows do not add up: {error}"


class _Event(Event):
    """An event whose state is not copied, because the comparison changes nothing in it."""

    __slots__ = ()

    @property
    def state(self) -> State:
        return self._known()


def _events(blocks: Iterable[bytes]) -> Iterator[Event]:
    """Events of the main thread with their state."""
    state = State()
    for row in itertools.chain.from_iterable(map(rows, blocks)):
        if row.thread == 0:
            state = state.after(row)
            yield _Event(row, state)


class _States:
    """Compares the states of two runs event by event. Skips values that were alike and have not changed."""

    def __init__(self, reads: Callable[[Global], bool], unread: set[Global]) -> None:
        self.reads = reads
        self.unread = unread
        self.alike: dict[Any, tuple[Any, Any]] = {}
        """Key of a compared value -> its encoded value in both runs."""
        self.users: tuple[dict[int, set[Any]], dict[int, set[Any]]] = ({}, {})
        """For each run: number of an object -> keys of the compared values that contain it."""

    def difference(self, pairs: Iterable[tuple[Event | None, Event | None]]) -> str | None:
        for a, b in pairs:
            if a is None or b is None:
                index = next(event.index for event in (a, b) if event is not None)
                return f"event {index}: one run ends before it"
            at_event = f"event {a.index} ({a.file} line {a.line})"
            if (a.kind, a.function, a.line, a.instruction) != (b.kind, b.function, b.line, b.instruction):
                return f"{at_event}: {a!r} and {b!r}"
            if a.output != b.output:
                return f"{at_event}: output {first_difference(a.output, b.output)}"
            self._forget(a.row, b.row)
            where = self._names(a, b) or self._values(a, b)
            if where is not None:
                return f"{at_event}: {where}"
        return None

    def _forget(self, *rows: Row) -> None:
        for row, users in zip(rows, self.users, strict=True):
            for number in loads(row.objects) if row.objects else ():
                for key in users.pop(int(number), ()):
                    self.alike.pop(key, None)

    def _names(self, first: Event, second: Event) -> str | None:
        first_names, second_names = (
            first.state.frames[first.frame].locals,
            second.state.frames[second.frame].locals,
        )
        if first_names.keys() != second_names.keys():
            return f"names {sorted(first_names.keys() ^ second_names.keys())} in only one run"
        for name in first_names:
            if not self._alike((first.frame, name), first_names[name], first, second_names[name], second):
                return (
                    f"{name} is {_shown(first_names[name], first)} and {_shown(second_names[name], second)}"
                )
        first_names, second_names = (
            first.state.globals.get(first.file, {}),
            second.state.globals.get(second.file, {}),
        )
        word = "" if first.function == "<module>" else "global "
        once = {
            name
            for name in first_names.keys() ^ second_names.keys()
            if not self._is_unread((first.file, name))
        }
        if once:
            return f"{word}names {sorted(once)} in only one run"
        for name in first_names:
            need_not_agree = name not in second_names or (first.file, name) in self.unread
            if need_not_agree or self._alike(
                (first.file, name), first_names[name], first, second_names[name], second
            ):
                continue
            if not self._is_unread((first.file, name)):
                values = _shown(first_names[name], first), _shown(second_names[name], second)
                return f"{word}{name} is {values[0]} and {values[1]}"
        return None

    def _is_unread(self, name: Global) -> bool:
        if name not in self.unread and not self.reads(name):
            self.unread.add(name)
        return name in self.unread

    def _values(self, first_event: Event, second_event: Event) -> str | None:
        first_value, second_value = first_event.value, second_event.value
        if (first_value is None) != (second_value is None) or (
            first_value is not None and second_value is not None and not same(first_value, second_value)
        ):
            return f"{first_value!r:.80} and {second_value!r:.80}"
        first_stack, second_stack = (
            first_event.state.frames[first_event.frame].stack,
            second_event.state.frames[second_event.frame].stack,
        )
        for position, (first, second) in enumerate(
            itertools.zip_longest(first_stack, second_stack, fillvalue=_NOTHING)
        ):
            if (
                first is _NOTHING
                or second is _NOTHING
                or not self._alike((first_event.frame, position), first, first_event, second, second_event)
            ):
                return f"{_shown(first, first_event)} and {_shown(second, second_event)}"
        return None

    def _alike(self, key: Any, first: Any, first_event: Event, second: Any, second_event: Event) -> bool:
        compared_before = self.alike.get(key)
        if compared_before is not None and compared_before[0] is first and compared_before[1] is second:
            return True
        if not same(decode(first, first_event.state.objects), decode(second, second_event.state.objects)):
            return False
        self.alike[key] = (first, second)
        for value, event, users in zip((first, second), (first_event, second_event), self.users, strict=True):
            for number in reached(value, event.state.objects):
                users.setdefault(number, set()).add(key)
        return True


_NOTHING = object()


def _shown(encoded: Any, event: Event) -> str:
    return "nothing" if encoded is _NOTHING else f"{decode(encoded, event.state.objects)!r:.80}"


def same(first: Value, second: Value) -> bool:
    """Whether two values are rendered alike, apart from identity numbers and the order of sets."""
    return bool(_shape(first, {}) == _shape(second, {}))


def _shape(value: Value, names: dict[int, int]) -> Any:
    if value.id is not None:
        first_number = names.get(value.id)
        if first_number is not None:
            return ("again", first_number)
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


def first_difference(first: str, second: str) -> str:
    """The first difference between two different texts, in words."""
    at = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    return f"{first[at : at + 60]!r} and {second[at : at + 60]!r} at character {at}"
