"""A moment: the state at one event as a text can hold it, with nothing that is known from elsewhere.

What `recording.State` has beyond it is left out: frame numbers, suspended frames (what is recorded of them
hangs on their generators), byte offsets at line level, which Python's version decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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


def moments(trace: Trace, *, file: str, instructions: bool = False) -> Iterator[Moment]:
    """The state at each event of a trace. file: the program's own (`Program.filename`). Without
    `instructions`, those events are passed over."""
    output, left_out = "", dict[str, int]()
    state = State()
    for row in trace.rows:
        state = state.after(row)
        output += row.output or ""
        if row.left_out:
            for what, count in loads(row.left_out).items():
                left_out[what] = left_out.get(what, 0) + count
        if row.kind == Kind.INSTRUCTION and not instructions:
            continue
        yield moment_at(state, row, file=file, instructions=instructions, output=output, left_out=left_out)
        output, left_out = "", {}


def moment_at(
    state: State, row: Row, *, file: str, instructions: bool, output: str, left_out: Mapping[str, int]
) -> Moment:
    """The moment of an event, whose state is given. output, left_out: since the moment before."""
    active = state.active
    # A frame that went on unseen (a gap) is on no stack; one above the running frame was left unseen.
    numbers = active[: active.index(row.frame) + 1] if row.frame in active else (*active, row.frame)
    return Moment(
        Kind(row.kind),
        tuple([frame_at(state.frames[number], file=file, instructions=instructions) for number in numbers]),
        {None if name == file else name: plain(names) for name, names in state.globals.items()},
        plain(state.objects),
        loads(row.value) if row.value else None,
        output,
        left_out,
        row.instruction if instructions else None,
    )


def frame_at(known: FrameState, *, file: str, instructions: bool) -> Frame:
    """A frame of a state, as texts have it."""
    caller = known.caller or {}
    at = caller.get("at")
    return Frame(
        known.function,
        known.line,
        None if known.file == file else known.file,
        plain(known.locals),
        tuple(known.stack),
        tuple(at) if at else None,
        caller.get("via"),
        known.offset if instructions else None,
    )


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
