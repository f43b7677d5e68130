"""A moment: the state at one event as a text can hold it, with nothing that is known from elsewhere.

What `recording.State` has beyond it is left out: frame numbers, suspended frames (what is recorded of them
hangs on their generators), byte offsets at line level, which Python's version decides.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from deskcheck.recording import Kind, Trace
from deskcheck.recording.trace import FrameState, Row, State, plain
from deskcheck.recording.value import Content, Encoded, loads

VALUED = frozenset({Kind.RETURN, Kind.YIELD, Kind.RAISE, Kind.RESUME})
"""Kinds of events that have a value."""
ENDS = frozenset({Kind.RETURN, Kind.UNWIND, Kind.YIELD})
"""Kinds after which the frame is no longer on the call stack."""
BEGINS = frozenset({Kind.CALL, Kind.RESUME})
"""Kinds with which a frame comes onto it."""
MODULE = "<module>"

UNKNOWN: Content = {"kind": "opaque", "type": "unknown"}
"""Stands for an object whose content is not recorded any more: after a gap, a frame can be on the stack whose
values have gone."""

T = TypeVar("T")
Made = TypeVar("Made")

_FRAME = "(frame)"
"""A field of generators: the number of a frame, which tells nothing about the program."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame on the call stack. Values are encoded (format.md); `Moment.objects` has what they refer
    to.

    line: that it is at, in `file`; None for the file of the program. at: of the call that it comes from,
    in the frame before it: line, column, end line, end column. via: the C or library function that made the
    call. offset: byte offset of the instruction, at instruction level only.
    """

    function: str
    line: int
    file: str | None = None
    locals: Mapping[str, Encoded] = field(default_factory=dict)
    stack: Sequence[Encoded] = ()
    at: tuple[int, int, int, int] | None = None
    via: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The state at an event. Two are equal if their states are: of identities, who is whom counts, not the
    numbers.

    frames: the call stack, outermost first; the last is the event's. globals: file (None: the program's) ->
    name -> value. value: what is returned, yielded, raised or sent, for the kinds in `VALUED`. output,
    left_out: since the moment before (`Event.output`, `Event.left_out`). instruction: the one about to run,
    at instruction level.
    """

    kind: Kind
    frames: tuple[Frame, ...]
    globals: Mapping[str | None, Mapping[str, Encoded]] = field(default_factory=dict)
    objects: Mapping[int, Content] = field(default_factory=dict)
    value: Encoded = None
    output: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    instruction: str | None = None

    @property
    def running(self) -> Frame:
        """The frame of the event."""
        return self.frames[-1]

    def names(self, frame: Frame) -> Mapping[str, Encoded]:
        """The variables of a frame. For a module's frame these are its globals, and the variables of a
        comprehension that runs there."""
        own = self.globals.get(frame.file, {}) if frame.function == MODULE else {}
        return {**own, **frame.locals}

    def canonical(self) -> str:
        """A text that two moments share exactly if they are equal."""
        return _Canonical(self).text()

    def __eq__(self, other: object) -> bool:
        return self.canonical() == other.canonical() if isinstance(other, Moment) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.canonical())


class RunningStates:
    """Follows a trace: `advance` by each of its rows, and `moment` is the state at the last one.

    file: the program's own (`Program.filename`). instructions: those events are states too. Moments of one
    run share what is the same in them.
    """

    def __init__(self, *, file: str, instructions: bool = False) -> None:
        self.file = file
        self.instructions = instructions
        self.state = State()
        self.row: Row | None = None
        self._output = ""
        self._left_out: dict[str, int] = {}
        self._told = False
        self._made = MadeOnce()

    def advance(self, row: Row) -> bool:
        """Take in the next event. Whether it is one that has a state (with `instructions`, each)."""
        if self._told:
            self._output, self._left_out = "", {}
        self.row = row
        self.state = self.state.after(row)
        self._output += row.output or ""
        if row.left_out:
            for reason, count in loads(row.left_out).items():
                self._left_out[reason] = self._left_out.get(reason, 0) + count
        self._told = self.instructions or row.kind != Kind.INSTRUCTION
        return self._told

    @property
    def depth(self) -> int:
        """Frames on the call stack."""
        return len(self._numbers())

    @property
    def current_line(self) -> int | None:
        """The line of the program that runs next; None at the end of the run, or in another file."""
        assert self.row is not None
        numbers = self._numbers()
        if self.row.kind in ENDS:
            numbers = numbers[:-1]
        if not numbers:
            return None
        frame = self.state.frames[numbers[-1]]
        return frame.line if frame.file == self.file else None

    @property
    def moment(self) -> Moment:
        """The state at the event."""
        row, made = self.row, self._made
        assert row is not None
        made.begin()
        return Moment(
            Kind(row.kind),
            tuple([made.of(self.state.frames[number], self._frame) for number in self._numbers()]),
            {
                None if name == self.file else name: made.of(names, plain)
                for name, names in self.state.globals.items()
            },
            made.of(self.state.objects, plain),
            loads(row.value) if row.value else None,
            self._output,
            dict(self._left_out),
            row.instruction if self.instructions else None,
        )

    def _numbers(self) -> tuple[int, ...]:
        assert self.row is not None
        active, running = self.state.active, self.row.frame
        # A frame that went on unseen (a gap) is on no stack; one above the running frame was left unseen.
        return active[: active.index(running) + 1] if running in active else (*active, running)

    def _frame(self, frame_state: FrameState) -> Frame:
        caller = frame_state.caller or {}
        at = caller.get("at")
        return Frame(
            frame_state.function,
            frame_state.line,
            None if frame_state.file == self.file else frame_state.file,
            self._made.of(frame_state.locals, plain),
            self._made.of(frame_state.stack, tuple),
            tuple(at) if at else None,
            caller.get("via"),
            frame_state.offset if self.instructions else None,
        )


class MadeOnce:
    """Results for the parts of a state, kept as long as each state has the same part (the very object)."""

    def __init__(self) -> None:
        self._now: dict[int, tuple[Any, Any]] = {}
        self._before: dict[int, tuple[Any, Any]] = {}

    def begin(self) -> None:
        """The next state: what the one before it did not have is forgotten."""
        self._now, self._before = {}, self._now

    def of(self, part: T, make: Callable[[T], Made]) -> Made:
        """What `make` makes of a part. The part is kept, so that its `id` stays its own."""
        known = self._now.get(id(part)) or self._before.get(id(part)) or (part, make(part))
        self._now[id(part)] = known
        made: Made = known[1]
        return made


def moments(trace: Trace, *, file: str, instructions: bool = False) -> Iterator[Moment]:
    """The state at each event of a trace. file: the program's own (`Program.filename`). Without
    `instructions`, those events are passed over."""
    states = RunningStates(file=file, instructions=instructions)
    for row in trace.rows:
        if states.advance(row):
            yield states.moment


class _Canonical:
    """Objects are numbered in the order in which they are met, level by level, from the roots by name."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        self.numbers: dict[int, int] = {}

    def text(self) -> str:
        m = self.moment
        parts: list[Any] = [m.kind.value, m.output, sorted(m.left_out.items()), m.instruction]
        parts.append(self.value(m.value) if m.kind in VALUED else None)
        for f in m.frames:
            parts.append((f.function, f.line, f.file, f.at, f.via, f.offset))
            parts += [self.names(f.locals), [self.value(v) for v in f.stack]]
        for file in sorted(m.globals, key=lambda file: file or ""):
            if m.globals[file]:
                parts.append((file, self.names(m.globals[file])))
        done = 0
        while done < len(self.numbers):  # contents add to the numbers
            for number in list(self.numbers)[done:]:
                parts.append(self.content(m.objects.get(number, UNKNOWN)))
                done += 1
        return repr(parts)

    def names(self, names: Mapping[str, Encoded]) -> list[Any]:
        return [(name, self.value(names[name])) for name in sorted(names)]

    def content(self, content: Content) -> list[Any]:
        parts: list[Any] = []
        for key in sorted(content):
            part = content[key]
            if key == "fields":
                part = self.names({name: v for name, v in part.items() if name != _FRAME})
            elif key == "items":
                part = [self.value(item) for item in part]
            if part != [] and part is not None:
                parts.append((key, part))
        return parts

    def value(self, encoded: Encoded) -> Any:
        if isinstance(encoded, dict):
            if "ref" in encoded:
                return f"#{self.numbers.setdefault(encoded['ref'], len(self.numbers))}"
            if "int" in encoded and "cut" not in encoded:
                return ("int", encoded["int"])
            return [(key, self.value(encoded[key])) for key in sorted(encoded)]
        if isinstance(encoded, list):
            return [self.value(item) for item in encoded]
        if isinstance(encoded, int) and not isinstance(encoded, bool):
            return ("int", str(encoded))
        return encoded


def fields_of(content: Content) -> dict[str, Encoded]:
    """The fields of an object's content that say something about the program."""
    return {name: v for name, v in content.get("fields", {}).items() if name != _FRAME}
