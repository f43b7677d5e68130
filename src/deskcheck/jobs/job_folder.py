"""The files in a job's folder.

    TABLE-HASH.parquet           the files of a complete shard: recordings and events, or other tables
    job.json                     the plan: settings, and every shard in order
    manifest.jsonl               a line for every complete shard
    .lock                        the process that drives the job
    .job/planned.jsonl           shards of an incomplete plan
    .job/plan/HASH.jsonl         the items of an incomplete shard
    .job/work/HASH.FIRST-STOP/   unfinished items of a shard
    .job/replaced/               shards of an earlier plan, until the new ones are complete

A complete job has no `.job`.
"""

import os
import re
import shutil
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from deskcheck.errors import RecordingError
from deskcheck.files import LOCK_NAME, FolderLock, disk_errors
from deskcheck.files import sync as _sync

_BUSY_S = 30.0
_FILE = re.compile(r"([a-z]+)-(\d{5,15}|[0-9a-f]{32})\.parquet")


class JobFolder:
    """The paths of a job's folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.job = self.folder / "job.json"
        self.manifest = self.folder / "manifest.jsonl"
        self.hidden = self.folder / ".job"
        self.planned = self.hidden / "planned.jsonl"
        self.plans = self.hidden / "plan"
        self.work = self.hidden / "work"
        self.replaced = self.hidden / "replaced"

    def file(self, table: str, shard: str) -> Path:
        return self.folder / f"{table}-{shard}.parquet"

    def plan(self, shard: str) -> Path:
        return self.plans / f"{shard}.jsonl"

    def scratch(self, shard: str, first: int, stop: int) -> Path:
        """The folder for unfinished items of a shard."""
        return self.work / f"{shard}.{first}-{stop}"

    def files(self) -> dict[str, set[str]]:
        """Table -> names of its shards: hashes, or numbers if no job made them."""
        shards_by_table: dict[str, set[str]] = {}
        if self.folder.is_dir():
            with self.doing("list the shards"):
                for name in os.listdir(self.folder):
                    if match := _FILE.fullmatch(name):
                        shards_by_table.setdefault(match[1], set()).add(match[2])
        return shards_by_table

    def doing(self, what: str) -> AbstractContextManager[None]:
        """Turn disk errors in the block into RecordingError. what: the action, for the message."""
        return disk_errors(self.folder, what)

    def lock(self) -> FolderLock:
        """Lock the folder for driving a job. Raises RecordingError if another process has the lock."""
        return FolderLock(self.folder)


def is_file(name: str) -> bool:
    """Whether this is the name of a shard's file."""
    return _FILE.fullmatch(name) is not None


def write_whole(path: Path, text: str, *, sync: bool = True) -> None:
    """Write a text file that is either complete or absent; with `sync`, even after a power failure."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="ascii")
    if sync:
        _sync(part)
    os.replace(part, path)


def put(job_folder: JobFolder, shard: str, files: Mapping[str, Path]) -> None:
    """Move the files of a shard into the folder, by table. The last one is the commit."""
    with job_folder.doing("move a shard into the folder"):
        for table, path in files.items():
            os.replace(path, job_folder.file(table, shard))
        _sync(job_folder.folder)


def lock_scratch(scratch: Path) -> FolderLock:
    """The lock of a scratch folder. Waits for a worker whose driver has ended, because it will end soon."""
    end = time.monotonic() + _BUSY_S
    while True:
        try:
            return FolderLock(scratch)
        except RecordingError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def empty(scratch: Path) -> None:
    """Delete the contents of a folder except its lock."""
    for path in scratch.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK_NAME:
            path.unlink()
