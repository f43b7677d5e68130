"""The values of variables at every event as a flat table, for SQL and data frames."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Row, State
from deskcheck.recording.value import Content, Encoded, decode, reached, render

STATES_SCHEMA = pa.schema(
    [
        ("recording", pa.string()),
        ("index", pa.int64()),
        ("frame", pa.int32()),
        ("function", pa.string()),
        ("line", pa.int32()),
        ("variable", pa.string()),
        ("value", pa.string()),
        ("thread", pa.int32()),
    ]
)
"""One row for each variable that the frame of an event has: docs/reference/format.md, *States*."""
_ROWS, _CHARS = 16_384, 8 << 20
"""The first of these limits to be reached ends a batch."""


def states(recordings: Iterable[Recording], variable: str | None = None) -> Any:
    """A `pyarrow.RecordBatchReader` over the states of recordings. It reads them batch by batch.

    variable: only the variable with this name.
    """
    return pa.RecordBatchReader.from_batches(STATES_SCHEMA, _batches(recordings, variable))


def _batches(recordings: Iterable[Recording], variable: str | None) -> Iterator[Any]:
    rows: list[tuple[Any, ...]] = []
    chars = 0
    for recording in recordings:
        for trace in recording.traces:
            for row, texts in _texts_of(trace.rows, variable):
                event = (recording.id, row.index, row.frame, row.function, row.line)
                for name, text in texts:
                    rows.append((*event, name, text, row.thread))
                    chars += len(text)
                if len(rows) >= _ROWS or chars >= _CHARS:
                    yield _batch(rows)
                    rows, chars = [], 0
    if rows:
        yield _batch(rows)


def _batch(rows: list[tuple[Any, ...]]) -> Any:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, STATES_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=STATES_SCHEMA)


def _texts_of(rows: Iterable[Row], variable: str | None) -> Iterator[tuple[Row, list[tuple[str, str]]]]:
    """Events, each with the names and values of its frame's variables."""
    state, texts = State(), _Texts()
    for row in rows:
        state = state.after(row)
        texts.touch(state)
        names = state.names(row.frame)
        if variable is not None:
            names = {variable: names[variable]} if variable in names else {}
        yield row, [(name, texts.text(row.frame, name, value)) for name, value in names.items()]
        if row.kind in ("return", "unwind"):
            texts.forget(row.frame)


class _Texts:
    """Values as text. A text is made again only if something that the value leads to has changed."""

    def __init__(self) -> None:
        self._objects: Mapping[int, Content] = {}
        self._events = 0
        self._touched: dict[int, int] = {}
        """Number of each object -> the event that changed it last."""
        self._texts: dict[int, dict[str, tuple[Encoded, frozenset[int], int, str]]] = {}
        """Frame -> name -> its value, the objects that it leads to, the event of its text, and the text."""

    def touch(self, state: State) -> None:
        """Go on to the next state of the trace."""
        self._events += 1
        self._objects = state.objects
        self._touched.update(dict.fromkeys(state.touched, self._events))
        if len(self._touched) > 1000 + 2 * len(state.objects):
            self._touched = {number: at for number, at in self._touched.items() if number in state.objects}

    def text(self, frame: int, name: str, value: Encoded) -> str:
        texts = self._texts.setdefault(frame, {})
        if name in texts:
            known, objects, event, text = texts[name]
            # An object that is missing here has been released.
            if known is value and all(self._touched.get(number, event + 1) <= event for number in objects):
                return text
        text = render(decode(value, self._objects))
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
        texts[name] = value, frozenset(reached(value, self._objects)), self._events, text
        return text

    def forget(self, frame: int) -> None:
        self._texts.pop(frame, None)
