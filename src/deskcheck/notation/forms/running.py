"""The texts of ``dynamic``, event by event, without writing everything anew each time.

`state_text` writes a state from nothing; a trace has one for each event, and from one to the next a few
values change. What is kept here: the text of every object's content and of every variable, until it changes,
and that of the frames below the running one. The result is the same, character for character: that is tested,
and `state_text` remains what says what it is.

A kept text cannot have labels in it: which objects are met twice, and in which order, is another thing at
every event. So texts are kept with holes, a hole for each object that is referred to, and put together when a
state is asked for. That costs a step for each object of a state, not for each value in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from deskcheck.notation.forms.dynamic import state_text
from deskcheck.notation.lines import ARROWS, globals_head, place_parts
from deskcheck.notation.state import ENDS, MODULE, VALUED, Moment, frame_at, moment_at
from deskcheck.notation.values import INLINE_DEPTH, ValueWriter, name_text
from deskcheck.recording import Kind
from deskcheck.recording.trace import FrameState, Row, State
from deskcheck.recording.value import Content, Encoded, loads

_MARK = "\0"
"""Stands around a hole while a text is made. `repr` and JSON never write it, nor does any other part."""

_Hole = tuple[int, int, str, str | None]
"""Where an object is written: its identity, how deep inside other values; what stands before it, and the
variable's name, which both are only known to the entry of a variable."""
_Pieces = list[str | _Hole]


class RunningTexts:
    """Follows a trace: `advance` by each of its rows, and `text` is the state at the last one.

    file: the program's own (`Program.filename`). instructions: those events are states too.
    """

    def __init__(self, *, file: str, instructions: bool = False) -> None:
        self.file = file
        self.instructions = instructions
        self.state = State()
        self.row: Row | None = None
        self._templates = _Templates(self.state.objects)
        self._bodies: dict[int, _Body] = {}
        """The texts of objects, each until it changes."""
        self._frames: dict[int, _KeptFrame] = {}
        self._globals: dict[str, _Entries] = {}
        self._output = ""
        self._left_out: dict[str, int] = {}
        self._told = False
        self._modules: dict[int, str] = {}
        """Frames of modules -> file."""
        self._below: tuple[tuple[int, ...], set[str], _Pieces] | None = None
        """Of the frames below the running one, while nothing in them changes: their numbers, files whose
        globals are told there, and their lines."""

    def advance(self, row: Row) -> bool:
        """Take in the next event. Whether it is one that has a state (with `instructions`, each)."""
        if self._told:
            self._output, self._left_out, self._told = "", {}, False
        last = self.row
        if last is not None and last.kind in _GONE:
            self._frames.pop(last.frame, None)
            self._modules.pop(last.frame, None)
        self.row = row
        self.state = self.state.after(row)
        self._templates.objects = self.state.objects
        for number in self.state.touched:
            self._bodies.pop(number, None)
        kept = self._frames.get(row.frame)
        if kept is not None:
            kept.line = None
            kept.changed = kept.changed or row.locals is not None or row.stack is not None
        if row.function == MODULE:
            self._modules[row.frame] = row.file
        if last is None or last.frame != row.frame:
            self._forget_below(row.frame)
        if row.caller is not None:
            caller = self.state.frames[row.frame].caller
            if caller is not None:
                self._forget_below(caller["frame"])
                if (kept := self._frames.get(caller["frame"])) is not None:
                    kept.line = None
                    kept.changed = True
        if row.globals is not None:
            if self._modules:
                self._below = None
            if (names := self._globals.get(row.file)) is not None:
                names.changed = True
        if row.output:
            self._output += row.output
        if row.left_out:
            for what, count in loads(row.left_out).items():
                self._left_out[what] = self._left_out.get(what, 0) + count
        if row.kind == Kind.INSTRUCTION and not self.instructions:
            return False
        self._told = True
        return True

    def _forget_below(self, number: int) -> None:
        """A frame runs or changes: should it have been below the running one, it is no longer as it was."""
        if self._below is not None and number in self._below[0]:
            self._below = None

    @property
    def depth(self) -> int:
        """Frames on the call stack."""
        return len(self._numbers())

    @property
    def current_line(self) -> int | None:
        """The line of the program that goes on running; None if there is none or it is in another file."""
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
        assert self.row is not None
        return moment_at(
            self.state,
            self.row,
            file=self.file,
            instructions=self.instructions,
            output=self._output,
            left_out=dict(self._left_out),
        )

    def text(self) -> str:
        """What `state_text` writes of `moment`."""
        pieces = self._pieces()
        holes = [piece for piece in pieces if type(piece) is tuple]
        if not holes:
            return "".join(pieces)  # type: ignore[arg-type]  # no holes: texts alone
        writing = _Writing(self._bodies, self._templates)
        if not writing.count(holes):
            writing.labelled = ValueWriter(self.state.objects, self._roots(), {}).labelled
        writing.pending = set(writing.labelled)
        writing.write(pieces, 0)
        if writing.pending:  # the order in which those are told is left to the one who decides it
            return state_text(self.moment)
        return "".join(writing.out)

    def _numbers(self) -> tuple[int, ...]:
        assert self.row is not None
        active, running = self.state.active, self.row.frame
        if active and active[-1] == running:
            return active
        return active[: active.index(running) + 1] if running in active else (*active, running)

    def _roots(self) -> Iterator[Encoded]:
        assert self.row is not None
        for names in self.state.globals.values():
            yield from names.values()
        for number in self._numbers():
            yield from self.state.frames[number].locals.values()
            yield from self.state.frames[number].stack
        if self.row.kind in VALUED:
            yield loads(self.row.value) if self.row.value else None

    def _pieces(self) -> _Pieces:
        """The whole state with holes; the last line is the event's."""
        row = self.row
        assert row is not None
        state, numbers = self.state, self._numbers()
        modules = {file for number, file in self._modules.items() if number in numbers}
        pieces: _Pieces = []
        for file, names in state.globals.items():
            if file not in modules and names:
                entries = self._global(file, names)
                if entries.line is None:
                    head = globals_head(None if file == self.file else file)
                    entries.line = _joined([f"{head}: ", *entries.pieces, "\n"])
                pieces += entries.line
        if len(numbers) > 1:
            pieces += self._waiting(numbers[:-1], modules)
        frame = state.frames[numbers[-1]]
        kept = self._kept(frame)
        word = "" if row.kind == Kind.LINE else f"{row.kind} "
        instruction = f" {row.instruction!r}" if self.instructions and row.instruction is not None else ""
        pieces += self._line(f"{word}{kept.place(self)}{instruction}", kept, modules)
        kind = Kind(row.kind)
        if kind in VALUED:
            pieces.append(f" {ARROWS[kind]} ")
            pieces += self._templates.pieces(loads(row.value) if row.value else None)
        if self._output:
            pieces.append(f" prints {self._output!r}")
        if self._left_out:
            counts = ", ".join(f"{name_text(what)}={count}" for what, count in self._left_out.items())
            pieces.append(f" left out {counts}")
        return pieces

    def _waiting(self, numbers: tuple[int, ...], modules: set[str]) -> _Pieces:
        """Lines of the frames below the running one. `modules` loses the files whose globals they tell."""
        found = self._below
        if found is not None and found[0] == numbers:
            modules -= found[1]
            return found[2]
        if found is not None and found[0] == numbers[:-1]:
            told, pieces, new = set(found[1]), found[2], numbers[-1:]  # one more: a call
            modules -= told
        else:
            told, pieces, new = set(), [], numbers
        joined = list(pieces)
        for number in new:
            frame = self.state.frames[number]
            kept = self._kept(frame)
            if frame.function == MODULE:  # the globals in it can change while it waits
                before = set(modules)
                joined += [*self._line(f"frame {kept.place(self)}", kept, modules), "\n"]
                told |= before - modules
                continue
            if kept.line is None:
                kept.line = _joined([*self._line(f"frame {kept.place(self)}", kept, modules), "\n"])
            joined += kept.line
        self._below = numbers, told, _joined(joined)
        return self._below[2]

    def _line(self, head: str, kept: "_KeptFrame", modules: set[str]) -> _Pieces:
        entries, frame = kept.entries.pieces, kept.frame
        if frame.function == MODULE and frame.file in modules:
            modules.discard(frame.file)
            if names := self.state.globals.get(frame.file):
                own = self._global(frame.file, names).pieces
                entries = [*own, ", ", *entries] if entries else own
        if not entries:
            return [head, *kept.stack]
        return [f"{head}: ", *entries, *kept.stack]

    def _kept(self, frame: FrameState) -> "_KeptFrame":
        kept = self._frames.get(frame.number)
        if kept is None:
            kept = self._frames[frame.number] = _KeptFrame(frame)
        kept.frame = frame
        if kept.changed:
            kept.changed = False
            kept.entries.update(frame.locals, self._templates)
            kept.stack = []
            for value in frame.stack:
                kept.stack.append(", " if kept.stack else " | ")
                kept.stack += self._templates.pieces(value)
            kept.stack = _joined(kept.stack)
        return kept

    def _global(self, file: str, names: Mapping[str, Encoded]) -> "_Entries":
        entries = self._globals.get(file)
        if entries is None:
            entries = self._globals[file] = _Entries(hidden=False)
        if entries.changed:
            entries.changed = False
            entries.update(names, self._templates)
        return entries


_GONE = frozenset({Kind.RETURN, Kind.UNWIND})
"""Kinds after which a frame never runs again."""


class _Body(NamedTuple):
    """An object's content: its text, if it refers to no other; else pieces, those that it refers to, and how
    deep in it the deepest of them stands."""

    text: str | None
    pieces: _Pieces
    numbers: list[int]
    deepest: int


class _Templates(ValueWriter):
    """Writes values with holes where they refer to objects."""

    def __init__(self, objects: Mapping[int, Content]) -> None:
        super().__init__(objects, (), {})

    def text(self, value: Encoded, depth: int = 0) -> str:
        if type(value) is dict and (number := value.get("ref")) is not None:
            return f"{_MARK}{number} {depth}{_MARK}"
        return super().text(value, depth)

    def pieces(self, value: Encoded) -> _Pieces:
        return _pieces(self.text(value))

    def body(self, number: int) -> _Body:
        text = self.content(number)
        if _MARK not in text:
            return _Body(text, [], [], 0)
        pieces = _pieces(text)
        holes = [piece for piece in pieces if type(piece) is tuple]
        return _Body(None, pieces, [hole[0] for hole in holes], max([hole[1] for hole in holes]))


def _pieces(text: str) -> _Pieces:
    if _MARK not in text:
        return [text]
    pieces: _Pieces = []
    for at, part in enumerate(text.split(_MARK)):
        if at % 2:
            number, _, depth = part.partition(" ")
            pieces.append((int(number), int(depth), "", None))
        elif part:
            pieces.append(part)
    return pieces


class _Entries:
    """The variables of a frame or file, in the order in which they were bound."""

    def __init__(self, hidden: bool) -> None:
        self.hidden = hidden
        self.changed = True
        self.pieces: _Pieces = []
        self.line: _Pieces | None = None
        self._known: dict[str, tuple[Encoded, _Pieces]] = {}

    def update(self, names: Mapping[str, Encoded], templates: _Templates) -> None:
        known: dict[str, tuple[Encoded, _Pieces]] = {}
        pieces: _Pieces = []
        for name, value in names.items():
            had = self._known.get(name)
            if had is None or had[0] is not value:
                had = value, self._entry(name, value, templates)
            known[name] = had
            if pieces:
                pieces.append(", ")
            pieces += had[1]
        self._known = known
        self.pieces = _joined(pieces)
        self.line = None

    def _entry(self, name: str, value: Encoded, templates: _Templates) -> _Pieces:
        written = name_text(name)
        head = f"{'for ' if self.hidden else ''}{written}="
        if type(value) is dict and (number := value.get("ref")) is not None:
            plain = written == name and not self.hidden
            return [(number, 0, head, name if plain else None)]
        pieces = templates.pieces(value)
        return [f"{head}{pieces[0]}"] if len(pieces) == 1 and type(pieces[0]) is str else [head, *pieces]


def _joined(pieces: _Pieces) -> _Pieces:
    """The same with texts that follow one another in one."""
    joined: _Pieces = []
    texts: list[str] = []
    for piece in pieces:
        if type(piece) is str:
            texts.append(piece)
            continue
        if texts:
            joined.append("".join(texts))
            texts = []
        joined.append(piece)
    if texts:
        joined.append("".join(texts))
    return joined


class _KeptFrame:
    def __init__(self, frame: FrameState) -> None:
        self.frame = frame
        self.changed = True
        self.entries = _Entries(hidden=frame.function == MODULE)
        self.stack: _Pieces = []
        self.line: _Pieces | None = None
        """Of a frame that waits, until something of it changes."""
        self._caller: Mapping[str, Any] | None = None
        self._place: tuple[str, str] | None = None

    def place(self, texts: RunningTexts) -> str:
        """What `lines.place_text` writes. Function, file and call stay until the frame is resumed."""
        frame = self.frame
        if self._place is None or self._caller is not frame.caller:
            self._caller = frame.caller
            self._place = place_parts(frame_at(frame, file=texts.file, instructions=False))
        before, after = self._place
        if texts.instructions:
            return f"{before} {frame.line}@{frame.offset}{after}"
        return f"{before} {frame.line}{after}"


class _Writing:
    """Puts the pieces of one state together."""

    def __init__(self, bodies: dict[int, _Body], templates: _Templates) -> None:
        self.bodies = bodies
        self.templates = templates
        self.labelled: set[int] = set()
        self.pending: set[int] = set()
        self.labels: dict[int, int] = {}
        self.out: list[str] = []

    def count(self, holes: Sequence[_Hole]) -> bool:
        """Find the objects that are met more than once. False where some may stand so deep that they are
        written apart for that: then `ValueWriter` must say which."""
        seen, labelled, bodies = set[int](), self.labelled, self.bodies
        level = [hole[0] for hole in holes]
        depth = max([hole[1] for hole in holes])
        while level:
            below: list[int] = []
            deepest = 0
            for number in level:
                if number in seen:
                    labelled.add(number)
                    continue
                seen.add(number)
                body = bodies.get(number)
                if body is None:
                    body = bodies[number] = self.templates.body(number)
                if body.text is None:
                    below += body.numbers
                    deepest = max(deepest, body.deepest)
            level = below
            depth += deepest
        return depth <= INLINE_DEPTH

    def write(self, pieces: _Pieces, depth: int) -> None:
        """Add pieces that stand so deep. All objects have been counted, so that their bodies are there."""
        out, bodies, labelled = self.out, self.bodies, self.labelled
        for piece in pieces:
            if isinstance(piece, str):
                out.append(piece)
                continue
            number, inside, head, name = piece
            if number in labelled:
                out.append(head)
                self.write_labelled(number, depth + inside)
                continue
            text, below, _, _ = bodies[number]
            if text is None:
                out.append(head)
                self.write(below, depth + inside)
            elif name is not None and text == f"<function {name}>":
                out.append(f"def {name}")
            elif name is not None and text == f"<class {name}>":
                out.append(f"class {name}")
            else:
                out.append(head)
                out.append(text)

    def write_labelled(self, number: int, depth: int) -> None:
        label = self.labels.setdefault(number, len(self.labels) + 1)
        if number not in self.pending or depth >= INLINE_DEPTH:
            self.out.append(f"#{label}")
            return
        self.pending.discard(number)
        self.out.append(f"#{label}=")
        body = self.bodies[number]
        if body.text is None:
            self.write(body.pieces, depth)
        else:
            self.out.append(body.text)
