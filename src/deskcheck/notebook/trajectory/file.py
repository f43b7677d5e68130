"""Trajectories on disk: one Parquet file each, docs/reference/trajectory.md describes the columns.

While a trajectory is being recorded, its steps lie in a file beside it, one JSON text a line, so that
whoever kills the recorder loses at most the step that was being written, and the next recorder goes on from
there. `Writer.finish` makes the Parquet file of it, which is whole or absent.
"""

import fcntl
import itertools
import json
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from deskcheck.errors import InputError, RecordingError
from deskcheck.files import NotJSON, disk_errors, open_file, opened_name, read_json, sync
from deskcheck.notebook.trajectory.trajectory import (
    SUFFIX,
    Ended,
    Step,
    Trajectory,
    cell_from_dict,
    from_dict,
    storable,
    to_dict,
)
from deskcheck.recording.pages import Pages
from deskcheck.recording.program import Environment

FORMAT = 1
"""Version of the columns that this module writes; it reads this one and all before it."""
_PART = ".part"
"""What the name of the file in the making ends in beside that."""

_SCHEMA = pa.schema(
    [
        ("step", pa.int64()),
        ("kind", pa.string()),
        ("cell", pa.string()),
        ("at", pa.float64()),
        ("source", pa.string()),
        ("status", pa.string()),
        ("count", pa.int64()),
        ("end", pa.float64()),
        ("wall_s", pa.float64()),
        ("cpu_s", pa.float64()),
        ("memory_before", pa.int64()),
        ("memory_after", pa.int64()),
        ("memory_peak", pa.int64()),
        ("detail", pa.string()),
        ("outputs", pa.string()),
        ("state", pa.string()),
        ("repeats", pa.bool_()),
        ("difference", pa.string()),
        ("confined", pa.string()),
        ("drew", pa.string()),
        ("draws", pa.int64()),
        ("position", pa.int64()),
        ("type", pa.string()),
        ("inferred", pa.bool_()),
        ("why", pa.string()),
        ("again", pa.int64()),
        ("order", pa.string()),
    ]
)
_JSON = ("outputs", "state", "order")
_GROUP_ROWS, _GROUP_BYTES = 512, 8 << 20
_KEY = b"deskcheck.trajectory"


class TrajectoryWriter:
    """Records one trajectory into a file. Use it as a context manager; leaving it without `finish` keeps
    what was written for the next writer.

    head: the trajectory, whose steps are not written. resumed: how many steps an earlier writer had written;
    `steps` gives them.

    Raises:
        InputError: an earlier writer began another trajectory there.
        RecordingError: the file cannot be written, or another writer has it.
    """

    def __init__(self, path: str | os.PathLike[str], head: Trajectory) -> None:
        self.path = Path(path)
        self.part = self.path.with_name(self.path.name + _PART)
        self._head = _head_row(head)
        self._order: tuple[str, ...] | None = None
        """That of the step that was written last."""
        self.resumed = 0
        with disk_errors(self.path, "record a trajectory here"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self.part, "a+b", buffering=0)  # noqa: SIM115  # closed by close()
        try:
            self._lock()
            self._take_over()
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RecordingError(
                f"{self.path}: another process is recording it. Wait for it, or choose another folder.",
                str(self.path),
            ) from error

    def _take_over(self) -> None:
        with disk_errors(self.part, "read what was recorded"):
            self._file.seek(0)
            whole = 0
            with open_file(self.part) as lines:
                for number, line in enumerate(lines):
                    if not line.endswith(b"\n"):
                        break  # the writer was stopped in this line
                    if number == 0 and _same(self._row(line)) != _same(self._head):
                        raise InputError(
                            f"{self.part}: was begun for another notebook, or under other limits. "
                            "Delete it to begin anew."
                        )
                    whole += len(line)
                    self.resumed = number
            os.truncate(self.part, whole)
        if not whole:
            self._line(self._head)

    def _row(self, line: bytes) -> dict[str, Any]:
        try:
            return _object(line)
        except NotJSON as error:
            raise InputError(f"{self.part}: has a line that {error}. Delete it to begin anew.") from error

    def _line(self, row: dict[str, Any]) -> None:
        text = _compact(row).encode() + b"\n"
        with disk_errors(self.part, "write a step"):
            before = os.fstat(self._file.fileno()).st_size
            written = self._file.write(text)
            if written != len(text):  # a full disk takes the beginning of a line
                os.truncate(self.part, before)
                self._file.write(text)

    def steps(self) -> Iterator[Step]:
        """What has been written, read again."""
        with open_file(self.part) as lines:
            next(lines)
            order: tuple[str, ...] = ()
            for line in lines:
                row = self._row(line)
                order = tuple(map(str, row["order"])) if isinstance(row.get("order"), list) else order
                with _damaged(self.part, "Delete it to begin anew."):
                    step = from_dict(row | {"order": order})
                yield step

    def write(self, step: Step) -> None:
        """Add a step. When this returns, it survives the death of this process."""
        row = to_dict(step)
        if row["order"] == self._order:  # of ten thousand cells it is longer than all else
            del row["order"]
        self._order = step.order
        self._line(row)

    def finish(
        self, ended: Ended = Ended.WHOLE, detail: str = "", environment: Environment | None = None
    ) -> Trajectory:
        """Make the file, and read it."""
        head = self._head | {"ended": ended.value, "detail": detail}
        if environment is not None:
            head["environment"] = environment.to_dict()
        made = self.path.with_name(self.path.name + ".tmp")
        with disk_errors(self.path, "save the trajectory"):
            schema = _SCHEMA.with_metadata({_KEY: json.dumps(head)})
            with pq.ParquetWriter(
                str(made), schema, compression="zstd", use_dictionary=["kind", "cell", "order", "status"]
            ) as file:
                for batch in _batches(self.steps()):
                    file.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema))
            sync(made)
            os.replace(made, self.path)
            self.part.unlink()
        self.close()
        return read_trajectory(self.path)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_trajectory(path: str | os.PathLike[str], trajectory: Trajectory) -> Trajectory:
    """Save a trajectory whose steps are there already."""
    with TrajectoryWriter(path, trajectory) as writer:
        for number, step in enumerate(trajectory.steps):
            if number >= writer.resumed:
                writer.write(step)
        return writer.finish(trajectory.ended, trajectory.detail)


def _batches(steps: Iterable[Step]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    size = 0
    order: tuple[str, ...] | None = None
    text = ""
    for number, step in enumerate(steps):
        row = {"step": number, **to_dict(step)}
        if row["order"] != order:
            order, text = step.order, _compact(step.order)
            size += len(text)
        row["order"] = text
        for name in _JSON:
            if name in row and name != "order":
                row[name] = _compact(row[name])
                size += len(row[name])
        rows.append(_storable(row))
        if len(rows) >= _GROUP_ROWS or size >= _GROUP_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _storable(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: storable(value) if isinstance(value, str) and name not in _JSON else value  # JSON is ASCII
        for name, value in row.items()
    }


def _head_row(head: Trajectory) -> dict[str, Any]:
    row = {f.name: getattr(head, f.name) for f in fields(Trajectory) if f.name not in ("steps", "cells")}
    row["environment"] = head.environment.to_dict() if head.environment else None
    return {"format": FORMAT, **row, "cells": [to_dict(cell) for cell in head.cells]}


def _same(row: dict[str, Any]) -> Any:
    """What must be equal for a recording to go on."""
    left_out = ("environment", "ended", "detail", "notes")
    return json.loads(json.dumps({name: value for name, value in row.items() if name not in left_out}))


def read_trajectory(path: str | os.PathLike[str]) -> Trajectory:
    """A trajectory that was saved; its steps are read from the file as they are asked for.

    Raises RecordingError: it is no such file, or damaged.
    """
    path = Path(path)
    steps = _Steps(path)
    return _trajectory(dict(steps.head), steps, path)


def begun(path: str | os.PathLike[str]) -> Trajectory | None:
    """What a writer has begun for the file `path` and not finished, without its steps, which the next
    `TrajectoryWriter` gives; None where there is nothing. Raises RecordingError: it cannot be read."""
    part = Path(path).with_name(Path(path).name + _PART)
    if not part.exists():
        return None
    with disk_errors(part, "read what was recorded"), open_file(part) as lines:
        line = lines.readline()
    with _damaged(part, "Delete it to begin anew."):
        return _trajectory(_object(line), (), part) if line.endswith(b"\n") else None


def _trajectory(head: dict[str, Any], steps: Sequence[Step], path: Path) -> Trajectory:
    version = head.pop("format", FORMAT + 1)
    if type(version) is not int or version > FORMAT:
        raise RecordingError(f"{path}: of a later format; upgrade: pip install -U deskcheck.", str(path))
    environment = head.pop("environment", None)
    known = {f.name for f in fields(Trajectory)}
    with _damaged(path):
        return Trajectory(
            **{name: value for name, value in head.items() if name in known}
            | {
                "steps": steps,
                "cells": tuple(map(cell_from_dict, head["cells"])),
                "ended": Ended(head["ended"]),
                "notes": tuple(head.get("notes", ())),
                "environment": Environment.from_dict(environment) if environment else None,
            }
        )


def trajectories(folder: str | os.PathLike[str]) -> Iterator[Trajectory]:
    """Every trajectory below a folder, by name. Raises RecordingError where there is none, or one is
    damaged."""
    paths = sorted(Path(folder).rglob(f"*{SUFFIX}"))
    if not paths:
        begun = len({str(path).partition(SUFFIX)[0] for path in Path(folder).rglob(f"*{SUFFIX}.*")})
        more = f" {begun} were begun: record the same again to go on." if begun else ""
        raise RecordingError(f"{folder}: holds no trajectories.{more}", str(folder))
    return map(read_trajectory, paths)


@contextmanager
def _damaged(path: Path, way_out: str = "Record it again.") -> Iterator[None]:
    """Raise RecordingError for what cannot be read of a file, as it is damaged or cut off."""
    try:
        yield
    except (FileNotFoundError, RecordingError):
        raise
    except (AttributeError, KeyError, TypeError, ValueError, OSError, pa.ArrowException) as error:
        said = f"it {error}" if isinstance(error, NotJSON) else f"{type(error).__name__}: {error}"
        raise RecordingError(f"{path}: damaged or cut off: {said}. {way_out}", str(path)) from error


def _object(text: bytes) -> dict[str, Any]:
    """A JSON object. Raises NotJSON."""
    found = read_json(text)
    if not isinstance(found, dict):
        raise NotJSON("is not a JSON object")
    return found


class _Steps(Pages[Step]):
    """The steps in a file, a row group at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _damaged(path), self._opened() as file:
            self.head = _object(file.schema_arrow.metadata[_KEY])
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            self._starts: list[int] = [*itertools.accumulate((group.num_rows for group in groups), initial=0)]
        super().__init__(self._starts[-1], "the trajectory", "steps")

    def _opened(self) -> Any:
        path = self._path
        try:
            with _damaged(path), opened_name(path) as name:
                file = pq.ParquetFile(name, pre_buffer=False)
        except FileNotFoundError as error:
            raise RecordingError(f"{path}: there is no such file.", str(path)) from error
        if _KEY not in (file.schema_arrow.metadata or {}):
            raise RecordingError(f"{path}: a Parquet file, but not one of a trajectory.", str(path))
        return file

    def _read(self, index: int) -> tuple[int, list[Step]]:
        number = bisect_right(self._starts, index) - 1
        with _damaged(self._path):
            with self._opened() as file:
                table = file.read_row_group(number, use_threads=False)
            orders = table.column("order").dictionary_encode().combine_chunks()
            known = [tuple(read_json(text, "order")) for text in orders.dictionary.to_pylist()]
            places = orders.indices.to_pylist()
            rows = table.drop_columns(["order"]).to_pylist()
            steps = [_step(row | {"order": known[at]}) for row, at in zip(rows, places, strict=True)]
        return self._starts[number], steps

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def _step(row: dict[str, Any]) -> Step:
    given = {name: value for name, value in row.items() if value is not None and name != "step"}
    for name in ("outputs", "state"):
        if name in given:
            given[name] = read_json(given[name], name)
    return from_dict(given)
