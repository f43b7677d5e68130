"""The trace of a recording as a table with a row for each event, like a desk check on paper."""

import json
from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from deskcheck.recording.program import code_lines
from deskcheck.recording.recording import CUT_WORDS, Recording, refused_text
from deskcheck.recording.trace import Event, Kind
from deskcheck.recording.value import Value, extent, render

_STYLES = {
    Kind.CALL: "cyan",
    Kind.RESUME: "cyan",
    Kind.RETURN: "green",
    Kind.YIELD: "green",
    Kind.RAISE: "red",
    Kind.UNWIND: "red",
    Kind.LINE: "",
    Kind.INSTRUCTION: "dim",
}
VALUE_CHARS = 60
MAX_VALUES = 2_000_000
"""Maximum number of values in all rows together: reading them takes some ten seconds."""
_TOO_MUCH = "(over {:,} values: not shown)"


def trace_table(
    recording: Recording,
    *,
    max_events: int = 200,
    max_values: int = MAX_VALUES,
) -> RenderableType:
    """A table with a row for each event: the line that is about to run, changed variables, output.

    An instruction has its own row, with the value stack. Of more than `max_events` events, the first are
    shown, and in a tenth of the rows the last. Values are cut at `VALUE_CHARS`. After `max_values` values
    (`recording.value.extent`), rows have a note instead of values.
    """
    table = Table(show_edge=False, pad_edge=False, expand=True, header_style="bold")
    table.add_column("#", justify="right", style="dim", no_wrap=True)
    table.add_column("event", no_wrap=True)
    table.add_column("line", justify="right", style="dim", no_wrap=True)
    table.add_column("source", ratio=5, overflow="ellipsis", no_wrap=True)
    table.add_column("what changed", ratio=6, overflow="fold")
    trace = recording.trace
    tail = 0 if len(trace) <= max_events else max_events // 10
    head = max_events - tail
    sources = _Sources(recording)
    values_left = max_values
    files: set[str] = set()
    for event in trace:
        index, begins = event.index, event.file not in files
        files.add(event.file)
        if index < head or index >= len(trace) - tail:
            style = _STYLES[event.kind]
            values_left -= _extent(event, values_left + 1, begins=begins) if values_left >= 0 else 0
            parts = _parts(event, begins=begins)
            changes = Text("  ".join(parts) if values_left >= 0 else _TOO_MUCH.format(max_values))
            table.add_row(
                str(index),
                Text(event.kind.value, style=style),
                str(event.line),
                Text("  " * (len(event.state.active) - 1) + sources.line(event)),
                changes,
            )
        elif index == head:
            table.add_row("", "", "", Text(f"... {len(trace) - max_events} events ..."), "")
    return Group(_head(recording), table, _end(recording))


class _Sources:
    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.lines: dict[str, list[str]] = {}

    def line(self, event: Event) -> str:
        if event.kind in (Kind.CALL, Kind.RESUME):
            return f"{event.function}()" if event.function != "<module>" else event.file
        if event.instruction is not None:
            return f"    {event.instruction}"
        if event.file not in self.lines:
            self.lines[event.file] = code_lines(self.recording.source(event.file) or "")
        lines = self.lines[event.file]
        return lines[event.line - 1].strip() if 0 < event.line <= len(lines) else ""


_LEFT_OUT = {"deep": "deeper calls", "repeated": "repetitions", "called": "calls in them"}


def _tells_globals(event: Event, *, begins: bool) -> bool:
    """Whether global variables that a function can see may have changed."""
    changes = event.row.globals or event.row.objects
    return bool(changes) and event.function != "<module>" and not begins


def _extent(event: Event, limit: int, *, begins: bool) -> int:
    """The number of values that a row reads."""
    count = event.extent(limit)
    if _tells_globals(event, begins=begins):
        names = event.state.globals.get(event.file, {})
        count += extent([*names.values()], event.state.objects, limit)
    return count


def _parts(event: Event, *, begins: bool) -> Iterator[str]:
    """The texts of changes in an event.

    begins: whether this is the first event of its file, which has all global variables of the file.
    """
    if event.left_out:
        yield f"(left out: {', '.join(f'{n} {_LEFT_OUT[what]}' for what, n in event.left_out.items())})"
    if event.value is not None and event.kind is not Kind.RESUME:
        word = {Kind.RETURN: "->", Kind.YIELD: "yields", Kind.RAISE: "!"}.get(event.kind, "")
        yield f"{word} {_short(event.value)}"
    if event.kind is Kind.RESUME and event.value is not None and event.value.atom is not None:
        yield f"<- {_short(event.value)}"
    mutated = _mutated(event)
    yield from _changes(event.locals, event.changed, mutated)
    if event.caller_changed or mutated:
        of_caller = _changes(event.caller_locals, event.caller_changed, mutated)
        yield from (f"caller {text}" for text in of_caller)
    if _tells_globals(event, begins=begins):
        bound = frozenset(json.loads(event.row.globals)) if event.row.globals else frozenset()
        yield from (f"global {text}" for text in _changes(event.globals, bound, mutated))
    if event.kind is Kind.INSTRUCTION and event.stack:
        yield "| " + " ".join([_on_stack(value) for value in event.stack])
    for value in event.stack:
        if value.kind == "iterator" and event.kind in (Kind.LINE, Kind.CALL):
            yield f"[{_position(value)}]"
    if event.output:
        yield f"prints {event.output!r:.{VALUE_CHARS}}"


_DEFINITIONS = ("<class ", "<built-in ", "<function ", "<method ", "<module")


def _is_definition(value: Value) -> bool:
    """Whether the value is a function, class or module, whose definition is not worth showing."""
    library = value.kind == "text" and (value.text or "").startswith(_DEFINITIONS)
    return value.kind in ("function", "class") or library


def _changes(names: Mapping[str, Value], bound: frozenset[str], mutated: frozenset[int]) -> Iterator[str]:
    """The variables that are bound again, or reach an object that changed in place."""
    for name, value in names.items():
        if not _is_definition(value) and (name in bound or _reaches(value, mutated)):
            yield f"{name} = {_short(value)}"
    for name in sorted(bound - names.keys()):
        yield f"{name} gone"


def _mutated(event: Event) -> frozenset[int]:
    """Numbers of objects that are new or changed in place since the previous event."""
    return frozenset(map(int, json.loads(event.row.objects))) if event.row.objects else frozenset()


def _reaches(value: Value, objects: frozenset[int]) -> bool:
    """Whether one of the objects is reachable from a value. Iterators are shown separately in the row."""
    return bool(objects) and value.kind != "iterator" and any(inner.id in objects for inner in value.walk())


def _on_stack(value: Value) -> str:
    if value.kind == "unbound":
        return "NULL"
    return f"[{_position(value)}]" if value.kind == "iterator" else _short(value)


def _position(iterator: Value) -> str:
    fields = dict(iterator.fields)
    if "next" in fields:
        return f"{iterator.type.removesuffix('_iterator')} at {fields['next']!r}"
    if "left" in fields:
        return f"left {_short(fields['left'], 30)}"
    return iterator.type


def _short(value: Value, chars: int = VALUE_CHARS) -> str:
    return render(value, max_chars=chars)


def _head(recording: Recording) -> Text:
    program = recording.program
    call = f"{program.entry}{program.arguments}" if program.entry is not None else program.filename
    return Text(f"{program.id}   {call}\n", style="bold")


def _end(recording: Recording) -> Text:
    run_result = recording.run_result
    ending = f"-> {recording.result}" if run_result.result is not None else run_result.detail
    lines = [f"\n{run_result.outcome.value} {ending}".rstrip()]
    if run_result.cut is not None:
        reason = CUT_WORDS.get(run_result.cut, run_result.cut)
        lines.append(f"events are missing at the end: {reason}")
    if recording.repeatable is False:
        lines.append(f"{recording.doubt}: {recording.difference}")
    if run_result.refused:
        lines.append(f"refused by the sandbox: {refused_text(run_result.refused)}")
    return Text("\n".join(lines))
