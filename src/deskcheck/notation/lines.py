"""The lines of `scratchpad`, `compact` and `dynamic`: one for each event, with the state at it.

    call fib 1 from 7:4-10 via sorted: n=2, seen=#1=[]    the frame's function and line; where it is called
    2: k=3, del n | <range_iterator left=range(1, 2)>     a line is about to run; after |, the value stack
    return 5 -> 3    yield 3 -> 1    resume 3 <- None     with the value
    raise 4 ! KeyError('k')          unwind 4             an exception is raised, leaves the frame
    5: #1=[4] prints 'a\\n' left out deep=12            an object's content; what was printed; a gap
    instruction fib 2@14 'COMPARE_OP <': n=2 | 2, 1       at instruction level: offset, instruction

Before an event's line, lines about the globals and the frames below may stand:

    globals: total=3, def fib        of the program; of another file: globals 'lib.py': ...
    in 0: a=#1=[]                    of a frame, by the number of calls between it and the outermost
    frame f 7: a=1                   an open frame whose call is missing in the text
    open 1                           the number of open frames; the ends of others are missing in the text

The frame of a module has the module's globals; ``for x=1`` in it is a variable of a running
comprehension. ``def f`` and ``class C`` stand for ``f=<function f>`` and ``C=<class C>``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deskcheck.notation.claims import Claim
from deskcheck.notation.state import BEGINS, ENDS, MODULE, VALUED, Frame, Moment, fields_of
from deskcheck.notation.values import (
    Hole,
    Objects,
    Pieces,
    Reader,
    Unread,
    ValueWriter,
    name_text,
    pieces_of,
    title_text,
)
from deskcheck.recording import Kind
from deskcheck.recording.value import Content, Encoded

ARROWS = {Kind.RETURN: "->", Kind.YIELD: "->", Kind.RAISE: "!", Kind.RESUME: "<-"}
KIND_WORDS = frozenset(kind.value for kind in Kind)
_WORDS = KIND_WORDS | {"globals", "in", "frame", "open", "cut"}
_AT = re.compile(r"([0-9]{1,9}):([0-9]{1,9})-(?:([0-9]{1,9}):)?([0-9]{1,9})")
_DEFINITION = re.compile(r"(def|class) ([^\W\d]\w*)(?=\s*(?:,|\||->|!|<-|prints\b|left out\b|$))")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A place in a text that could not be read. line, column: from 1. text: the line, cut if it is long."""

    line: int
    column: int
    why: str
    text: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """The states or claims of a text."""

    moments: tuple[Moment, ...]
    """The states in order, without those of lines that could not be read."""
    lines: tuple[int, ...] = ()
    """The last line of each state in the text, from 1."""
    claims: tuple[Claim, ...] = ()
    """The claims, in notations without states."""
    cut: str | None = None
    """The reason that the text gives for missing events at its end."""
    unreadable: tuple[Unreadable, ...] = ()
    """The places that could not be read. States after them may be wrong."""


SHOWN_CHARS = 200
_CUT = re.compile(r"(?:\A|\n)cut: ([a-z]+)\s*\Z")


def split_cut(text: str) -> tuple[str, str | None]:
    """A text without a last line ``cut: REASON``, and the reason."""
    cut_line = _CUT.search(text)
    return (text[: cut_line.start()], cut_line[1]) if cut_line else (text, None)


def unreadable(line: int, text: str, error: Unread) -> Unreadable:
    """The report of an error in a line."""
    return Unreadable(line, error.at + 1, error.why, text[:SHOWN_CHARS])


# -- writing -------------------------------------------------------------------------------------


def roots(moment: Moment) -> Iterator[Encoded]:
    """All values of a state that are not parts of other values, in the order of writing."""
    for names in moment.globals.values():
        yield from names.values()
    for frame in moment.frames:
        yield from frame.locals.values()
        yield from frame.stack
    if moment.kind in VALUED:
        yield moment.value


def entry_pieces(name: str, value: Encoded, *, hidden: bool = False) -> Pieces:
    """``name=value`` with holes. hidden: a variable of a comprehension in a module's frame."""
    written = name_text(name)
    head = f"{'for ' if hidden else ''}{written}="
    if isinstance(value, dict) and "ref" in value:
        return [Hole(value["ref"], 0, head, name if written == name and not hidden else None)]
    return [head, *pieces_of(value)]


def place_text(frame: Frame, *, named: bool) -> str:
    """Function (if `named`), file, line and offset of a frame, and the place of its call."""
    text = str(frame.line) if frame.offset is None else f"{frame.line}@{frame.offset}"
    if not named:
        return text
    where = f" of {frame.file!r}" if frame.file is not None else ""
    text = f"{title_text(frame.function, _WORDS)}{where} {text}"
    if frame.at is not None:
        line, column, end_line, end = frame.at
        text += f" from {line}:{column}-{end if line == end_line else f'{end_line}:{end}'}"
    return text if frame.via is None else f"{text} via {title_text(frame.via, frozenset())}"


def line_text(head: str, entries: Sequence[str], stack: str | None = None, tail: Sequence[str] = ()) -> str:
    """A line made of parts. stack: the values on it; "" if it is empty, None to leave it out."""
    text = f"{head}: {', '.join(entries)}" if entries else head
    if stack is not None:
        text += f" | {stack}" if stack else " |"
    return " ".join([text, *tail])


def event_head(moment: Moment, *, named: bool) -> str:
    """The beginning of an event's line. named: with the function."""
    word = "" if moment.kind is Kind.LINE else f"{moment.kind.value} "
    instruction = f" {moment.instruction!r}" if moment.instruction is not None else ""
    return f"{word}{place_text(moment.running, named=named)}{instruction}"


def event_tail(moment: Moment, writer: ValueWriter) -> list[str]:
    """The end of an event's line: the event's value, the output, counts of omissions."""
    tail = [f"{ARROWS[moment.kind]} {writer.text(moment.value)}"] if moment.kind in VALUED else []
    if moment.output:
        tail.append(f"prints {moment.output!r}")
    if moment.left_out:
        counts = ", ".join(f"{name_text(what)}={count}" for what, count in moment.left_out.items())
        tail.append(f"left out {counts}")
    return tail


def globals_head(file: str | None) -> str:
    return "globals" if file is None else f"globals {file!r}"


# -- reading -------------------------------------------------------------------------------------


@dataclass
class _Open:
    """A frame that is open while a text is read."""

    frame: Frame
    locals: dict[str, Encoded] = field(default_factory=dict)
    stack: list[Encoded] = field(default_factory=list)


class LineReader(Reader):
    """Reads the parts of one line."""

    def kind(self) -> Kind:
        start = self.at
        word = self.match(re.compile(r"[a-z]+(?=[ \d])"))
        if word and word[0] in KIND_WORDS:
            return Kind(word[0])
        self.at = start
        return Kind.LINE

    def place(self) -> Frame | tuple[int, int | None]:
        """A frame, where a function is named; else line and offset."""
        self.skip()
        if self.line[self.at : self.at + 1].isdigit():
            return self._line()
        function = self.title()
        file = self.string() if self.word("of") else None
        line, offset = self._line()
        at = self._at() if self.word("from") else None
        via = self.title() if self.take("via ") else None
        return Frame(function, line, file, at=at, via=via, offset=offset)

    def _line(self) -> tuple[int, int | None]:
        line = self.integer()
        offset = None
        if self.line.startswith("@", self.at):
            self.at += 1
            offset = self.integer()
        return line, offset

    def _at(self) -> tuple[int, int, int, int]:
        columns = self.match(_AT)
        if not columns:
            raise self.fail("expected LINE:COLUMN-COLUMN")
        return int(columns[1]), int(columns[2]), int(columns[3] or columns[1]), int(columns[4])

    def entries(self) -> tuple[dict[tuple[bool, str], Encoded], bool]:
        """The entries after a colon: (hidden, name) -> value, {"unbound"} for ``del``."""
        values: dict[tuple[bool, str], Encoded] = {}
        if not self.take(":"):
            return values, False
        while True:
            self.skip()
            if self.line.startswith("#", self.at):
                start = self.at
                self.value()
                if self.line.find("=", start, self.at) < 0:
                    self.at = start
                    raise self.fail("expected a name and =")
            elif definition := self.match(_DEFINITION):
                values[False, definition[2]] = self._definition(*definition.groups())
            elif self.word("del"):
                hidden = self.word("for")
                values[hidden, self.name()] = {"unbound": True}
            else:
                hidden = self.word("for")
                name = self.name()
                self.need("=")
                values[hidden, name] = self.value()
            if not self.take(","):
                return values, True

    def _definition(self, word: str, name: str) -> Encoded:
        if word == "def":
            return self._new({"kind": "function", "type": "function", "text": f"function {name}"})
        return self._new({"kind": "class", "type": "type", "text": f"class {name}"})

    def stack_values(self) -> list[Encoded] | None:
        """The values after ``|``; None without that mark."""
        if not self.take("|"):
            return None
        values: list[Encoded] = []
        self.skip()
        end = self.line[self.at :]
        if not end or re.match(r"->|!|<-|prints\b|left out\b", end):
            return values
        while True:
            values.append(self.value())
            if not self.take(","):
                return values

    def end(self) -> None:
        self.skip()
        if self.at < len(self.line):
            raise self.fail("expected the end of the line")

    def counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        while True:
            name = self.name()
            self.need("=")
            counts[name] = self.integer()
            if not self.take(","):
                return counts


def parse_lines(text: str, *, full: bool, each_alone: bool) -> Parsed:
    """Read a text of such lines. Never raises, whatever the text.

    full: an event's line has all variables of its frame, not only changes. each_alone: states do not depend
    on each other.
    """
    return _Lines(full, each_alone).parse(text)


class _Lines:
    def __init__(self, full: bool, each_alone: bool) -> None:
        self.full = full
        self.each_alone = each_alone
        self.moments: list[Moment] = []
        self.lines: list[int] = []
        self.forget()

    def forget(self) -> None:
        self.open: list[_Open] = []
        self.globals: dict[str | None, dict[str, Encoded]] = {}
        self.objects = Objects()
        self.ended = False

    def parse(self, text: str) -> Parsed:
        failed: list[Unreadable] = []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                self.read(line.rstrip("\r "), number)
            except Unread as error:
                failed.append(unreadable(number, line, error))
        if self.each_alone and (self.open or self.globals) and not failed:
            failed.append(Unreadable(number, 1, "the state has no event", ""))
        return Parsed(tuple(self.moments), tuple(self.lines), unreadable=tuple(failed))

    def read(self, line: str, number: int) -> None:
        reader = LineReader(line, self.objects)
        if self.ended:
            self.open.pop()
            self.ended = False
        if reader.word("globals"):
            reader.skip()
            file = None if reader.line.startswith(":", reader.at) else reader.string()
            entries, _ = reader.entries()
            reader.end()
            if any(hidden for hidden, _ in entries):
                raise reader.fail("for is allowed only in a module's frame")
            _update(self.globals.setdefault(file, {}), entries, False)
        elif reader.take("in "):
            depth = reader.integer()
            if not 0 <= depth < len(self.open):
                raise reader.fail(f"there is no frame {depth}: {len(self.open)} are open")
            entries, _ = reader.entries()
            stack = reader.stack_values()
            reader.end()
            self.change(self.open[depth], entries, stack, reader)
        elif reader.take("frame "):
            frame = reader.place()
            if not isinstance(frame, Frame):
                raise reader.fail("expected a function")
            entries, _ = reader.entries()
            stack = reader.stack_values()
            reader.end()
            self.open.append(_Open(frame))
            self.change(self.open[-1], entries, stack, reader)
        elif reader.take("open "):
            depth = reader.integer()
            reader.end()
            if not 0 <= depth <= len(self.open):
                raise reader.fail(f"{len(self.open)} frames are open")
            del self.open[depth:]
        else:
            try:
                self.event(reader, number)
            finally:
                if self.each_alone:
                    self.forget()

    def event(self, reader: LineReader, number: int) -> None:
        kind = reader.kind()
        place = reader.place()
        instruction = None
        if kind is Kind.INSTRUCTION:
            instruction = reader.string()
        if not isinstance(place, Frame) and (kind in BEGINS or self.each_alone or not self.open):
            raise reader.fail(
                "expected a function before the line"
                if self.open
                else "no frame is open: expected a function"
            )
        entries, _ = reader.entries()
        stack = reader.stack_values()
        value: Encoded = None
        if kind in VALUED:
            reader.need(ARROWS[kind])
            value = reader.value()
        output = reader.string() if reader.word("prints") else ""
        left_out = reader.counts() if reader.take("left out ") else {}
        reader.end()
        if isinstance(place, Frame):
            self.open.append(_Open(place))
        else:
            top = self.open[-1]
            top.frame = replace(top.frame, line=place[0], offset=place[1])
        top = self.open[-1]
        if self.full:
            top.locals, top.stack = {}, []
            if top.frame.function == MODULE:
                self.globals[top.frame.file] = {}
        self.change(top, entries, stack, reader)
        self.ended = kind in ENDS
        self.lines.append(number)
        self.moments.append(self.moment(kind, value, output, left_out, instruction, reader))

    def change(
        self,
        opened: _Open,
        entries: Mapping[tuple[bool, str], Encoded],
        stack: list[Encoded] | None,
        reader: LineReader,
    ) -> None:
        if opened.frame.function == MODULE:
            _update(self.globals.setdefault(opened.frame.file, {}), entries, False)
            _update(opened.locals, entries, True)
        elif any(hidden for hidden, _ in entries):
            raise reader.fail("for is allowed only in a module's frame")
        else:
            _update(opened.locals, entries, False)
        if stack is not None:
            opened.stack = stack

    def moment(
        self,
        kind: Kind,
        value: Encoded,
        output: str,
        left_out: Mapping[str, int],
        instruction: str | None,
        reader: LineReader,
    ) -> Moment:
        moment = Moment(
            kind,
            tuple(replace(o.frame, locals=dict(o.locals), stack=tuple(o.stack)) for o in self.open),
            {file: dict(names) for file, names in self.globals.items() if names},
            {},
            value,
            output,
            left_out,
            instruction,
        )
        reached: dict[int, Content] = {}
        todo: list[Any] = list(roots(moment))
        while todo:
            item = todo.pop()
            if isinstance(item, list):
                todo += item
            elif isinstance(item, dict):
                number = item.get("ref")
                if number is None:
                    todo += item.values()
                elif number not in reached:
                    content = self.objects.contents.get(number)
                    if content is None:
                        label = next(label for label, n in self.objects.labels.items() if n == number)
                        del self.lines[-1]
                        raise reader.fail(f"#{label} is used but never defined")
                    reached[number] = content
                    todo += content.get("items", ())
                    todo += fields_of(content).values()
        self.objects.contents = dict(reached)  # what is not reached can only be told anew
        return replace(moment, objects=reached)


def _update(names: dict[str, Encoded], entries: Mapping[tuple[bool, str], Encoded], hidden: bool) -> None:
    for (is_hidden, name), value in entries.items():
        if is_hidden != hidden:
            continue
        if isinstance(value, dict) and "unbound" in value:
            names.pop(name, None)
        else:
            names[name] = value
