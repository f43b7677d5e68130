"""A desk check on paper: the trace of a recording as a table, a row per event."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from deskcheck.recording.program import code_lines
from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Event, Kind
from deskcheck.recording.value import Value, render

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
"""That are looked at in all rows together: some ten seconds."""
_TOO_MUCH = "(over {:,} values: not shown)"


def trace_table(
    recording: Recording,
    *,
    max_events: int = 200,
    value_chars: int = VALUE_CHARS,
    max_values: int = MAX_VALUES,
) -> RenderableType:
    """What the program did, event by event: the line about to run, what changed, what was printed. An
    instruction is a row of its own, with what lies on the stack.

    At most `max_events` rows from the start and, if there are more, the last tenth of them from the
    end; how many were left out stands between. Values are cut at `value_chars`. Rows that together hold more
    than `max_values` values (`Event.extent`) say so in their place.
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
    left = max_values
    for event in trace:
        index = event.index
        if index < head or index >= len(trace) - tail:
            style = _STYLES[event.kind]
            left -= event.extent(left + 1) if left >= 0 else 0
            changes = _changes(event, value_chars) if left >= 0 else Text(_TOO_MUCH.format(max_values))
            table.add_row(
                str(index),
                Text(event.kind.value, style=style),
                str(event.line),
                Text("  " * (len(event.state.active) - 1) + sources.line(event)),
                changes,
            )
        elif index == head:
            table.add_row("", "", "", Text(f"... {len(trace) - max_events} events ..."), "")
    return Group(_head(recording), table, _end(recording, value_chars))


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


def _changes(event: Event, value_chars: int) -> Text:
    return Text("  ".join(_parts(event, value_chars)))


_LEFT_OUT = {"deep": "deeper calls", "repeated": "repetitions", "called": "calls in them"}


def _parts(event: Event, value_chars: int) -> Iterator[str]:
    if event.left_out:
        yield f"(left out: {', '.join(f'{n} {_LEFT_OUT[what]}' for what, n in event.left_out.items())})"
    if event.value is not None and event.kind is not Kind.RESUME:
        word = {Kind.RETURN: "->", Kind.YIELD: "yields", Kind.RAISE: "!"}.get(event.kind, "")
        yield f"{word} {_short(event.value, value_chars)}"
    if event.kind is Kind.RESUME and event.value is not None and event.value.atom is not None:
        yield f"<- {_short(event.value, value_chars)}"
    locals_ = event.locals
    changed = event.changed
    for name, value in locals_.items():
        if name in changed and value.kind not in ("function", "class", "text"):
            yield f"{name} = {_short(value, value_chars)}"
    for name in sorted(changed - locals_.keys()):
        yield f"{name} gone"
    if not changed and event.row.objects:
        yield from _mutated(event, value_chars)
    if event.kind is Kind.INSTRUCTION and event.stack:
        yield "| " + " ".join([_on_stack(value, value_chars) for value in event.stack])
    for value in event.stack:
        if value.kind == "iterator" and event.kind in (Kind.LINE, Kind.CALL):
            yield f"[{_position(value)}]"
    if event.output:
        yield f"prints {event.output!r:.{value_chars}}"


def _mutated(event: Event, value_chars: int) -> Iterator[str]:
    """Names whose object changed in place since the frame's last event."""
    numbers = {int(key) for key in _object_keys(event)}
    for name, value in event.locals.items():
        if value.id in numbers and value.kind not in ("function", "class", "iterator"):
            yield f"{name} = {_short(value, value_chars)}"


def _object_keys(event: Event) -> list[str]:
    import json

    return list(json.loads(event.row.objects)) if event.row.objects else []


def _on_stack(value: Value, value_chars: int) -> str:
    if value.kind == "unbound":
        return "NULL"
    return f"[{_position(value)}]" if value.kind == "iterator" else _short(value, value_chars)


def _position(iterator: Value) -> str:
    fields = dict(iterator.fields)
    if "next" in fields:
        return f"{iterator.type.removesuffix('_iterator')} at {fields['next']!r}"
    if "left" in fields:
        return f"left {_short(fields['left'], 30)}"
    return iterator.type


def _short(value: Value, value_chars: int) -> str:
    return render(value, max_chars=value_chars)


def _head(recording: Recording) -> Text:
    program = recording.program
    call = f"{program.entry}{program.arguments}" if program.entry is not None else program.filename
    return Text(f"{program.id}   {call}\n", style="bold")


def _end(recording: Recording, value_chars: int) -> Text:
    run_result = recording.run_result
    said = f"-> {recording.result}" if run_result.result is not None else run_result.detail
    lines = [f"\n{run_result.outcome.value} {said}".rstrip()]
    if run_result.cut is not None:
        lines.append(f"events are missing at the end: {run_result.cut}")
    if recording.repeatable is False:
        lines.append(f"not repeatable: {recording.difference}")
    return Text("\n".join(lines))
