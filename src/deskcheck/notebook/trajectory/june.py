"""Logs of the JuNE recorder (Titov et al. 2025, arXiv:2507.15831) as trajectories.

``main.js`` of konstantgr/jupyter-logs-mining-extension defines the events; docs/reference/trajectory.md says
how each is read. A log has the text of cells, and only sizes and exceptions of outputs. It has no moves.
``cell_num`` is the position of the *selected* cell, which may not be the event's cell.
"""

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any, NoReturn

from deskcheck.errors import InputError
from deskcheck.files import read_json
from deskcheck.notebook.trajectory.changes import changes, matched
from deskcheck.notebook.trajectory.trajectory import (
    Cell,
    Deletion,
    Edit,
    Execution,
    Insertion,
    Move,
    Output,
    Restart,
    Status,
    Step,
    Trajectory,
    advance,
    moved,
)

_NEEDED = ("time", "kernel_id", "event", "cell_index", "cell_num", "cell_source")
_KNOWN = {"execute", "finished_execute", "error", "create", "delete", "rendered", "save_notebook"}
_KNOWN |= {"kernel_restarting", "kernel_interrupting", "notebook_renamed"}
_KNOWN |= {"to_code", "to_markdown", "to_other"}
_CHECKS_LOG = re.compile(
    r"^[ \t]*(?:from\s+mining_extension\s+import\b|check_logging\s*\().*\n?", re.MULTILINE
)
"""Code with which users of the recorder checked that it records."""


def read_june(path: str | Path) -> Iterator[Trajectory]:
    """The trajectories of a log, one for each user and notebook (or kernel), in the order of their first
    event.

    path: a CSV file with the columns of the public data set, or the recorder's events, one JSON object a
    line.

    Raises InputError that names the column or row.
    """
    sessions: list[_Session] = []
    by_key: dict[tuple[str, ...], _Session] = {}
    try:
        with open(path, newline="", encoding="utf-8") as stream:
            for row_name, row in _rows(stream, str(path)):
                key = _key(row)
                session = by_key.get(key)
                if session is None and row["event"].partition(".")[0] == "notebook_renamed":
                    session = _of_kernel(sessions, row, key)
                if session is None:
                    session = _Session(str(path), key)
                    sessions.append(session)
                by_key[key] = session
                session.rows.append((row_name, row))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is not a CSV file in UTF-8: {error}.") from error
    for session in sessions:
        yield session.trajectory()


def _rows(stream: Iterable[str], path: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a log with their names. A missing value is an empty text."""
    lines = iter(stream)
    first = next(lines, "")
    if first.startswith("{"):
        yield from _posted(first, lines, path)
        return
    csv.field_size_limit(min(sys.maxsize, 1 << 30))
    rows = csv.DictReader(chain([first], lines), strict=True)
    names = rows.fieldnames or []
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise InputError(
            f"{path}: lacks the columns {', '.join(missing)}. A JuNE log has "
            "action_id, session_id, notebook_name, cell_type, cell_output, user_id, expert and "
            f"{', '.join(_NEEDED)}."
        )
    for row in rows:
        row_name = f"{path}: line {rows.line_num}"
        if None in row.values() or None in row:
            raise InputError(
                f"{row_name}: lacks some of the {len(names)} columns of the first row: was the file cut off?"
            )
        yield row_name, row


def _posted(first: str, lines: Iterator[str], path: str) -> Iterator[tuple[str, dict[str, str]]]:
    for number, line in enumerate(chain([first], lines), 1):
        row_name = f"{path}: line {number}"
        try:
            event = read_json(line)
            row = {name: "" if value is None else str(value) for name, value in event.items()}
        except (ValueError, AttributeError) as error:
            raise InputError(f"{row_name}: is not a JSON object: {error}.") from error
        missing = [name for name in ("time", "kernel_id", "event") if name not in row]
        if missing:
            raise InputError(f"{row_name}: lacks {', '.join(missing)}, which every event of a JuNE log has.")
        yield row_name, dict.fromkeys(_NEEDED, "") | row


def _key(row: Mapping[str, str]) -> tuple[str, ...]:
    if row.get("user_id"):
        return row["user_id"], row.get("notebook_name", "")
    return (row["kernel_id"],)


def _of_kernel(sessions: "list[_Session]", row: Mapping[str, str], key: tuple[str, ...]) -> "_Session | None":
    """The session that a notebook had under another name."""
    same = (s for s in reversed(sessions) if s.key[0] == key[0])
    return next((s for s in same if s.rows[-1][1]["kernel_id"] == row["kernel_id"]), None)


class _Session:
    def __init__(self, path: str, key: tuple[str, ...]) -> None:
        self.path = path
        self.key = key
        self.rows: list[tuple[str, dict[str, str]]] = []
        self.cells: dict[str, Cell] = {}
        self.first: tuple[Cell, ...] = ()
        self.order: tuple[str, ...] = ()
        self.steps: list[Step | None] = []
        """Steps. None: an execution that the kernel left out, as a later event showed."""
        self.notes: list[str] = []
        self.running: dict[str, int] = {}
        """Cell -> index in `steps` of its unfinished execution."""
        self.ended: dict[str, int] = {}
        """Cell -> index in `steps` of its last finished execution."""
        self.queued: set[int] = set()
        """Executions that waited when an earlier one raised an exception."""
        self.unrecorded: set[str] = set()
        """Cells whose last run only checked that the log is on."""
        self.aliases: dict[str, str] = {}
        """Id in the log -> id of the cell. Cells get new ids when a page is opened again."""
        self.created: dict[str, int] = {}
        """New cell -> the position that was selected, until an event shows the cell's position."""
        self.kernel: str | None = None
        self.row_name = ""
        self.row_time = 0.0
        """Name and time of the present row."""

    def trajectory(self) -> Trajectory:
        bursts = _bursts(row for _, row in self.rows)
        for number, (row_name, row) in enumerate(self.rows):
            self.row_name, self.row_time = row_name, _time(row["time"], row_name)
            self._take(row, trusted=number not in bursts)
        return Trajectory(
            id="/".join(self.key),
            source="june",
            path=self.path,
            cells=self.first,
            steps=tuple(step for step in self.steps if step is not None),
            kernel="python3",
            language="python",
            notes=tuple(self.notes),
        )

    def _note(self, text: str) -> None:
        self.notes.append(f"{self.row_name}: {text}")

    def _refuse(self, text: str) -> NoReturn:
        raise InputError(f"{self.row_name}: {text}.")

    def _take(self, row: Mapping[str, str], *, trusted: bool) -> None:
        """Add one event. trusted: its position is that of its cell."""
        event = _event(row)
        if event not in _KNOWN:
            self._refuse(f"unknown event {row['event']!r}. The events are {', '.join(sorted(_KNOWN))}")
        if self.kernel is not None and row["kernel_id"] and row["kernel_id"] != self.kernel:
            self._restart()
        self.kernel = row["kernel_id"] or self.kernel
        if event == "save_notebook":
            self._saved(row["cell_source"])
        elif event == "kernel_restarting":
            self._restart()
        elif event == "kernel_interrupting":
            running = next(iter(self.running.values()), None)  # the others wait for it
            if running is not None:
                self._set(running, status=Status.INTERRUPTED)
        elif event != "notebook_renamed":
            self._cell_event(event, row, trusted=trusted)

    def _cell_event(self, event: str, row: Mapping[str, str], *, trusted: bool) -> None:
        cell_id = row["cell_index"]
        if not cell_id:
            self._refuse(f"{event} without a cell_index")
        cell_id = self.aliases.get(cell_id, cell_id)
        if event == "delete" and cell_id not in self.cells:
            self._note(f"deletes the unknown cell {cell_id!r}: left out")
        elif event == "delete":
            self._add(Deletion(cell=cell_id, order=()))
        elif event == "finished_execute":
            self._finished(cell_id, row.get("cell_output", ""))
        elif event == "error":
            self._raised(cell_id, row["cell_source"])
        else:
            self._seen(event, cell_id, row, trusted=trusted)

    # -- cells: their text, kind and place ---------------------------------------------------------

    def _seen(self, event: str, cell_id: str, row: Mapping[str, str], *, trusted: bool) -> None:
        """Add an event that shows a cell's text."""
        cell = self.cells.get(cell_id)
        source = _CHECKS_LOG.sub("", row["cell_source"])
        kind = {"rendered": "markdown", "to_markdown": "markdown", "to_other": "raw"}.get(event, "code")
        if event == "create" and row.get("cell_type") in ("markdown", "raw"):
            kind = row["cell_type"]
        selected = _selected(row["cell_num"], self.row_name)
        if cell is None:
            self._insert(event, cell_id, source, kind, selected)
        elif event == "create":
            self._note(f"creates the cell {cell_id!r} again: read as an edit")
            self._edit(cell, source, cell.type)
        else:
            self._place(cell_id, selected if trusted else None)
            self._edit(cell, source, kind)
        if event == "execute":
            self._begins(
                cell_id, source, is_unrecorded=source != row["cell_source"] and not _has_code(source)
            )

    def _begins(self, cell_id: str, source: str, *, is_unrecorded: bool) -> None:
        self.running.pop(cell_id, None)  # one before it, unfinished, keeps the status unknown
        self.ended.pop(cell_id, None)
        self.unrecorded.discard(cell_id)
        if is_unrecorded:
            self.unrecorded.add(cell_id)
            return
        self.running[cell_id] = len(self.steps)
        self._add(Execution(cell=cell_id, source=source, status=Status.UNKNOWN, order=()))

    def _insert(self, event: str, cell_id: str, source: str, kind: str, selected: int | None) -> None:
        many = len(self.order)
        inferred = event != "create"
        position = many if selected is None else selected + (not inferred)  # created below what is selected
        if inferred:
            self._note(f"{event} of the cell {cell_id!r}, whose creation is not in the log")
        if position > many + (not inferred):  # created in an empty notebook, a cell is the selected one
            self._note(f"place {position} in a notebook of {many} cells: put at the end")
        position = min(position, many)
        if not inferred and selected is not None:
            self.created[cell_id] = selected
        self._add(
            Insertion(cell=cell_id, source=source, type=kind, position=position, order=(), inferred=inferred)
        )

    def _place(self, cell_id: str, selected: int | None) -> None:
        """Move a cell to `selected`. If it was elsewhere, the log lacks an event."""
        if selected is None:
            return
        position = self.order.index(cell_id)
        created = self.created.pop(cell_id, None)
        if selected == position or selected >= len(self.order):
            return
        if created == selected == position - 1:
            # It replaced the cell above it, whose type was changed.
            self._add(Deletion(cell=self.order[selected], order=(), inferred=True))
        else:
            self._add(Move(cell=cell_id, position=selected, order=(), inferred=True))

    def _edit(self, cell: Cell, source: str, kind: str) -> None:
        if (cell.source, cell.type) != (source, kind):
            self._add(Edit(cell=cell.id, source=source, type=kind, order=(), inferred=True))

    def _saved(self, text: str) -> None:
        """Add the changes up to this list of all cells, which a page sends when its kernel is ready."""
        try:
            page_cells = [
                Cell(id=str(cell["id"]), source=_without_checks(cell["source"]), type=cell["cell_type"])
                for cell in read_json(text)
            ]
        except (ValueError, TypeError, KeyError) as error:
            self._refuse(f"save_notebook has no list of cells: {error!r}")
        if len({cell.id for cell in page_cells}) < len(page_cells):
            self._refuse("save_notebook has two cells with one id")
        if not self.steps and not self.cells:
            self.first = tuple(page_cells)
            self.cells = {cell.id: cell for cell in page_cells}
            self.order = tuple(self.cells)
            return
        cells_now = [self.cells[cell_id] for cell_id in self.order]
        for step in changes(cells_now, self._renamed(cells_now, page_cells)):
            self._add(step)
        self.created.clear()

    def _renamed(self, cells_now: list[Cell], page_cells: list[Cell]) -> list[Cell]:
        """The cells of a page with the ids that they had on the page before."""
        renamed = [replace(cell, id=self.aliases.get(cell.id, cell.id)) for cell in page_cells]
        if any(cell.id in self.cells for cell in renamed):
            return renamed
        taken = {cell.id for cell in cells_now}
        names = (name for number in count() if (name := f"new-{number}") not in taken)
        again = [
            replace(cell, id=cell.id if cell.id in taken else page_cell.id)
            for cell, page_cell in zip(matched(cells_now, page_cells, names), page_cells, strict=True)
        ]
        self.aliases |= {page_cell.id: cell.id for page_cell, cell in zip(page_cells, again, strict=True)}
        return again

    # -- executions --------------------------------------------------------------------------------

    def _finished(self, cell_id: str, output: str) -> None:
        number = self.running.pop(cell_id, None)
        if number is None:
            self._note_stray("finished_execute", cell_id)
            return
        kinds = _output_kinds(output, self.row_name)
        if number in self.queued and not kinds:
            self.steps[number] = None
            self._note(f"the cell {cell_id!r} was queued after one that raised: the kernel skipped it")
            return
        step = self.steps[number]
        assert isinstance(step, Execution)
        status = step.status
        if status is Status.UNKNOWN:
            status = Status.ERROR if "error" in kinds else Status.OK
        wall_s = None if step.at is None else self.row_time - step.at
        self._set(number, status=status, end=self.row_time, wall_s=wall_s)
        self.ended[cell_id] = number
        if "error" in kinds:
            self.queued |= {*self.running.values()}

    def _raised(self, cell_id: str, text: str) -> None:
        """Add a cell's exception, which the recorder sends separately, perhaps before the cell's end."""
        number = self.ended.get(cell_id, self.running.get(cell_id))
        if number is None:
            self._note_stray("error", cell_id)
            return
        try:
            raised = read_json(text)
            output = Output(type="error", name=str(raised["ename"]), value=str(raised["evalue"]), text="")
        except (ValueError, TypeError, KeyError) as error:
            self._refuse(f"error has no exception: {error!r}")
        self._set(number, status=Status.of_error(output.name), outputs=(output,))

    def _note_stray(self, event: str, cell_id: str) -> None:
        if cell_id not in self.unrecorded:
            self._note(f"{event} of the cell {cell_id!r}, which does not run: left out")

    def _restart(self) -> None:
        self.running.clear()
        self.ended.clear()
        last = next((step for step in reversed(self.steps) if step is not None), None)
        if last is not None and not isinstance(last, Restart):
            self._add(Restart(order=()))

    def _set(self, number: int, **fields: Any) -> None:
        step = self.steps[number]
        assert step is not None
        self.steps[number] = replace(step, **fields)

    def _add(self, step: Step) -> None:
        advance(self.cells, step)
        self.order = moved(self.order, step)
        self.steps.append(replace(step, order=self.order, at=self.row_time))


def _without_checks(source: Any) -> str:
    return _CHECKS_LOG.sub("", "".join(source))


def _event(row: Mapping[str, str]) -> str:
    return row["event"].partition(".")[0]


def _bursts(rows: Iterable[Mapping[str, str]]) -> set[int]:
    """Rows whose position is not that of their cell: several cells ran at one position, as after "Run All",
    which selects none of them."""
    numbers: set[int] = set()
    last: tuple[int, str, str] | None = None
    for number, row in enumerate(rows):
        event = _event(row)
        if event in ("create", "delete", "save_notebook", "finished_execute"):
            last = None
        elif event in ("execute", "rendered"):
            if last is not None and last[2] == row["cell_num"] and last[1] != row["cell_index"]:
                numbers |= {last[0], number}
            last = (number, row["cell_index"], row["cell_num"])
    return numbers


def _selected(text: str, row_name: str) -> int | None:
    """The position of the selected cell. None: no cell is selected."""
    try:
        number = int(float(text)) if text else None
    except (ValueError, OverflowError) as error:
        raise InputError(f"{row_name}: cell_num {text!r:.80} is not a number.") from error
    if number is not None and number < 0:
        raise InputError(f"{row_name}: cell_num {text!r} is less than zero.")
    return number


def _has_code(source: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in source.splitlines())


def _time(text: str, row_name: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{row_name}: the time {text!r} is not in ISO 8601.") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _output_kinds(text: str, row_name: str) -> list[str]:
    """Kinds of the outputs of an ended cell. The log has their sizes, not their content."""
    try:
        return [str(output["output_type"]) for output in (read_json(text) if text else [])]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{row_name}: cell_output has no list of outputs: {error!r}.") from error
