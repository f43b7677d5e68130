"""The event at which a page of a recording opens, so that its first screen shows something."""

from itertools import islice

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Kind, Row, Trace
from deskcheck.recording.value import loads

_LOOKED_AT_EVENTS = 2000
"""Number of events among which the first change is searched."""


def opening_event(recording: Recording, trace: Trace) -> int:
    """Index of the event that shows most about a run.

    If an exception ended the run, this is where it was raised. If the run ended otherwise before its end, or
    is the last call of a failed test, it is the last event. Else it is the first event that changed a
    variable; imports and definitions do not count.
    """
    rows, run_result = trace.rows, recording.run_result
    if not rows:
        return 0
    last = len(rows) - 1
    succeeded = run_result.outcome is Outcome.RETURNED or (
        run_result.outcome is Outcome.EXITED and not run_result.exit_status
    )
    if not succeeded and rows[last].kind in (Kind.UNWIND, Kind.RAISE):
        return _raised(trace)
    if not succeeded or failure_of(recording):
        return last
    return _first_change(trace)


def failure_of(recording: Recording) -> str:
    """The error of the failed test whose last call is recorded; else an empty string."""
    return str(recording.program.extra.get("failure", ""))


def _raised(trace: Trace) -> int:
    """Where the exception was raised that left the trace, before it passed through the frames above."""
    rows = trace.rows
    raises: dict[int, list[Row]] = {}
    for row in rows:
        if row.kind == Kind.RAISE:
            raises.setdefault(row.frame, []).append(row)
    index = raised = len(rows) - 1
    while True:
        same_frame = [row for row in raises.get(rows[index].frame, ()) if row.index <= index]
        if not same_frame:
            return raised
        # Raised again after a `finally`, the exception is the same object.
        raised = next(row.index for row in same_frame if row.value == same_frame[-1].value)
        if not raised or rows[raised - 1].kind != Kind.UNWIND:
            return raised
        index = raised - 1  # a frame that it has left before raised it first


def _first_change(trace: Trace) -> int:
    definitions: set[int] = set()
    for row in islice(trace.rows, _LOOKED_AT_EVENTS):
        objects = loads(row.objects or "{}")
        definitions |= {
            int(number) for number, content in objects.items() if content and content.get("kind") in _DEFINED
        }
        if row.index and any(not _is_definition(value, definitions) for value in _written(row)):
            return row.index
    return min(1, len(trace) - 1)


_DEFINED = ("function", "class")


def _written(row: Row) -> list[object]:
    return [value for text in (row.locals, row.globals) if text for value in loads(text).values()]


def _is_definition(value: object, definitions: set[int]) -> bool:
    """Whether a value is a function, class or module, or a name is removed."""
    if not isinstance(value, dict):
        return False
    return value.get("ref") in definitions or "unbound" in value or str(value.get("text", "")).startswith("<")
