"""``dynamic`` and ``dynamic_instruction``: complete states, each of which decides the next one.

This is the dynamic scratchpad of Execution Tuning (arXiv:2503.05703): a model sees a state and the program,
and writes the next state without a history. A state has a line for each frame of the call stack, outermost
first, and the globals; the last line is the event's (see `lines`). Equal states have equal texts, except for
the order of variables, which is the order of binding.
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
    """Writes the states of a run, in order. Parts that neighbouring states share are made once."""

    def __init__(self) -> None:
        self._cache = MadeOnce()
        self._bodies: Bodies = {}

    def text(self, moment: Moment, labels: dict[int, int] | None = None) -> str:
        """One state by itself. labels: receives the labels of objects in the text, by identity."""
        self._cache.begin()
        if len(self._bodies) > 2 * len(moment.objects) + 64:
            self._bodies = {n: body for n, body in self._bodies.items() if n in moment.objects}
        above, variables = self._above(moment)
        stack = self._cache.of(moment.running.stack, _stack)
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
        """The lines before the event's line, and the variables on that line."""
        above: Pieces = []
        modules = {frame.file for frame in moment.frames if frame.function == MODULE}
        for file, names in moment.globals.items():
            if file not in modules and names:
                above += [f"{globals_head(file)}: ", *self._cache.of(names, _variables), "\n"]
        for frame in moment.frames:
            if frame.function == MODULE:
                entries = self._of_module(frame, moment, modules)
            elif frame is not moment.running:
                above += self._cache.of(frame, self._waiting)
                continue
            else:
                entries = self._cache.of(frame.locals, _variables)
            if frame is moment.running:
                return above, entries
            above += self._line(frame, entries)
        raise AssertionError("the event's frame is the last")

    def _of_module(self, frame: Frame, moment: Moment, modules: set[str | None]) -> Pieces:
        """The variables of a module's frame, with its globals, unless an earlier line has them."""
        names = moment.globals.get(frame.file) if frame.file in modules else None
        modules.discard(frame.file)
        entries = self._cache.of(names, _variables) if names else []
        hidden = self._cache.of(frame.locals, _hidden_variables)
        return [*entries, ", ", *hidden] if entries and hidden else entries or hidden

    def _waiting(self, frame: Frame) -> Pieces:
        return self._line(frame, self._cache.of(frame.locals, _variables))

    def _line(self, frame: Frame, entries: Pieces) -> Pieces:
        head = f"frame {place_text(frame, named=True)}"
        stack = self._cache.of(frame.stack, _stack)
        return [head, *([": ", *entries] if entries else []), *([" | ", *stack] if stack else []), "\n"]


def _variables(names: Mapping[str, Encoded], *, hidden: bool = False) -> Pieces:
    return _listed([entry_pieces(name, value, hidden=hidden) for name, value in names.items()])


def _hidden_variables(names: Mapping[str, Encoded]) -> Pieces:
    return _variables(names, hidden=True)


def _stack(values: Sequence[Encoded]) -> Pieces:
    return _listed([pieces_of(value) for value in values])


def _listed(parts: Sequence[Pieces]) -> Pieces:
    """All parts, separated by commas. Neighbouring texts are joined."""
    listed: Pieces = []
    for number, part in enumerate(parts):
        for piece in [", ", *part] if number else part:
            if listed and isinstance(piece, str) and isinstance(listed[-1], str):
                listed[-1] += piece
            else:
                listed.append(piece)
    return listed


def state_text(moment: Moment, labels: dict[int, int] | None = None) -> str:
    """One state by itself. labels: receives the labels of objects in the text, by identity."""
    return StateWriter().text(moment, labels)


class RunningTexts(RunningStates):
    """Follows a trace: `advance` by each of its rows, and `text` is the state at the last one."""

    def __init__(self, *, file: str, instructions: bool = False) -> None:
        super().__init__(file=file, instructions=instructions)
        self._writer = StateWriter()

    def text(self) -> str:
        """The text of `state_text` for `moment`."""
        return self._writer.text(self.moment)


def transitions(moments: Iterable[Moment], jump: int = 1) -> Iterator[tuple[str, str]]:
    """Pairs of a state and the state `jump` events later. `jump` texts are in memory.

    Raises ValueError if `jump` is less than one.
    """
    if jump < 1:
        raise ValueError(f"jump={jump} must be at least 1: the next state is one event later.")
    before: list[str] = []
    writer = StateWriter()
    for moment in moments:
        text = writer.text(moment)
        if len(before) == jump:
            yield before.pop(0), text
        before.append(text)


def parse_dynamic(text: str) -> Parsed:
    """The states in a text, in order. A model's answer usually has one."""
    return parse_lines(text, full=False, each_alone=True)
