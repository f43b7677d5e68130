"""A trace: the events of one thread in order, and the state that they add up to.

An event stores only what changed since its frame's previous event; `State` adds the changes up.
`Trace` gives events with their state, one after another in flat memory, or by index.
"""

import copy
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, TypeVar, overload

from deskcheck.errors import DamagedRows
from deskcheck.recording.value import DEPTH, Content, Encoded, Value, decode, extent, loads

CHECKPOINT_EVENTS = 512

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
    """One event as it is stored: format.md, table ``events``. JSON columns are text or None."""

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


_LEAVES = frozenset({"return", "unwind", "yield"})
"""Kinds of events after which the frame is no longer on the call stack."""
_ENTERS = frozenset({"call", "resume"})
_NONE: Mapping[Any, Any] = {}
_new = tuple.__new__


class FrameState(NamedTuple):
    """A frame as of its last event. Values are encoded: identities refer to `State.objects`."""

    number: int
    function: str
    file: str
    line: int
    offset: int
    locals: Mapping[str, Encoded]
    stack: Sequence[Encoded]
    caller: Mapping[str, Any] | None


class State(NamedTuple):
    """Everything that is known after an event: frames, globals, and objects by identity.

    A state never changes: `after` gives the next one, which shares with this one all that is the same in
    both. So nothing that a state holds may be changed. (`Event.state` gives out copies.)

    `frames` holds every open frame, running or suspended; `active` numbers those on the call stack,
    outermost first. `globals` maps file -> name -> encoded value. `last` is the event. `touched` numbers
    the objects that it made, changed, or let go of.
    """

    frames: Mapping[int, FrameState] = _NONE
    active: tuple[int, ...] = ()
    globals: Mapping[str, Mapping[str, Encoded]] = _NONE
    objects: Mapping[int, Content] = _NONE
    last: Row | None = None
    touched: tuple[int, ...] = ()

    def after(self, row: Row) -> "State":
        """The state after the next event of the trace. Raises DamagedRows where it does not follow."""
        try:
            frames, active, files, objects, last, _ = self
            left: int | None = None
            calling: FrameState | None = None
            if last is not None and last.kind in _LEAVES:
                if active and active[-1] == last.frame:
                    active = active[:-1]
                if last.kind != "yield":
                    left = last.frame
            number = row.frame
            frame = frames.get(number)
            names: Mapping[str, Encoded] = _NONE
            stack: Sequence[Encoded] = ()
            caller: Mapping[str, Any] | None = None
            if frame is not None and number != left:
                names, stack, caller = frame.locals, frame.stack, frame.caller
            if row.kind in _ENTERS:
                active = (*active, number)
                caller = loads(row.caller) if row.caller else None
                if caller is not None:
                    # The calling frame stands at its call, in the middle of its line.
                    known = frames.get(caller["frame"])
                    if known is not None and known.number != left:
                        calling = FrameState(
                            known.number,
                            known.function,
                            known.file,
                            known.line,
                            caller["offset"],
                            _bound(known.locals, caller["locals"]) if "locals" in caller else known.locals,
                            caller.get("stack", known.stack),
                            known.caller,
                        )
            if row.locals:
                names = _bound(names, loads(row.locals))
            if row.stack:
                stack = loads(row.stack)
            # Calls of `tuple.__new__` and of dict's own methods: the time of iterating is spent here.
            frame = _new(
                FrameState, (number, row.function, row.file, row.line, row.offset, names, stack, caller)
            )
            if type(frames) is dict and len(frames) <= _SMALL:
                frames = frames.copy()
                if left is not None:
                    frames.pop(left, None)
                if calling is not None:
                    frames[calling.number] = calling
                frames[number] = frame
            else:
                running = {number: frame} if calling is None else {calling.number: calling, number: frame}
                frames = _with(frames, running, () if left is None else (left,))
            if row.globals:
                files = {**files, row.file: _bound(files.get(row.file, _NONE), loads(row.globals))}
            touched: tuple[int, ...] = ()
            if row.objects:
                contents: dict[int, Content] = {}
                gone: list[int] = []
                for key, change in loads(row.objects).items():
                    number = int(key)
                    if change is None:
                        gone.append(number)
                    else:
                        contents[number] = change if "kind" in change else _changed(objects[number], change)
                objects = _with(objects, contents, gone)
                touched = (*contents, *gone)
            return _new(State, (frames, active, files, objects, row, touched))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise DamagedRows(
                f"event {row.index} of thread {row.thread} does not follow from those before it: {error!r}"
            ) from error

    @property
    def size(self) -> int:
        """How many names and objects it holds, and frames on the call stack."""
        names = sum(map(len, self.globals.values())) + sum(len(f.locals) for f in self.frames.values())
        return len(self.objects) + len(self.active) + names

    def copies(self) -> "State":
        """The same state, of which whatever is read is a copy."""
        return State(
            _Copies(self.frames),
            self.active,
            _Copies(self.globals),
            _Copies(self.objects),
            self.last,
            self.touched,
        )

    def names(self, frame: int) -> Mapping[str, Encoded]:
        """Names and encoded values of an open frame. For a module's frame these are the module's globals, and
        before them the variables of a comprehension that runs there."""
        known = self.frames[frame]
        if known.function != "<module>":
            return known.locals
        names = self.globals.get(known.file, _NONE)
        return {**names, **known.locals} if known.locals else names

    def locals(self, frame: int) -> dict[str, Value]:
        """Names and values of an open frame, as `names` has them."""
        return {name: decode(value, self.objects) for name, value in self.names(frame).items()}


def fingerprint(state: State) -> str:
    """The full state after an event as a text that is the same for the same state.

    Identity numbers are replaced by the order of first sight, and frame numbers by position, so that equal
    states of different moments have equal texts.
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
        known = self.names.get(number)
        if known is not None:
            return f"#{known}"
        if self.depth >= DEPTH:  # what lies there is looked at from nearer, or by nobody
            return "..."
        self.names[number] = len(self.names)
        self.depth += 1
        content = self.state.objects.get(number, {})
        parts = {key: self.value(part) for key, part in content.items() if key != "fields"}
        fields = content.get("fields", {})  # names of the program's own, which may be `ref`
        parts["fields"] = [(name, self.value(part)) for name, part in fields.items() if name != "(frame)"]
        self.depth -= 1
        return (f"#{self.names[number]}=", parts)


def _bound(names: Mapping[str, Encoded], changes: Mapping[str, Encoded]) -> Mapping[str, Encoded]:
    """Names after some were bound, rebound or unbound, in the order in which they were bound."""
    for value in changes.values():
        if type(value) is dict and "unbound" in value:
            gone = {name for name, value in changes.items() if type(value) is dict and "unbound" in value}
            return _with(names, {name: changes[name] for name in changes if name not in gone}, gone)
    return _with(names, changes)


def _changed(content: Content, change: Content) -> Content:
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
"""Entries that are copied for every change; of more, only those that changed lately."""
_GONE = ...
"""Stands in `_Layers` for an entry that is no more: JSON has no such value."""


def _with(known: Mapping[K, V], changes: Mapping[K, V], gone: Iterable[K] = ()) -> Mapping[K, V]:
    """A mapping without some entries, then with others, in the order that a dict would have them in."""
    if type(known) is dict:
        if len(known) > _SMALL:
            return _Layers(known, {}).changed(changes, gone)
        new = known.copy()
    elif type(known) is _Layers:
        return known.changed(changes, gone)
    else:
        new = dict(known)
    for key in gone:
        new.pop(key, None)
    new.update(changes)
    return new


def plain(known: Mapping[K, V]) -> dict[K, V]:
    """A part of a state as a dict of the caller's own; its values are still shared."""
    return known.folded() if type(known) is _Layers else dict(known)


class _Layers(Mapping[K, V]):
    """A large mapping that never changes: what it was some changes ago, which others share, and what was
    changed since. A change costs time and memory in proportion to the square root of the size."""

    __slots__ = ("_base", "_over")

    def __init__(self, base: dict[K, V], over: dict[K, Any]) -> None:
        self._base = base
        self._over = over

    def changed(self, changes: Mapping[K, V], gone: Iterable[K]) -> Mapping[K, V]:
        base, over = self._base, self._over.copy()
        for key in gone:
            if key in base:
                over[key] = _GONE
            else:
                over.pop(key, None)
        for key in changes:
            if over.get(key) is _GONE:  # it comes back, at the end
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
    """A mapping that gives out copies of its values."""

    __slots__ = ("_kept",)

    def __init__(self, values: Mapping[K, V]) -> None:
        self._kept = values

    def __getitem__(self, key: K) -> V:
        value: V = copy.deepcopy(self._kept[key])
        return value

    def __iter__(self) -> Iterator[K]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        return repr(self._kept)


class Event:
    """One event of a trace with the state at it, which stays that of this event however long it is kept.

    A ``line`` event comes before its line runs: `locals` are the values the line starts from. So does an
    ``instruction`` event before its instruction: `stack` is then the whole value stack.
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
        that was asked for: how many of each (docs/reference/format.md, *Gaps*). Empty almost always."""
        return loads(self.row.left_out) if self.row.left_out else {}

    @property
    def output(self) -> str:
        """What was written to standard output since the previous event."""
        return self.row.output or ""

    @property
    def state(self) -> State:
        """The state at this event, in encoded form, for who needs more than the properties below. What is
        read from it is a copy of the reader's own."""
        return self._known().copies()

    @property
    def value(self) -> Value | None:
        """What was returned, yielded or raised; None for the other kinds."""
        if self.row.value is None:
            return None
        return decode(loads(self.row.value), self._known().objects)

    @property
    def locals(self) -> dict[str, Value]:
        """The frame's names and values. For a module's frame these are its globals, and the variables of a
        comprehension that runs there."""
        return self._known().locals(self.row.frame)

    @property
    def stack(self) -> list[Value]:
        """What lies on the frame's value stack: live loop iterators (outermost first) and whatever
        an unfinished expression has computed."""
        state = self._known()
        return [decode(value, state.objects) for value in state.frames[self.row.frame].stack]

    @property
    def globals(self) -> dict[str, Value]:
        """The globals of the frame's module that are recorded."""
        state = self._known()
        names = state.globals.get(self.row.file, _NONE)
        return {name: decode(value, state.objects) for name, value in names.items()}

    def extent(self, most: int) -> int:
        """How many values `locals`, `stack`, `value` and `caller_locals` hold: `recording.value.extent`."""
        state = self._known()
        names, stack = state.names(self.row.frame), state.frames[self.row.frame].stack
        value = [loads(self.row.value)] if self.row.value else []
        return extent([*names.values(), *stack, *value, *self._callers.values()], state.objects, most)

    @property
    def changed(self) -> frozenset[str]:
        """Names bound, rebound or unbound since the frame's previous event. What an unfinished line changed
        before it called another frame is at the event of that call: `caller_changed`."""
        names = {*loads(self.row.locals)} if self.row.locals else set()
        if self.row.globals and self.row.function == "<module>":
            names |= loads(self.row.globals).keys()
        return frozenset(names)

    @property
    def caller_changed(self) -> frozenset[str]:
        """At a ``call`` or ``resume``: names that the unfinished line of the calling frame has bound, rebound
        or unbound, such as the variable of a comprehension. Empty for the other kinds."""
        caller = loads(self.row.caller) if self.row.caller else {}
        return frozenset(caller.get("locals", ()))

    @property
    def caller_locals(self) -> dict[str, Value]:
        """At a ``call`` or ``resume``: the local variables of the calling frame; of a module only those of a
        comprehension that runs there. Empty for the other kinds."""
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
    """The events of one thread, by index, by slice, or one after another.

    Iterating computes each state from the one before. An event by index computes its state on first use, from
    the nearest checkpoint. rows: a list, or a sequence that reads them from a file.
    """

    def __init__(self, rows: Sequence[Row], *, thread: int = 0, cut: str | None = None) -> None:
        self.rows: Sequence[Row] = tuple(rows) if isinstance(rows, list) else rows
        self.thread = thread
        self.cut = cut
        """Why events are missing at the end (``events``: the limit on events was reached), or None."""
        self._checkpoints: dict[int, State] = {}
        self._latest: tuple[int, State] = -1, State()
        """The state that was asked for last, and of which event."""

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
        at = operator.index(index)
        if at < 0:
            at += count
        if not 0 <= at < count:
            raise IndexError(f"the trace has {count} events; there is none at {index}")
        return Event(self.rows[at], partial(self._state, at))

    def __iter__(self) -> Iterator[Event]:
        state = State()
        for row in self.rows:
            state = state.after(row)
            yield Event(row, state)

    def state(self, index: int) -> State:
        """The state at the event of that index: `Event.state`."""
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
                self._checkpoints[i] = state  # of large ones fewer
        self._latest = index, state
        return state
