"""The spool: unfinished recordings, and finished ones until a shard contains them."""

import json
import os
import stat
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

import pyarrow as pa

from deskcheck.errors import InputError, RecordingError
from deskcheck.files import disk_errors, read_file, read_json
from deskcheck.recording.block import KINDS, MAGIC, TEXTS
from deskcheck.recording.block import rows as block_rows
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Program
from deskcheck.recording.recording import RunResult
from deskcheck.recording.rules import Checker, row_of
from deskcheck.recording.schema import EVENTS_SCHEMA, FORMAT, RECORDINGS_JSON, RECORDINGS_SCHEMA, SPOOL_SCHEMA
from deskcheck.recording.trace import Kind, Row

_columns: Any
try:
    from deskcheck.recording import _columns
except ImportError:  # not built: the same in Python
    _columns = None

# Without Arrow's thread pools: the process may fork, and threads do not survive that.
_WRITE_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
_READ_OPTIONS = pa.ipc.IpcReadOptions(use_threads=False)


# The first of these limits to be reached ends a batch. The limit in bytes keeps ten thousand events with a
# megabyte of locals each from being decoded together.
_BATCH_ROWS, _BATCH_BYTES = 4096, 2 << 20
_NAMES_BYTES = 4 << 20
"""Limit on the names in a batch, as if every row had the longest name."""
_OF_CODE = tuple(SPOOL_SCHEMA.names.index(name) for name in ("function", "file"))
_ROW_BYTES_MAX = 2 << 30
_EVENT_BYTES_MAX = 1 << 30
"""Arrow's string arrays are limited to 2 GiB."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished recording in the spool: ``STEM.json`` is its row, ``STEM.arrow`` has its events."""

    id: str
    row: Path
    n_events: int

    @property
    def events(self) -> Path:
        return self.row.with_suffix(".arrow")


class Spool:
    """A recording that is being made. Events go to disk in batches, so that memory use stays constant.

    As a context manager it abandons the recording if the block is left without `finish`.

    finished, abandoned: called when the recording is finished or abandoned.
    """

    def __init__(
        self,
        id_: str,
        row: dict[str, Any],
        stem: Path,
        *,
        finished: Callable[[Finished], None],
        abandoned: Callable[[str], None],
    ) -> None:
        self.id = id_
        self.n_events = 0
        self._finished, self._abandoned = finished, abandoned
        self._row = row
        self._path = stem.with_suffix(".arrow")
        self._folder = str(stem.parents[1])
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

    def write(self, text: str | bytes, *, checked: bool = False) -> None:
        """Add a block of events (`recording.block`): many in binary form, or one as a JSON array of the
        fields of `Row`, in this order.

        An invalid event (`recording.rules`) is refused and does not change the recording, which can still be
        finished, for example with `RunResult.cut`.

        checked: a sandbox has already checked this block and all others of this recording.

        Raises:
            RecordingError: the event is invalid, or the disk refuses it; in the second case call `abandon`.
        """
        if self._state != "open":
            self._refuse()
        block = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        if len(block) > _EVENT_BYTES_MAX:
            self._refuse_event(block, f"longer than {_EVENT_BYTES_MAX} bytes")
        try:
            if block.startswith(MAGIC):
                if not checked:
                    self._checker.block(block)
                self._write_block(block)
                return
            row = row_of(block)
            if not checked:
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
        for batch, threads in _block_batches(block):
            if self._rows:
                self._flush()
            self._threads.update(threads)
            self.n_events += batch.num_rows
            self._write_batch(batch)

    def finish(
        self,
        run_result: RunResult,
        environment: Environment,
        *,
        repeatable: bool | None = None,
        difference: str | None = None,
    ) -> None:
        """Complete the recording.

        When this returns, or fails only to write a shard, the recording survives a kill of this process: the
        next writer on the folder finds it.

        Raises:
            InputError: a field of the ending or the environment cannot be saved. You can call it again.
            RecordingError: the disk refuses. If it refused this recording, its id is not in `Writer.done`,
                and you can only `abandon` it.
        """
        with self._guard:
            if self._state != "open":
                self._refuse()
            row = self._row | ending_row(self.id, run_result, environment, repeatable, difference)
            row |= {"threads": max(self._threads) + 1, "n_events": self.n_events, "format": FORMAT}
            part, path = self._path.with_suffix(".json.part"), self._path.with_suffix(".json")
            self._state = "failed"
            if self._rows:
                self._flush()
            with disk_errors(path, f"save the recording of {self.id!r}"):
                self._close_file()
                row["events_bytes"] = self._path.stat().st_size if self.n_events else 0
                part.write_text(json.dumps(row), encoding="ascii")
                os.replace(part, path)
            self._state = "finished"
        self._finished(Finished(self.id, path, self.n_events))

    def abandon(self) -> None:
        """Delete the recording, unless it is finished."""
        with self._guard:
            if self._state in ("finished", "abandoned"):
                return
            self._state = "abandoned"
            self._rows.clear()
            try:
                with disk_errors(self._path, f"delete the unfinished recording of {self.id!r}"):
                    self._close_file()
                    for suffix in (".arrow", ".json.part"):
                        self._path.with_suffix(suffix).unlink(missing_ok=True)
            finally:
                self._abandoned(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _flush(self) -> None:
        was, self._state = self._state, "failed"  # an error or Ctrl-C half way would leave half a batch
        columns = [
            _array(column, field)
            for column, field in zip(zip(*self._rows, strict=True), SPOOL_SCHEMA, strict=True)
        ]
        self._write_batch(pa.RecordBatch.from_arrays(columns, schema=SPOOL_SCHEMA))
        self._rows.clear()
        self._bytes = 0
        self._state = was

    def _write_batch(self, batch: Any) -> None:
        was, self._state = self._state, "failed"
        with disk_errors(self._path, f"write events of {self.id!r}"):
            if self._stream is None:
                self._file = pa.OSFile(str(self._path), "wb")
                self._stream = pa.ipc.new_stream(self._file, SPOOL_SCHEMA, options=_WRITE_OPTIONS)
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
        advice = {"failed": "Writing it to disk failed: abandon it and record the program again."}
        raise RecordingError.at(
            self._folder,
            f"the recording of {self.id!r} is {self._state}. {advice.get(self._state, 'Begin a new one.')}",
        )

    def _refuse_event(self, text: str | bytes, reason: str) -> NoReturn:
        raise RecordingError.at(
            self._folder,
            f"recording {self.id!r}, event {self.n_events} is not valid: {reason}: "
            f"{text[:80]!r}{'...' if len(text) > 80 else ''}. The events before it are intact: "
            "finish the recording with them, or abandon it.",
        )


def instructions_in(block: bytes) -> int:
    """The number of instructions among the events of a checked block (`rules.Checker`)."""
    kind = Kind.INSTRUCTION
    if not block.startswith(MAGIC):
        return int(row_of(block).kind == kind)
    if _columns is None:
        return sum(row.kind == kind for row in block_rows(block))
    kinds: bytes = _columns.columns(block, len(MAGIC))[1][2]
    return kinds.count(KINDS.index(kind))


def _block_batches(block: bytes) -> Iterator[tuple[Any, set[int]]]:
    """A block of many events as record batches, with the numbers of their threads.

    There is more than one batch only if names are long: a block contains each name only once.
    """
    if _columns is None:
        rows = list(block_rows(block))
        if rows:
            columns = [_array([row[i] for row in rows], field) for i, field in enumerate(SPOOL_SCHEMA)]
            yield pa.RecordBatch.from_arrays(columns, schema=SPOOL_SCHEMA), {row.thread for row in rows}
        return
    count, numbers, codes, texts = _columns.columns(block, len(MAGIC))
    names = ("thread", "index", None, "frame", None, "line", "offset")
    arrays = {
        name: pa.Array.from_buffers(SPOOL_SCHEMA.field(name).type, count, [None, pa.py_buffer(numbers[i])])
        for i, name in enumerate(names)
        if name is not None
    }
    kinds = pa.Array.from_buffers(pa.int8(), count, [None, pa.py_buffer(numbers[2])])
    code = pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(numbers[4])])
    arrays["kind"] = pa.DictionaryArray.from_arrays(kinds, pa.array(KINDS)).dictionary_decode()
    for name, values in zip(("function", "file"), zip(*codes, strict=True), strict=False):
        arrays[name] = pa.DictionaryArray.from_arrays(code, pa.array(values, pa.string()))
    for name, text in zip(TEXTS, texts, strict=True):
        if text is None:
            arrays[name] = pa.nulls(count, pa.string())
        else:
            arrays[name] = pa.StringArray.from_buffers(
                count, pa.py_buffer(text[1]), pa.py_buffer(text[2]), pa.py_buffer(text[0])
            )
    threads = {*array("i", numbers[0])}
    longest = max((len(function) + len(file) for function, file in codes), default=0)
    at_a_time = max(1, _NAMES_BYTES // max(1, longest))
    for begins in range(0, count, at_a_time):
        columns = [arrays[name].slice(begins, at_a_time) for name in SPOOL_SCHEMA.names]
        for number in _OF_CODE:
            columns[number] = columns[number].dictionary_decode()
        yield pa.RecordBatch.from_arrays(columns, schema=SPOOL_SCHEMA), threads


def _array(column: Iterable[Any], field: Any) -> Any:
    try:
        return pa.array(column, field.type)
    except UnicodeEncodeError:
        return pa.array([None if text is None else _as_utf8(text) for text in column], field.type)


def _as_utf8(text: str) -> str:
    r"""The text with lone surrogates, which UTF-8 lacks, written as ``\udcff``.

    For JSON this is the same text. In plain text, Python does the same on standard error.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _as_json(value: Any, subject: str) -> str:
    try:
        return _as_utf8(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{subject}={value!r:.80} cannot be saved as JSON: {error}") from None


def _checked(row: dict[str, Any], subject: str) -> dict[str, Any]:
    """The row. Raises InputError if Arrow cannot save a value: one bad recording must not spoil a shard."""
    for name, value in row.items():
        field = RECORDINGS_SCHEMA.field(name)
        try:
            pa.array([value], field.type)
            if value is None and not field.nullable:
                raise TypeError("it must not be None")
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"{subject}: {name}={value!r:.80} cannot be saved as {field.type}: {error}"
            ) from error
    return row


def program_row(program: Program) -> dict[str, Any]:
    if not program.id:
        raise InputError("a program needs an id that is not empty: it identifies the recording")
    subject = f"program {program.id!r}"
    row = program.to_dict()
    return _checked(row | {"extra": _as_json(row["extra"], f"{subject}: extra")}, subject)


def ending_row(
    id_: str, run_result: RunResult, environment: Environment, repeatable: bool | None, difference: str | None
) -> dict[str, Any]:
    subject = f"recording of {id_!r}"
    row = run_result.to_dict() | {"outcome": Outcome(run_result.outcome).value}
    row["environment"] = environment.to_dict()
    row |= {"python": environment.python, "hash_seed": environment.hash_seed}
    row |= {"repeatable": repeatable, "difference": difference}
    for name, value in row.items():
        if name in RECORDINGS_JSON and value is not None:
            row[name] = _as_json(value, f"{subject}: {name}")
        elif isinstance(value, str):
            row[name] = _as_utf8(value)
    return _checked(row, subject)


def read_finished(path: Path) -> Finished | None:
    """The finished recording of a row in the spool; None if a power failure damaged it or it is foreign."""
    try:
        if not _is_file(path, _ROW_BYTES_MAX):
            return None
        row = read_json(read_file(path))
        finished = Finished(row["id"], path, row["n_events"])
        named = {name: row.get(name) for name in RECORDINGS_SCHEMA.names if name != "first_row"}
        _checked(named, str(path))
        if not finished.id or finished.n_events < 0 or type(finished.n_events) is not int:
            return None
        size = row["events_bytes"]
        if size and (not _is_file(finished.events, size) or finished.events.stat().st_size != size):
            return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, FileNotFoundError, InputError):
        return None
    return finished


def _is_file(path: Path, size: int) -> bool:
    """Whether it is a plain file of up to this size: reading a pipe or a device may never end."""
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_size <= size


def spooled_events(finished: Finished) -> Iterator[Any]:
    """The events of a recording in the spool, in batches, with the additional column of a shard."""
    if not finished.n_events:
        return
    try:
        with (
            pa.OSFile(str(finished.events), "rb") as file,
            pa.ipc.open_stream(file, options=_READ_OPTIONS) as stream,
        ):
            for batch in stream:
                name = pa.repeat(pa.scalar(finished.id, pa.string()), batch.num_rows)
                lacking = len(SPOOL_SCHEMA) - batch.num_columns  # written by an earlier version: `LATER`
                later = [pa.nulls(batch.num_rows, pa.string())] * lacking
                full_batch = pa.RecordBatch.from_arrays([name, *batch.columns, *later], schema=EVENTS_SCHEMA)
                full_batch.validate(full=True)
                yield full_batch
    except (OSError, ValueError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        spool_damaged(finished, str(error))


def spool_damaged(finished: Finished, reason: str) -> NoReturn:
    raise RecordingError.at(
        finished.events,
        f"the events of {finished.id!r} are damaged: {reason}. Delete "
        f"{finished.row.name} beside it and start again: the program is then recorded again.",
    )
