"""``dynamic`` and ``dynamic_instruction``: states, each told from nothing, so that one says what the next is.

The dynamic scratchpad of Execution Tuning (arXiv:2503.05703): a model sees a state and the program, and gives
the next state; no history is kept. A state is the call stack, outermost frame first, a frame a line, with the
globals; the last line, the event's, ends it (see `lines`). Equal states have equal texts but for the order of
variables, which is that of their binding.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from deskcheck.notation.lines import (
    Parsed,
    entry_pieces,
    event_head,
    event_tail,
    globals_head,
    line_text,
    parse_lines,
    place_text,
    roots,
)
from deskcheck.notation.state import MODULE, VALUED, Frame, MadeOnce, Moment, RunningStates
from deskcheck.notation.values import Bodies, Pieces, ValueWriter, pieces_of
from deskcheck.recording.value import Encoded


class StateWriter:
    """Writes the states of one run, one after another; parts that two of them share are made once."""

    def __init__(self) -> None:
        self._made = MadeOnce()
        self._bodies: Bodies = {}

    def text(self, moment: Moment, labels: dict[int, int] | None = None) -> str:
        """One state by itself. labels: receives the labels of objects in the text, by identity."""
        self._made.begin()
        if len(self._bodies) > 2 * len(moment.objects) + 64:
            self._bodies = {n: body for n, body in self._bodies.items() if n in moment.objects}
        above, variables = self._above(moment)
        stack = self._made.of(moment.running.stack, _stack)
        value = pieces_of(moment.value) if moment.kind in VALUED else []
        pieces = [*above, *variables, *stack, *value]
        labels = {} if labels is None else labels
        writer = ValueWriter(moment.objects, roots(moment), labels, bodies=self._bodies, pieces=pieces)
        writer.pending = set(writer.labelled)
        text = writer.fill(above)
        entries = [writer.fill(variables)] if variables else []
        stack_text = writer.fill(stack)
        tail = event_tail(moment, writer)
        entries += writer.left()
        return text + line_text(event_head(moment, named=True), entries, stack_text or None, tail)

    def _above(self, moment: Moment) -> tuple[Pieces, Pieces]:
        """The lines before the event's, and the variables on that."""
        above: Pieces = []
        modules = {frame.file for frame in moment.frames if frame.function == MODULE}
        for file, names in moment.globals.items():
            if file not in modules and names:
                above += [f"{globals_head(file)}: ", *self._made.of(names, _variables), "\n"]
        for frame in moment.frames:
            if frame.function == MODULE:
                entries = self._of_module(frame, moment, modules)
            elif frame is not moment.running:
                above += self._made.of(frame, self._waiting)
                continue
            else:
                entries = self._made.of(frame.locals, _variables)
            if frame is moment.running:
                return above, entries
            above += self._line(frame, entries)
        raise AssertionError("the event's frame is the last")

    def _of_module(self, frame: Frame, moment: Moment, modules: set[str | None]) -> Pieces:
        """The variables of a module's frame: its globals too, unless a frame below has told them."""
        names = moment.globals.get(frame.file) if frame.file in modules else None
        modules.discard(frame.file)
        entries = self._made.of(names, _variables) if names else []
        hidden = self._made.of(frame.locals, _hidden_variables)
        return [*entries, ", ", *hidden] if entries and hidden else entries or hidden

    def _waiting(self, frame: Frame) -> Pieces:
        return self._line(frame, self._made.of(frame.locals, _variables))

    def _line(self, frame: Frame, entries: Pieces) -> Pieces:
        head = f"frame {place_text(frame, named=True)}"
        stack = self._made.of(frame.stack, _stack)
        return [head, *([": ", *entries] if entries else []), *([" | ", *stack] if stack else []), "\n"]


def _variables(names: Mapping[str, Encoded], *, hidden: bool = False) -> Pieces:
    return _listed([entry_pieces(name, value, hidden=hidden) for name, value in names.items()])


def _hidden_variables(names: Mapping[str, Encoded]) -> Pieces:
    return _variables(names, hidden=True)


def _stack(values: Sequence[Encoded]) -> Pieces:
    return _listed([pieces_of(value) for value in values])


def _listed(parts: Sequence[Pieces]) -> Pieces:
    """All parts, with commas between; texts that follow one another are one."""
    listed: Pieces = []
    for number, part in enumerate(parts):
        for piece in [", ", *part] if number else part:
            if listed and isinstance(piece, str) and isinstance(listed[-1], str):
                listed[-1] += piece
            else:
                listed.append(piece)
    return listed


def state_text(moment: Moment, labels: dict[int, int] | None = None) -> str:
    """One state by itself. labels: is given the labels that objects have in the text, by their numbers."""
    return StateWriter().text(moment, labels)


class RunningTexts(RunningStates):
    """Follows a trace: `advance` by each of its rows, and `text` is the state at the last one."""

    def __init__(self, *, file: str, instructions: bool = False) -> None:
        super().__init__(file=file, instructions=instructions)
        self._writer = StateWriter()

    def text(self) -> str:
        """What `state_text` writes of `moment`."""
        return self._writer.text(self.moment)


def transitions(moments: Iterable[Moment], jump: int = 1) -> Iterator[tuple[str, str]]:
    """(a state, the state `jump` events later), for every state that has one. The texts of `jump` states are
    kept.

    Raises ValueError where `jump` is less than one.
    """
    if jump < 1:
        raise ValueError(f"jump={jump} must be at least one: the next state is one event later.")
    before: list[str] = []
    writer = StateWriter()
    for moment in moments:
        text = writer.text(moment)
        if len(before) == jump:
            yield before.pop(0), text
        before.append(text)


def parse_dynamic(text: str) -> Parsed:
    """The states that a text gives, one after another; of a model's answer, usually one."""
    return parse_lines(text, full=False, each_alone=True)
