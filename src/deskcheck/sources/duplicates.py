"""Recordings without duplicates: without equal runs and, if wanted, near copies of programs.

The recordings of several folders are written into one folder of larger shards. Of equal recordings, the first
one remains. ``duplicates.parquet`` lists the dropped recordings, each with the one that it duplicates.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deskcheck.errors import InputError
from deskcheck.files import NotJSON, disk_errors, read_json, sync
from deskcheck.jobs.key_set import KeySet
from deskcheck.recording.reader import Recordings, read_groups
from deskcheck.recording.schema import EVENTS_SCHEMA, RECORDINGS_SCHEMA
from deskcheck.recording.writer import ShardFile
from deskcheck.sources.near import NearCopies, digest

LIST_NAME = "duplicates.parquet"
SAME_RUN, SAME_PROGRAM, NEAR = "the same run", "the same program except for names", "a near copy"
_RECORDINGS, _EVENTS = 5_000, 1_000_000
"""Numbers of recordings and of events. A shard is complete when it reaches either."""
_CALL = ("code", "mode", "entry", "arguments", "module", "sources")
"""Columns that are equal for the same run. The code of a call that a test made is only in `sources`."""


@dataclass(kw_only=True)
class Deduplicated:
    """Counts of `deduplicate`."""

    recordings: int = 0
    """Recordings in the folders."""
    kept: int = 0
    """Recordings that remain."""
    programs: int = 0
    """Programs of the remaining recordings."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Dropped recordings, by reason."""

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "dropped": dict(self.dropped)}


class _Dropped(NamedTuple):
    id: str
    same_as: str
    why: str
    similarity: float


def deduplicate(
    folders: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    near: float | None = None,
    progress: Callable[[int, int], None] = lambda finished, total: None,
) -> Deduplicated:
    """Write the recordings of several folders into a new one, each run once. `out` exists only when complete.

    Runs are the same if code, sources, call and granularity are equal.

    near: also drop programs whose similarity to an earlier one is at least this (`NearCopies`).
    progress: called with the number of finished recordings and the number of all recordings.

    Raises:
        InputError: `out` exists, or two different recordings have the same id.
        MissingExtra: `near` without the extra ``[scale]``.
        RecordingError: a folder cannot be read, or the disk refuses.
    """
    into = Path(out)
    if into.exists():
        raise InputError(f"{into}: exists already. Choose another name, or delete it.")
    sources = [Recordings(folder) for folder in folders]
    choice = _Choice(NearCopies(near) if near is not None else None)
    part = into.with_name(f"{into.name}.part")
    with disk_errors(into, "write recordings without duplicates"):
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            shards = _Shards(part)
            total = sum(map(len, sources))
            for source in sources:
                for paths in source.paths:
                    shards.add(paths, choice)
                    progress(choice.result.recordings, total)
            shards.close()
            rows = [dropped._asdict() for dropped in choice.dropped]
            pq.write_table(pa.Table.from_pylist(rows, _LIST), part / LIST_NAME, compression="zstd")
            sync(part / LIST_NAME)
            os.replace(part, into)
            sync(into.parent)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    return choice.result


_LIST = pa.schema(
    [("id", pa.string()), ("same_as", pa.string()), ("why", pa.string()), ("similarity", pa.float64())]
)


def _granularity(environment: str) -> Any:
    """The granularity of a recording, line or instruction; the unchanged text if it is damaged."""
    try:
        facts = read_json(environment)
    except NotJSON:
        return environment
    return facts.get("level") if type(facts) is dict else environment


class _Choice:
    """Decides which recordings remain."""

    def __init__(self, near: NearCopies | None) -> None:
        self.result = Deduplicated()
        self.dropped: list[_Dropped] = []
        self._near = near
        self._runs: dict[bytes, str] = {}
        """Digest of a run -> id of its first recording."""
        self._programs: dict[bytes, tuple[str, float] | None] = {}
        """Digest of a program -> (id of the run of the program that it copies, similarity); None: no copy."""
        self._firsts: list[str] = []
        """Id of the first run of each new program, by the program's number in `NearCopies`."""
        self._ids = KeySet()

    def keeps(self, row: dict[str, Any]) -> bool:
        self.result.recordings += 1
        duplicate = self._duplicate(row)
        if duplicate is not None:
            self.result.dropped[duplicate.why] += 1
            self.dropped.append(duplicate)
            return False
        if not self._ids.add(int.from_bytes(digest(row["id"])[:8], "little")):
            raise InputError(
                f"two recordings that differ have the id {row['id']!r}: give different programs different "
                f"ids."
            )
        self.result.kept += 1
        return True

    def _duplicate(self, row: dict[str, Any]) -> _Dropped | None:
        run = digest(repr([row[name] for name in _CALL] + [_granularity(row["environment"])]))
        first = self._runs.get(run)
        if first is not None:
            return _Dropped(row["id"], first, SAME_RUN, 1.0)
        self._runs[run] = row["id"]
        text = _program(row)
        program = digest(text)
        if program not in self._programs:
            self._programs[program] = self._copy_of(row["id"], text)
            self.result.programs += self._programs[program] is None
        copy = self._programs[program]
        if copy is None:
            return None
        return _Dropped(row["id"], copy[0], SAME_PROGRAM if copy[1] == 1.0 else NEAR, copy[1])

    def _copy_of(self, id_: str, program: str) -> tuple[str, float] | None:
        if self._near is None:
            return None
        original = self._near.add(program)
        if original is None:
            self._firsts.append(id_)
            return None
        return self._firsts[original[0]], original[1]


def _program(row: dict[str, Any]) -> str:
    """The text of the program that ran.

    For a call that a test made, this is the text of the function's file; if this file is not known, the texts
    of all files that ran.
    """
    if row["code"]:
        return str(row["code"])
    sources: dict[str, str] = read_json(row["sources"], "column sources")
    file = (row["module"] or "").replace(".", "/") + ".py"
    return sources.get(file, "\n".join(sources.values()))


class _Shards:
    """Writes shards one after another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0
        self._open: tuple[ShardFile, ShardFile] | None = None
        self._recordings = self._events = 0

    def add(self, paths: dict[str, Path], choice: _Choice) -> None:
        """Write the remaining recordings of a shard."""
        if self._open is None:
            self._open = (
                ShardFile(self._path("events"), "events", EVENTS_SCHEMA),
                ShardFile(self._path("recordings"), "recordings", RECORDINGS_SCHEMA),
            )
        events, recordings = self._open
        ids = []
        for row in _rows(paths["recordings"]):
            if not choice.keeps(row):
                continue
            ids.append(row["id"])
            row["first_row"] = self._events
            self._events += row["n_events"]
            self._recordings += 1
            recordings.add(pa.RecordBatch.from_pylist([row], schema=RECORDINGS_SCHEMA))
        kept_ids = pa.array(ids, pa.string())
        for table in read_groups(paths["events"], EVENTS_SCHEMA):
            for batch in table.filter(pc.is_in(table.column("recording"), kept_ids)).to_batches():
                events.add(batch)
        if self._recordings >= _RECORDINGS or self._events >= _EVENTS:
            self.close()

    def _path(self, table: str) -> Path:
        return self.folder / f"{table}-{self.number:05d}.parquet"

    def close(self) -> None:
        if self._open is None:
            return
        for file in self._open:
            file.__exit__(None)
        for table in ("events", "recordings"):
            sync(self._path(table))
        self._open = None
        self._recordings = self._events = 0
        self.number += 1


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for table in read_groups(path, RECORDINGS_SCHEMA):
        for batch in table.to_batches(max_chunksize=64):
            yield from batch.to_pylist()
