"""Where in a job's folder everything is.

    recordings-HASH.parquet, events-HASH.parquet   a shard that is whole
    job.json                                       the plan: settings, and every shard in order
    manifest.jsonl                                 a line for every shard that is whole
    .lock                                          who drives the job
    .job/plan/HASH.jsonl                           programs of a shard that is not
    .job/work/HASH.FIRST-STOP/                     a writer's folder: those programs of it, being recorded
    .job/replaced/                                 shards of an earlier plan, until those in their place
    are whole

When a job is whole `.job` is gone.
"""

import os
from contextlib import AbstractContextManager
from pathlib import Path

from deskcheck.recording.file import _disk, _file_name, _FolderLock, _shard_names, _sync

TABLES = ("recordings", "events")


class Place:
    """The paths of a job's folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.job = self.folder / "job.json"
        self.manifest = self.folder / "manifest.jsonl"
        self.hidden = self.folder / ".job"
        self.plans = self.hidden / "plan"
        self.work = self.hidden / "work"
        self.replaced = self.hidden / "replaced"

    def file(self, table: str, shard: str) -> Path:
        return self.folder / _file_name(table, shard)

    def plan(self, shard: str) -> Path:
        return self.plans / f"{shard}.jsonl"

    def shards(self) -> set[str]:
        """Shards that are there: the recordings file is the commit."""
        return _shard_names(self.folder)["recordings"] if self.folder.is_dir() else set()

    def events(self) -> set[str]:
        """Shards of which the events file is there: whole, or half put in their place."""
        return _shard_names(self.folder)["events"]

    def doing(self, what: str) -> AbstractContextManager[None]:
        """What the disk refuses in the block becomes a RecordingError."""
        return _disk(self.folder, what)

    def lock(self) -> _FolderLock:
        """The right to drive a job here. Raises RecordingError where another process has it."""
        return _FolderLock(self.folder)


def write_whole(path: Path, text: str, *, sync: bool = True) -> None:
    """Write a text file that is whole or absent; with `sync`, after a power failure too."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="ascii")
    if sync:
        _sync(part)
    os.replace(part, path)
