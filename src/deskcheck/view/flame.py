"""The calls of a recording in the files of profile viewers: speedscope, and Perfetto or chrome://tracing.

A recording has no clock: the unit is the event. A call lasts from its first event to its last. A generator
that is resumed is a further call of its function.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from deskcheck._version import __version__
from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Kind, Row

_ENTERS = frozenset({Kind.CALL, Kind.RESUME})
_LEAVES = frozenset({Kind.RETURN, Kind.UNWIND, Kind.YIELD})


class Span(NamedTuple):
    """A call from its first event to the event after its last."""

    function: str
    file: str
    line: int
    start: int
    end: int
    depth: int
    """Number of calls around it."""


def spans_of(rows: Sequence[Row]) -> list[Span]:
    """The calls of a thread, in the order in which they began. Unfinished calls end with the trace."""
    spans: list[Span | None] = []
    open_spans: list[tuple[int, Row]] = []
    count = 0

    def close(end: int) -> None:
        span_index, row = open_spans.pop()
        spans[span_index] = Span(row.function, row.file, row.line, row.index, end, len(open_spans))

    for row in rows:
        if row.kind in _ENTERS or not open_spans:
            open_spans.append((len(spans), row))
            spans.append(None)
        if row.kind in _LEAVES and open_spans[-1][1].frame == row.frame:
            close(row.index + 1)
        count = row.index + 1
    while open_spans:
        close(count)
    return [span for span in spans if span is not None]


def speedscope(recording: Recording) -> dict[str, Any]:
    """A file of https://www.speedscope.app: an evented profile for each thread."""
    frames: dict[tuple[str, str, int], int] = {}
    profiles = []
    for trace in recording.traces:
        spans = spans_of(trace.rows)
        events = [
            {"type": kind, "at": at, "frame": frames.setdefault(key, len(frames))}
            for kind, at, key in _edges(spans)
        ]
        profiles.append(
            {
                "type": "evented",
                "name": f"thread {trace.thread}",
                "unit": "none",
                "startValue": 0,
                "endValue": len(trace),
                "events": events,
            }
        )
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": f"deskcheck {__version__}",
        "name": recording.id,
        "shared": {"frames": [{"name": name, "file": file, "line": line} for name, file, line in frames]},
        "profiles": profiles,
    }


def _edges(spans: Sequence[Span]) -> Iterator[tuple[str, int, tuple[str, str, int]]]:
    """Beginnings and ends in order: nested, and an end before a beginning at the same event."""
    open_spans: list[Span] = []
    for span in spans:
        while len(open_spans) > span.depth:
            last = open_spans.pop()
            yield "C", last.end, last[:3]
        open_spans.append(span)
        yield "O", span.start, span[:3]
    while open_spans:
        last = open_spans.pop()
        yield "C", last.end, last[:3]


def perfetto(recording: Recording) -> dict[str, Any]:
    """Trace events as https://ui.perfetto.dev and chrome://tracing read them. One event is one microsecond.

    Each thread is a track. Exceptions and output are instant events.
    """
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": recording.id}}
    ]
    for trace in recording.traces:
        thread = {"pid": 0, "tid": trace.thread}
        name = f"thread {trace.thread}"
        events.append({"ph": "M", "name": "thread_name", **thread, "args": {"name": name}})
        for span in spans_of(trace.rows):
            where = {"file": span.file, "line": span.line, "event": span.start}
            time = {"ts": span.start, "dur": span.end - span.start}
            events.append({"ph": "X", "cat": "call", "name": span.function, **time, **thread, "args": where})
        for row in trace.rows:
            categories = ["exception"] if row.kind == Kind.RAISE else []
            for category in categories + (["output"] if row.output else []):
                where = {"file": row.file, "line": row.line, "event": row.index}
                instant = {"ph": "i", "s": "t", "cat": category, "name": category, "ts": row.index}
                events.append({**instant, **thread, "args": where})
    return {"traceEvents": events, "displayTimeUnit": "ns"}
