"""Logs of the JuNE recorder (Titov et al. 2025, arXiv:2507.15831) as trajectories.

A CSV file with one row for each event of a classic Jupyter Notebook. It has the text of cells and no
outputs but errors; moves are not in it, and the place of a cell (`cell_num`) is that of the *selected*
cell, which need not be the event's: cells are told apart by `cell_index` and places are taken as they are
given where they can be."""

import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError
from deskcheck.notebook.trajectory.trajectory import (
    Cell,
    Deletion,
    Edit,
    Execution,
    Insertion,
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


def read_june(path: str | Path) -> Iterator[Trajectory]:
    """The trajectories of a log, one for each user and notebook (where these are not given, kernel), in the
    order of their first event.

    Raises InputError: not such a file, a column is missing, or a row cannot be read; names it.
    """
    sessions: dict[tuple[str, ...], _Session] = {}
    csv.field_size_limit(min(sys.maxsize, 1 << 30))
    try:
        with open(path, newline="", encoding="utf-8") as stream:
            rows = csv.DictReader(stream, strict=True)
            names = rows.fieldnames or []
            missing = [name for name in _NEEDED if name not in names]
            if missing:
                raise InputError(
                    f"{path}: lacks the columns {', '.join(missing)}. A JuNE log has "
                    "action_id, session_id, notebook_name, cell_type, cell_output, user_id, expert and "
                    f"{', '.join(_NEEDED)}."
                )
            for row in rows:
                place = f"{path}: line {rows.line_num}"
                if None in row.values() or None in row:
                    raise InputError(f"{place}: has not the {len(names)} columns of the first: cut off?")
                whose = (row["user_id"], row.get("notebook_name", "")) if row.get("user_id") else None
                key = whose or (row["kernel_id"],)
                session = sessions.setdefault(key, _Session(str(path), key))
                session.take(row, place)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is no CSV file in UTF-8: {error}.") from error
    for session in sessions.values():
        yield session.trajectory()


class _Session:
    def __init__(self, path: str, key: tuple[str, ...]) -> None:
        self.path = path
        self.key = key
        self.cells: dict[str, Cell] = {}
        self.first: tuple[Cell, ...] = ()
        self.order: tuple[str, ...] = ()
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.running: dict[str, int] = {}
        """By cell: place of its execution in `steps`, until it is finished."""
        self.kernel: str | None = None

    def take(self, row: dict[str, Any], place: str) -> None:
        event = row["event"].partition(".")[0]
        if event not in _KNOWN:
            raise InputError(f"{place}: the event {row['event']!r} is none of {', '.join(sorted(_KNOWN))}.")
        at = _time(row["time"], place)
        if self.kernel is not None and row["kernel_id"] and row["kernel_id"] != self.kernel:
            self._restart(at)
        self.kernel = row["kernel_id"] or self.kernel
        if event == "save_notebook":
            self._saved(row["cell_source"], place, at)
        elif event == "kernel_restarting":
            self._restart(at)
        elif event == "kernel_interrupting":
            running = next(iter(self.running.values()), None)  # the others wait for it
            if running is not None:
                self._set(running, status=Status.INTERRUPTED)
        elif event != "notebook_renamed":
            self._cell_event(event, row, place, at)

    def _cell_event(self, event: str, row: dict[str, Any], place: str, at: float) -> None:
        id_ = row["cell_index"]
        if not id_:
            raise InputError(f"{place}: {event} without a cell_index.")
        if event == "delete":
            if id_ not in self.cells:
                self.notes.append(f"{place}: deletes the cell {id_!r}, which is not there: left out")
                return
            self._add(Deletion(cell=id_, order=(), at=at))
            return
        if event in ("finished_execute", "error"):
            number = self.running.get(id_)
            if number is None:
                self.notes.append(f"{place}: {event} of the cell {id_!r}, which does not run: left out")
                return
            if event == "error":
                outputs = _error(row.get("cell_output", ""))
                stopped = any(output.name == "KeyboardInterrupt" for output in outputs)
                self._set(number, status=Status.INTERRUPTED if stopped else Status.ERROR, outputs=outputs)
            else:
                self._finished(number, at)
                del self.running[id_]
            return
        known = self.cells.get(id_)
        source = row["cell_source"]
        kind = {"rendered": "markdown", "to_markdown": "markdown", "to_other": "raw"}.get(event, "code")
        if event == "create" and row.get("cell_type") in ("markdown", "raw"):
            kind = row["cell_type"]
        if known is None:
            inferred = event != "create"
            position = self._position(row["cell_num"], place)
            if inferred:
                self.notes.append(f"{place}: {event} of the cell {id_!r}, whose creation is not in the log")
            self._add(
                Insertion(
                    cell=id_, source=source, type=kind, position=position, order=(), at=at, inferred=inferred
                )
            )
        elif event == "create":
            self.notes.append(f"{place}: creates the cell {id_!r} again: taken for an edit")
            self._edit(known, source, known.type, at)
        else:
            self._edit(known, source, kind, at)
        if event == "execute":
            self.running.pop(id_, None)  # one before it, unfinished, keeps the status unknown
            self.running[id_] = len(self.steps)
            self._add(Execution(cell=id_, source=source, status=Status.UNKNOWN, order=(), at=at))

    def _edit(self, known: Cell, source: str, kind: str, at: float) -> None:
        if (known.source, known.type) != (source, kind):
            self._add(Edit(cell=known.id, source=source, type=kind, order=(), at=at, inferred=True))

    def _position(self, text: str, place: str) -> int:
        try:
            number = int(float(text)) if text else len(self.order)
        except ValueError as error:
            raise InputError(f"{place}: cell_num {text!r} is no number.") from error
        if not 0 <= number <= len(self.order):
            many = len(self.order)
            self.notes.append(f"{place}: place {number} in a notebook of {many} cells: put at the end")
            return len(self.order)
        return number

    def _saved(self, text: str, place: str, at: float) -> None:
        """All cells, as they were when the kernel was ready. They have no cell_index there."""
        try:
            cells = json.loads(text)
            found = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"{place}: save_notebook holds no list of cells: {error!r}.") from error
        if self.steps or self.cells:
            return  # a later look at what the log has followed
        made = [Cell(id=f"saved-{n}", source=source, type=kind) for n, (kind, source) in enumerate(found)]
        self.first = tuple(made)
        self.cells = {cell.id: cell for cell in made}
        self.order = tuple(self.cells)

    def _restart(self, at: float) -> None:
        self.running.clear()
        if self.steps and not isinstance(self.steps[-1], Restart):
            self._add(Restart(order=(), at=at))

    def _finished(self, number: int, at: float) -> None:
        step = self.steps[number]
        assert isinstance(step, Execution)
        status = Status.OK if step.status is Status.UNKNOWN else step.status
        wall_s = at - step.at if step.at is not None else None
        self._set(number, status=status, end=at, wall_s=wall_s)

    def _set(self, number: int, **fields: Any) -> None:
        self.steps[number] = replace(self.steps[number], **fields)

    def _add(self, step: Step) -> None:
        advance(self.cells, step)
        self.order = moved(self.order, step)
        self.steps.append(replace(step, order=self.order))

    def trajectory(self) -> Trajectory:
        return Trajectory(
            id="/".join(self.key),
            source="june",
            path=self.path,
            cells=self.first,
            steps=tuple(self.steps),
            kernel="python3",
            language="python",
            notes=tuple(self.notes),
        )


def _time(text: str, place: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{place}: the time {text!r} is not in ISO 8601.") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _error(text: str) -> tuple[Output, ...]:
    """The exception in `cell_output`, whose traceback the recorder deletes."""
    try:
        found = json.loads(text) if text else []
    except ValueError:
        found = []
    return tuple(
        Output(type="error", name=str(output.get("ename")), value=str(output.get("evalue")), text="")
        for output in (found if isinstance(found, list) else [found])
        if isinstance(output, dict) and "ename" in output
    )
