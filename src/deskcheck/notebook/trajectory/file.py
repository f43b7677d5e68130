"""Trajectories on disk: one Parquet file each, with the columns of docs/reference/trajectory.md.

While a trajectory is recorded, its steps are in a file in the same folder, one JSON text a line. If the
recorder is killed, up to one line is lost, and the next recorder continues.
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
"""Version of the columns that this module writes. It reads this version and all before it."""
_PART = ".part"
"""Suffix of the file that is being recorded."""

_COLUMNS = (
    "step kind cell at source status count end wall_s cpu_s memory_before memory_after memory_peak detail "
    "outputs state repeats difference confined drew draws position type inferred why again order"
).split()
_TYPES = {
    pa.int64(): "step count memory_before memory_after memory_peak draws position again",
    pa.float64(): "at end wall_s cpu_s",
    pa.bool_(): "repeats inferred",
}
"""Types of the columns that are not strings."""
_TYPE_OF = {name: type_ for type_, names in _TYPES.items() for name in names.split()}
_SCHEMA = pa.schema([(name, _TYPE_OF.get(name, pa.string())) for name in _COLUMNS])
_JSON = ("outputs", "state", "order")
_GROUP_ROWS, _GROUP_BYTES = 512, 8 << 20
_KEY = b"deskcheck.trajectory"


class TrajectoryWriter:
    """Records one trajectory into a file. If the context ends without `finish`, the next writer continues.

    head: the trajectory without its steps.
    resumed: number of steps of earlier writers.

    Raises InputError: an earlier writer began a different trajectory there. RecordingError: the file cannot
    be written, or another process is writing it.
    """

    def __init__(self, path: str | os.PathLike[str], head: Trajectory) -> None:
        self.path = Path(path)
        self.part = self.path.with_name(self.path.name + _PART)
        self._head = _head_row(head)
        self._order: tuple[str, ...] | None = None
        """Order of the last written step."""
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
            size = 0
            with open_file(self.part) as lines:
                for number, line in enumerate(lines):
                    if not line.endswith(b"\n"):
                        break  # the writer was stopped in this line
                    if number == 0 and _same(self._row(line)) != _same(self._head):
                        raise InputError(
                            f"{self.part}: belongs to another notebook or to different limits. Delete it to "
                            "start again."
                        )
                    size += len(line)
                    self.resumed = number
            os.truncate(self.part, size)
        if not size:
            self._line(self._head)

    def _row(self, line: bytes) -> dict[str, Any]:
        try:
            return _object(line)
        except NotJSON as error:
            raise InputError(f"{self.part}: has a line that {error}. Delete it to start again.") from error

    def _line(self, row: dict[str, Any]) -> None:
        text = _compact(row).encode() + b"\n"
        with disk_errors(self.part, "write a step"):
            before = os.fstat(self._file.fileno()).st_size
            written = self._file.write(text)
            if written != len(text):  # a full disk takes the beginning of a line
                os.truncate(self.part, before)
                self._file.write(text)

    def steps(self) -> Iterator[Step]:
        """The written steps, read from the file."""
        with open_file(self.part) as lines:
            next(lines)
            order: tuple[str, ...] = ()
            for line in lines:
                row = self._row(line)
                order = tuple(map(str, row["order"])) if isinstance(row.get("order"), list) else order
                with _damaged(self.part, "Delete it to start again."):
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
        """Make the Parquet file. Returns its trajectory."""
        head = self._head | {"ended": ended.value, "detail": detail}
        if environment is not None:
            head["environment"] = environment.to_dict()
        temporary = self.path.with_name(self.path.name + ".tmp")
        with disk_errors(self.path, "save the trajectory"):
            schema = _SCHEMA.with_metadata({_KEY: json.dumps(head)})
            with pq.ParquetWriter(
                str(temporary), schema, compression="zstd", use_dictionary=["kind", "cell", "order", "status"]
            ) as file:
                for batch in _batches(self.steps()):
                    file.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema))
            sync(temporary)
            os.replace(temporary, self.path)
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
    """Save a finished trajectory."""
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
        texts = {name for name, value in row.items() if isinstance(value, str)} - {*_JSON}  # which is ASCII
        rows.append(row | {name: storable(row[name]) for name in texts})
        if len(rows) >= _GROUP_ROWS or size >= _GROUP_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _head_row(head: Trajectory) -> dict[str, Any]:
    row = {f.name: getattr(head, f.name) for f in fields(Trajectory) if f.name not in ("steps", "cells")}
    row["environment"] = head.environment.to_dict() if head.environment else None
    return {"format": FORMAT, **row, "cells": [to_dict(cell) for cell in head.cells]}


def _same(row: dict[str, Any]) -> Any:
    """The parts of a head that must be equal for a recording to continue."""
    left_out = ("environment", "ended", "detail", "notes")
    return json.loads(json.dumps({name: value for name, value in row.items() if name not in left_out}))


def read_trajectory(path: str | os.PathLike[str]) -> Trajectory:
    """A saved trajectory. Its steps are read when they are needed.

    Raises RecordingError: the file is damaged, or not a trajectory."""
    path = Path(path)
    steps = _Steps(path)
    return _trajectory(dict(steps.head), steps, path)


def begun(path: str | os.PathLike[str]) -> Trajectory | None:
    """The unfinished recording of the file `path`, without its steps. None if it does not exist. Raises
    RecordingError."""
    part = Path(path).with_name(Path(path).name + _PART)
    if not part.exists():
        return None
    with disk_errors(part, "read what was recorded"), open_file(part) as lines:
        line = lines.readline()
    with _damaged(part, "Delete it to start again."):
        return _trajectory(_object(line), (), part) if line.endswith(b"\n") else None


def _trajectory(head: dict[str, Any], steps: Sequence[Step], path: Path) -> Trajectory:
    version = head.pop("format", FORMAT + 1)
    if type(version) is not int or version > FORMAT:
        raise RecordingError(
            f"{path}: has a later format. Upgrade with: pip install -U deskcheck.", str(path)
        )
    environment = head.pop("environment", None)
    names = {f.name for f in fields(Trajectory)}
    with _damaged(path):
        return Trajectory(
            **{name: value for name, value in head.items() if name in names}
            | {
                "steps": steps,
                "cells": tuple(map(cell_from_dict, head["cells"])),
                "ended": Ended(head["ended"]),
                "notes": tuple(head.get("notes", ())),
                "environment": Environment.from_dict(environment) if environment else None,
            }
        )


def trajectories(folder: str | os.PathLike[str]) -> Iterator[Trajectory]:
    """Every trajectory below a folder, by name. Raises RecordingError: it has none, or one is damaged."""
    paths = sorted(Path(folder).rglob(f"*{SUFFIX}"))
    if not paths:
        begun = len({str(path).partition(SUFFIX)[0] for path in Path(folder).rglob(f"*{SUFFIX}.*")})
        more = f" {begun} are unfinished: record them again to continue." if begun else ""
        raise RecordingError(f"{folder}: has no trajectories.{more}", str(folder))
    return map(read_trajectory, paths)


@contextmanager
def _damaged(path: Path, way_out: str = "Record it again.") -> Iterator[None]:
    """Raise RecordingError if a part of a file cannot be read."""
    try:
        yield
    except (FileNotFoundError, RecordingError):
        raise
    except (AttributeError, KeyError, TypeError, ValueError, OSError, pa.ArrowException) as error:
        reason = f"it {error}" if isinstance(error, NotJSON) else f"{type(error).__name__}: {error}"
        raise RecordingError(f"{path}: damaged or cut off: {reason}. {way_out}", str(path)) from error


def _object(text: bytes) -> dict[str, Any]:
    """A JSON object. Raises NotJSON."""
    value = read_json(text)
    if not isinstance(value, dict):
        raise NotJSON("is not a JSON object")
    return value


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
            raise RecordingError(f"{path}: no such file.", str(path)) from error
        if _KEY not in (file.schema_arrow.metadata or {}):
            raise RecordingError(f"{path}: is a Parquet file, but not a trajectory.", str(path))
        return file

    def _read(self, index: int) -> tuple[int, list[Step]]:
        number = bisect_right(self._starts, index) - 1
        with _damaged(self._path):
            with self._opened() as file:
                table = file.read_row_group(number, use_threads=False)
            orders = table.column("order").dictionary_encode().combine_chunks()
            order_values = [tuple(read_json(text, "order")) for text in orders.dictionary.to_pylist()]
            places = orders.indices.to_pylist()
            rows = table.drop_columns(["order"]).to_pylist()
            steps = [_step(row | {"order": order_values[at]}) for row, at in zip(rows, places, strict=True)]
        return self._starts[number], steps

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def _step(row: dict[str, Any]) -> Step:
    values = {name: value for name, value in row.items() if value is not None and name != "step"}
    for name in ("outputs", "state"):
        if name in values:
            values[name] = read_json(values[name], name)
    return from_dict(values)
