"""The rows of a recording by instruction as a recording by line would have them.

A recording by line writes variables and value stacks less often: local variables that one line binds appear
together, in the order of the alphabet, and the stack at ``call``, ``line``, ``yield`` and ``resume`` only.
States at the same events are then equal, and so are their texts. One difference remains: at ``raise``,
``return`` and ``unwind``, what only an unfinished line holds (the iterator of a generator expression, a list
of arguments) has its state from the beginning of the line in one recording, and its latest in the other.
"""

import json
from typing import Any

from deskcheck.recording import Kind
from deskcheck.recording.trace import Row, State, WholeTexts
from deskcheck.recording.value import Encoded, loads

_WITH_STACK = frozenset({Kind.CALL, Kind.LINE, Kind.YIELD, Kind.RESUME})
"""Kinds at which a recording by line writes the value stack."""


class ByLine:
    """Rewrites rows in order. The states at instructions are then not those of the program.

    state: the state before the first of these rows.
    """

    def __init__(self, state: State, thread: int) -> None:
        self._texts = WholeTexts(state, thread)
        self._stacks: dict[int, str] = {}
        """Frame -> its value stack as it was last written."""
        self._lines: dict[int, int] = {}
        """Frame -> the line of its last event by line."""
        self._locals: dict[int, dict[str, Encoded]] = {}
        """Frame -> what instructions bound since that event."""
        self._globals: dict[str, dict[str, Encoded]] = {}
        """File -> the same of its globals."""
        self._dead: dict[int, dict[str, None]] = {}
        """Frame -> objects that died since its stack was last shown, which may still be in it."""

    def row(self, row: Row) -> Row:
        """The row with what a recording by line has at this event."""
        row = self._texts.row(row)
        frame = row.frame
        shows_stack = row.kind in _WITH_STACK
        if row.stack is not None:
            self._stacks[frame] = row.stack
        objects = loads(row.objects) if row.objects else {}
        dead = self._dead.setdefault(frame, {})
        dead.update({number: None for number, content in objects.items() if content is None})
        objects = {number: content for number, content in objects.items() if content is not None}
        if shows_stack:
            objects |= self._dead.pop(frame)
        changes: dict[str, Any] = {"stack": None, "objects": json.dumps(objects) if objects else None}
        if row.kind == Kind.INSTRUCTION:
            if row.locals:
                self._locals.setdefault(frame, {}).update(loads(row.locals))
            if row.globals:
                self._globals.setdefault(row.file, {}).update(loads(row.globals))
            line = self._lines.get(frame, row.line)
            return row._replace(line=line, locals=None, globals=None, **changes)
        self._lines[frame] = row.line
        changes["locals"] = _merged(self._locals.pop(frame, {}), row.locals, in_order=True)
        changes["globals"] = _merged(self._globals.pop(row.file, {}), row.globals)
        if shows_stack:
            changes["stack"] = self._stacks.get(frame)
        if row.caller:
            changes["caller"] = self._caller(loads(row.caller))
        if row.kind in (Kind.RETURN, Kind.UNWIND):
            for by_frame in (self._stacks, self._lines, self._dead):
                by_frame.pop(frame, None)
        return row._replace(**changes)

    def _caller(self, caller: dict[str, Any]) -> str:
        frame = caller["frame"]
        if "stack" in caller:
            self._stacks[frame] = json.dumps(caller["stack"])
        elif frame in self._stacks:
            caller["stack"] = loads(self._stacks[frame])
        changes = {**self._locals.pop(frame, {}), **caller.get("locals", {})}
        if changes:
            caller["locals"] = dict(sorted(changes.items()))
        return json.dumps(caller)


def _merged(earlier: dict[str, Encoded], changes: str | None, *, in_order: bool = False) -> str | None:
    """Changes of names as JSON. in_order: names that are bound together are in the order of the alphabet."""
    if not earlier:
        return changes
    merged = {**earlier, **(loads(changes) if changes else {})}
    return json.dumps(dict(sorted(merged.items())) if in_order else merged)
