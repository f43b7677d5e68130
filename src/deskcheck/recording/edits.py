"""Edits of texts (docs/reference/format.md, *State*) turned back into whole texts, row by row."""

import json
from typing import Any

from deskcheck.recording.trace import Row, State, edited, plain
from deskcheck.recording.value import Encoded, loads

Place = tuple[str, int, Any, str]
"""Where a text is: ``frame``, ``file`` or ``object``; the thread; its number or path; the name."""
_LEAVES = frozenset({"return", "unwind"})


class WholeTexts:
    """The texts of names, followed through the rows of a recording in order.

    state: the state before the first of these rows, if that is not the first of its thread.
    """

    def __init__(self, state: State | None = None, thread: int = 0) -> None:
        self._texts: dict[tuple[str, int, Any], dict[str, Encoded]] = {}
        self.latest: set[Place] = set()
        """Places whose text the latest row binds or edits."""
        self.edited: set[Place] = set()
        """Places whose text the latest row edits."""
        if state is not None:
            for frame, known in state.frames.items():
                self._follow(("frame", thread, frame), plain(known.locals))
            for file, names in state.globals.items():
                self._follow(("file", thread, file), plain(names))
            for number, content in state.objects.items():
                self._follow(("object", thread, number), content.get("fields", {}))

    def row(self, row: Row) -> Row:
        """The row with whole texts in place of edits."""
        self.latest, self.edited = set(), set()
        columns: dict[str, Any] = {}
        for column in ("caller", "locals", "globals", "objects"):
            if text := getattr(row, column):
                columns[column] = self._column(row, column, text)
        if row.kind in _LEAVES:
            self._texts.pop(("frame", row.thread, row.frame), None)
        return row._replace(**columns)

    def _column(self, row: Row, column: str, text: str) -> str:
        value: dict[str, Any] = loads(text)
        before = len(self.edited)
        if column == "locals":
            self._follow(("frame", row.thread, row.frame), value)
        elif column == "globals":
            self._follow(("file", row.thread, row.file), value)
        elif column == "caller":
            self._follow(("frame", row.thread, value["frame"]), value.get("locals", {}))
        else:
            for number, content in value.items():
                owner = "object", row.thread, int(number)
                if content is None or "kind" in content:
                    self._texts.pop(owner, None)
                self._follow(owner, (content or {}).get("fields", {}))
        if len(self.edited) == before:
            return text
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def _follow(self, owner: tuple[str, int, Any], names: dict[str, Encoded]) -> None:
        """Replace the edits among the values of names by whole texts."""
        for name, value in names.items():
            if isinstance(value, dict) and "edit" in value:
                names[name] = value = edited(self._texts.get(owner, {}).get(name), value)
                self.edited.add((*owner, name))
            if isinstance(value, str) or (isinstance(value, dict) and "str" in value):
                self._texts.setdefault(owner, {})[name] = value
                self.latest.add((*owner, name))
