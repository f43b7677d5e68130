"""A trace: the events of one thread in order, and the states between them.

An event stores only the changes since its frame's previous event; `State` adds them up. `Trace` returns
events with their states, by index or by iteration, in constant memory.
"""

import copy
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, TypeVar, overload

from deskcheck.errors import DamagedRows
from deskcheck.recording.value import DEPTH, Content, Encoded, Value, decode, extent, loads

CHECKPOINT_EVENTS = 512
EARLIER = "earlier"
"""Key of `Row.left_out` of events that only give the state at the start of the trace: the number of events
that happened before."""

K = TypeVar("K")
V = TypeVar("V")


class Kind(StrEnum):
    """What happened, in the words of `sys.monitoring` (docs/reference/format.md defines each)."""

    CALL = "call"
    LINE = "line"
    RETURN = "return"
    YIELD = "yield"
    RESUME = "resume"
    RAISE = "raise"
    UNWIND = "unwind"
    INSTRUCTION = "instruction"


class Row(NamedTuple):
    """One stored event: format.md, table ``events``. JSON columns are text or None."""

    thread: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which an event does not need
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


_LEAVES = frozenset({"return", "unwind", "yield"})
"""Kinds of events after which the frame is no longer on the call stack."""
_ENTERS = frozenset({"call", "resume"})
_NONE: Mapping[Any, Any] = {}
_new = tuple.__new__


class FrameState(NamedTuple):
    """A frame after its last event. Values are encoded: identities refer to `State.objects`."""

    number: int
    function: str
    file: str
    line: int
    offset: int
    locals: Mapping[str, Encoded]
    stack: Sequence[Encoded]
    caller: Mapping[str, Any] | None


class State(NamedTuple):
    """The state of the program after an event: frames, globals, and objects by identity.

    Do not change a state or its parts: `after` returns the next state, which shares all unchanged parts with
    this one. `Event.state` returns a copy.
    """

    frames: Mapping[int, FrameState] = _NONE
    """All open frames, running or suspended."""
    active: tuple[int, ...] = ()
    """Numbers of the frames on the call stack, outermost first."""
    globals: Mapping[str, Mapping[str, Encoded]] = _NONE
    """File -> name -> encoded value."""
    objects: Mapping[int, Content] = _NONE
    last: Row | None = None
    """The event."""
    touched: tuple[int, ...] = ()
    """Numbers of the objects that the event made, changed, or released."""

    def after(self, row: Row) -> "State":
        """The state after the next event of the trace. Raises DamagedRows if the event does not fit."""
        try:
            frames, active, files, objects, last, _ = self
            ended_frame: int | None = None
            calling: FrameState | None = None
            if last is not None and last.kind in _LEAVES:
                if active and active[-1] == last.frame:
                    active = active[:-1]
                if last.kind != "yield":
                    ended_frame = last.frame
            number = row.frame
            frame = frames.get(number)
            names: Mapping[str, Encoded] = _NONE
            stack: Sequence[Encoded] = ()
            caller: Mapping[str, Any] | None = None
            if frame is not None and number != ended_frame:
                names, stack, caller = frame.locals, frame.stack, frame.caller
            if row.kind in _ENTERS:
                active = (*active, number)
                caller = loads(row.caller) if row.caller else None
                if caller is not None:
                    # The calling frame is at its call, in the middle of its line.
                    suspended = frames.get(caller["frame"])
                    if suspended is not None and suspended.number != ended_frame:
                        calling = FrameState(
                            suspended.number,
                            suspended.function,
                            suspended.file,
                            suspended.line,
                            caller["offset"],
                            _bound(suspended.locals, caller["locals"])
                            if "locals" in caller
                            else suspended.locals,
                            caller.get("stack", suspended.stack),
                            suspended.caller,
                        )
            if row.locals:
                names = _bound(names, loads(row.locals))
            if row.stack:
                stack = loads(row.stack)
            # `tuple.__new__` and plain dict methods, because iterating spends its time here.
            frame = _new(
                FrameState, (number, row.function, row.file, row.line, row.offset, names, stack, caller)
            )
            if type(frames) is dict and len(frames) <= _SMALL:
                frames = frames.copy()
                if ended_frame is not None:
                    frames.pop(ended_frame, None)
                if calling is not None:
                    frames[calling.number] = calling
                frames[number] = frame
            else:
                running = {number: frame} if calling is None else {calling.number: calling, number: frame}
                frames = _with(frames, running, () if ended_frame is None else (ended_frame,))
            if row.globals:
                files = {**files, row.file: _bound(files.get(row.file, _NONE), loads(row.globals))}
            touched: tuple[int, ...] = ()
            if row.objects:
                contents: dict[int, Content] = {}
                dead_objects: list[int] = []
                for key, change in loads(row.objects).items():
                    number = int(key)
                    if change is None:
                        dead_objects.append(number)
                    else:
                        contents[number] = (
                            change if "kind" in change else content_after(objects[number], change)
                        )
                objects = _with(objects, contents, dead_objects)
                touched = (*contents, *dead_objects)
            return _new(State, (frames, active, files, objects, row, touched))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise DamagedRows(
                f"event {row.index} of thread {row.thread} does not follow from those before it: {error!r}"
            ) from error

    @property
    def size(self) -> int:
        """The number of names, objects, and frames on the call stack."""
        names = sum(map(len, self.globals.values())) + sum(len(f.locals) for f in self.frames.values())
        return len(self.objects) + len(self.active) + names

    def copies(self) -> "State":
        """The same state; whatever is read from it is a copy."""
        return State(
            _Copies(self.frames),
            self.active,
            _Copies(self.globals),
            _Copies(self.objects),
            self.last,
            self.touched,
        )

    def names(self, frame: int) -> Mapping[str, Encoded]:
        """Names and encoded values of an open frame.

        For a module's frame these are the module's globals and the variables of a comprehension that runs in
        it.
        """
        frame_state = self.frames[frame]
        if frame_state.function != "<module>":
            return frame_state.locals
        names = self.globals.get(frame_state.file, _NONE)
        return {**names, **frame_state.locals} if frame_state.locals else names

    def locals(self, frame: int) -> dict[str, Value]:
        """Decoded `names` of an open frame."""
        return {name: decode(value, self.objects) for name, value in self.names(frame).items()}


def fingerprint(state: State) -> str:
    """The full state after an event as a text that is equal for equal states.

    Identity numbers are replaced by the order of first sight, and frame numbers by positions, so that equal
    states at different events have equal texts.
    """
    return _Canonical(state).text()


class _Canonical:
    def __init__(self, state: State) -> None:
        self.state = state
        self.names: dict[int, int] = {}
        self.depth = 0

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
            return {key: self.value(item) for key, item in encoded.items()}
        if isinstance(encoded, list):
            return [self.value(item) for item in encoded]
        return encoded

    def object(self, number: int) -> Any:
        canonical_number = self.names.get(number)
        if canonical_number is not None:
            return f"#{canonical_number}"
        if self.depth >= DEPTH:  # compared from a nearer variable, or never
            return "..."
        self.names[number] = len(self.names)
        self.depth += 1
        content = self.state.objects.get(number, {})
        parts = {key: self.value(part) for key, part in content.items() if key != "fields"}
        fields = content.get("fields", {})  # names of the program, which may be `ref`
        parts["fields"] = [(name, self.value(part)) for name, part in fields.items() if name != "(frame)"]
        self.depth -= 1
        return (f"#{self.names[number]}=", parts)


def _bound(names: Mapping[str, Encoded], changes: Mapping[str, Encoded]) -> Mapping[str, Encoded]:
    """Names after some were bound, rebound or unbound, in the order of binding."""
    for value in changes.values():
        if type(value) is dict and ("unbound" in value or "edit" in value):
            unbound = {name for name, value in changes.items() if type(value) is dict and "unbound" in value}
            bound = {
                name: edited(names.get(name), value) if type(value) is dict and "edit" in value else value
                for name, value in changes.items()
                if name not in unbound
            }
            return _with(names, bound, unbound)
    return _with(names, changes)


def bind(names: dict[str, Encoded], changes: Mapping[str, Encoded]) -> None:
    """Bind, rebind and unbind names in place, as a stored change says (format.md, *State*)."""
    for name, value in changes.items():
        if isinstance(value, dict) and "unbound" in value:
            names.pop(name, None)
        elif isinstance(value, dict) and "edit" in value:
            names[name] = edited(names.get(name), value)
        else:
            names[name] = value


def edited(old: Encoded, change: Mapping[str, Any]) -> Encoded:
    """The text of a name after an edit (format.md, *State*)."""
    at, removed, text = change["edit"]
    before = old.get("str", "") if isinstance(old, dict) else old
    before = before if isinstance(before, str) else ""
    new = f"{before[:at]}{text}{before[at + removed :]}"
    return {"str": new, "length": change["length"], "cut": change["cut"]} if "cut" in change else new


def content_after(content: Content, change: Content) -> Content:
    """The content of an object after a stored change, which is one without a `kind`."""
    new = copy.copy(content)
    if "splice" in change:
        at, removed, items = change["splice"]
        old = content.get("items", [])
        new["items"] = [*old[:at], *items, *old[at + removed :]]
    if "fields" in change:
        new["fields"] = plain(_bound(content.get("fields", {}), change["fields"]))
    for key in ("length", "cut", "text"):
        if key in change:
            if change[key] is None:
                new.pop(key, None)
            else:
                new[key] = change[key]
    return new


_SMALL = 64
"""Largest mapping that is copied for every change. A larger one copies only its latest changes."""
_GONE = ...
"""Marks a removed entry in `_Layers`: JSON has no such value."""


def _with(mapping: Mapping[K, V], changes: Mapping[K, V], removed: Iterable[K] = ()) -> Mapping[K, V]:
    """A mapping after some entries were removed and others were set, in the order of a dict."""
    if type(mapping) is dict:
        if len(mapping) > _SMALL:
            return _Layers(mapping, {}).changed(changes, removed)
        new = mapping.copy()
    elif type(mapping) is _Layers:
        return mapping.changed(changes, removed)
    else:
        new = dict(mapping)
    for key in removed:
        new.pop(key, None)
    new.update(changes)
    return new


def plain(mapping: Mapping[K, V]) -> dict[K, V]:
    """A part of a state as a new dict, whose values are still shared."""
    return mapping.folded() if type(mapping) is _Layers else dict(mapping)


class _Layers(Mapping[K, V]):
    """A large mapping that never changes: a shared older version, and the changes since.

    The time and memory of a change grow with the square root of the size.
    """

    __slots__ = ("_base", "_over")

    def __init__(self, base: dict[K, V], over: dict[K, Any]) -> None:
        self._base = base
        self._over = over

    def changed(self, changes: Mapping[K, V], removed: Iterable[K]) -> Mapping[K, V]:
        base, over = self._base, self._over.copy()
        for key in removed:
            if key in base:
                over[key] = _GONE
            else:
                over.pop(key, None)
        for key in changes:
            if over.get(key) is _GONE:  # set again: it goes to the end
                return _with(_Layers(base, over).folded(), changes)
        over.update(changes)
        new = _Layers(base, over)
        return new.folded() if len(over) ** 2 > 2 * len(base) else new

    def folded(self) -> dict[K, V]:
        new = self._base.copy()
        new.update(self._over)
        for key, value in self._over.items():
            if value is _GONE:
                del new[key]
        return new

    def __getitem__(self, key: K) -> V:
        value: V = self._over[key] if key in self._over else self._base[key]
        if value is _GONE:
            raise KeyError(key)
        return value

    def get(self, key: K, default: Any = None) -> Any:
        value = self._over.get(key, self)
        if value is self:
            return self._base.get(key, default)
        return default if value is _GONE else value

    def __iter__(self) -> Iterator[K]:
        return iter(self.folded())

    def __len__(self) -> int:
        more = sum(-1 if value is _GONE else key not in self._base for key, value in self._over.items())
        return len(self._base) + more

    def __repr__(self) -> str:
        return repr(self.folded())


class _Copies(Mapping[K, V]):
    """A mapping that returns copies of its values."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[K, V]) -> None:
        self._values = values

    def __getitem__(self, key: K) -> V:
        value: V = copy.deepcopy(self._values[key])
        return value

    def __iter__(self) -> Iterator[K]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class Event:
    """One event of a trace, with the state at this event.

    A ``line`` event comes before its line runs, so `locals` are the values that the line starts from. An
    ``instruction`` event comes before its instruction, and its `stack` is the whole value stack.
    """

    __slots__ = ("_state", "row")

    def __init__(self, row: Row, state: State | Callable[[], State]) -> None:
        self.row = row
        self._state = state

    def _known(self) -> State:
        state = self._state
        if not isinstance(state, State):
            state = self._state = state()
        return state

    def __reduce__(self) -> tuple[type["Event"], tuple[Row, State]]:
        return Event, (self.row, self._known())

    @property
    def index(self) -> int:
        return self.row.index

    @property
    def kind(self) -> Kind:
        return Kind(self.row.kind)

    @property
    def frame(self) -> int:
        """Number of the frame, in order of first sight within the trace."""
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
        """Counts of what a limit left out since the thread's previous event (format.md, *Gaps*).

        Empty if nothing was left out.
        """
        return loads(self.row.left_out) if self.row.left_out else {}

    @property
    def output(self) -> str:
        """The text written to standard output since the previous event."""
        return self.row.output or ""

    @property
    def state(self) -> State:
        """The state at this event, in encoded form. Whatever you read from it is a copy."""
        return self._known().copies()

    @property
    def value(self) -> Value | None:
        """The value that was returned, yielded or raised; None for other kinds of events."""
        if self.row.value is None:
            return None
        return decode(loads(self.row.value), self._known().objects)

    @property
    def locals(self) -> dict[str, Value]:
        """Names and values of the frame.

        For a module's frame these are its globals and the variables of a comprehension that runs in it.
        """
        return self._known().locals(self.row.frame)

    @property
    def stack(self) -> list[Value]:
        """The frame's value stack: iterators of running loops (outermost first), and the values that an
        unfinished expression has computed."""
        state = self._known()
        return [decode(value, state.objects) for value in state.frames[self.row.frame].stack]

    @property
    def globals(self) -> dict[str, Value]:
        """The recorded globals of the frame's module."""
        state = self._known()
        names = state.globals.get(self.row.file, _NONE)
        return {name: decode(value, state.objects) for name, value in names.items()}

    def extent(self, max_count: int) -> int:
        """Extent of `locals`, `stack`, `value` and `caller_locals` together (`recording.value.extent`)."""
        state = self._known()
        names, stack = state.names(self.row.frame), state.frames[self.row.frame].stack
        value = [loads(self.row.value)] if self.row.value else []
        return extent([*names.values(), *stack, *value, *self._callers.values()], state.objects, max_count)

    @property
    def changed(self) -> frozenset[str]:
        """Names bound, rebound or unbound since the frame's previous event.

        Names that an unfinished line changed before it called another frame are in `caller_changed` of that
        call.
        """
        names = {*loads(self.row.locals)} if self.row.locals else set()
        if self.row.globals and self.row.function == "<module>":
            names |= loads(self.row.globals).keys()
        return frozenset(names)

    @property
    def caller_changed(self) -> frozenset[str]:
        """At a ``call`` or ``resume``: names that the unfinished line of the calling frame has bound, rebound
        or unbound, such as the variable of a comprehension. Empty for other kinds of events."""
        caller = loads(self.row.caller) if self.row.caller else {}
        return frozenset(caller.get("locals", ()))

    @property
    def caller_locals(self) -> dict[str, Value]:
        """At a ``call`` or ``resume``: the local variables of the calling frame. If that is a module, only
        those of a comprehension that runs in it. Empty for other kinds of events."""
        return {name: decode(value, self._known().objects) for name, value in self._callers.items()}

    @property
    def _callers(self) -> Mapping[str, Encoded]:
        if not self.row.caller:
            return _NONE
        calling = self._known().frames.get(loads(self.row.caller)["frame"])
        return calling.locals if calling is not None else _NONE

    def __repr__(self) -> str:
        return f"<{self.row.kind} {self.row.function} line {self.row.line} frame {self.row.frame}>"


class Trace:
    """The events of one thread, by index, by slice, or by iteration.

    Iteration computes each state from the one before. An event by index computes its state on first use, from
    the nearest checkpoint.

    rows: a list, or a sequence that reads the rows from a file.
    """

    def __init__(self, rows: Sequence[Row], *, thread: int = 0, cut: str | None = None) -> None:
        self.rows: Sequence[Row] = tuple(rows) if isinstance(rows, list) else rows
        self.thread = thread
        self.cut = cut
        """Why events are missing at the end (``events``: the limit on events was reached), or None."""
        self._checkpoints: dict[int, State] = {}
        self._latest: tuple[int, State] = -1, State()
        """The latest requested state, and the index of its event."""

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        count = len(self.rows)
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(count))]
        position = operator.index(index)
        if position < 0:
            position += count
        if not 0 <= position < count:
            raise IndexError(f"the trace has {count} events; there is none at {index}")
        return Event(self.rows[position], partial(self._state, position))

    def __iter__(self) -> Iterator[Event]:
        state = State()
        for row in self.rows:
            state = state.after(row)
            yield Event(row, state)

    def state(self, index: int) -> State:
        """The state at the event with this index: `Event.state`."""
        return self[index].state

    def _state(self, index: int) -> State:
        position, state = self._latest
        if position > index:
            position, state = -1, State()
        start = index - index % CHECKPOINT_EVENTS
        while start > position and start not in self._checkpoints:
            start -= CHECKPOINT_EVENTS
        if start > position:
            position, state = start, self._checkpoints[start]
        for i in range(position + 1, index + 1):
            state = state.after(self.rows[i])
            if i % CHECKPOINT_EVENTS == 0 and i % (state.size + CHECKPOINT_EVENTS) < CHECKPOINT_EVENTS:
                self._checkpoints[i] = state  # the larger the state, the fewer checkpoints
        self._latest = index, state
        return state


Place = tuple[str, int, Any, str]
"""Where a text is: ``frame``, ``file`` or ``object``; the thread; its number or path; the name."""


class WholeTexts:
    """Turns edits of texts (format.md, *State*) back into whole texts, row by row in order.

    state: the state before the first of these rows, if that is not the first of its thread.
    """

    def __init__(self, state: State | None = None, thread: int = 0) -> None:
        self._texts: dict[tuple[str, int, Any], dict[str, Encoded]] = {}
        self.latest: set[Place] = set()
        """Places whose text the latest row binds or edits."""
        self.edited: set[Place] = set()
        """Places whose text the latest row edits."""
        if state is not None:
            for frame, frame_state in state.frames.items():
                self._follow(("frame", thread, frame), plain(frame_state.locals))
            for file, names in state.globals.items():
                self._follow(("file", thread, file), plain(names))
            for number, content in state.objects.items():
                self._follow(("object", thread, number), content.get("fields", {}))

    def row(self, row: Row) -> Row:
        """The row with whole texts in place of edits."""
        self.latest, self.edited = set(), set()
        columns: dict[str, Any] = {}
        for column in ("caller", "locals", "globals", "objects"):
            if text := getattr(row, column):
                columns[column] = self._column(row, column, text)
        if row.kind in ("return", "unwind"):
            self._texts.pop(("frame", row.thread, row.frame), None)
        return row._replace(**columns)

    def _column(self, row: Row, column: str, text: str) -> str:
        value: dict[str, Any] = loads(text)
        before = len(self.edited)
        if column == "locals":
            self._follow(("frame", row.thread, row.frame), value)
        elif column == "globals":
            self._follow(("file", row.thread, row.file), value)
        elif column == "caller":
            self._follow(("frame", row.thread, value["frame"]), value.get("locals", {}))
        else:
            for number, content in value.items():
                owner = "object", row.thread, int(number)
                if content is None or "kind" in content:
                    self._texts.pop(owner, None)
                self._follow(owner, (content or {}).get("fields", {}))
        if len(self.edited) == before:
            return text
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def _follow(self, owner: tuple[str, int, Any], names: dict[str, Encoded]) -> None:
        """Replace the edits among the values of names by whole texts."""
        for name, value in names.items():
            if isinstance(value, dict) and "edit" in value:
                names[name] = value = edited(self._texts.get(owner, {}).get(name), value)
                self.edited.add((*owner, name))
            if isinstance(value, str) or (isinstance(value, dict) and "str" in value):
                self._texts.setdefault(owner, {})[name] = value
                self.latest.add((*owner, name))
