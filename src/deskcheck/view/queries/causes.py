"""The answers of `why` for all variables and events of a trace, as a graph that a page can walk.

A node is a step of an answer. Its edges are the values that its line read, so an answer is a walk from the
node of a variable's last change. Traces with more events have none: `deskcheck why` answers there.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Row, State, Trace
from deskcheck.recording.value import Encoded, loads
from deskcheck.view.queries.why import Query, Read, Slicer, Slot

CAUSES_EVENTS = 1000
"""Maximum number of events of a trace with causes: they take one or two milliseconds each."""


def causes(recording: Recording, trace: Trace) -> dict[str, Any] | None:
    """The graph of a trace as values for JSON; None if it has too many events.

    ``slots``: ``local FRAME NAME`` or ``global FILE NAME`` -> pairs of an event that changed the value and
    the node of that change, in order. ``nodes``: sentence without the name, event or null, edges (pairs of
    an expression and its node), number of its line.
    """
    if len(trace) > CAUSES_EVENTS:
        return None
    rows = list(trace.rows)  # a stored trace reads its rows anew for each use
    states = list(accumulate(rows, lambda state, row: state.after(row), initial=State()))[1:]
    slicer = Slicer(recording, Trace(rows, thread=trace.thread), states=states)
    graph = _Graph(slicer)
    slots: dict[str, list[tuple[int, int]]] = {}
    for row, state in zip(rows, states, strict=True):
        written = _written(row)
        for slot in [*sorted(written, key=str), *_changed(row, state, slicer, written)]:
            node = graph.node(Read(str(slot.key), slot, row.index))
            # What an event binds may come from an earlier one, as variables of an enclosing function do.
            if slot in written or graph.nodes[node][1] == row.index:
                slots.setdefault(f"{slot.kind} {slot.owner} {slot.key}", []).append((row.index, node))
    return {"slots": slots, "nodes": graph.nodes}


def _written(row: Row) -> set[Slot]:
    """The variables that an event binds."""
    caller = loads(row.caller) if row.caller else {}
    written = {Slot("local", row.frame, name) for name in loads(row.locals or "{}")}
    written |= {Slot("local", caller["frame"], name) for name in caller.get("locals", {})}
    return written | {Slot("global", row.file, name) for name in loads(row.globals or "{}")}


def _changed(row: Row, state: State, slicer: Slicer, written: set[Slot]) -> Iterator[Slot]:
    """The other variables of whose values an event changed a part."""
    changed = {int(number) for number, change in loads(row.objects or "{}").items() if change is not None}
    if not changed:
        return
    names: list[tuple[Slot, Encoded]] = [
        (Slot("local", number, name), value)
        for number, frame in state.frames.items()
        for name, value in frame.locals.items()
    ]
    names += [
        (Slot("global", file, name), value)
        for file, shared in state.globals.items()
        for name, value in shared.items()
    ]
    for slot, value in names:
        if slot not in written and isinstance(value, dict) and slicer.reached(value, state) & changed:
            yield slot


class _Graph:
    def __init__(self, slicer: Slicer) -> None:
        self.slicer = slicer
        self.nodes: list[list[Any]] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._by_query: dict[Query, int] = {}
        self._lines: dict[tuple[str, int], int] = {}

    def node(self, query: Query) -> int:
        """The node of a query, after those that it leads to were made."""
        todo = [query]
        edges: list[tuple[int, list[Query]]] = []
        while todo:
            next_query = todo.pop()
            if next_query in self._by_query:
                continue
            step, key, further = self.slicer.explain(next_query)
            number = self._numbers.setdefault(key, len(self.nodes))
            self._by_query[next_query] = number
            if number == len(self.nodes):
                prefix = len(step.expression) + 3  # the expression in backquotes, and a space
                line = self._lines.setdefault((step.file, step.line), len(self._lines))
                self.nodes.append([step.text[prefix:], step.event, [], line])
                edges.append((number, further))
                todo += further
        for number, further in edges:
            self.nodes[number][2] = [[edge.expression, self._by_query[edge]] for edge in further]
        return self._by_query[query]
