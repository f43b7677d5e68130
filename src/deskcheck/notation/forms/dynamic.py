"""``dynamic`` and ``dynamic_instruction``: states, each told from nothing, so that one says what the next is.

The dynamic scratchpad of Execution Tuning (arXiv:2503.05703): a model sees a state and the program, and gives
the next state; no history is kept. A state is the call stack, outermost frame first, a frame a line, with the
globals; the last line, the event's, ends it (see `lines`). Equal states have equal texts but for the order of
variables, which is that of their binding.
"""

from collections.abc import Iterable, Iterator

from deskcheck.notation.lines import (
    Parsed,
    entry_text,
    event_head,
    event_tail,
    globals_head,
    line_text,
    parse_lines,
    place_text,
    roots,
)
from deskcheck.notation.state import MODULE, Moment
from deskcheck.notation.values import ValueWriter


def state_text(moment: Moment, labels: dict[int, int] | None = None) -> str:
    """One state by itself. labels: is given the labels that objects have in the text, by their numbers."""
    writer = ValueWriter(moment.objects, roots(moment), {} if labels is None else labels)
    writer.pending = set(writer.labelled)
    lines = []
    modules = {frame.file for frame in moment.frames if frame.function == MODULE}
    for file, names in moment.globals.items():
        if file not in modules and names:
            lines.append(line_text(globals_head(file), _entries(names.items(), writer)))
    for frame in moment.frames:
        parts = []
        if frame.function == MODULE and frame.file in modules:
            modules.discard(frame.file)
            parts = _entries(moment.globals.get(frame.file, {}).items(), writer)
        parts += _entries(frame.locals.items(), writer, hidden=frame.function == MODULE)
        stack = ", ".join([writer.text(value) for value in frame.stack]) if frame.stack else None
        if frame is not moment.running:
            lines.append(line_text(f"frame {place_text(frame, named=True)}", parts, stack))
            continue
        tail = event_tail(moment, writer)
        parts += writer.left()
        lines.append(line_text(event_head(moment, named=True), parts, stack, tail))
    return "\n".join(lines)


def _entries(names: Iterable[tuple[str, object]], writer: ValueWriter, *, hidden: bool = False) -> list[str]:
    return [entry_text(name, writer.text(value), hidden=hidden) for name, value in names]


def transitions(moments: Iterable[Moment], jump: int = 1) -> Iterator[tuple[str, str]]:
    """(a state, the state `jump` events later), for every state that has one. The texts of `jump` states are
    kept.

    Raises ValueError where `jump` is less than one.
    """
    if jump < 1:
        raise ValueError(f"jump={jump} must be at least one: the next state is one event later.")
    before: list[str] = []
    for moment in moments:
        text = state_text(moment)
        if len(before) == jump:
            yield before.pop(0), text
        before.append(text)


def parse_dynamic(text: str) -> Parsed:
    """The states that a text gives, one after another; of a model's answer, usually one."""
    return parse_lines(text, full=False, each_alone=True)
