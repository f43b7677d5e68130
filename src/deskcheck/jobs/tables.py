"""The work of a job whose shard is one Parquet file, with a row for each item.

A module of work defines a `TableWork`, which makes the rows and their line in the manifest. Its ``TASKS`` are
those of `TableWork.tasks`. Not covered: shards of several files, such as recordings with events, and lessons.
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
"""Number and size of rows that are collected before they are written."""

Task = dict[str, Any]
Rows = Generator[dict[str, Any], None, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWork:
    """How the shards of a kind of job are made."""

    table: str
    """The beginning of the names of their files."""
    schema: pa.Schema
    decided_by: Callable[[Task], str]
    """Digest of everything on this machine that decides the rows."""
    decides: str
    """Words for what may differ between machines."""
    sees: Callable[[Task], Iterable[Path]] = lambda task: ()
    """Paths that every machine must see beside the job's folder."""
    rows: Callable[[Task, Sequence[Any], Path], Rows]
    """Makes the rows of some items, with a folder that lasts until the shard is complete."""
    resumes: bool = False
    """Whether the folder of an earlier try is reused."""
    line: Callable[[str, Path], Line]
    """The line of the manifest for a shard and its file."""

    def tasks(self) -> dict[str, Callable[[Task], Line | None]]:
        """The ``TASKS`` of a module of work, for `work.run_task`."""
        return {"make": self.make, "join": self.join, "describe": self.describe}

    def make(self, task: Task) -> Line | None:
        """Make the rows of items FIRST to STOP of a shard. A complete shard is moved into the job's folder.

        The results of an earlier try are reused if the work `resumes`, unless the task is ``fresh``.
        """
        check_machine(self.decided_by(task), task, self.decides)
        job_folder = JobFolder(task["folder"])
        check_seen(job_folder, self.sees(task))
        items = read_items(job_folder.plan(task["shard"]), task["first"], task["stop"])
        scratch = job_folder.scratch(task["shard"], task["first"], task["stop"])
        with job_folder.doing("make a shard"):
            scratch.mkdir(parents=True, exist_ok=True)
            lock = lock_scratch(scratch)
        try:
            if task["fresh"] or not self.resumes:
                with job_folder.doing("delete the files of an earlier try"):
                    empty(scratch)
            with closing(self.rows(task, items, scratch)) as rows:
                self._write(self._made(scratch), rows, job_folder)
            if not task["whole"]:
                return None
            put(job_folder, task["shard"], {self.table: self._made(scratch)})
        finally:
            lock.release()
        shutil.rmtree(scratch, ignore_errors=True)
        return self.describe(task)

    def join(self, task: Task) -> Line:
        """Join the parts of a shard, which the task lists as ``[first, stop]`` in order."""
        job_folder = JobFolder(task["folder"])
        joined = job_folder.work / f"{task['shard']}.{self.table}"
        with job_folder.doing("join the parts of a shard"):
            with pq.ParquetWriter(joined, self.schema, compression="zstd") as writer:
                for first, stop in task["parts"]:
                    for group in read_groups(self._made(job_folder.scratch(task["shard"], first, stop))):
                        writer.write_table(group)
            sync(joined)
        put(job_folder, task["shard"], {self.table: joined})
        return self.describe(task)

    def describe(self, task: Task) -> Line:
        """The line of the manifest for an existing shard."""
        return self.line(task["shard"], JobFolder(task["folder"]).file(self.table, task["shard"]))

    def _made(self, scratch: Path) -> Path:
        return scratch / f"{self.table}.parquet"

    def _write(self, path: Path, rows: Iterable[dict[str, Any]], job_folder: JobFolder) -> None:
        """Write rows while they are made, some at a time."""
        batch: list[dict[str, Any]] = []
        chars = 0
        with job_folder.doing("write a shard"):
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
