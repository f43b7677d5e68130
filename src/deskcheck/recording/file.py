"""Recordings on disk: a folder of Parquet shards, its one writer and its one reader.

docs/format.md describes the columns. `Writer` makes shards that are whole or absent and takes over
what a killed writer left; `Recordings` reads them lazily. The encoded values in the JSON columns are
not looked at here: `deskcheck.recording.trace` and `deskcheck.recording.value` read those.

What survives what: a finished recording survives the death of the process (kill -9 too), because it
lies in ``.spool`` and came there by a rename; it may be lost when the power fails. A shard is
synced before it gets its name and survives both.
"""

import errno
import fcntl
import itertools
import json
import logging
import os
import re
import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self, overload

import pyarrow as pa
import pyarrow.parquet as pq

from deskcheck.recording.block import KINDS, MAGIC, TEXTS
from deskcheck.recording.block import rows as block_rows
from deskcheck.recording.errors import InputError, RecordingError
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Program
from deskcheck.recording.recording import Ending, Recording
from deskcheck.recording.rules import Checker, row_of
from deskcheck.recording.rules import check as check_rows
from deskcheck.recording.trace import Row, Trace

_columns: Any
try:
    from deskcheck.recording import _columns
except ImportError:  # not built: the same in Python
    _columns = None

_log = logging.getLogger(__name__)
FORMAT = 1
"""Version of the columns that this module writes; it reads this one and all before it."""


def _schema(*columns: tuple[str, Any, bool]) -> Any:
    return pa.schema(
        [pa.field(name, type_, nullable=nullable) for name, type_, nullable in columns],
        metadata={"deskcheck.format": str(FORMAT)},
    )


RECORDINGS_SCHEMA = _schema(
    ("id", pa.string(), False),
    ("code", pa.string(), False),
    ("mode", pa.string(), False),
    ("filename", pa.string(), False),
    ("entry", pa.string(), True),
    ("arguments", pa.string(), True),
    ("module", pa.string(), True),
    ("path", pa.string(), True),
    ("expected", pa.string(), True),
    ("source", pa.string(), False),
    ("licence", pa.string(), True),
    ("train_ok", pa.bool_(), False),
    ("date", pa.string(), True),
    ("extra", pa.string(), False),
    ("outcome", pa.string(), False),
    ("detail", pa.string(), False),
    ("exception", pa.string(), True),
    ("result", pa.string(), True),
    ("result_builtin", pa.bool_(), False),
    ("stdout", pa.string(), False),
    ("stderr", pa.string(), False),
    ("exit_status", pa.int64(), True),
    ("cpu_s", pa.float64(), True),
    ("wall_s", pa.float64(), True),
    ("cut", pa.string(), True),
    ("sources", pa.string(), False),
    ("packages", pa.string(), False),
    ("environment", pa.string(), False),
    ("python", pa.string(), False),
    ("hash_seed", pa.int64(), True),
    ("repeatable", pa.bool_(), True),
    ("difference", pa.string(), True),
    ("threads", pa.int32(), False),
    ("n_events", pa.int64(), False),
    ("first_row", pa.int64(), False),
    ("format", pa.int32(), False),
)
_RECORDINGS_JSON = frozenset({"extra", "sources", "packages", "environment"})

EVENTS_SCHEMA = _schema(
    ("recording", pa.string(), False),
    ("thread", pa.int32(), False),
    ("index", pa.int64(), False),
    ("kind", pa.string(), False),
    ("frame", pa.int32(), False),
    ("function", pa.string(), False),
    ("file", pa.string(), False),
    ("line", pa.int32(), False),
    ("offset", pa.int32(), False),
    ("locals", pa.string(), True),
    ("stack", pa.string(), True),
    ("globals", pa.string(), True),
    ("objects", pa.string(), True),
    ("caller", pa.string(), True),
    ("value", pa.string(), True),
    ("output", pa.string(), True),
    ("instruction", pa.string(), True),
    ("left_out", pa.string(), True),
)
assert tuple(EVENTS_SCHEMA.names[1:]) == Row._fields
_LATER = ("left_out",)
"""Columns that files written before there were any lack; nullable, the last of their table."""

_SPOOL_SCHEMA = EVENTS_SCHEMA.remove(0)
# Nothing here uses Arrow's pools of threads (hence pre_buffer=False below, too): the process may fork, and
# threads do not survive that.
_WRITE_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
_READ_OPTIONS = pa.ipc.IpcReadOptions(use_threads=False)
_DICTIONARY = {
    "events": ["recording", "kind", "function", "file"],
    "recordings": ["mode", "filename", "source", "licence", "outcome", "environment", "python"],
}
# Bounds on the rows of a page are what make `recording = 'x'` skip row groups; on JSON text they are ballast.
_ENCODING: dict[str, dict[str, str] | None] = {
    "recordings": None,
    "events": {"index": "DELTA_BINARY_PACKED"},  # counts up: 15 to 47 % of the file without it
}
_STATISTICS = {
    "events": ["recording", "thread", "index", "kind", "frame", "function", "file", "line"],
    "recordings": ["id", "mode", "source", "licence", "train_ok", "date", "outcome", "python"],
}

# Whichever comes first ends a batch of the spool, a row group of a shard. Ten thousand events with a
# megabyte of locals each must not be decoded together, hence the bounds in bytes.
_BATCH_ROWS, _BATCH_BYTES = 4096, 2 << 20
_GROUP_ROWS, _GROUP_BYTES = 65_536, 16 << 20
_PAGE_ROWS = 1024
"""How many rows a reader turns into Python objects at a time."""
_CACHED_GROUPS = 3
_EVENT_BYTES_MAX = 1 << 30
"""Arrow's string arrays hold less than 2 GiB."""

_SHARD_NAME = re.compile(r"(recordings|events)-(\d{5,15}|[0-9a-f]{32})\.parquet")
"""A writer numbers its shards; a job (`deskcheck.scale`) calls them after what is in them."""
_HASH_CHARS = 32
OF_KEY = "deskcheck.of"
"""In the metadata of a recordings file that was made of several, shard after shard
(`deskcheck.scale.compact`): a JSON object that says of each at which recording and at which event it begins
here."""
COMPACTING_NAME = ".compacting"
"""A file that is in the folder while that is done."""
_LOCK_NAME = ".lock"
_SPOOL_NAME = ".spool"


def _file_name(table: str, shard: int | str) -> str:
    return f"{table}-{shard:05d}.parquet" if isinstance(shard, int) else f"{table}-{shard}.parquet"


# ---------------------------------------------------------------------------------------------------
# Errors
# ---------------------------------------------------------------------------------------------------

_WAYS_OUT = {
    errno.ENOSPC: "The disk is full: free some space and start again. Every finished recording is kept.",
    errno.EDQUOT: "The disk quota is used up: free some space and start again. "
    "Every finished recording is kept.",
    errno.EFBIG: "A file would pass the limit on file size: raise it (ulimit -f) and start again. "
    "Every finished recording is kept.",
    errno.EROFS: "Choose a folder on a disk that can be written to.",
    errno.EACCES: "Choose a folder that you may write to, or change its permissions.",
    errno.EPERM: "Choose a folder that you may write to, or change its permissions.",
    errno.ENOTDIR: "A file stands where a folder is needed: choose another folder.",
    errno.EEXIST: "A file stands where a folder is needed: choose another folder.",
    errno.EMFILE: "Too many files are open: raise the limit (ulimit -n), or have fewer recordings open.",
}


@contextmanager
def _disk(path: Path, doing: str) -> Iterator[None]:
    """Turn what the file system says into a RecordingError that names the place and the way out."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        way_out = _WAYS_OUT.get(error.errno or 0, "")
        raise RecordingError(f"{path}: cannot {doing}: {reason}. {way_out}".rstrip(), str(path)) from error


_RESTORE = (
    "Restore it from a copy, or move it and its partner of the same number away: "
    "the programs in it are then recorded again."
)
_OTHERS = "To read the other shards use allow_truncated=True."


def _unreadable(path: Path, error: Exception) -> RecordingError:
    return RecordingError(
        f"{path}: damaged: {error}. {_RESTORE}",
        str(path),
    )


def _bad_recording(path: Path, id_: str, why: str) -> RecordingError:
    return RecordingError(
        f"{path}: the recording {id_!r} is damaged: {why}. The others are whole.", str(path)
    )


# ---------------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Finished:
    """A recording in the spool: ``STEM.json`` is its row, ``STEM.arrow`` its events, if it has any."""

    id: str
    row: Path
    n_events: int

    @property
    def events(self) -> Path:
        return self.row.with_suffix(".arrow")


class Writer:
    """Writes recordings into a folder, which is made if need be. One writer per folder at a time.

    A writer first takes over what an earlier one left: finished recordings are kept, unfinished ones
    deleted. `done` then holds the id of every recording that need not be made again. Use it as a
    context manager: leaving the block, by an exception or Ctrl-C too, turns everything finished into
    shards and abandons the rest.

        with Writer("runs/crux") as writer:
            for program in programs:
                if program.id not in writer.done:
                    spool = writer.begin(program)
                    ...

    Several recordings may be open at once, each used by one thread at a time. A shard is written by
    the call of `Spool.finish` that makes `shard_recordings` or `shard_events` full. prepare: is called when
    the folder is this writer's, before it looks at what is there.

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
                    f"{name}={value} must be at least one. To have one large shard, make it large."
                )
        self.folder = Path(folder)
        self._spool_folder = self.folder / _SPOOL_NAME
        self._shard_recordings = shard_recordings
        self._shard_events = shard_events
        self._pid = os.getpid()
        self._closed = False
        self._guard = threading.Lock()  # the four below
        self._done: dict[str, None] = {}
        self._open: dict[str, Spool] = {}
        self._finished: list[_Finished] = []
        self._spooled = 0
        self._sharding = threading.Lock()  # one shard is written at a time; the number of the next
        self._number = 0
        with _disk(self.folder, "write recordings here"):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = _FolderLock(self.folder)
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
        """Ids of all recordings that are finished, whoever finished them. Grows while recordings are made."""
        return self._done.keys()

    def begin(self, program: Program) -> "Spool":
        """Open a recording of a program. Exactly one of its `finish` and `abandon` is to be called.

        Raises:
            InputError: the folder has a recording of that id, or one is open; or a field of the program
                cannot be saved.
        """
        row = _program_row(program)
        with self._guard:
            self._refuse_if_closed()
            if program.id in self._done or program.id in self._open:
                state = "recorded already" if program.id in self._done else "being recorded"
                raise InputError(
                    f"{self.folder}: program {program.id!r} is {state}. "
                    "Skip the ids in Writer.done, and give every program of a folder an id of its own."
                )
            stem = self._spool_folder / f"{self._spooled:08d}"
            self._spooled += 1
            spool = self._open[program.id] = Spool(self, program.id, row, stem)
        return spool

    def flush(self) -> None:
        """Write what is finished into shards, so that what comes next is in others.

        Raises:
            RecordingError: the disk refuses; what is finished waits in the folder.
        """
        self._refuse_if_closed()
        self._write_shards(everything=True)

    def close(self) -> None:
        """Abandon what is open, write what is finished into shards, let go of the folder.

        Should the last shards fail to be written, what is finished waits in the folder for the next writer.
        """
        # A fork of this process that leaves the with block must not touch what is its parent's.
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
            raise RecordingError(f"{self.folder}: the writer is closed. Open a new Writer.", str(self.folder))

    def _refuse_a_job(self) -> None:
        found = _shard_names(self.folder)
        if any(len(name) == _HASH_CHARS for name in found["recordings"] | found["events"]):
            raise InputError(
                f"{self.folder}: holds the shards of a job: record on with its own command (--shards), or "
                "choose another folder."
            )

    def _recover(self) -> None:
        """Find what is recorded, and make the folder what it is between two writers.

        A writer can die at any point, so every step here may be found half done and is done again.
        """
        cache = _Cache()
        found = _shard_names(self.folder)
        numbers = {table: {int(name) for name in names} for table, names in found.items()}
        self._number = max(numbers["recordings"] | numbers["events"], default=-1) + 1
        for number in sorted(numbers["recordings"]):
            self._done.update(dict.fromkeys(_Shard(self.folder, number, cache).ids()))
        waiting: dict[str, _Finished] = {}
        for path in sorted(self._spool_folder.glob("*.json")):
            finished = _read_finished(path)
            if finished is not None and finished.id not in self._done:
                waiting[finished.id] = finished
        for number in sorted(numbers["events"] - numbers["recordings"]):
            self._delete_half_shard(self.folder / _file_name("events", number), waiting.keys(), cache)
        kept = {path for finished in waiting.values() for path in (finished.row, finished.events)}
        for path in self._spool_folder.iterdir():
            if path not in kept:
                path.unlink()
            self._spooled = max(self._spooled, int("0" + "".join(filter(str.isdigit, path.stem))) + 1)
        self._finished = list(waiting.values())
        self._done.update(dict.fromkeys(waiting))

    def _delete_half_shard(self, path: Path, waiting: AbstractSet[str], cache: "_Cache") -> None:
        """Delete an events file that a writer had named when it died before naming its partner.

        Only if everything in it is still in the spool: else somebody took the partner away.
        """
        if not set(_File(path, EVENTS_SCHEMA, cache).column("recording")) <= waiting:
            raise RecordingError(
                f"{path}: its partner {path.name.replace('events', 'recordings')} is missing. "
                "Put that back, or move this file away.",
                str(path),
            )
        path.unlink()

    def _add(self, finished: _Finished) -> None:
        with self._guard:
            self._open.pop(finished.id, None)
            self._done[finished.id] = None
            self._finished.append(finished)
        self._write_shards()

    def _take(self, everything: bool) -> list[_Finished]:
        """Take the recordings of the next shard off the list; none if it would not be full."""
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
                recordings = self.folder / _file_name("recordings", self._number)
                try:
                    with _disk(recordings, "write this shard"):
                        self._write_shard(taken)
                except BaseException:
                    if not recordings.exists():
                        with self._guard:
                            self._finished[:0] = taken
                    raise
                finally:
                    if recordings.exists():
                        self._number += 1

    def _write_shard(self, taken: list[_Finished]) -> None:
        names = {table: _file_name(table, self._number) for table in ("events", "recordings")}
        parts = {table: self._spool_folder / f"{name}.part" for table, name in names.items()}
        try:
            first_row = 0
            with (
                _ShardFile(parts["events"], "events", EVENTS_SCHEMA) as events,
                _ShardFile(parts["recordings"], "recordings", RECORDINGS_SCHEMA) as recordings,
            ):
                for finished in taken:
                    count = 0
                    for batch in _spooled_events(finished):
                        events.add(batch)
                        count += batch.num_rows
                    if count != finished.n_events:
                        _spool_damaged(finished, f"it holds {count} of {finished.n_events} events")
                    row = json.loads(finished.row.read_bytes())
                    row["first_row"] = first_row
                    recordings.add(pa.RecordBatch.from_pylist([row], schema=RECORDINGS_SCHEMA))
                    first_row += count
            for part in parts.values():
                _sync(part)
            # The recordings file is the commit: until it has its name, the shard is not there.
            os.replace(parts["events"], self.folder / names["events"])
            os.replace(parts["recordings"], self.folder / names["recordings"])
            _sync(self.folder)
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


class Spool:
    """A recording that is being made. Events go to disk in batches, so that memory stays flat.

    As a context manager it abandons the recording if the block is left without `finish`.
    """

    def __init__(self, writer: Writer, id_: str, row: dict[str, Any], stem: Path) -> None:
        self.id = id_
        self.n_events = 0
        self._writer = writer
        self._row = row
        self._path = stem.with_suffix(".arrow")
        self._checker = Checker()
        self._threads = {0}
        self._rows: list[Row] = []
        self._bytes = 0
        self._file: Any = None
        self._stream: Any = None
        self._state = "open"
        self._guard = (
            threading.Lock()
        )  # finish and abandon; Writer.close may call the latter from another thread

    def write(self, text: str | bytes) -> None:
        """Add a block of events (`recording.block`): many in binary form, or one as a JSON array of the
        fields of `Row`, in their order.

        What is no event (`recording.rules`) is refused and leaves the recording as it was, so that it
        can still be finished: with `Ending.cut`, say.

        Raises:
            RecordingError: the text is no event, or the disk refuses; then only `abandon` is left.
        """
        if self._state != "open":
            self._refuse()
        block = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        if len(block) > _EVENT_BYTES_MAX:
            self._refuse_event(block, f"longer than {_EVENT_BYTES_MAX} bytes")
        try:
            if block.startswith(MAGIC):
                self._checker.block(block)
                self._write_block(block)
                return
            row = row_of(block)
            self._checker.row(row)
        except (ValueError, OverflowError) as error:
            self._refuse_event(text, str(error))
        self._threads.add(row.thread)
        self._rows.append(row)
        self._bytes += len(block)
        self.n_events += 1
        if len(self._rows) >= _BATCH_ROWS or self._bytes >= _BATCH_BYTES:
            self._flush()

    def _write_block(self, block: bytes) -> None:
        batch, threads = _block_batch(block)
        if batch.num_rows == 0:
            return
        if self._rows:
            self._flush()
        self._threads.update(threads)
        self.n_events += batch.num_rows
        self._write_batch(batch)

    def finish(
        self,
        ending: Ending,
        environment: Environment,
        *,
        repeatable: bool | None = None,
        difference: str | None = None,
    ) -> None:
        """Complete the recording. When this returns, or when writing a shard fails in it, the recording
        survives a kill of this process: the next writer on the folder finds it.

        Raises:
            InputError: a field of the ending or the environment cannot be saved; may be called again.
            RecordingError: the disk refuses. If it was this recording that could not be saved, its id is
                not in `Writer.done`, and only `abandon` is left.
        """
        with self._guard:
            if self._state != "open":
                self._refuse()
            row = self._row | _ending_row(self.id, ending, environment, repeatable, difference)
            row |= {"threads": max(self._threads) + 1, "n_events": self.n_events, "format": FORMAT}
            part, path = self._path.with_suffix(".json.part"), self._path.with_suffix(".json")
            self._state = "failed"
            if self._rows:
                self._flush()
            with _disk(path, f"save the recording of {self.id!r}"):
                self._close_file()
                row["events_bytes"] = self._path.stat().st_size if self.n_events else 0
                part.write_text(json.dumps(row), encoding="ascii")
                os.replace(part, path)
            self._state = "finished"
        self._writer._add(_Finished(self.id, path, self.n_events))

    def abandon(self) -> None:
        """Throw the recording away. Does nothing to one that is finished."""
        with self._guard:
            if self._state in ("finished", "abandoned"):
                return
            self._state = "abandoned"
            self._rows.clear()
            try:
                with _disk(self._path, f"delete the unfinished recording of {self.id!r}"):
                    self._close_file()
                    for suffix in (".arrow", ".json.part"):
                        self._path.with_suffix(suffix).unlink(missing_ok=True)
            finally:
                with self._writer._guard:
                    self._writer._open.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _flush(self) -> None:
        was, self._state = self._state, "failed"  # an error or Ctrl-C half way would leave half a batch
        columns = [
            _array(column, field)
            for column, field in zip(zip(*self._rows, strict=True), _SPOOL_SCHEMA, strict=True)
        ]
        self._write_batch(pa.RecordBatch.from_arrays(columns, schema=_SPOOL_SCHEMA))
        self._rows.clear()
        self._bytes = 0
        self._state = was

    def _write_batch(self, batch: Any) -> None:
        was, self._state = self._state, "failed"
        with _disk(self._path, f"write events of {self.id!r}"):
            if self._stream is None:
                self._file = pa.OSFile(str(self._path), "wb")
                self._stream = pa.ipc.new_stream(self._file, _SPOOL_SCHEMA, options=_WRITE_OPTIONS)
            self._stream.write_batch(batch)
        self._state = was

    def _close_file(self) -> None:
        stream, file, self._stream, self._file = self._stream, self._file, None, None
        try:
            if stream is not None and self._state != "abandoned":
                stream.close()
        finally:
            if file is not None:
                file.close()

    def _refuse(self) -> NoReturn:
        advice = {"failed": "Its disk failed it: abandon it and record the program again."}
        raise RecordingError(
            f"{self._writer.folder}: the recording of {self.id!r} is {self._state}. "
            f"{advice.get(self._state, 'Begin another one.')}",
            str(self._writer.folder),
        )

    def _refuse_event(self, text: str | bytes, reason: str) -> NoReturn:
        raise RecordingError(
            f"{self._writer.folder}: recording {self.id!r}, event {self.n_events} is refused: {reason}: "
            f"{text[:80]!r}{'...' if len(text) > 80 else ''}. What came before it is whole: "
            "finish the recording with that, or abandon it.",
            str(self._writer.folder),
        )


def _block_batch(block: bytes) -> tuple[Any, set[int]]:
    """A block of many events as a record batch, with their threads."""
    if _columns is None:
        rows = list(block_rows(block))
        batch = pa.RecordBatch.from_arrays(
            [_array([row[i] for row in rows], field) for i, field in enumerate(_SPOOL_SCHEMA)],
            schema=_SPOOL_SCHEMA,
        )
        return batch, {row.thread for row in rows}
    count, numbers, codes, texts = _columns.columns(block, len(MAGIC))
    names = ("thread", "index", None, "frame", None, "line", "offset")
    arrays = {
        name: pa.Array.from_buffers(_SPOOL_SCHEMA.field(name).type, count, [None, pa.py_buffer(numbers[i])])
        for i, name in enumerate(names)
        if name is not None
    }
    kinds = pa.Array.from_buffers(pa.int8(), count, [None, pa.py_buffer(numbers[2])])
    code = pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(numbers[4])])
    arrays["kind"] = pa.DictionaryArray.from_arrays(kinds, pa.array(KINDS)).dictionary_decode()
    for name, values in zip(("function", "file"), zip(*codes, strict=True), strict=True):
        arrays[name] = pa.DictionaryArray.from_arrays(code, pa.array(values, pa.string())).dictionary_decode()
    for name, text in zip(TEXTS, texts, strict=True):
        if text is None:
            arrays[name] = pa.nulls(count, pa.string())
        else:
            arrays[name] = pa.StringArray.from_buffers(
                count, pa.py_buffer(text[1]), pa.py_buffer(text[2]), pa.py_buffer(text[0])
            )
    batch = pa.RecordBatch.from_arrays([arrays[name] for name in _SPOOL_SCHEMA.names], schema=_SPOOL_SCHEMA)
    return batch, {*array("i", numbers[0])}


def _array(column: Iterable[Any], field: Any) -> Any:
    try:
        return pa.array(column, field.type)
    except UnicodeEncodeError:
        return pa.array([None if text is None else _as_utf8(text) for text in column], field.type)


def _as_utf8(text: str) -> str:
    r"""The text with its lone surrogates, which UTF-8 does not have, spelled ``\udcff``.

    In a JSON text that is the same text. In plain text it is what Python does on standard error.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _as_json(value: Any, what: str) -> str:
    try:
        return _as_utf8(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what}={value!r:.80} cannot be saved as JSON: {error}") from None


def _checked(row: dict[str, Any], what: str) -> dict[str, Any]:
    """The row, if Arrow takes every value of it: a shard must not fail for one bad recording."""
    for name, value in row.items():
        field = RECORDINGS_SCHEMA.field(name)
        try:
            pa.array([value], field.type)
            if value is None and not field.nullable:
                raise TypeError("it must not be None")
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"{what}: {name}={value!r:.80} cannot be saved as {field.type}: {error}"
            ) from error
    return row


def _program_row(program: Program) -> dict[str, Any]:
    if not program.id:
        raise InputError("a program needs an id that is not empty: recordings are found by it")
    what = f"program {program.id!r}"
    row = program.to_dict()
    return _checked(row | {"extra": _as_json(row["extra"], f"{what}: extra")}, what)


def _ending_row(
    id_: str, ending: Ending, environment: Environment, repeatable: bool | None, difference: str | None
) -> dict[str, Any]:
    what = f"recording of {id_!r}"
    row = ending.to_dict() | {"outcome": Outcome(ending.outcome).value}
    row["environment"] = environment.to_dict()
    row |= {"python": environment.python, "hash_seed": environment.hash_seed}
    row |= {"repeatable": repeatable, "difference": difference}
    for name, value in row.items():
        if name in _RECORDINGS_JSON:
            row[name] = _as_json(value, f"{what}: {name}")
        elif isinstance(value, str):
            row[name] = _as_utf8(value)
    return _checked(row, what)


def _read_finished(path: Path) -> _Finished | None:
    """What a row in the spool says; None if it is not whole, as power failures leave it."""
    try:
        row = json.loads(path.read_bytes())
        finished = _Finished(row["id"], path, row["n_events"])
        if row["events_bytes"] and finished.events.stat().st_size != row["events_bytes"]:
            return None
    except (ValueError, KeyError, TypeError, FileNotFoundError):
        return None
    return finished


def _delete(folder: Path, ids: AbstractSet[str]) -> None:
    """Delete what waits of these recordings, and shards that hold nothing else. For who has the folder; where
    it was cut short it can be done again, before the next writer looks."""
    for path in (folder / _SPOOL_NAME).glob("*.json"):
        finished = _read_finished(path)
        if finished is not None and finished.id in ids:
            finished.row.unlink()
            finished.events.unlink(missing_ok=True)
    cache = _Cache()
    found = _shard_names(folder)
    for number in map(int, found["recordings"] | found["events"]):
        recordings, events = (folder / _file_name(table, number) for table in ("recordings", "events"))
        if recordings.exists():
            held = _File(recordings, RECORDINGS_SCHEMA, cache).column("id")
        else:  # half written, or half deleted
            held = _File(events, EVENTS_SCHEMA, cache).column("recording")
        if ids >= set(held):
            recordings.unlink(missing_ok=True)
            events.unlink(missing_ok=True)


def _spooled_events(finished: _Finished) -> Iterator[Any]:
    """The events of a recording in the spool, in batches, with the column that a shard has besides."""
    if not finished.n_events:
        return
    try:
        with (
            pa.OSFile(str(finished.events), "rb") as file,
            pa.ipc.open_stream(file, options=_READ_OPTIONS) as stream,
        ):
            for batch in stream:
                name = pa.repeat(pa.scalar(finished.id, pa.string()), batch.num_rows)
                lacking = len(_SPOOL_SCHEMA) - batch.num_columns  # by an earlier version: `_LATER`
                later = [pa.nulls(batch.num_rows, pa.string())] * lacking
                yield pa.RecordBatch.from_arrays([name, *batch.columns, *later], schema=EVENTS_SCHEMA)
    except (OSError, pa.ArrowInvalid) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        _spool_damaged(finished, str(error))


def _spool_damaged(finished: _Finished, reason: str) -> NoReturn:
    raise RecordingError(
        f"{finished.events}: the events of {finished.id!r} are damaged: {reason}. Delete "
        f"{finished.row.name} beside it and start again: the program is then recorded again.",
        str(finished.events),
    )


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class _ShardFile:
    """A Parquet file in the making: batches go in, row groups of even size come out."""

    def __init__(self, path: Path, table: str, schema: Any) -> None:
        self._schema = schema
        self._batches: list[Any] = []
        self._rows = self._bytes = 0
        self._writer = pq.ParquetWriter(
            str(path),
            schema,
            compression="zstd",
            use_dictionary=_DICTIONARY[table],
            column_encoding=_ENCODING[table],
            write_statistics=_STATISTICS[table],
            write_page_checksum=True,
        )

    def add(self, batch: Any) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._batches:
            self._writer.write_table(
                pa.Table.from_batches(self._batches, self._schema), row_group_size=self._rows
            )
        self._batches, self._rows, self._bytes = [], 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush()
            self._writer.close()
            return
        try:
            self._writer.close()
        except (OSError, pa.ArrowException):  # what happened first is what to report
            pass


class _FolderLock:
    """The right to write into a folder. Dies with the process, however that dies.

    A lock by `fcntl.lockf` and not by flock: forks inherit the latter, so that a forked child that
    outlives a killed writer would keep its folder locked. The former does not tell two
    writers of one process apart, hence the list.
    """

    _held: dict[str, int] = {}  # noqa: RUF012 (shared on purpose) folder -> process that holds it, of which we may be a fork
    _guard = threading.Lock()

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.realpath(folder)
        self._path = folder / _LOCK_NAME
        with self._guard:
            # Before opening the file: closing it again would let go of the lock that this process has.
            if self._held.get(self._folder) == os.getpid():
                self._refuse(f"this process ({os.getpid()})")
            while True:
                self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
                try:
                    fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if self._is_current():
                        break
                except OSError as error:
                    holder = os.read(self._fd, 200).decode("utf-8", "replace").strip()
                    os.close(self._fd)
                    if error.errno in (errno.EACCES, errno.EAGAIN):
                        self._refuse(holder or "another process")
                    raise
                os.close(self._fd)
            os.ftruncate(self._fd, 0)
            os.write(self._fd, f"process {os.getpid()} on {os.uname().nodename}\n".encode())
            self._held[self._folder] = os.getpid()

    @classmethod
    def held_here(cls, folder: Path) -> bool:
        """Whether this process writes into a folder."""
        with cls._guard:
            return cls._held.get(os.path.realpath(folder)) == os.getpid()

    def _is_current(self) -> bool:
        """Whether the file that we locked is still the one of that name: its last holder deletes it."""
        try:
            return os.path.samestat(os.fstat(self._fd), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _refuse(self, holder: str) -> NoReturn:
        raise RecordingError(
            f"{self._folder}: {holder} is writing here, and one writer at a time may. "
            "Wait for it, end it, or choose another folder.",
            self._folder,
        )

    def release(self) -> None:
        with self._guard:
            self._held.pop(self._folder, None)
            try:
                self._path.unlink(missing_ok=True)
            finally:
                os.close(self._fd)


# ---------------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------------


class Recordings:
    """The recordings of a folder: iterate over them, or ask for one by its id.

    Everything is read when it is needed: opening reads the ends of the files, a recording its row, a
    trace the row groups that its events are in, a few of which are kept. Threads may share it.
    Recordings that a running or killed writer has finished but not yet put into a shard are not
    seen; `waiting` names them.

    With `allow_truncated`, shards that are cut off or have lost a file are left out, and `damaged`
    says which. With `shards`, those of these names alone are opened.

    Raises:
        RecordingError: the folder holds no recordings, or a shard is damaged, foreign, or of a newer format.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        allow_truncated: bool = False,
        shards: AbstractSet[str] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.damaged: tuple[RecordingError, ...] = ()
        self.unreadable: tuple[str, ...] = ()
        """What is wrong with recordings that were left out until now: their row cannot be read."""
        self._cache = _Cache()
        self._shards: list[_Shard] = []
        self._places: dict[str, tuple[_Shard, int]] | None = None
        if not self.folder.is_dir():
            what = "does not exist"
            if self.folder.exists() and self.folder.suffix == ".parquet":
                what = "is a file; give the folder that it is in"
            elif self.folder.exists():
                what = "is a file; `deskcheck record SOURCE --out FOLDER` makes a folder of recordings"
            raise RecordingError(f"{self.folder}: {what}.", str(self.folder))
        has_spool = (self.folder / _SPOOL_NAME).exists()  # asked first: a writer may close meanwhile
        names = _steady_names(self.folder)
        while True:
            try:
                self._open(names, has_spool, allow_truncated, shards)
                return
            except _TruncatedShard:
                before, names = names, _steady_names(self.folder)
                if names == before:  # else it has become part of a larger one
                    raise

    def _open(
        self,
        names: dict[str, set[str]],
        has_spool: bool,
        allow_truncated: bool,
        shards: AbstractSet[str] | None,
    ) -> None:
        self._shards, self.damaged = [], ()
        # The events file is named first: the shard is being made, or was when its maker was killed. A job
        # makes several at once and knows from its manifest which there should be; of a writer's it is the
        # last.
        found = names["recordings"] | {name for name in names["events"] if len(name) < _HASH_CHARS}
        in_order = sorted(found, key=lambda name: (len(name), name))
        if has_spool and found - names["recordings"] == {*in_order[-1:]}:
            del in_order[-1:]
        if shards is not None:
            in_order = [name for name in in_order if name in shards]
        for name in in_order:
            try:
                self._shards.append(_Shard(self.folder, name, self._cache))
            except _TruncatedShard as error:
                if not allow_truncated:
                    raise
                self.damaged += (error,)
        inside = {name for shard in self._shards for name in shard.of}
        self._shards = [shard for shard in self._shards if shard.name not in inside]
        if not in_order:
            raise RecordingError(
                f"{self.folder}: holds no recordings.{self._waiting_text()}", str(self.folder)
            )

    def __len__(self) -> int:
        return sum(len(shard) for shard in self._shards)

    def __iter__(self) -> Iterator[Recording]:
        """All recordings, by shard and row: the same order every time. One whose row cannot be read is
        left out, with a warning."""
        for shard in self._shards:
            for row in range(len(shard)):
                try:
                    recording = shard.recording(row)
                except _TruncatedShard:
                    raise
                except RecordingError as error:
                    if str(error) not in self.unreadable:
                        _log.warning("%s", error)
                        self.unreadable += (str(error),)
                    continue
                yield recording

    @property
    def paths(self) -> list[dict[str, Path]]:
        """The files of each shard, by table: for who reads them whole."""
        return [{"recordings": one.recordings.path, "events": one.events.path} for one in self._shards]

    def columns(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Of every recording, in order: its shard's name, its row there, and these columns, which are read
        without the others."""
        for shard in self._shards:
            for row, values in enumerate(shard.columns(names)):
                yield shard.name, row, *values

    def at(self, shard: str, row: int) -> Recording:
        """The recording in a row of a shard. Raises InputError where there is none."""
        for one in self._shards:
            if one.name == shard and row < len(one):
                return one.recording(row)
        raise InputError(
            f"{self.folder}: has no row {row} in a shard {shard}: the folder was changed. Start again."
        )

    def __getitem__(self, id_: str) -> Recording:
        """The recording of that id. Raises InputError if there is none."""
        places = self._index()
        if id_ not in places:
            close = get_close_matches(id_, places, n=3)
            near, ids = ("Close to it", close) if close else ("There are", [*places][:5])
            named = ", ".join(map(repr, ids))
            raise InputError(f"{self.folder}: no recording {id_!r} among {len(places)}. {near}: {named}.")
        shard, row = places[id_]
        return shard.recording(row)

    def named(self, text: str) -> Recording:
        """The recording of that id, or else the only one whose id has this text in it.

        Raises InputError where there is none, or several.
        """
        found = [text] if text in self else [id_ for id_ in self._index() if text and text in id_]
        if len(found) > 1:
            listed = "".join(f"\n    {id_}" for id_ in sorted(found)[:20])
            more = f"\n    ... and {len(found) - 20} more" if len(found) > 20 else ""
            raise InputError(
                f"{self.folder}: {len(found)} recordings have {text!r} in their id:{listed}{more}"
            )
        return self[found[0] if found else text]

    def __contains__(self, id_: object) -> bool:
        return id_ in self._index()

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of every recording, in the order of iteration."""
        return tuple(self._index())

    @property
    def waiting(self) -> tuple[str, ...]:
        """Ids of recordings that are finished but in no shard: opening and closing a `Writer` makes one."""
        found = [_read_finished(path) for path in sorted((self.folder / _SPOOL_NAME).glob("*.json"))]
        return tuple(one.id for one in found if one is not None and one.id not in self._index())

    def _waiting_text(self) -> str:
        waiting = len(self.waiting)
        return (
            f" {waiting} that a writer has finished wait in {_SPOOL_NAME}: if it was stopped, record on in "
            f"the same folder, or run Writer({str(self.folder)!r}).close(), to have them."
            if waiting
            else ""
        )

    def _index(self) -> dict[str, tuple["_Shard", int]]:
        if self._places is None:
            places: dict[str, tuple[_Shard, int]] = {}
            for shard in self._shards:
                for row, id_ in enumerate(shard.ids()):
                    if id_ in places:
                        raise RecordingError(
                            f"{shard.recordings.path}: {id_!r} is in "
                            f"{places[id_][0].recordings.path.name} too. Shards of different runs were put "
                            "together: keep them in folders of their own.",
                            str(shard.recordings.path),
                        )
                    places[id_] = shard, row
            self._places = places
        return self._places

    def __repr__(self) -> str:
        return f"<Recordings {self.folder}: {len(self)}>"


class _TruncatedShard(RecordingError):
    """A shard that is cut off or has lost a file: `allow_truncated` leaves it out."""


def _shard_names(folder: Path) -> dict[str, set[str]]:
    """Numbers, as they are written in names of files, and hashes of the shards of which a table is there."""
    names: dict[str, set[str]] = {"recordings": set(), "events": set()}
    with _disk(folder, "list the shards"):
        for name in os.listdir(folder):
            if match := _SHARD_NAME.fullmatch(name):
                names[match[1]].add(match[2])
    return names


def _steady_names(folder: Path) -> dict[str, set[str]]:
    """`_shard_names`, also while shards are put together: what is renamed while a folder is listed may be
    missed under both names."""
    marker = folder / COMPACTING_NAME
    busy = marker.exists()
    names = _shard_names(folder)
    while busy or marker.exists():
        before, names = names, _shard_names(folder)
        if names == before:
            break
    return names


class _Cache:
    """The row groups that were read last, those of a whole folder together."""

    def __init__(self) -> None:
        self._tables: OrderedDict[tuple[Path, int], Any] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, key: tuple[Path, int], read: Callable[[], Any]) -> Any:
        with self._guard:
            if key in self._tables:
                self._tables.move_to_end(key)
            else:
                while len(self._tables) >= _CACHED_GROUPS:
                    self._tables.popitem(last=False)
                self._tables[key] = read()
            return self._tables[key]


class _File:
    """One Parquet file of a shard. It is opened for each row group: a folder can have thousands."""

    def __init__(self, path: Path, schema: Any, cache: _Cache) -> None:
        self.path = path
        self.elsewhere: Callable[[], tuple[_File, int] | None] = lambda: None
        """Asked when the file is gone: the file that its rows are in, from which row on."""
        self._cache = cache
        self._metadata: Any = None
        with self._opened() as file:
            self._metadata = file.metadata
            found = file.schema_arrow
        self._check_format()
        self._names = [name for name in schema.names if name in found.names or name not in _LATER]
        for field in map(schema.field, self._names):
            if field.name not in found.names or found.field(field.name).type != field.type:
                raise RecordingError(
                    f"{path}: lacks a column {field.name!r} of type {field.type}: it was changed, or is "
                    "something else. Move it and its partner of the same number away.",
                    str(path),
                )
        sizes = [self._metadata.row_group(group).num_rows for group in range(self._metadata.num_row_groups)]
        self.starts = [0, *itertools.accumulate(sizes)]

    def _check_format(self) -> None:
        text = (self._metadata.metadata or {}).get(b"deskcheck.format", b"").decode("utf-8", "replace")
        if not text.isdecimal():
            raise RecordingError(
                f"{self.path}: a Parquet file, but not one of recordings: its metadata has no "
                "deskcheck.format. Move it out of the folder.",
                str(self.path),
            )
        if int(text) > FORMAT:
            raise RecordingError(
                f"{self.path}: format {text}; this version of deskcheck reads up to {FORMAT}. "
                "Upgrade: pip install -U deskcheck.",
                str(self.path),
            )

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            with pq.ParquetFile(
                str(self.path), metadata=self._metadata, pre_buffer=False, page_checksum_verification=True
            ) as file:
                yield file
        except FileNotFoundError as error:
            raise _TruncatedShard(
                f"{self.path}: missing; its partner of the same number is there. Put it back, or move the "
                f"partner away: the programs in it are then recorded again. {_OTHERS}",
                str(self.path),
            ) from error
        except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
            self._blame(error)

    def _blame(self, error: Exception) -> NoReturn:
        """Say what kind of broken this is: cut off, something else altogether, unreadable."""
        with _disk(self.path, "read this file"), open(self.path, "rb") as file:
            start = file.read(4)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 4))
            end = file.read(4)
        magic = b"PAR1"
        if not magic.startswith(start):
            raise RecordingError(
                f"{self.path}: not a Parquet file: it begins with {start!r}. Move it out of the folder.",
                str(self.path),
            ) from error
        if self._metadata is None and (end != magic or size < 12):
            raise _TruncatedShard(
                f"{self.path}: cut off after {size} bytes: the end, which says where everything is, is "
                f"missing. {_RESTORE} {_OTHERS}",
                str(self.path),
            ) from error
        raise _unreadable(self.path, error) from error

    def __len__(self) -> int:
        return int(self.starts[-1])

    def group(self, row: int) -> tuple[int, int, Any]:
        """The row group that holds a row: its first row, the first after it, its table."""
        number = bisect_right(self.starts, row) - 1

        def read() -> Any:
            with self._opened() as file:
                return file.read_row_group(number, columns=self._names, use_threads=False)

        try:
            table = self._cache.get((self.path, number), read)
        except _TruncatedShard:
            found = self.elsewhere()
            if found is None:
                raise
            file, first = found
            start, stop, table = file.group(row + first)
            return start - first, stop - first, table
        return self.starts[number], self.starts[number + 1], table

    @property
    def of(self) -> dict[str, tuple[int, int]]:
        """Shards that this one is made of: at which recording and event each begins."""
        text = (self._metadata.metadata or {}).get(OF_KEY.encode(), b"{}")
        found: dict[str, tuple[int, int]] = {name: tuple(first) for name, first in json.loads(text).items()}
        return found

    def columns(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """The values of whole columns, row by row, without the others."""
        with self._opened() as file:
            table = file.read(columns=list(names), use_threads=False)
        return zip(*(table.column(name).to_pylist() for name in names), strict=True)

    def column(self, name: str) -> list[Any]:
        """A whole column, without the others."""
        return [value for (value,) in self.columns([name])]


class _Shard:
    """The two files of one number or hash."""

    def __init__(self, folder: Path, name: int | str, cache: _Cache) -> None:
        self.name = f"{name:05d}" if isinstance(name, int) else name
        self._folder, self._cache = folder, cache
        self.recordings = _File(folder / _file_name("recordings", name), RECORDINGS_SCHEMA, cache)
        self.events = _File(folder / _file_name("events", name), EVENTS_SCHEMA, cache)
        expected = sum(self.recordings.column("n_events"))
        if expected != len(self.events):
            raise RecordingError(
                f"{self.events.path}: holds {len(self.events)} events, but {self.recordings.path.name} "
                f"speaks of {expected}: the two are not of one shard. {_RESTORE}",
                str(self.events.path),
            )

        self.of = self.recordings.of
        self.events.elsewhere = self._events_elsewhere

    def __len__(self) -> int:
        return len(self.recordings)

    def ids(self) -> list[str]:
        return [id_ for (id_,) in self.columns(["id"])]

    def columns(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Columns of its recordings, row by row."""
        try:
            return self.recordings.columns(names)
        except _TruncatedShard:
            if (found := self._elsewhere()) is None:
                raise
            shard, first, _ = found
            return itertools.islice(shard.columns(names), first, first + len(self))

    def _elsewhere(self) -> "tuple[_Shard, int, int] | None":
        """The shard that this one has become part of: with which recording and event of it it begins."""
        before: set[str] | None = None
        while (names := _steady_names(self._folder)["recordings"]) != before:
            before = names
            for name in sorted(names):
                if len(name) < _HASH_CHARS or name == self.name:
                    continue
                try:
                    shard = _Shard(self._folder, name, self._cache)
                except _TruncatedShard:  # that one is elsewhere by now
                    continue
                if self.name in shard.of:
                    return shard, *shard.of[self.name]
        return None

    def _events_elsewhere(self) -> "tuple[_File, int] | None":
        found = self._elsewhere()
        return None if found is None else (found[0].events, found[2])

    def recording(self, number: int) -> Recording:
        try:
            first, _, table = self.recordings.group(number)
        except _TruncatedShard:
            if (found := self._elsewhere()) is None:
                raise
            return found[0].recording(number + found[1])
        try:
            row = table.slice(number - first, 1).to_pylist()[0]
            for name in _RECORDINGS_JSON:
                row[name] = _from_json(name, row[name])
            ending = Ending(**_fields_of(Ending, row) | {"outcome": Outcome(row["outcome"])})
            rows = _Rows(self.events, row["id"], row["first_row"], row["n_events"])
            return Recording(
                program=Program.from_dict(row),
                ending=ending,
                environment=Environment(**_fields_of(Environment, row["environment"])),
                traces=_traces(rows, row["threads"], ending.cut),
                repeatable=row["repeatable"],
                difference=row["difference"],
            )
        except (ValueError, KeyError, TypeError) as error:
            id_ = table.column("id")[number - first].as_py()
            raise _bad_recording(self.recordings.path, id_, str(error)) from error


def _from_json(name: str, text: str) -> dict[str, Any]:
    """A JSON column of a recording. Raises ValueError where it is none, or no object."""
    try:
        found = json.loads(text)
    except RecursionError:
        found = None
    texts = name in ("sources", "packages")
    if type(found) is not dict or (texts and not all(type(each) is str for each in found.values())):
        raise ValueError(f"{name} is {text[:40]!r}")
    return found


def _fields_of(type_: Any, row: dict[str, Any]) -> dict[str, Any]:
    """What of a row a dataclass knows; a later version of it may have written more."""
    return {field.name: row[field.name] for field in fields(type_) if field.name in row}


def _traces(rows: "_Rows", threads: int, cut: str | None) -> tuple[Trace, ...]:
    if threads == 1:
        return (Trace(rows, cut=cut),)
    return tuple(Trace(_ThreadRows(rows, thread), thread=thread, cut=cut) for thread in range(threads))


class _Rows(Sequence[Row]):
    """The events of one recording, read from its shard a page at a time."""

    def __init__(self, file: _File, id_: str, start: int, count: int) -> None:
        self._file = file
        self._id = id_
        self._start = start
        self._count = count
        self._page: tuple[int, list[Row]] = 0, []

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if index < 0:
            index += self._count
        first, page = self._page
        if not 0 <= index - first < len(page):
            if not 0 <= index < self._count:
                raise IndexError(f"the recording has {self._count} events; there is none at {index}")
            first, page = self._page = self._read(index)
        return page[index - first]

    def __iter__(self) -> Iterator[Row]:
        index = 0
        while index < self._count:
            first, page = self._page = self._read(index)
            yield from page[index - first :]
            index = first + len(page)

    def _read(self, index: int) -> tuple[int, list[Row]]:
        """The page that holds an event, clipped to the recording and to one row group."""
        group_start, group_stop, table = self._file.group(self._start + index)
        start = max(group_start, self._start + index - index % _PAGE_ROWS)
        stop = min(
            group_stop, self._start + index - index % _PAGE_ROWS + _PAGE_ROWS, self._start + self._count
        )
        part = table.slice(start - group_start, stop - start)
        owner = part.column("recording")[0].as_py()
        if owner != self._id:
            error = ValueError(f"row {start} belongs to recording {owner!r}, not {self._id!r}")
            raise _unreadable(self._file.path, error)
        columns = [part.column(name).to_pylist() for name in Row._fields if name in part.column_names]
        rows = list(itertools.starmap(Row, zip(*columns, strict=True)))
        try:
            check_rows(rows)
        except ValueError as error:
            raise _bad_recording(
                self._file.path, self._id, f"among its events {index} and on: {error}"
            ) from error
        return start - self._start, rows

    def of_thread(self, thread: int) -> "array[int]":
        """Where the events of a thread are, eight bytes each."""
        found = array("q")
        row, stop = self._start, self._start + self._count
        while row < stop:
            group_start, group_stop, table = self._file.group(row)
            end = min(group_stop, stop)
            numbers = table.column("thread").slice(row - group_start, end - row).to_pylist()
            found.extend(i for i, number in enumerate(numbers, row - self._start) if number == thread)
            row = end
        return found


class _ThreadRows(Sequence[Row]):
    """The events of one thread among those of several."""

    def __init__(self, rows: _Rows, thread: int) -> None:
        self._rows = rows
        self._thread = thread
        self._found: array[int] | None = None

    def _where(self) -> "array[int]":
        if self._found is None:
            self._found = self._rows.of_thread(self._thread)
        return self._found

    def __len__(self) -> int:
        return len(self._where())

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self._rows[i] for i in self._where()[index]]
        return self._rows[self._where()[index]]


def read_groups(path: Path, schema: Any = None) -> Iterator[Any]:
    """The row groups of a Parquet file as tables, for who copies them; with `schema`, of recordings or
    events, also where an earlier version lacked a column."""
    try:
        with pq.ParquetFile(str(path), pre_buffer=False, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, use_threads=False)
                for name in _LATER if schema is not None else ():
                    if name in schema.names and name not in table.column_names:
                        table = table.append_column(schema.field(name), pa.nulls(len(table), pa.string()))
                yield table if schema is None else table.cast(schema)
    except (OSError, pa.ArrowException) as error:
        raise RecordingError(
            f"{path}: cannot be read: {error}. Restore it from a copy, or make it again.", str(path)
        ) from error
