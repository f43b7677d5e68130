"""Keeps the last events of a run, with the state at their start, in bounded memory: a flight recorder.

Older events are added up to a state and dropped. The trace then begins with a `call` for each frame that was
open at its start (docs/reference/format.md, "Gaps"). Such an event is not something that happened: it has the
frame's names, the contents of all objects, and the number of dropped events.
"""

import io
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from deskcheck.recorder.filters.selection import ENDLESS, Flight
from deskcheck.recording.block import MAGIC, packed, save
from deskcheck.recording.block import rows as block_rows
from deskcheck.recording.recording import RunResult
from deskcheck.recording.spool import SpooledBlocks, events_in, events_of
from deskcheck.recording.trace import EARLIER, Row, bind
from deskcheck.recording.value import Content, Encoded, loads
from deskcheck.tracer.limits import TraceLimits

_LEAVES = frozenset({"return", "unwind", "yield"})


@dataclass(slots=True)
class _Frame:
    """An open frame. Its values are encoded."""

    number: int
    function: str
    file: str
    line: int
    offset: int
    names: dict[str, Encoded] = field(default_factory=dict)
    stack: str | None = None
    caller: dict[str, Any] | None = None


@dataclass(slots=True)
class _Thread:
    """The state of a thread after its dropped events, like `recording.trace.State`, which makes a new state
    for each event."""

    frames: dict[int, _Frame] = field(default_factory=dict)
    active: list[int] = field(default_factory=list)
    globals: dict[str, dict[str, Encoded]] = field(default_factory=dict)
    objects: dict[int, Content] = field(default_factory=dict)
    left: tuple[str, int] | None = None
    """Kind and frame of the last event, if its frame was left."""
    dropped: int = 0
    highest: int = 0

    def add(self, row: Row) -> None:
        """Add an event to the state."""
        self.leave()
        self.dropped += 1
        number = row.frame
        self.highest = max(self.highest, number)
        frame = self.frames.get(number)
        if frame is None:
            frame = self.frames[number] = _Frame(number, row.function, row.file, 0, 0)
        frame.line, frame.offset = row.line, row.offset
        if row.kind in ("call", "resume"):
            self.active.append(number)
            frame.caller = loads(row.caller) if row.caller else None
            if frame.caller is not None:
                self._calling(frame.caller)
        if row.locals:
            bind(frame.names, loads(row.locals))
        if row.stack:
            frame.stack = row.stack
        if row.globals:
            bind(self.globals.setdefault(row.file, {}), loads(row.globals))
        if row.objects:
            for key, change in loads(row.objects).items():
                if change is None:
                    self.objects.pop(int(key), None)
                elif "kind" in change:
                    self.objects[int(key)] = change
                else:
                    _change(self.objects[int(key)], change)
        if row.kind in _LEAVES:
            self.left = row.kind, number

    def _calling(self, caller: dict[str, Any]) -> None:
        """Take over what the calling frame has changed on its line."""
        calling = self.frames.get(caller["frame"])
        names, stack = caller.pop("locals", {}), caller.pop("stack", None)
        if calling is not None:
            calling.offset = caller["offset"]
            bind(calling.names, names)
            if stack is not None:
                calling.stack = json.dumps(stack)

    def leave(self) -> None:
        """Close the frame that the last event left, or suspend it."""
        if self.left is not None:
            kind, number = self.left
            if self.active and self.active[-1] == number:
                self.active.pop()
            if kind != "yield":
                self.frames.pop(number, None)
            self.left = None

    def rows(self, thread: int) -> Iterator[Row]:
        """Events that make this state out of nothing, with indices from 0."""
        self.leave()
        if not (self.frames or self.objects or self.globals):
            return
        files, objects = dict(self.globals), _text({str(key): value for key, value in self.objects.items()})
        gap = _text({EARLIER: self.dropped})
        suspended = [frame for number, frame in self.frames.items() if number not in self.active]
        modules = [
            _Frame(self.highest + 1 + n, "<module>", file, 1, 0)
            for n, file in enumerate({*files} - {frame.file for frame in self.frames.values()})
        ]
        index = 0
        for frame in [*modules, *suspended, *(self.frames[number] for number in self.active)]:
            is_new = frame.number > self.highest
            texts = (_text(frame.names), frame.stack, _text(files.pop(frame.file, {})), objects)
            caller = _text(frame.caller) if frame.caller else None
            facts = (frame.number, frame.function, frame.file, frame.line, frame.offset)
            yield Row(thread, index, "call", *facts, *texts, caller, None, None, None, gap)
            index, objects = index + 1, None
            if is_new or frame.number not in self.active:
                kind = "return" if is_new else "yield"
                yield Row(thread, index, kind, *facts, None, None, None, None, None, "null", None, None, gap)
                index += 1


def _text(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None


def _change(content: Content, change: Content) -> None:
    """Apply a stored change to the content of an object."""
    if "splice" in change:
        offset, removed, items = change["splice"]
        content.setdefault("items", [])[offset : offset + removed] = items
    if "fields" in change:
        bind(content.setdefault("fields", {}), change["fields"])
    for key in ("length", "cut", "text"):
        if key in change:
            if change[key] is None:
                content.pop(key, None)
            else:
                content[key] = change[key]


class FlightRecorder:
    """Takes the blocks of a run, and passes on those that are kept when it is finished.

    most: number of events, after which further ones are not kept (`TraceLimits.events`).
    """

    def __init__(self, flight: Flight, max_events: int) -> None:
        self.flight = flight
        self.most = max_events if flight.last is None else ENDLESS
        self.cut = False
        """Whether events are missing at the end."""
        self._threads: dict[int, _Thread] = {}
        self._blocks: deque[bytes] = deque()
        self._events = 0
        self._begun = flight.begin is None
        self._begin = TraceLimits(only=() if flight.begin is None else (flight.begin,))

    def write(self, block: bytes) -> None:
        """Take the next block."""
        if self.cut:
            return
        if not self._begun:
            rows = [*_rows(block)]
            start = next((n for n, row in enumerate(rows) if self._is_beginning(row)), len(rows))
            self._drop(rows[:start])
            if start == len(rows):
                return
            self._begun = True
            block = packed(rows[start:])
        self._blocks.append(block)
        self._events += events_in(block)
        last = self.flight.last
        while last is not None and self._events - events_in(self._blocks[0]) >= last:
            block = self._blocks.popleft()
            self._events -= events_in(block)
            self._drop(_rows(block))
        self.cut = self._events >= self.most

    def _is_beginning(self, row: Row) -> bool:
        return row.kind == "call" and self._begin.chooses(row.file, row.function)

    def _drop(self, rows: Iterable[Row]) -> None:
        for row in rows:
            thread = self._threads.get(row.thread)
            if thread is None:
                thread = self._threads[row.thread] = _Thread()
            thread.add(row)

    def finish(self, sink: Callable[[bytes], None]) -> None:
        """Pass on the state at the start and the kept events, as blocks."""
        drop = 0 if self.flight.last is None else self._events - self.flight.last
        while drop > 0:
            rows = [*_rows(self._blocks.popleft())]
            self._drop(rows[:drop])
            if drop < len(rows):
                self._blocks.appendleft(packed(rows[drop:]))
            drop -= len(rows)
        shifts: dict[int, int] = {}
        for number, thread in sorted(self._threads.items()):
            begin = [*thread.rows(number)]
            shifts[number] = len(begin) - thread.dropped
            if begin:
                sink(packed(begin))
        budget = self.most
        while self._blocks and budget > 0:
            rows = [*_rows(self._blocks.popleft())][:budget]
            budget -= len(rows)
            sink(packed(row._replace(index=row.index + shifts.get(row.thread, 0)) for row in rows))

    def ending(self, run_result: RunResult) -> RunResult:
        """The result, with the reason why events are missing."""
        return replace(run_result, cut=run_result.cut or "events") if self.cut else run_result


def _rows(block: bytes) -> Iterator[Row]:
    """The events of a block. The compiled reader makes columns of a block much faster than rows."""
    if not block.startswith(MAGIC):
        return block_rows(block)
    stream = io.BytesIO()
    save(block, stream)
    columns = events_of([("", SpooledBlocks(0, 0, stream.getvalue()))])
    names = Row._fields
    return map(Row._make, zip(*(columns.column(name).to_pylist() for name in names), strict=True))
