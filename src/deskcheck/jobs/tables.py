"""The work of a job whose shard is one Parquet file, with a row for each item.

A module of work says in a `TableWork` how it makes rows and what the manifest says of them; its ``TASKS`` are
those of `TableWork.tasks`. Not: shards of several files, such as recordings with their events, and lessons.
"""

import shutil
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deskcheck.files import sync
from deskcheck.jobs.job_folder import JobFolder, empty, lock_scratch, put
from deskcheck.jobs.manifest import Line
from deskcheck.jobs.plan import read_items
from deskcheck.jobs.work import check_machine, check_seen
from deskcheck.recording.reader import read_groups

_ROWS, _CHARS = 2000, 8_000_000
"""What is held of rows before they are written."""

Task = dict[str, Any]
Rows = Generator[dict[str, Any], None, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWork:
    """How the shards of a kind of job are made.

    table: begins the names of their files. decided_by: digest of what decides the rows here, and decides:
    what may differ between machines, in words. sees: what every machine must see beside the job's folder.
    rows: makes the rows of some items, with a folder of its own that lasts until the shard is whole. resumes:
    whether an earlier try's folder is of use. line: what the manifest says of a shard, by its file.
    """

    table: str
    schema: pa.Schema
    decided_by: Callable[[Task], str]
    decides: str
    sees: Callable[[Task], Iterable[Path]] = lambda task: ()
    rows: Callable[[Task, Sequence[Any], Path], Rows]
    resumes: bool = False
    line: Callable[[str, Path], Line]

    def tasks(self) -> dict[str, Callable[[Task], Line | None]]:
        """What `work.run_task` looks for in a module of work."""
        return {"make": self.make, "join": self.join, "describe": self.describe}

    def make(self, task: Task) -> Line | None:
        """Make the rows of items FIRST to STOP of a shard. If that is all of it, it is put in its place.

        What an earlier try had made is of use if the work `resumes`, unless the task is to begin anew.
        """
        check_machine(self.decided_by(task), task, self.decides)
        place = JobFolder(task["folder"])
        check_seen(place, self.sees(task))
        items = read_items(place.plan(task["shard"]), task["first"], task["stop"])
        scratch = place.scratch(task["shard"], task["first"], task["stop"])
        with place.doing("make a shard"):
            scratch.mkdir(parents=True, exist_ok=True)
            lock = lock_scratch(scratch)
        try:
            if task["fresh"] or not self.resumes:
                with place.doing("delete what an earlier try left"):
                    empty(scratch)
            with closing(self.rows(task, items, scratch)) as rows:
                self._write(self._made(scratch), rows, place)
            if not task["whole"]:
                return None
            put(place, task["shard"], {self.table: self._made(scratch)})
        finally:
            lock.release()
        shutil.rmtree(scratch, ignore_errors=True)
        return self.describe(task)

    def join(self, task: Task) -> Line:
        """Make a shard of its parts, given as ``[first, stop]`` in order."""
        place = JobFolder(task["folder"])
        joined = place.work / f"{task['shard']}.{self.table}"
        with place.doing("join the parts of a shard"):
            with pq.ParquetWriter(joined, self.schema, compression="zstd") as writer:
                for first, stop in task["parts"]:
                    for group in read_groups(self._made(place.scratch(task["shard"], first, stop))):
                        writer.write_table(group)
            sync(joined)
        put(place, task["shard"], {self.table: joined})
        return self.describe(task)

    def describe(self, task: Task) -> Line:
        """What the manifest says of a shard that is there."""
        return self.line(task["shard"], JobFolder(task["folder"]).file(self.table, task["shard"]))

    def _made(self, scratch: Path) -> Path:
        return scratch / f"{self.table}.parquet"

    def _write(self, path: Path, rows: Iterable[dict[str, Any]], place: JobFolder) -> None:
        """Write rows as they are made, some at a time."""
        batch: list[dict[str, Any]] = []
        chars = 0
        with place.doing("write a shard"):
            with pq.ParquetWriter(path, self.schema, compression="zstd") as writer:
                for row in rows:
                    batch.append(row)
                    chars += sum(len(value) for value in row.values() if isinstance(value, str))
                    if len(batch) >= _ROWS or chars > _CHARS:
                        writer.write_table(pa.Table.from_pylist(batch, schema=self.schema))
                        batch, chars = [], 0
                if batch:
                    writer.write_table(pa.Table.from_pylist(batch, schema=self.schema))
            sync(path)
