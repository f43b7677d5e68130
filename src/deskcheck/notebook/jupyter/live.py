"""The trajectory of a notebook while a user works in it. Events become steps, each written at once.

`magic` reports the events from inside the kernel, `server` from the Jupyter server. Neither sees the user
type: an edit is noticed when its cell runs or the notebook is saved, and becomes an `inferred` step.
"""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from deskcheck.notebook.trajectory.changes import changes, matched
from deskcheck.notebook.trajectory.file import TrajectoryWriter, begun, read_trajectory
from deskcheck.notebook.trajectory.masking import Mask
from deskcheck.notebook.trajectory.trajectory import (
    Cell,
    Deletion,
    Edit,
    Ended,
    Execution,
    Insertion,
    Restart,
    Status,
    Step,
    Trajectory,
    advance,
    moved,
)
from deskcheck.recording.program import Environment

_INPUT = "input-"
"""Beginning of the ids of inputs that are not cells, such as a console's."""


class Live:
    """A trajectory that is being recorded. Not for two threads at once.

    path: the trajectory's file. If it exists, finished or not, the recording continues at its end.
    head: the head of a new trajectory, with the notebook's cells.
    mask: takes secrets out.
    fresh: whether the kernel has no variables of an earlier part.

    Raises RecordingError: the file cannot be written or read, or another process is recording it.
    """

    def __init__(
        self, path: str | os.PathLike[str], head: Trajectory, mask: Mask | None = None, *, fresh: bool = True
    ) -> None:
        self.path = Path(path)
        self.mask = mask
        unfinished = begun(self.path)
        finished = read_trajectory(self.path) if self.path.exists() else None
        earlier = unfinished or finished
        cells = tuple(head.cells) if mask is None else tuple(map(mask.cell, head.cells))
        head = replace(earlier or replace(head, cells=cells), steps=())
        self.writer = TrajectoryWriter(self.path, head)
        self.cells = {cell.id: cell for cell in head.cells}
        self.order = tuple(self.cells)
        self.steps = 0
        self._running: list[str] = []
        self._pending_save: tuple[tuple[Cell, ...], bool, float] | None = None
        self._last: str | None = None
        self._aliases: dict[str, str] | None = None
        """Id of the front end -> cell, if the file has no ids."""
        try:
            if finished is not None:
                # The unfinished file contains at least the steps of the Parquet file.
                for number, step in enumerate(finished.steps):
                    if number >= self.writer.resumed:
                        self.writer.write(step)
            for step in self.writer.steps():
                self._advance(step)
            if earlier is not None and fresh:
                self.restarted("died" if unfinished is not None else "asked")
        except BaseException:
            self.writer.close()
            raise

    def _advance(self, step: Step) -> None:
        advance(self.cells, step)
        self.order = step.order
        self.steps += 1

    def _write(self, step: Step) -> None:
        step = step if self.mask is None else self.mask.step(step)
        self.writer.write(step)
        self._advance(step)

    def _masked(self, text: str) -> str:
        return text if self.mask is None else self.mask.text(text)

    # -- what is seen ------------------------------------------------------------------------------

    def begins(
        self, cell: str | None, source: str, deleted: Iterable[str] = (), begun_at: float | None = None
    ) -> str:
        """A cell begins to run. Returns its id in the trajectory.

        cell: its id in the front end, or None.
        deleted: ids of cells that the front end deleted since the last execution.
        begun_at: when it began. None: now.
        """
        begun_at = time.time() if begun_at is None else begun_at
        for deleted_id in deleted:
            id_here = self._known(deleted_id)
            if id_here is not None:
                self._deleted(id_here, begun_at)
        cell_id = self._known(cell, source)
        masked = self._masked(source)
        if cell_id is None:
            cell_id = cell if cell is not None else next(self._new_ids(_INPUT))
            position = self.order.index(self._last) + 1 if self._last in self.order else len(self.order)
            step: Step = Insertion(
                cell=cell_id, source=source, position=position, order=(), at=begun_at, inferred=True
            )
            self._write(replace(step, order=moved(self.order, step)))
            if cell is not None and self._aliases is not None:
                self._aliases[cell] = cell_id
        elif (self.cells[cell_id].source, self.cells[cell_id].type) != (masked, "code"):
            self._write(Edit(cell=cell_id, source=source, order=self.order, at=begun_at, inferred=True))
        self._last = cell_id
        self._running.append(cell_id)
        return cell_id

    def ran(self, cell: str, source: str, status: Status, **facts: Any) -> None:
        """An execution has ended. cell: the id that `begins` returned. facts: fields of `Execution`."""
        self._write(Execution(cell=cell, source=source, status=status, order=self.order, **facts))
        self._running.remove(cell)
        if self._pending_save is not None and not self._running:
            cells, own_ids, saved_at = self._pending_save
            self._pending_save = None
            self._saved(cells, own_ids, saved_at)

    def restarted(self, reason: str = "asked") -> None:
        """A fresh kernel has started. reason: the `why` of a `Restart`."""
        self._write(Restart(why=reason, order=self.order, at=time.time()))

    def saved(self, cells: Iterable[Cell], *, own_ids: bool = True) -> None:
        """The notebook was saved with these cells. own_ids: the file has their ids (nbformat 4.5)."""
        if self._running:
            # A cell can be changed while it runs: its execution comes first.
            self._pending_save = tuple(cells), own_ids, time.time()
        else:
            self._saved(tuple(cells), own_ids, time.time())

    def _saved(self, cells: tuple[Cell, ...], own_ids: bool, saved_at: float) -> None:
        before = [self.cells[id_] for id_ in self.order]
        now = list(cells) if self.mask is None else list(map(self.mask.cell, cells))
        if not own_ids:
            cells_of_it = [cell for cell in before if not cell.id.startswith(_INPUT)]
            now = matched(cells_of_it, now, self._new_ids("cell-"))
            self._aliases = self._aliases or {}
        # Inputs that are not cells of the notebook stay below the cell that they followed.
        for number, cell in enumerate(before):
            if cell.id.startswith(_INPUT):
                places = {placed.id: position for position, placed in enumerate(now, 1)}
                above = (places[placed.id] for placed in reversed(before[:number]) if placed.id in places)
                now.insert(next(above, 0), cell)
        for step in changes(before, now, saved_at):
            self._write(step)

    def finish(self, ended: Ended = Ended.WHOLE, environment: Environment | None = None) -> Trajectory:
        """Finish the recording: make its Parquet file."""
        return self.writer.finish(ended, environment=environment)

    def close(self) -> None:
        """Close the unfinished file. The next recorder continues it."""
        self.writer.close()

    # -- ids ---------------------------------------------------------------------------------------

    def _known(self, cell: str | None, source: str | None = None) -> str | None:
        """The cell's id in the trajectory, None if the cell is new. If the file has no ids (before nbformat
        4.5), a cell is recognised by its source when it first runs."""
        if cell is None or cell in self.cells:
            return cell
        if self._aliases is None:
            return None
        id_here = self._aliases.get(cell)
        if id_here not in self.cells and source is not None:
            taken = {*self._aliases.values()}
            masked = self._masked(source)
            alike = (
                c.id
                for c in map(self.cells.__getitem__, self.order)
                if c.source == masked and c.type == "code"
            )
            id_here = next((id_ for id_ in alike if id_ not in taken), None)
            if id_here is not None:
                self._aliases[cell] = id_here
        return id_here if id_here in self.cells else None

    def _new_ids(self, beginning: str) -> Iterator[str]:
        count_there = sum(id_.startswith(beginning) for id_ in self.cells)
        return (
            new_id for number in count(count_there) if (new_id := f"{beginning}{number}") not in self.cells
        )

    def _deleted(self, cell: str, seen_at: float) -> None:
        order = tuple(id_ for id_ in self.order if id_ != cell)
        self._write(Deletion(cell=cell, order=order, at=seen_at))
