"""The one reader of recordings on disk: a folder of Parquet shards, read lazily.

docs/reference/format.md describes the columns. `deskcheck.recording.trace` and `deskcheck.recording.value`
read the encoded values in the JSON columns. Files are read without Arrow's thread pools (hence
pre_buffer=False): the process may fork, and threads do not survive that.
"""

import itertools
import logging
import os
import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, overload

import pyarrow as pa
import pyarrow.parquet as pq

from deskcheck.errors import InputError, RecordingError
from deskcheck.files import disk_errors, open_file, opened_name, read_json
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.pages import Pages
from deskcheck.recording.program import Environment, Program
from deskcheck.recording.recording import Recording, RunResult, check_refused
from deskcheck.recording.rules import THREADS
from deskcheck.recording.rules import check as check_rows
from deskcheck.recording.schema import (
    COMPACTING_NAME,
    EVENTS_SCHEMA,
    FORMAT,
    HASH_CHARS,
    LATER,
    OF_KEY,
    RECORDINGS_JSON,
    RECORDINGS_SCHEMA,
    SHARD_NAME,
    SPOOL_NAME,
    file_name,
)
from deskcheck.recording.spool import read_finished
from deskcheck.recording.states import states
from deskcheck.recording.trace import Row, Trace

_log = logging.getLogger(__name__)

_PAGE_ROWS = 1024
"""The number of rows that a reader turns into Python objects at a time."""
_CACHED_GROUPS = 3


_RESTORE = (
    "Restore it from a copy. Or move it and its partner with the same number away: the programs in it are "
    "then recorded again."
)
_MAKE = " `deskcheck record SOURCE --out FOLDER` makes some."
_OTHERS = "To read the other shards use allow_truncated=True."


def unreadable(path: Path, error: Exception) -> RecordingError:
    return RecordingError.at(path, f"damaged: {error}. {_RESTORE}")


def _bad_recording(path: Path, id_: str, reason: str) -> RecordingError:
    return RecordingError.at(path, f"the recording {id_!r} is damaged: {reason:.300}. The others are intact.")


class Recordings:
    """The recordings of a folder: iterate over them, or ask for one by its id.

    Rows and events are read when they are needed. Threads may share the object. It does not include
    recordings that a writer has finished but not yet put into a shard: `waiting` lists these.

    allow_truncated: skip shards that are cut off or have lost a file, and list them in `damaged`.
    shards: open only shards with these names.

    Raises:
        RecordingError: the folder has no recordings, or a shard is damaged, foreign, or of a newer format.
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
        """Messages about the recordings that were skipped so far because their row cannot be read."""
        self._cache = Cache()
        self._shards: list[ShardReader] = []
        self._places: dict[str, tuple[ShardReader, int]] | None = None
        if not self.folder.is_dir():
            problem = "does not exist"
            if self.folder.exists() and self.folder.suffix == ".parquet":
                problem = "is a file; give the folder that it is in"
            elif self.folder.exists():
                problem = "is a file; `deskcheck record SOURCE --out FOLDER` makes a folder of recordings"
            raise RecordingError.at(self.folder, f"{problem}.")
        has_spool = (self.folder / SPOOL_NAME).exists()  # asked first: a writer may close meanwhile
        names = steady_names(self.folder)
        while True:
            try:
                self._open(names, has_spool, allow_truncated, shards)
                return
            except _TruncatedShard:
                before, names = names, steady_names(self.folder)
                if names == before:  # else the shard has become part of a larger one
                    raise

    def _open(
        self,
        names: dict[str, set[str]],
        has_spool: bool,
        allow_truncated: bool,
        shards: AbstractSet[str] | None,
    ) -> None:
        self._shards, self.damaged = [], ()
        # The events file gets its name first. If it has no partner, the shard is being made, or its maker was
        # killed. A job makes several shards at once and knows them from its manifest; for a writer only the
        # last shard can be unfinished.
        expected = names["recordings"] | {name for name in names["events"] if len(name) < HASH_CHARS}
        in_order = sorted(expected, key=lambda name: (len(name), name))
        if has_spool and expected - names["recordings"] == {*in_order[-1:]}:
            del in_order[-1:]
        if shards is not None:
            in_order = [name for name in in_order if name in shards]
        for name in in_order:
            try:
                self._shards.append(ShardReader(self.folder, name, self._cache))
            except _TruncatedShard as error:
                if not allow_truncated:
                    raise
                self.damaged += (error,)
        inside = {name for shard in self._shards for name in shard.of}
        self._shards = [shard for shard in self._shards if shard.name not in inside]
        if not in_order:
            raise RecordingError.at(self.folder, f"has no recordings.{self._waiting_text() or _MAKE}")

    def __len__(self) -> int:
        return sum(len(shard) for shard in self._shards)

    def __iter__(self) -> Iterator[Recording]:
        """All recordings, by shard and row, always in the same order.

        A recording whose row cannot be read is skipped with a warning.
        """
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
        """The files of each shard, by table."""
        return [{"recordings": shard.recordings.path, "events": shard.events.path} for shard in self._shards]

    def columns(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """For every recording, in order: the name of its shard, its row there, and the values of these
        columns.

        Other columns are not read.
        """
        for shard in self._shards:
            for row, values in enumerate(shard.columns(names)):
                yield shard.name, row, *values

    def at(self, shard: str, row: int) -> Recording:
        """The recording in a row of a shard. Raises InputError if it does not exist."""
        for reader in self._shards:
            if reader.name == shard and row < len(reader):
                return reader.recording(row)
        raise InputError(
            f"{self.folder}: has no row {row} in a shard {shard}: the folder was changed. Start again."
        )

    def states(self, variable: str | None = None) -> Any:
        """The value of every variable at every event, as a `pyarrow.RecordBatchReader` that reads lazily.

        Its columns are those of `states.STATES_SCHEMA`. Values are text as `render` gives it. Recordings that
        cannot be read are skipped, as by iteration.

        variable: only the variable with this name.
        """
        return states(self, variable)

    def __getitem__(self, id_: str) -> Recording:
        """The recording with this id. Raises InputError if it does not exist."""
        places = self._index()
        if id_ not in places:
            close = get_close_matches(id_, places, n=3)
            near, ids = ("Close to it", close) if close else ("There are", [*places][:5])
            named = ", ".join(map(repr, ids))
            raise InputError(f"{self.folder}: no recording {id_!r} among {len(places)}. {near}: {named}.")
        shard, row = places[id_]
        return shard.recording(row)

    def named(self, text: str) -> Recording:
        """The recording with this id, or else the only one whose id contains this text.

        Raises InputError if no recording matches, or several.
        """
        matches = [text] if text in self else [id_ for id_ in self._index() if text and text in id_]
        if len(matches) > 1:
            listed = "".join(f"\n    {id_}" for id_ in sorted(matches)[:20])
            more = f"\n    ... and {len(matches) - 20} more" if len(matches) > 20 else ""
            raise InputError(
                f"{self.folder}: {len(matches)} recordings have {text!r} in their id:{listed}{more}"
            )
        return self[matches[0] if matches else text]

    def __contains__(self, id_: object) -> bool:
        return id_ in self._index()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all recordings, in the order of iteration."""
        return tuple(self._index())

    @property
    def waiting(self) -> tuple[str, ...]:
        """Ids of finished recordings outside of any shard. Open and close a `Writer` to put them into one."""
        finished = [read_finished(path) for path in sorted((self.folder / SPOOL_NAME).glob("*.json"))]
        return tuple(
            recording.id
            for recording in finished
            if recording is not None and recording.id not in self._index()
        )

    def _waiting_text(self) -> str:
        waiting = len(self.waiting)
        return (
            f" {waiting} more are finished in {SPOOL_NAME}. If their writer was stopped, record again into "
            f"this folder, or run Writer({str(self.folder)!r}).close(), to read them."
            if waiting
            else ""
        )

    def _index(self) -> dict[str, tuple["ShardReader", int]]:
        if self._places is None:
            places: dict[str, tuple[ShardReader, int]] = {}
            for shard in self._shards:
                for row, id_ in enumerate(shard.ids()):
                    if id_ in places:
                        raise RecordingError.at(
                            shard.recordings.path,
                            f"{id_!r} is in "
                            f"{places[id_][0].recordings.path.name} too. Shards of different runs were put "
                            "together: keep them in different folders.",
                        )
                    places[id_] = shard, row
            self._places = places
        return self._places

    def __repr__(self) -> str:
        return f"<Recordings {self.folder}: {len(self)}>"


class _TruncatedShard(RecordingError):
    """A shard that is cut off or has lost a file: `allow_truncated` leaves it out."""


def shard_names(folder: Path) -> dict[str, set[str]]:
    """Table -> the numbers (as in file names) and hashes of its files in a folder."""
    names: dict[str, set[str]] = {"recordings": set(), "events": set()}
    with disk_errors(folder, "list the shards"):
        for name in os.listdir(folder):
            if match := SHARD_NAME.fullmatch(name):
                names[match[1]].add(match[2])
    return names


def steady_names(folder: Path) -> dict[str, set[str]]:
    """`shard_names`, reliable also while shards are joined.

    A file that is renamed while the folder is listed may be missed under both names.
    """
    marker = folder / COMPACTING_NAME
    busy = marker.exists()
    names = shard_names(folder)
    while busy or marker.exists():
        before, names = names, shard_names(folder)
        if names == before:
            break
    return names


class Cache:
    """The latest row groups that were read from the files of a folder."""

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


class ParquetFile:
    """One Parquet file of a shard. It is opened for each row group: a folder can have thousands."""

    def __init__(self, path: Path, schema: Any, cache: Cache) -> None:
        self.path = path
        self.elsewhere: Callable[[], tuple[ParquetFile, int] | None] = lambda: None
        """Asked when the file is gone: the file that its rows are in, from which row on."""
        self._cache = cache
        self._metadata: Any = None
        with self._opened() as file:
            self._metadata = file.metadata
            stored = file.schema_arrow
        self._check_format()
        self._names = [name for name in schema.names if name in stored.names or name not in LATER]
        for field in map(schema.field, self._names):
            if field.name not in stored.names or stored.field(field.name).type != field.type:
                raise RecordingError.at(
                    path,
                    f"lacks a column {field.name!r} of type {field.type}: it was changed, or is "
                    "another kind of file. Move it and its partner of the same number away.",
                )
        sizes = [self._metadata.row_group(group).num_rows for group in range(self._metadata.num_row_groups)]
        self.starts = [0, *itertools.accumulate(sizes)]

    def _check_format(self) -> None:
        text = (self._metadata.metadata or {}).get(b"deskcheck.format", b"").decode("utf-8", "replace")
        if not text.isdecimal():
            raise RecordingError.at(
                self.path,
                "a Parquet file without recordings: its metadata has no deskcheck.format. Move it out of the "
                "folder.",
            )
        if int(text) > FORMAT:
            raise RecordingError.at(
                self.path,
                f"format {text}; this version of deskcheck reads up to {FORMAT}. "
                "Upgrade: pip install -U deskcheck.",
            )

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            with (
                opened_name(self.path) as name,
                pq.ParquetFile(
                    name, metadata=self._metadata, pre_buffer=False, page_checksum_verification=True
                ) as file,
            ):
                yield file
        except FileNotFoundError as error:
            raise _TruncatedShard.at(
                self.path,
                "missing; its partner of the same number is there. Put it back, or move the "
                f"partner away: the programs in it are then recorded again. {_OTHERS}",
            ) from error
        except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
            self._blame(error)

    def _blame(self, error: Exception) -> NoReturn:
        """Raise the error that fits the damage: cut off, not a Parquet file, or unreadable."""
        with disk_errors(self.path, "read this file"), open_file(self.path) as file:
            start = file.read(4)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 4))
            end = file.read(4)
        magic = b"PAR1"
        if not magic.startswith(start):
            raise RecordingError.at(
                self.path, "not a Parquet file: it does not begin with PAR1. Move it out of the folder."
            ) from error
        if self._metadata is None and (end != magic or size < 12):
            raise _TruncatedShard.at(
                self.path,
                f"cut off after {size} bytes: its index, at the end, is missing. {_RESTORE} {_OTHERS}",
            ) from error
        raise unreadable(self.path, error) from error

    def __len__(self) -> int:
        return int(self.starts[-1])

    def group(self, row: int) -> tuple[int, int, Any]:
        """The row group of a row: its first row, the first row after it, and its table."""
        number = bisect_right(self.starts, row) - 1

        def read() -> Any:
            with self._opened() as file:
                return file.read_row_group(number, columns=self._names, use_threads=False)

        try:
            table = self._cache.get((self.path, number), read)
        except _TruncatedShard:
            moved = self.elsewhere()
            if moved is None:
                raise
            file, first = moved
            start, stop, table = file.group(row + first)
            return start - first, stop - first, table
        return self.starts[number], self.starts[number + 1], table

    @property
    def of(self) -> dict[str, tuple[int, int]]:
        """Shard that this one was joined from -> its first recording and first event here."""
        text = (self._metadata.metadata or {}).get(OF_KEY.encode(), b"{}")
        parts: dict[str, list[int]] = read_json(text, str(self.path))
        return {name: (first, event) for name, (first, event) in parts.items()}

    def columns(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """The values of these columns, row by row. Other columns are not read."""
        with self._opened() as file:
            table = file.read(columns=list(names), use_threads=False)
        return zip(*(table.column(name).to_pylist() for name in names), strict=True)

    def column(self, name: str) -> list[Any]:
        """All values of a column. Other columns are not read."""
        return [value for (value,) in self.columns([name])]


class ShardReader:
    """A shard: the two files with the same number or hash."""

    def __init__(self, folder: Path, name: int | str, cache: Cache) -> None:
        self.name = f"{name:05d}" if isinstance(name, int) else name
        self._folder, self._cache = folder, cache
        self.recordings = ParquetFile(folder / file_name("recordings", name), RECORDINGS_SCHEMA, cache)
        self.events = ParquetFile(folder / file_name("events", name), EVENTS_SCHEMA, cache)
        expected = sum(self.recordings.column("n_events"))
        if expected != len(self.events):
            raise RecordingError.at(
                self.events.path,
                f"has {len(self.events)} events, but {self.recordings.path.name} "
                f"needs {expected}: the two files do not belong together. {_RESTORE}",
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
            if (moved := self._elsewhere()) is None:
                raise
            shard, first, _ = moved
            return itertools.islice(shard.columns(names), first, first + len(self))

    def _elsewhere(self) -> "tuple[ShardReader, int, int] | None":
        """The shard that contains this one now, and this one's first recording and first event in it."""
        before: set[str] | None = None
        while (names := steady_names(self._folder)["recordings"]) != before:
            before = names
            for name in sorted(names):
                if len(name) < HASH_CHARS or name == self.name:
                    continue
                try:
                    shard = ShardReader(self._folder, name, self._cache)
                except _TruncatedShard:  # that one is elsewhere by now
                    continue
                if self.name in shard.of:
                    return shard, *shard.of[self.name]
        return None

    def _events_elsewhere(self) -> "tuple[ParquetFile, int] | None":
        moved = self._elsewhere()
        return None if moved is None else (moved[0].events, moved[2])

    def recording(self, number: int) -> Recording:
        try:
            first, _, table = self.recordings.group(number)
        except _TruncatedShard:
            if (moved := self._elsewhere()) is None:
                raise
            return moved[0].recording(number + moved[1])
        try:
            row = table.slice(number - first, 1).to_pylist()[0]
            for name in RECORDINGS_JSON:
                if row.get(name) is not None:
                    row[name] = _from_json(name, row[name])
            check_refused(row.get("refused"))
            run_result = RunResult(**_fields_of(RunResult, row) | {"outcome": Outcome(row["outcome"])})
            self._check_place(row)
            rows = _Rows(self.events, row["id"], row["first_row"], row["n_events"])
            return Recording(
                program=Program.from_dict(row),
                run_result=run_result,
                environment=Environment.from_dict(row["environment"]),
                traces=_traces(rows, row["threads"], run_result.cut),
                repeatable=row["repeatable"],
                difference=row["difference"],
            )
        except (ValueError, KeyError, TypeError) as error:
            id_ = table.column("id")[number - first].as_py()
            raise _bad_recording(self.recordings.path, id_, str(error)) from error

    def _check_place(self, row: Mapping[str, Any]) -> None:
        """Raises ValueError if the events of a recording are outside of this shard."""
        first, count, threads = row["first_row"], row["n_events"], row["threads"]
        if not 0 <= first <= first + count <= len(self.events) or count < 0:
            raise ValueError(f"its events are {first} to {first + count} of {len(self.events)}")
        if not 1 <= threads <= THREADS:
            raise ValueError(f"it has {threads} threads")


def _from_json(name: str, text: str) -> dict[str, Any]:
    """A decoded JSON column of a recording. Raises ValueError if it is not a JSON object."""
    decoded = read_json(text, name)
    texts = name in ("sources", "packages")
    if type(decoded) is not dict or (texts and not all(type(item) is str for item in decoded.values())):
        raise ValueError(f"{name} is not an object" + (" of texts" if texts else ""))
    return decoded


def _fields_of(type_: Any, row: dict[str, Any]) -> dict[str, Any]:
    """The columns of a row that are fields of a dataclass. Later versions may have written more."""
    return {field.name: row[field.name] for field in fields(type_) if field.name in row}


def _traces(rows: "_Rows", threads: int, cut: str | None) -> tuple[Trace, ...]:
    if threads == 1:
        rows.of_one_thread = True
        return (Trace(rows, cut=cut),)
    return tuple(Trace(_ThreadRows(rows, thread), thread=thread, cut=cut) for thread in range(threads))


class _Rows(Pages[Row]):
    """The events of one recording, read from its shard a page at a time."""

    def __init__(self, file: ParquetFile, id_: str, start: int, count: int) -> None:
        super().__init__(count, "the recording", "events")
        self._file = file
        self._id = id_
        self._start = start
        self.of_one_thread = False
        """Whether the index of an event is its position in this sequence."""

    def _read(self, index: int) -> tuple[int, list[Row]]:
        """The page of an event, clipped to the recording and to one row group."""
        group_start, group_stop, table = self._file.group(self._start + index)
        start = max(group_start, self._start + index - index % _PAGE_ROWS)
        stop = min(
            group_stop, self._start + index - index % _PAGE_ROWS + _PAGE_ROWS, self._start + self._count
        )
        part = table.slice(start - group_start, stop - start)
        owner = part.column("recording")[0].as_py()
        if owner != self._id:
            error = ValueError(f"row {start} belongs to recording {owner!r}, not {self._id!r}")
            raise unreadable(self._file.path, error)
        columns = [part.column(name).to_pylist() for name in Row._fields if name in part.column_names]
        rows = list(itertools.starmap(Row, zip(*columns, strict=True)))
        try:
            check_rows(rows)
            if self.of_one_thread:
                for position, row in enumerate(rows, start - self._start):
                    _check_place(row, position)
        except ValueError as error:
            raise _bad_recording(
                self._file.path, self._id, f"among its events {index} and on: {error}"
            ) from error
        return start - self._start, rows

    def bad(self, reason: str) -> RecordingError:
        """The error to raise for damaged events."""
        return _bad_recording(self._file.path, self._id, reason)

    def of_thread(self, thread: int) -> "array[int]":
        """Positions of a thread's events, eight bytes each."""
        places = array("q")
        row, stop = self._start, self._start + self._count
        while row < stop:
            group_start, group_stop, table = self._file.group(row)
            end = min(group_stop, stop)
            numbers = table.column("thread").slice(row - group_start, end - row).to_pylist()
            places.extend(i for i, number in enumerate(numbers, row - self._start) if number == thread)
            row = end
        return places


def _check_place(row: Row, position: int) -> None:
    """Raises ValueError if the index of an event is not its position in its thread."""
    if row.index != position:
        raise ValueError(f"event {position} of thread {row.thread} has the index {row.index}")


class _ThreadRows(Sequence[Row]):
    """The events of one thread of a recording with several threads."""

    def __init__(self, rows: _Rows, thread: int) -> None:
        self._rows = rows
        self._thread = thread
        self._positions: array[int] | None = None

    def _where(self) -> "array[int]":
        if self._positions is None:
            self._positions = self._rows.of_thread(self._thread)
        return self._positions

    def __len__(self) -> int:
        return len(self._where())

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = self._rows[self._where()[index]]
        try:
            _check_place(row, index if index >= 0 else index + len(self))
        except ValueError as error:
            raise self._rows.bad(str(error)) from error
        return row


def read_groups(path: Path, schema: Any = None) -> Iterator[Any]:
    """The row groups of a Parquet file as tables.

    schema: the schema of recordings or events. Columns that an earlier version lacked are added.
    """
    try:
        with (
            opened_name(path) as name,
            pq.ParquetFile(name, pre_buffer=False, page_checksum_verification=True) as file,
        ):
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, use_threads=False)
                for name in LATER if schema is not None else ():
                    if name in schema.names and name not in table.column_names:
                        table = table.append_column(schema.field(name), pa.nulls(len(table), pa.string()))
                yield table if schema is None else table.cast(schema)
    except (OSError, pa.ArrowException) as error:
        raise RecordingError.at(
            path, f"cannot be read: {error}. Restore it from a copy, or make it again."
        ) from error
