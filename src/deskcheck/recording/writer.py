"""The one writer of recordings on disk: Parquet shards that are whole or absent.

It takes over the finished recordings of a killed writer. A finished recording survives the death of the
process (kill -9 too), because it was renamed into ``.spool``, but may be lost in a power failure. A shard is
synced before it gets its name and survives both.
"""

import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from deskcheck.errors import InputError, RecordingError
from deskcheck.files import FolderLock, disk_errors, read_file, read_json, sync
from deskcheck.recording.program import Program
from deskcheck.recording.reader import Cache, ParquetFile, ShardReader, shard_names
from deskcheck.recording.recording import Recording
from deskcheck.recording.schema import (
    CODED_SCHEMA,
    DICTIONARY,
    ENCODING,
    EVENTS_SCHEMA,
    HASH_CHARS,
    RECORDINGS_SCHEMA,
    SPOOL_NAME,
    STATISTICS,
    file_name,
)
from deskcheck.recording.spool import (
    Finished,
    Spool,
    SpooledBlocks,
    events_of,
    program_row,
    read_finished,
    spool_damaged,
    spooled_frames,
)

# Whichever comes first ends a row group of a shard; in bytes for the reason given at `spool._BATCH_BYTES`.
_GROUP_ROWS, _GROUP_BYTES = 65_536, 16 << 20
_PAGE_BYTES = 8 << 20
_BATCHES = 100
"""Number of batches that are kept before they are joined: each takes some 15 KB besides its contents."""
TABLES = ("recordings", "events")
"""The files of a shard. The first is renamed last: it is the commit."""


class Writer:
    """Writes recordings into a folder, which is made if needed. A folder can have one writer at a time.

    A writer keeps the finished recordings of an earlier one and deletes unfinished ones. `done` has the ids
    of the finished ones. Leaving the block, also by an exception, writes the finished recordings and abandons
    the others.

        with Writer("runs/crux") as writer:
            for program in programs:
                if program.id not in writer.done:
                    spool = writer.begin(program)
                    ...

    Several recordings may be open at once, each used by one thread at a time. The call of `Spool.finish` that
    reaches `shard_recordings` or `shard_events` writes a shard.

    prepare: called once the folder is locked.

    Raises:
        RecordingError: the folder cannot be written to, another writer has it, or a shard in it is damaged.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        shard_recordings: int = 256,
        shard_events: int = 1_000_000,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        for name, value in (("shard_recordings", shard_recordings), ("shard_events", shard_events)):
            if value < 1:
                raise InputError(
                    f"{name}={value} must be at least 1. For one large shard, choose a large number."
                )
        self.folder = Path(folder)
        self._spool_folder = self.folder / SPOOL_NAME
        self._shard_recordings = shard_recordings
        self._shard_events = shard_events
        self._pid = os.getpid()
        self._closed = False
        self._guard = threading.Lock()  # the four below
        self._recorded: dict[str, None] = {}
        self._open: dict[str, Spool] = {}
        self._finished: list[Finished] = []
        self._spooled = 0
        self._sharding = threading.Lock()  # one shard is written at a time; the number of the next
        self._number = 0
        with disk_errors(self.folder, "write recordings here"):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(self.folder)
            try:
                self._refuse_a_job()
                prepare()
                self._spool_folder.mkdir(exist_ok=True)
                self._recover()
            except BaseException:
                self._lock.release()
                raise

    @property
    def done(self) -> AbstractSet[str]:
        """Ids of all finished recordings, including those of earlier writers. Grows with each new one."""
        return self._recorded.keys()

    def begin(self, program: Program) -> "Spool":
        """Open a recording of a program. Call either its `finish` or its `abandon`.

        Raises:
            InputError: the folder has a recording of that id, or one is open; or a field of the program
                cannot be saved.
        """
        row = program_row(program)
        with self._guard:
            self._refuse_if_closed()
            if program.id in self._recorded or program.id in self._open:
                state = "recorded already" if program.id in self._recorded else "being recorded"
                raise InputError(
                    f"{self.folder}: program {program.id!r} is {state}. "
                    "Skip the ids in Writer.done, and give every program of a folder a different id."
                )
            stem = self._spool_folder / f"{self._spooled:08d}"
            self._spooled += 1
            spool = Spool(program.id, row, stem, finished=self._add, abandoned=self._drop)
            self._open[program.id] = spool
        return spool

    def flush(self) -> None:
        """Write the finished recordings into shards. Later ones go into new shards.

        Raises:
            RecordingError: the disk refuses; the finished recordings wait in the folder.
        """
        self._refuse_if_closed()
        self._write_shards(everything=True)

    def close(self) -> None:
        """Abandon open recordings, write finished ones into shards, and release the folder.

        If writing the last shards fails, the finished recordings wait in the folder for the next writer.
        """
        # A fork of this process that leaves the with block must not touch its parent's files.
        if self._closed or os.getpid() != self._pid:
            return
        with self._guard:
            self._closed = True
            still_open = list(self._open.values())
        try:
            for spool in still_open:
                spool.abandon()
            self._write_shards(everything=True)
            try:
                self._spool_folder.rmdir()
            except OSError:
                pass
        finally:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        try:
            self.close()
        except RecordingError as second:
            error.add_note(f"Closing the recordings failed too: {second}")

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise RecordingError.at(self.folder, "the writer is closed. Open a new Writer.")

    def _refuse_a_job(self) -> None:
        names = shard_names(self.folder)
        if any(len(name) == HASH_CHARS for name in names["recordings"] | names["events"]):
            raise InputError(
                f"{self.folder}: contains the shards of a job: rerun its command (--shards) to continue, or "
                "choose another folder."
            )

    def _recover(self) -> None:
        """Find the finished recordings, and delete what a killed writer left unfinished.

        A writer can die at any point, also here. So every step can be repeated.
        """
        cache = Cache()
        shards = shard_names(self.folder)
        numbers = {table: {int(name) for name in names} for table, names in shards.items()}
        self._number = max(numbers["recordings"] | numbers["events"], default=-1) + 1
        for number in sorted(numbers["recordings"]):
            self._recorded.update(dict.fromkeys(ShardReader(self.folder, number, cache).ids()))
        waiting: dict[str, Finished] = {}
        for path in sorted(self._spool_folder.glob("*.json")):
            finished = read_finished(path)
            if finished is not None and finished.id not in self._recorded:
                waiting[finished.id] = finished
        for number in sorted(numbers["events"] - numbers["recordings"]):
            self._delete_half_shard(self.folder / file_name("events", number), waiting.keys(), cache)
        waiting_paths = {path for finished in waiting.values() for path in (finished.row, finished.events)}
        for path in self._spool_folder.iterdir():
            if path not in waiting_paths and not (path.is_dir() and not path.is_symlink()):
                path.unlink()
            digits = re.match(r"[0-9]+", path.stem)
            self._spooled = max(self._spooled, int(digits[0]) + 1 if digits else 0)
        self._finished = list(waiting.values())
        self._recorded.update(dict.fromkeys(waiting))

    def _delete_half_shard(self, path: Path, waiting: AbstractSet[str], cache: "Cache") -> None:
        """Delete an events file whose writer died before it named the partner.

        Only if all its recordings are still in the spool: else the partner was removed later.
        """
        if not set(ParquetFile(path, EVENTS_SCHEMA, cache).column("recording")) <= waiting:
            raise RecordingError.at(
                path,
                f"its partner {path.name.replace('events', 'recordings')} is missing. "
                "Put that back, or move this file away.",
            )
        path.unlink()

    def _add(self, finished: Finished) -> None:
        with self._guard:
            self._open.pop(finished.id, None)
            self._recorded[finished.id] = None
            self._finished.append(finished)
        self._write_shards()

    def _drop(self, id_: str) -> None:
        with self._guard:
            self._open.pop(id_, None)

    def _take(self, everything: bool) -> list[Finished]:
        """Remove the recordings of the next shard from the list; none if the shard would not be full."""
        with self._guard:
            events = 0
            for count, finished in enumerate(self._finished, 1):
                events += finished.n_events
                if count == self._shard_recordings or events >= self._shard_events:
                    break
            else:
                count = len(self._finished) if everything else 0
            taken, self._finished = self._finished[:count], self._finished[count:]
            return taken

    def _write_shards(self, everything: bool = False) -> None:
        with self._sharding:
            if (
                self._closed and not everything
            ):  # another thread closed the writer; the next one takes it over
                return
            while taken := self._take(everything):
                recordings = self.folder / file_name("recordings", self._number)
                try:
                    with disk_errors(recordings, "write this shard"):
                        self._write_shard(taken)
                except BaseException:
                    if not recordings.exists():
                        with self._guard:
                            self._finished[:0] = taken
                    raise
                finally:
                    if recordings.exists():
                        self._number += 1

    def _write_shard(self, taken: list[Finished]) -> None:
        names = {table: file_name(table, self._number) for table in ("events", "recordings")}
        parts = {table: self._spool_folder / f"{name}.part" for table, name in names.items()}
        try:
            first_row = 0
            with (
                ShardFile(parts["events"], "events", EVENTS_SCHEMA) as events,
                ShardFile(parts["recordings"], "recordings", RECORDINGS_SCHEMA) as recordings,
            ):
                for finished in taken:
                    row = read_json(read_file(finished.row), str(finished.row))
                    row["first_row"] = first_row
                    recordings.add(pa.RecordBatch.from_pylist([row], schema=RECORDINGS_SCHEMA))
                    first_row += finished.n_events
                for batch in _batches(taken):
                    events.add(batch)
                    events.flush()
            for part in parts.values():
                sync(part)
            # The recordings file is the commit: until it has its name, the shard is not there.
            os.replace(parts["events"], self.folder / names["events"])
            os.replace(parts["recordings"], self.folder / names["recordings"])
            sync(self.folder)
        except BaseException:
            leftovers = list(parts.values())
            if not (self.folder / names["recordings"]).exists():
                leftovers.append(self.folder / names["events"])
            for path in leftovers:
                path.unlink(missing_ok=True)
            raise
        for finished in taken:
            finished.row.unlink()
            finished.events.unlink(missing_ok=True)


def _batches(taken: list[Finished]) -> Iterator[Any]:
    """The events of finished recordings, in batches of the size of a row group."""
    frames: list[tuple[str, SpooledBlocks]] = []
    rows = weight = 0
    for finished in taken:
        try:
            for frame in spooled_frames(finished):
                frames.append((finished.id, frame))
                rows += frame.events
                weight += frame.weight
                if rows >= _GROUP_ROWS or weight >= _GROUP_BYTES:
                    yield events_of(frames)
                    frames, rows, weight = [], 0, 0
        except ValueError as error:
            spool_damaged(finished, str(error))
    if frames:
        yield events_of(frames)


def save_recording(recording: Recording, folder: str | os.PathLike[str], *, id: str | None = None) -> str:
    """Add a recording in memory to a folder; returns its id there (`Recording.save`)."""
    path = Path(folder)
    if (path.exists() and not path.is_dir()) or (path.suffix in _FILES and not path.is_dir()):
        raise InputError(
            f"{path}: recordings are kept in a folder: name one. For the trace page as one file: "
            "recording.to_html(FILE)"
        )
    with Writer(path) as writer:
        name = free_id(recording.id, writer.done) if id is None else id
        if name in writer.done:
            raise InputError(
                f"{path}: has a recording {name!r} already. Choose another id, or none: it gets a number."
            )
        with writer.begin(replace(recording.program, id=name)) as spool:
            for trace in recording.traces:
                for row in trace.rows:
                    spool.write(json.dumps(row))
            spool.finish(
                recording.run_result,
                recording.environment,
                repeatable=recording.repeatable,
                difference=recording.difference,
            )
    return name


_FILES = frozenset({".html", ".json", ".jsonl", ".parquet"})


def free_id(name: str, taken: AbstractSet[str]) -> str:
    """The name, with a number if it is taken."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    return candidate


def delete(folder: Path, ids: AbstractSet[str]) -> None:
    """Delete these recordings from the spool, and shards that contain only these.

    The caller has the lock of the folder. If this was interrupted, repeat it before the next writer starts.
    """
    for path in (folder / SPOOL_NAME).glob("*.json"):
        finished = read_finished(path)
        if finished is not None and finished.id in ids:
            finished.row.unlink()
            finished.events.unlink(missing_ok=True)
    cache = Cache()
    shards = shard_names(folder)
    for number in map(int, shards["recordings"] | shards["events"]):
        recordings, events = (folder / file_name(table, number) for table in ("recordings", "events"))
        if recordings.exists():
            ids_inside = ParquetFile(recordings, RECORDINGS_SCHEMA, cache).column("id")
        else:  # half written, or half deleted
            ids_inside = ParquetFile(events, EVENTS_SCHEMA, cache).column("recording")
        if ids >= set(ids_inside):
            recordings.unlink(missing_ok=True)
            events.unlink(missing_ok=True)


class ShardFile:
    """A Parquet file in the making: batches go in, row groups of even size come out."""

    def __init__(self, path: Path, table: str, schema: Any) -> None:
        self._schema = CODED_SCHEMA if table == "events" else schema
        self._batches: list[Any] = []
        self._rows = self._bytes = 0
        self._joined = 0
        """The number of batches that were joined from many."""
        self._writer = pq.ParquetWriter(
            str(path),
            self._schema,
            compression="zstd",
            use_dictionary=DICTIONARY[table],
            column_encoding=ENCODING[table],
            write_statistics=STATISTICS[table],
            write_page_checksum=True,
            write_batch_size=_GROUP_ROWS,
            data_page_size=_PAGE_BYTES,
            store_schema=False,
        )
        self._writer.add_key_value_metadata(schema.metadata)

    def add(self, batch: Any) -> None:
        batch = batch.cast(self._schema)
        self._batches.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if len(self._batches) - self._joined >= _BATCHES:
            small = pa.Table.from_batches(self._batches[self._joined :], self._schema)
            self._batches[self._joined :] = small.combine_chunks().to_batches()
            self._joined = len(self._batches)
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        """End the row group."""
        if self._batches:
            table = pa.Table.from_batches(self._batches, self._schema).unify_dictionaries()
            self._writer.write_table(table, row_group_size=self._rows)
        self._batches, self._rows, self._bytes, self._joined = [], 0, 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.flush()
            self._writer.close()
            return
        try:
            self._writer.close()
        except (OSError, pa.ArrowException):  # what happened first is what to report
            pass


def join_shards(
    sources: list[dict[str, Path]], into: dict[str, Path], metadata: dict[str, str] | None = None
) -> None:
    """Write several shards as one, row group by row group.

    sources, into: the path of each table.
    metadata: additional metadata of the recordings file.
    """
    first_row = 0
    schema = RECORDINGS_SCHEMA.with_metadata({**RECORDINGS_SCHEMA.metadata, **(metadata or {})})
    with (
        ShardFile(into["events"], "events", EVENTS_SCHEMA) as events,
        ShardFile(into["recordings"], "recordings", schema) as recordings,
    ):
        for source in sources:
            with pq.ParquetFile(source["recordings"], pre_buffer=False) as file:
                for group in range(file.num_row_groups):
                    rows = file.read_row_group(group, use_threads=False).to_pylist()
                    for row in rows:
                        row["first_row"] += first_row
                    recordings.add(pa.RecordBatch.from_pylist(rows, schema=RECORDINGS_SCHEMA))
            with pq.ParquetFile(source["events"], pre_buffer=False) as file:
                for group in range(file.num_row_groups):
                    for batch in file.read_row_group(group, use_threads=False).to_batches():
                        events.add(batch)
                first_row += file.metadata.num_rows
    for path in into.values():
        sync(path)
