"""Whether two recordings of one program are the same, and where they first differ.

The rows are compared as text first. Where the text differs the states are compared: a set holds the
same members in any order (the order follows the hash seed), and identity numbers are only names. What
the program *did* with the order of a set shows as a difference of its own at a later event.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any

from deskcheck.errors import DamagedRows
from deskcheck.recording.block import rows
from deskcheck.recording.raised import raised_message
from deskcheck.recording.recording import RunResult
from deskcheck.recording.trace import Event, Row, State
from deskcheck.recording.value import Value, decode, loads

_HERE_BYTES = 150_000
"""Of both runs. Their states fill, while they are compared, some 220 bytes for each byte of forged rows."""

Global = tuple[str, str]
"""A global variable: the file as events name it, and the variable's name."""


def difference(
    first: tuple[RunResult, Callable[[], Iterable[bytes]]],
    second: tuple[RunResult, Callable[[], Iterable[bytes]]],
    *,
    reads: Callable[[Global], bool] | None = None,
    unread: set[Global] | None = None,
) -> str | None:
    """Where two runs first differ, in words; None if they are the same.

    Each run is its ending and a function that gives its blocks of events again, from the start, as
    the tracer wrote them. reads: whether the run may read a global variable; those that it cannot may
    differ, and are added to `unread` where they do. Without it, the states of long runs are compared in a
    process of their own: they fill none of this one's memory.
    """
    one, other = first[0], second[0]
    where = _said(one, other)
    if where is not None:
        return where
    # Where a limit cut both, it did so at no particular event: what both have is compared.
    cut = one.cut is not None and other.cut is not None
    pair = zip if cut else itertools.zip_longest
    if all(a == b for a, b in pair(first[1](), second[1]())):
        return _result(one, other) or _rest(one, other)
    if reads is None and sum(len(block) for run in (first, second) for block in run[1]()) > _HERE_BYTES:
        from deskcheck.recording.comparison.apart import compared_apart  # which imports this

        where = compared_apart(first[1], second[1], cut=cut)
    else:
        where = compared(first[1](), second[1](), cut=cut, reads=reads, unread=unread)
    return where or _rest(one, other)


def compared(
    first: Iterable[bytes],
    second: Iterable[bytes],
    *,
    cut: bool,
    reads: Callable[[Global], bool] | None = None,
    unread: set[Global] | None = None,
) -> str | None:
    """Where the states of two runs first differ. cut: both were, so what both have counts.

    Rows that a program forged may not add up, though each is right by itself. Then that is the difference.
    """
    pair = zip if cut else itertools.zip_longest
    states = _States(reads or (lambda name: True), set() if unread is None else unread)
    try:
        return states.difference(pair(_events(first), _events(second)))
    except DamagedRows as error:
        return f"the rows do not add up: {error}"


def save(block: bytes, stream: IO[bytes]) -> None:
    """Keep a block of events in a file; `saved` gives them again, from the start."""
    stream.write(len(block).to_bytes(4, "big") + block)


def saved(stream: IO[bytes]) -> Iterator[bytes]:
    stream.seek(0)
    while size := stream.read(4):
        yield stream.read(int.from_bytes(size, "big"))


def ending_difference(one: RunResult, other: RunResult) -> str | None:
    """Where the endings of two runs first differ, in words; None if they are the same.

    Compared are the outcome, standard output, the result, the exception with its message, and of a process of
    its own also the exit status, standard error and the files that it wrote.
    """
    return _said(one, other) or _result(one, other) or _rest(one, other)


def _said(one: RunResult, other: RunResult) -> str | None:
    if one.outcome != other.outcome:
        return f"outcome: {_outcome(one)} and {_outcome(other)}"
    if one.stdout != other.stdout:
        return f"output: {first_difference(one.stdout, other.stdout)}"
    return None


def _outcome(run_result: RunResult) -> str:
    detail = run_result.detail.splitlines()
    return f"{run_result.outcome} ({detail[0]:.80})" if detail else run_result.outcome


def _result(one: RunResult, other: RunResult) -> str | None:
    a, b = one.result, other.result
    if a == b:
        return None
    # The members of a set of objects follow their addresses, and are compared where the states are known.
    in_no_order = not one.result_builtin and a is not None and b is not None and "{" in a
    if in_no_order and sorted(a or "") == sorted(b or ""):
        return None
    return f"result: {_cut(a)} and {_cut(b)}"


def _cut(text: str | None) -> str:
    return "none" if text is None else text if len(text) <= 80 else f"{text[:80]}..."


def _rest(one: RunResult, other: RunResult) -> str | None:
    if one.exception != other.exception:
        return f"exception: {one.exception} and {other.exception}"
    messages = raised_message(one), raised_message(other)
    if None not in messages and messages[0] != messages[1]:
        return f"message: {messages[0]!r} and {messages[1]!r}"
    if one.exit_status is None or other.exit_status is None:  # in a process with others
        return None
    if one.exit_status != other.exit_status:
        return f"exit status: {one.exit_status} and {other.exit_status}"
    if one.stderr != other.stderr:
        return f"standard error: {first_difference(one.stderr, other.stderr)}"
    for path in sorted(one.files.keys() | other.files.keys()):
        a, b = one.files.get(path, "not there"), other.files.get(path, "not there")
        if a != b:
            return f"file {path!r}: {a} and {b}"
    return None


def first_difference(one: str, other: str) -> str:
    """Where two different texts begin to differ, in words."""
    at = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return f"{one[at : at + 60]!r} and {other[at : at + 60]!r} at character {at}"


class _Event(Event):
    """Its state is not a copy: what compares changes nothing."""

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
    """Compares the states of two runs, event by event. What was alike and has not changed since is not looked
    at again."""

    def __init__(self, reads: Callable[[Global], bool], unread: set[Global]) -> None:
        self.reads = reads
        self.unread = unread
        self.alike: dict[Any, tuple[Any, Any]] = {}
        """What was compared -> its encoded value in both runs."""
        self.users: tuple[dict[int, set[Any]], dict[int, set[Any]]] = ({}, {})
        """Of each run: an object -> what was compared that leads to it."""

    def difference(self, pairs: Iterable[tuple[Event | None, Event | None]]) -> str | None:
        for a, b in pairs:
            if a is None or b is None:
                index = next(event.index for event in (a, b) if event is not None)
                return f"event {index}: one run ends before it"
            here = f"event {a.index} ({a.file} line {a.line})"
            if (a.kind, a.function, a.line, a.instruction) != (b.kind, b.function, b.line, b.instruction):
                return f"{here}: {a!r} and {b!r}"
            if a.output != b.output:
                return f"{here}: output {first_difference(a.output, b.output)}"
            self._forget(a.row, b.row)
            where = self._names(a, b) or self._values(a, b)
            if where is not None:
                return f"{here}: {where}"
        return None

    def _forget(self, *rows: Row) -> None:
        for row, users in zip(rows, self.users, strict=True):
            for number in loads(row.objects) if row.objects else ():
                for key in users.pop(int(number), ()):
                    self.alike.pop(key, None)

    def _names(self, a: Event, b: Event) -> str | None:
        x, y = a.state.frames[a.frame].locals, b.state.frames[b.frame].locals
        if x.keys() != y.keys():
            return f"names {sorted(x.keys() ^ y.keys())} in one run only"
        for name in x:
            if not self._alike((a.frame, name), x[name], a, y[name], b):
                return f"{name} is {_shown(x[name], a)} and {_shown(y[name], b)}"
        x, y = a.state.globals.get(a.file, {}), b.state.globals.get(b.file, {})
        word = "" if a.function == "<module>" else "global "
        once = {name for name in x.keys() ^ y.keys() if not self._is_unread((a.file, name))}
        if once:
            return f"{word}names {sorted(once)} in one run only"
        for name in x:
            known = name not in y or (a.file, name) in self.unread
            if known or self._alike((a.file, name), x[name], a, y[name], b):
                continue
            if not self._is_unread((a.file, name)):
                return f"{word}{name} is {_shown(x[name], a)} and {_shown(y[name], b)}"
        return None

    def _is_unread(self, name: Global) -> bool:
        if name not in self.unread and not self.reads(name):
            self.unread.add(name)
        return name in self.unread

    def _values(self, a: Event, b: Event) -> str | None:
        p, q = a.value, b.value
        if (p is None) != (q is None) or (p is not None and q is not None and not same(p, q)):
            return f"{p!r:.80} and {q!r:.80}"
        x, y = a.state.frames[a.frame].stack, b.state.frames[b.frame].stack
        for place, (one, other) in enumerate(itertools.zip_longest(x, y, fillvalue=_NOTHING)):
            if one is _NOTHING or other is _NOTHING or not self._alike((a.frame, place), one, a, other, b):
                return f"{_shown(one, a)} and {_shown(other, b)}"
        return None

    def _alike(self, key: Any, one: Any, a: Event, other: Any, b: Event) -> bool:
        known = self.alike.get(key)
        if known is not None and known[0] is one and known[1] is other:
            return True
        if not same(decode(one, a.state.objects), decode(other, b.state.objects)):
            return False
        self.alike[key] = (one, other)
        for value, event, users in zip((one, other), (a, b), self.users, strict=True):
            for number in reached(value, event.state.objects):
                users.setdefault(number, set()).add(key)
        return True


_NOTHING = object()


def _shown(encoded: Any, event: Event) -> str:
    return "nothing" if encoded is _NOTHING else f"{decode(encoded, event.state.objects)!r:.80}"


def reached(value: Any, objects: Mapping[int, Any]) -> set[int]:
    """Identity numbers of the objects that an encoded value, or a content, leads to."""
    found: set[int] = set()
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            number = part.get("ref")
            if isinstance(number, int) and number in objects and number not in found:
                found.add(number)
                todo.append(objects[number])
            todo += part.values()
    return found


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
