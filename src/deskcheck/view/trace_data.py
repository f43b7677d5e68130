"""The data of a recording for the trace page: columns of all events, and blocks of some hundred events.

A page must reach any of a million events at once, in both directions, and cannot keep them all in memory. The
*columns* have the kind, depth, frame, line and place (function and file) of every event. This is enough for
the timeline, and to find the next event for a step, a line or an exception. A *block* has some hundred
complete events, and the `State` before them.

JSON of the page differs from that of the file (format.md) in numbers that JavaScript would change: floats and
ints beyond 2**53 are ``{"float": "1.0"}`` and ``{"int": "..."}``. The page itself is `web/src`.
"""

import json
import sys
from array import array
from collections.abc import Iterator
from typing import Any

from deskcheck._version import __version__
from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Kind, Row, State, Trace, plain
from deskcheck.view.queries.opening import failure_of, opening_event

KINDS = tuple(kind.value for kind in Kind)
"""The kinds of events. In the columns a kind is its index in this tuple."""
PRINTS, GAP = 0x10, 0x20
"""Flags on the number of a kind: the event has output; events before it are left out."""
BLOCK_EVENTS = 512
"""Minimum number of events in a block.

A block has at least as many events as its first state has entries, up to `LARGEST_BLOCK`. So the size of all
states is in proportion to the events. If the state has more than `LARGE_STATE` bytes, the events of the block
have at least as many bytes.
"""
LARGEST_BLOCK = 8192
LARGE_STATE = 1 << 20
OUTPUT_CHARS = 20_000
"""Maximum number of characters of earlier output in a block."""
_EXACT = 2**53


class TraceData:
    """The columns and blocks of a trace. The trace is read once."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.kinds = array("B")
        self.depths, self.frames, self.lines, self.places = (array("I") for _ in range(4))
        self.place_names: list[tuple[str, str]] = []
        """Function and file of each place."""
        self.starts: list[int] = []
        """Index of the first event of each block."""
        self._states: list[State] = []
        self._outputs: list[tuple[int, str]] = []
        self._read()

    def _read(self) -> None:
        numbers = {kind: number for number, kind in enumerate(KINDS)}
        places: dict[tuple[str, str], int] = {}
        state, printed, tail = State(), 0, ""
        next_start = size = next_size = 0
        for index, row in enumerate(self.trace.rows):
            if index >= next_start and size >= next_size:
                self.starts.append(index)
                self._states.append(state)
                self._outputs.append((printed, tail))
                next_start = index + min(max(BLOCK_EVENTS, state.size), LARGEST_BLOCK)
                # A state holds no more than the rows before it.
                large = len(_state_text(state)) if size > LARGE_STATE else 0
                next_size = size + large if large > LARGE_STATE else 0
            state = state.after(row)
            texts = (row.locals, row.stack, row.globals, row.objects, row.caller, row.value)
            size += sum(len(text) for text in texts if text is not None)
            if row.output:
                printed += len(row.output)
                tail = (tail + row.output)[-OUTPUT_CHARS:]
            flags = (PRINTS if row.output else 0) | (GAP if row.left_out else 0)
            self.kinds.append(numbers[row.kind] | flags)
            self.depths.append(len(state.active))
            self.frames.append(row.frame)
            self.lines.append(max(row.line, 0))  # none is below, in what a tracer wrote
            self.places.append(places.setdefault((row.function, row.file), len(places)))
        self.place_names = list(places)

    def __len__(self) -> int:
        return len(self.kinds)

    def facts(self) -> dict[str, Any]:
        """The data that the page reads first: lengths, places and starts of blocks."""
        return {
            "thread": self.trace.thread,
            "events": len(self),
            "cut": self.trace.cut,
            "places": self.place_names,
            "starts": self.starts,
        }

    def columns(self) -> bytes:
        """Depths, frames, lines and places as little-endian 32-bit numbers, then kinds as bytes."""
        columns = [self.depths, self.frames, self.lines, self.places]
        if sys.byteorder == "big":
            columns = [array("I", column) for column in columns]
            for column in columns:
                column.byteswap()
        return b"".join(column.tobytes() for column in [*columns, self.kinds])

    def block(self, number: int) -> bytes:
        """JSON of one block: ``state`` before its first event, earlier ``output``, and ``rows``.

        A row has the fields of an event that are not in the columns, in the order of `Row` from `offset` on,
        without nulls at the end.

        Raises IndexError if the block does not exist.
        """
        if not 0 <= number < len(self.starts):
            raise IndexError(f"no block {number}: the trace has {len(self.starts)}")
        start = self.starts[number]
        stop = self.starts[number + 1] if number + 1 < len(self.starts) else len(self)
        length, tail = self._outputs[number]
        rows = ",".join(_row_text(self.trace.rows[index]) for index in range(start, stop))
        output = json.dumps({"length": length, "tail": tail})
        text = f'{{"state":{_state_text(self._states[number])},"output":{output},"rows":[{rows}]}}'
        return text.encode("ascii")

    def blocks(self) -> Iterator[bytes]:
        """All blocks in order."""
        return (self.block(number) for number in range(len(self.starts)))


def page_facts(recording: Recording, traces: list[TraceData]) -> dict[str, Any]:
    """Facts about the program and its run, and `TraceData.facts` of every thread."""
    program, run_result, environment = recording.program, recording.run_result, recording.environment
    named = {file for trace in traces for _, file in trace.place_names}
    sources = {file: text for file in sorted(named) if (text := recording.source(file)) is not None}
    return {
        "deskcheck": __version__,
        "id": program.id,
        "file": program.filename,
        "mode": program.mode.value,
        "entry": program.entry,
        "arguments": program.arguments,
        "outcome": run_result.outcome.value,
        "detail": run_result.detail,
        "result": recording.result,
        "cut": run_result.cut,
        "stderr": run_result.stderr[-OUTPUT_CHARS:],
        "repeatable": recording.repeatable,
        "difference": recording.difference,
        "failure": failure_of(recording),
        "python": environment.python,
        "level": environment.granularity,
        "limits": environment.limits,
        "sources": sources,
        "kinds": KINDS,
        "traces": [{**trace.facts(), "opens": opening_event(recording, trace.trace)} for trace in traces],
    }


def state_json(state: State) -> dict[str, Any]:
    """A state in the JSON of blocks, for comparison with the state that the page computes."""
    values: dict[str, Any] = json.loads(_state_text(state))
    return values


def _state_text(state: State) -> str:
    frames = [
        [f.number, f.function, f.file, f.line, f.offset, plain(f.locals), f.stack, f.caller]
        for f in state.frames.values()
    ]
    last = None if state.last is None else [state.last.kind, state.last.frame]
    values = {
        "frames": frames,
        "active": state.active,
        "globals": {file: plain(names) for file, names in state.globals.items()},
        "objects": plain(state.objects),
        "last": last,
    }
    return _kept(json.dumps(values))


def _row_text(row: Row) -> str:
    parts = [str(row.offset)]
    for text in (row.locals, row.stack, row.globals, row.objects, row.caller, row.value):
        parts.append("null" if text is None else _kept(text))
    parts += [json.dumps(row.output), json.dumps(row.instruction)]
    parts.append("null" if row.left_out is None else row.left_out)
    while parts[-1] == "null":
        parts.pop()
    return f"[{','.join(parts)}]"


def _float(text: str) -> dict[str, str]:
    return {"float": repr(float(text))}


def _int(text: str) -> int | dict[str, str]:
    number = int(text)
    return number if -_EXACT <= number <= _EXACT else {"int": text}


def _kept(text: str) -> str:
    """The same JSON in ASCII, without numbers that JavaScript would change."""
    return json.dumps(json.loads(text, parse_float=_float, parse_int=_int), separators=(",", ":"))
