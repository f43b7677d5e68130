"""A trace: the events of one thread in order, and the state that they add up to.

An event stores only what changed since its frame's previous event; `State` adds the changes up.
`Trace` gives events with their state, one after another in flat memory, or by index.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from deskcheck.recording.value import Content, Encoded, Value, decode, loads

CHECKPOINT_EVENTS = 512


class Kind(StrEnum):
    """What happened, in the words of `sys.monitoring` (docs/format.md defines each)."""

    CALL = "call"
    LINE = "line"
    RETURN = "return"
    YIELD = "yield"
    RESUME = "resume"
    RAISE = "raise"
    UNWIND = "unwind"
    INSTRUCTION = "instruction"


class Row(NamedTuple):
    """One event as it is stored: docs/format.md, table ``events``. JSON columns are text or None."""

    thread: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an event
    kind: str
    frame: int
    function: str
    file: str
    line: int
    offset: int
    locals: str | None
    stack: str | None
    globals: str | None
    objects: str | None
    caller: str | None
    value: str | None
    output: str | None
    instruction: str | None
    left_out: str | None = None


@dataclass(slots=True)
class FrameState:
    """A frame as of its last event. Values are encoded: identities refer to `State.objects`."""

    number: int
    function: str
    file: str
    line: int
    offset: int
    locals: dict[str, Encoded] = field(default_factory=dict)
    stack: list[Encoded] = field(default_factory=list)
    caller: dict[str, Any] | None = None


class State:
    """Everything that is known after an event: frames, globals, and objects by identity.

    `frames` holds every open frame, running or suspended; `active` numbers those on the call stack,
    outermost first. `globals` maps file -> name -> encoded value.
    """

    __slots__ = ("active", "frames", "globals", "last", "objects")

    def __init__(self) -> None:
        self.frames: dict[int, FrameState] = {}
        self.active: list[int] = []
        self.globals: dict[str, dict[str, Encoded]] = {}
        self.objects: dict[int, Content] = {}
        self.last: Row | None = None

    def apply(self, row: Row) -> None:
        """Take in the next event of the trace."""
        if self.last is not None and self.last.kind in (Kind.RETURN, Kind.UNWIND, Kind.YIELD):
            self._leave(self.last)
        self.last = row
        frame = self.frames.get(row.frame)
        if frame is None:
            frame = FrameState(row.frame, row.function, row.file, row.line, row.offset)
            self.frames[row.frame] = frame
        if row.kind in (Kind.CALL, Kind.RESUME):
            self.active.append(row.frame)
            frame.caller = loads(row.caller) if row.caller else None
            if frame.caller is not None:
                self._suspend(frame.caller)
        frame.line, frame.offset = row.line, row.offset
        if row.locals:
            _update(frame.locals, loads(row.locals))
        if row.stack:
            frame.stack = loads(row.stack)
        if row.globals:
            _update(self.globals.setdefault(row.file, {}), loads(row.globals))
        if row.objects:
            for key, change in loads(row.objects).items():
                self._change(int(key), change)

    def _suspend(self, caller: dict[str, Any]) -> None:
        """Bring the calling frame to where its call stands, in the middle of its line."""
        frame = self.frames.get(caller["frame"])
        if frame is not None:
            _update(frame.locals, caller.get("locals", {}))
            frame.stack = caller.get("stack", frame.stack)
            frame.offset = caller["offset"]

    def _leave(self, row: Row) -> None:
        if self.active and self.active[-1] == row.frame:
            self.active.pop()
        if row.kind != Kind.YIELD:
            self.frames.pop(row.frame, None)

    def _change(self, number: int, change: Content | None) -> None:
        if change is None:
            self.objects.pop(number, None)
        elif "kind" in change:
            self.objects[number] = change
        else:
            self.objects[number] = _changed(self.objects[number], change)

    def copy(self) -> "State":
        """A copy that later events of the original do not reach. Contents are shared: they never change."""
        twin = State()
        twin.frames = {
            number: FrameState(
                f.number, f.function, f.file, f.line, f.offset, dict(f.locals), list(f.stack), f.caller
            )
            for number, f in self.frames.items()
        }
        twin.active = list(self.active)
        twin.globals = {name: dict(values) for name, values in self.globals.items()}
        twin.objects = dict(self.objects)
        twin.last = self.last
        return twin

    def locals(self, frame: int) -> dict[str, Value]:
        """Names and values of an open frame; for a module's frame, the module's globals."""
        state = self.frames[frame]
        names = self.globals.get(state.file, {}) if state.function == "<module>" else state.locals
        return {name: decode(value, self.objects) for name, value in names.items()}


def fingerprint(state: State) -> str:
    """The full state after an event as a text that is the same for the same state.

    All active frames with their line, offset, locals and value stacks, the globals, every object
    that they reach, and what the event returned or raised. Identity numbers are replaced by order of
    first sight in the text, frame numbers by position, so that equal states of different moments
    are equal.
    """
    return _Canonical(state).text()


class _Canonical:
    def __init__(self, state: State) -> None:
        self.state = state
        self.names: dict[int, int] = {}

    def text(self) -> str:
        state, row = self.state, self.state.last
        parts: list[Any] = [(row.kind, self.value(loads(row.value)) if row.value else None) if row else None]
        for number in state.active:
            frame = state.frames[number]
            via = frame.caller.get("via") if frame.caller else None
            parts.append((frame.function, frame.file, frame.line, frame.offset, via))
            parts.append([(name, self.value(v)) for name, v in sorted(frame.locals.items())])
            parts.append([self.value(v) for v in frame.stack])
        for file in sorted(state.globals):
            parts.append([(name, self.value(v)) for name, v in sorted(state.globals[file].items())])
        return repr(parts)

    def value(self, encoded: Encoded) -> Any:
        if isinstance(encoded, dict):
            number = encoded.get("ref")
            if number is not None:
                return self.object(number)
            return {key: self.value(item) for key, item in encoded.items() if key != "(frame)"}
        if isinstance(encoded, list):
            return [self.value(item) for item in encoded]
        return encoded

    def object(self, number: int) -> Any:
        known = self.names.get(number)
        if known is not None:
            return f"#{known}"
        self.names[number] = len(self.names)
        return (f"#{self.names[number]}=", self.value(self.state.objects.get(number, {})))


def _update(names: dict[str, Encoded], changes: Mapping[str, Encoded]) -> None:
    for name, value in changes.items():
        if isinstance(value, dict) and "unbound" in value:
            names.pop(name, None)
        else:
            names[name] = value


def _changed(content: Content, change: Content) -> Content:
    new = copy.copy(content)
    if "splice" in change:
        at, removed, items = change["splice"]
        old = content.get("items", [])
        new["items"] = [*old[:at], *items, *old[at + removed :]]
    if "fields" in change:
        fields = dict(content.get("fields", {}))
        _update(fields, change["fields"])
        new["fields"] = fields
    for key in ("length", "cut", "text"):
        if key in change:
            if change[key] is None:
                new.pop(key, None)
            else:
                new[key] = change[key]
    return new


class Event:
    """One event of a trace with the state at it.

    A ``line`` event comes before its line runs: `locals` are the values the line starts from. So does an
    ``instruction`` event before its instruction: `stack` is then the whole value stack.
    """

    __slots__ = ("_state", "_trace", "row")

    def __init__(self, row: Row, trace: "Trace", state: State | None = None) -> None:
        self.row = row
        self._trace = trace
        self._state = state

    @property
    def index(self) -> int:
        return self.row.index

    @property
    def kind(self) -> Kind:
        return Kind(self.row.kind)

    @property
    def frame(self) -> int:
        """Number of the frame, by first sight within the trace."""
        return self.row.frame

    @property
    def function(self) -> str:
        """Qualified name of the code that runs in the frame."""
        return self.row.function

    @property
    def file(self) -> str:
        return self.row.file

    @property
    def line(self) -> int:
        """Line number, counted from 1, in `file`."""
        return self.row.line

    @property
    def offset(self) -> int:
        """Byte offset of the instruction in the frame's code object; differs between Python versions."""
        return self.row.offset

    @property
    def instruction(self) -> str | None:
        """Text of the instruction about to run, at an ``instruction`` event; None for the other kinds."""
        return self.row.instruction

    @property
    def left_out(self) -> dict[str, int]:
        """What happened in this thread since its previous event and was not recorded, because of a limit
        that was asked for: how many of each (docs/format.md, *Gaps*). Empty almost always."""
        return loads(self.row.left_out) if self.row.left_out else {}

    @property
    def output(self) -> str:
        """What was written to standard output since the previous event."""
        return self.row.output or ""

    @property
    def state(self) -> State:
        """The state at this event. Computed from the start of the trace, or from a checkpoint."""
        if self._state is None:
            self._state = self._trace.state(self.row.index)
        return self._state

    @property
    def value(self) -> Value | None:
        """What was returned, yielded or raised; None for the other kinds."""
        if self.row.value is None:
            return None
        return decode(loads(self.row.value), self.state.objects)

    @property
    def locals(self) -> dict[str, Value]:
        """The frame's names and values; for a module's frame, its globals."""
        return self.state.locals(self.row.frame)

    @property
    def stack(self) -> list[Value]:
        """What lies on the frame's value stack: live loop iterators (outermost first) and whatever
        an unfinished expression has computed."""
        return [decode(value, self.state.objects) for value in self.state.frames[self.row.frame].stack]

    @property
    def globals(self) -> dict[str, Value]:
        """The globals of the frame's module that are recorded."""
        names = self.state.globals.get(self.row.file, {})
        return {name: decode(value, self.state.objects) for name, value in names.items()}

    @property
    def changed(self) -> frozenset[str]:
        """Names bound, rebound or unbound since the frame's previous event."""
        text = self.row.globals if self.row.function == "<module>" else self.row.locals
        return frozenset(loads(text)) if text else frozenset()

    def __repr__(self) -> str:
        return f"<{self.row.kind} {self.row.function} line {self.row.line} frame {self.row.frame}>"


class Trace:
    """The events of one thread. Iterating streams them with their state in flat memory;
    indexing answers from the nearest checkpoint.

    `rows` is any sequence of rows: a list, or one that reads them from a file as they are asked for.
    """

    def __init__(self, rows: Sequence[Row], *, thread: int = 0, cut: str | None = None) -> None:
        self.rows = rows
        self.thread = thread
        self.cut = cut
        """Why events are missing at the end (``events``: the limit on events was reached), or None."""
        self._checkpoints: dict[int, State] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Event:
        if index < 0:
            index += len(self.rows)
        if not 0 <= index < len(self.rows):
            raise IndexError(f"the trace has {len(self.rows)} events; there is none at {index}")
        return Event(self.rows[index], self)

    def __iter__(self) -> Iterator[Event]:
        """Events in order. The state of an event is valid until the next one is asked for."""
        state = State()
        for row in self.rows:
            state.apply(row)
            yield Event(row, self, state)

    def state(self, index: int) -> State:
        """The state at the event of that index, as a copy of its own."""
        start = index // CHECKPOINT_EVENTS * CHECKPOINT_EVENTS
        known = max((i for i in self._checkpoints if i <= index), default=None)
        if known is None:
            state, position = State(), 0
        else:
            state, position = self._checkpoints[known].copy(), known + 1
        for i in range(position, index + 1):
            state.apply(self.rows[i])
            if i == start:
                self._checkpoints[i] = state.copy()
        return state


def rows_of(thread: int, rows: Iterable[Row]) -> list[Row]:
    """The rows of one thread, in order."""
    return [row for row in rows if row.thread == thread]
