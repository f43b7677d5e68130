"""A moment: the part of the state at an event that a text can contain.

It leaves out some parts of `recording.State`: frame numbers, suspended frames (their generators have their
values), and byte offsets at line level, which depend on Python's version.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from deskcheck.notation.by_line import ByLine
from deskcheck.recording import Kind, Trace
from deskcheck.recording.trace import FrameState, Row, State, plain
from deskcheck.recording.value import Content, Encoded, loads

VALUED = frozenset({Kind.RETURN, Kind.YIELD, Kind.RAISE, Kind.RESUME})
"""Kinds of events that have a value."""
ENDS = frozenset({Kind.RETURN, Kind.UNWIND, Kind.YIELD})
"""Kinds after which the frame is no longer on the call stack."""
BEGINS = frozenset({Kind.CALL, Kind.RESUME})
"""Kinds that put a frame on the call stack."""
MODULE = "<module>"

UNKNOWN: Content = {"kind": "opaque", "type": "unknown"}
"""The content of an object that is not recorded: after a gap, the values of an open frame may be missing."""

T = TypeVar("T")
Made = TypeVar("Made")

_FRAME = "(frame)"
"""A field of generators: the number of a frame, which does not depend on the program."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame on the call stack. Values are encoded (format.md), and refer to `Moment.objects`."""

    function: str
    line: int
    """The current line in `file`."""
    file: str | None = None
    """None for the file of the program."""
    locals: Mapping[str, Encoded] = field(default_factory=dict)
    stack: Sequence[Encoded] = ()
    at: tuple[int, int, int, int] | None = None
    """The place of the call in the frame before: line, column, end line, end column."""
    via: str | None = None
    """The C or library function that made the call."""
    offset: int | None = None
    """Byte offset of the instruction, only at instruction level."""


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
        """The variables of a frame. A module's frame has its globals and the variables of a comprehension."""
        names = self.globals.get(frame.file, {}) if frame.function == MODULE else {}
        return {**names, **frame.locals}

    def canonical(self) -> str:
        """A text that is the same for equal moments only."""
        return _Canonical(self).text()

    def __eq__(self, other: object) -> bool:
        return self.canonical() == other.canonical() if isinstance(other, Moment) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.canonical())


class RunningStates:
    """Follows a trace: `advance` by each of its rows, and `moment` is the state at the last one.

    file: the program's file (`Program.filename`). instructions: include events of instructions; without them,
    a recording by instruction gives the states that a recording by line does. Moments of a run share equal
    parts.
    """

    def __init__(self, *, file: str, instructions: bool = False) -> None:
        self.file = file
        self.instructions = instructions
        self.state = State()
        self.row: Row | None = None
        self._output = ""
        self._left_out: dict[str, int] = {}
        self._has_state = False
        self._cache = MadeOnce()
        self._by_line: ByLine | None = None

    def advance(self, row: Row) -> bool:
        """Take the next event. Returns whether it has a state (with `instructions`, each event has)."""
        if self._has_state:
            self._output, self._left_out = "", {}
        if row.kind == Kind.INSTRUCTION and not self.instructions and self._by_line is None:
            self._by_line = ByLine(self.state, row.thread)
        self.row = row if self._by_line is None else self._by_line.row(row)
        self.state = self.state.after(self.row)
        self._output += row.output or ""
        if row.left_out:
            for reason, count in loads(row.left_out).items():
                self._left_out[reason] = self._left_out.get(reason, 0) + count
        self._has_state = self.instructions or row.kind != Kind.INSTRUCTION
        return self._has_state

    @property
    def depth(self) -> int:
        """Number of frames on the call stack."""
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
        row, cache = self.row, self._cache
        assert row is not None
        cache.begin()
        return Moment(
            Kind(row.kind),
            tuple([cache.of(self.state.frames[number], self._frame) for number in self._numbers()]),
            {
                None if name == self.file else name: cache.of(names, plain)
                for name, names in self.state.globals.items()
            },
            cache.of(self.state.objects, plain),
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
            self._cache.of(frame_state.locals, plain),
            self._cache.of(frame_state.stack, tuple),
            tuple(at) if at else None,
            caller.get("via"),
            frame_state.offset if self.instructions else None,
        )


class MadeOnce:
    """Results for the parts of states. They are reused while consecutive states share the part's object."""

    def __init__(self) -> None:
        self._now: dict[int, tuple[Any, Any]] = {}
        self._before: dict[int, tuple[Any, Any]] = {}

    def begin(self) -> None:
        """Begin the next state. Forgets the parts that the last state did not have."""
        self._now, self._before = {}, self._now

    def of(self, part: T, make: Callable[[T], Made]) -> Made:
        """The result of `make` for a part. The part stays in memory, so that its `id` remains unique."""
        entry = self._now.get(id(part)) or self._before.get(id(part)) or (part, make(part))
        self._now[id(part)] = entry
        result: Made = entry[1]
        return result


def moments(trace: Trace, *, file: str, instructions: bool = False) -> Iterator[Moment]:
    """The state at each event of a trace. Without `instructions`, events of instructions are skipped.

    file: the program's file (`Program.filename`).
    """
    states = RunningStates(file=file, instructions=instructions)
    for row in trace.rows:
        if states.advance(row):
            yield states.moment


class _Canonical:
    """Writes the canonical text. Objects are numbered level by level, from the roots in order of name."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        self.numbers: dict[int, int] = {}

    def text(self) -> str:
        moment = self.moment
        parts: list[Any] = [
            moment.kind.value,
            moment.output,
            sorted(moment.left_out.items()),
            moment.instruction,
        ]
        parts.append(self.value(moment.value) if moment.kind in VALUED else None)
        for frame in moment.frames:
            parts.append((frame.function, frame.line, frame.file, frame.at, frame.via, frame.offset))
            parts += [self.names(frame.locals), [self.value(v) for v in frame.stack]]
        for file in sorted(moment.globals, key=lambda file: file or ""):
            if moment.globals[file]:
                parts.append((file, self.names(moment.globals[file])))
        written = 0
        while written < len(self.numbers):  # contents add to the numbers
            for number in list(self.numbers)[written:]:
                parts.append(self.content(moment.objects.get(number, UNKNOWN)))
                written += 1
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
    """The fields of an object's content that depend on the program."""
    return {name: v for name, v in content.get("fields", {}).items() if name != _FRAME}
