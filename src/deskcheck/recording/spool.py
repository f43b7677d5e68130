"""The spool: unfinished recordings, and finished ones until a shard contains them."""

import io
import json
import os
import stat
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Self

import pyarrow as pa

from deskcheck.errors import InputError, RecordingError
from deskcheck.files import disk_errors, read_file, read_json
from deskcheck.recording.block import KINDS, MAGIC, TEXTS, packed, save, saved
from deskcheck.recording.block import rows as block_rows
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Program
from deskcheck.recording.recording import RunResult
from deskcheck.recording.rules import Checker, row_of
from deskcheck.recording.schema import CODED_SCHEMA, FORMAT, RECORDINGS_JSON, RECORDINGS_SCHEMA
from deskcheck.recording.trace import Kind, Row

_columns: Any
try:
    from deskcheck.recording import _columns
except ImportError:  # not built: the same in Python
    _columns = None

_FRAME = struct.Struct("<3IQ")
"""The head of a frame, after its checksum: its bytes compressed, its bytes, events, and weight."""
_CHECKSUM = struct.Struct("<I")
"""CRC-32 of the rest of the frame."""
_FRAME_BYTES = 256 << 10
_ROWS = 4096
"""Number of single events that are joined to a block."""
_NAMES_BYTES = 4 << 20
"""Limit on the names of a frame, counted for every event: readers may repeat them in every row."""
_ROW_BYTES_MAX = 2 << 30
_EVENT_BYTES_MAX = (1 << 30) - (1 << 26)
"""Arrow's string arrays are limited to 2 GiB, and a lone surrogate needs 6 bytes there instead of 3."""
_CODEC = "lz4_raw"
_EARLIER = ".arrow"
"""Suffix of the events that deskcheck up to 0.1.0 left in the spool: a stream of Arrow's record batches."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished recording in the spool: ``STEM.json`` is its row, ``STEM.blocks`` has its events."""

    id: str
    row: Path
    n_events: int

    @property
    def events(self) -> Path:
        earlier = self.row.with_suffix(_EARLIER)
        return earlier if earlier.exists() else self.row.with_suffix(".blocks")


class SpooledBlocks(NamedTuple):
    """Blocks of events that were saved together."""

    events: int
    weight: int
    """Bytes of the blocks, and of the names of functions and files, counted for every event."""
    blocks: bytes
    """Each after its length (`block.save`)."""


class Spool:
    """A recording that is being made. Its blocks go to disk in frames, so that memory use stays constant.

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
        self._path = stem.with_suffix(".blocks")
        self._folder = str(stem.parents[1])
        self._checker = Checker()
        self._threads = 1
        self._rows: list[Row] = []
        self._rows_bytes = 0
        self._waiting = io.BytesIO()
        """The blocks of the next frame."""
        self._waiting_events = self._waiting_names = 0
        self._file: io.BufferedWriter | None = None
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
                part: Row | _Counts = _counts(block)
            else:
                part = row_of(block)
                if not checked:
                    self._checker.row(part)
        except (ValueError, OverflowError) as error:
            self._refuse_event(text, str(error))
        was, self._state = self._state, "failed"  # an error or Ctrl-C half way would leave half a block
        if isinstance(part, _Counts):
            self._join_rows()
            self._add(block, part)
            self.n_events += part.events
        else:
            self._rows.append(part)
            self._rows_bytes += len(block)
            self.n_events += 1
            if len(self._rows) >= _ROWS or self._rows_bytes >= _FRAME_BYTES:
                self._join_rows()
        self._state = was

    def _join_rows(self) -> None:
        """Make a block of the single events."""
        if self._rows:
            block = packed(self._rows)
            self._rows.clear()
            self._rows_bytes = 0
            self._add(block, _counts(block))

    def _add(self, block: bytes, counts: "_Counts") -> None:
        """Add a block to the frame that is in the making."""
        if counts.names > _NAMES_BYTES and counts.events > 1:
            rows = list(block_rows(block))
            for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
                part = packed(half)
                self._add(part, _counts(part))
            return
        if self._waiting_names + counts.names > _NAMES_BYTES:
            self._write_frame()
        save(block, self._waiting)
        self._threads = max(self._threads, counts.threads)
        self._waiting_events += counts.events
        self._waiting_names += counts.names
        if self._waiting.tell() >= _FRAME_BYTES:
            self._write_frame()

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
            part, path = self._path.with_suffix(".json.part"), self._path.with_suffix(".json")
            self._state = "failed"
            self._join_rows()
            self._write_frame()
            row |= {"threads": self._threads, "n_events": self.n_events, "format": FORMAT}
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
                    for suffix in (".blocks", ".json.part"):
                        self._path.with_suffix(suffix).unlink(missing_ok=True)
            finally:
                self._abandoned(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _write_frame(self) -> None:
        blocks = self._waiting.getvalue()
        if not blocks:
            return
        content = pa.compress(blocks, codec=_CODEC, asbytes=True)
        weight = len(blocks) + self._waiting_names
        head = _FRAME.pack(len(content), len(blocks), self._waiting_events, weight)
        checksum = _CHECKSUM.pack(zlib.crc32(content, zlib.crc32(head)))
        with disk_errors(self._path, f"write events of {self.id!r}"):
            if self._file is None:
                self._file = open(self._path, "wb")  # noqa: SIM115 (_close_file closes it)
            self._file.write(checksum + head)
            self._file.write(content)
            self._file.flush()
        self._waiting = io.BytesIO()
        self._waiting_events = self._waiting_names = 0

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.raw.close()  # everything is flushed, unless the disk refused it: do not try again

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


class _Counts(NamedTuple):
    events: int
    instructions: int
    threads: int
    names: int
    """Bytes of the names of functions and files, counted for every event."""


def _counts(block: bytes) -> _Counts:
    """Totals of a binary block. Raises ValueError if it is damaged."""
    if _columns is not None:
        return _Counts(*_columns.counts(block))
    rows = list(block_rows(block))
    names = sum(len((row.function + row.file).encode("utf-8", "surrogatepass")) for row in rows)
    threads = max((row.thread for row in rows), default=-1) + 1
    return _Counts(len(rows), sum(row.kind == Kind.INSTRUCTION for row in rows), threads, names)


def events_in(block: bytes) -> int:
    """The number of events of a block. Raises ValueError if it is damaged."""
    return _counts(block).events if block.startswith(MAGIC) else 1


def instructions_in(block: bytes) -> int:
    """The number of instructions among the events of a checked block (`rules.Checker`)."""
    if block.startswith(MAGIC):
        return _counts(block).instructions
    return int(row_of(block).kind == Kind.INSTRUCTION)


def events_of(frames: list[tuple[str, SpooledBlocks]]) -> Any:
    """The events of frames as a record batch (`schema.CODED_SCHEMA`).

    frames: id of a recording and a frame of it.
    """
    if _columns is None:
        return _events_in_python(frames)
    count, numbers, recordings, functions, files, texts = _columns.columns(
        [(id_, frame.blocks) for id_, frame in frames]
    )
    names = ("recording", "thread", "index", "kind", "frame", "function", "file", "line", "offset")
    dictionaries = {"recording": recordings, "kind": KINDS, "function": functions, "file": files}
    arrays = {}
    for name, content in zip(names, numbers, strict=True):
        of_codes = name in dictionaries
        type_ = pa.int32() if of_codes else CODED_SCHEMA.field(name).type
        array = pa.Array.from_buffers(type_, count, [None, pa.py_buffer(content)])
        if of_codes:
            # The codes are positions in the dictionary: `_columns` made both.
            words = pa.array([*dictionaries[name]], pa.string())
            array = pa.DictionaryArray.from_arrays(array, words, safe=False)
        arrays[name] = array
    for name, text in zip(TEXTS, texts, strict=True):
        if text is None:
            arrays[name] = pa.nulls(count, pa.string())
        else:
            arrays[name] = pa.StringArray.from_buffers(
                count, pa.py_buffer(text[1]), pa.py_buffer(text[2]), pa.py_buffer(text[0])
            )
    return pa.RecordBatch.from_arrays([arrays[name] for name in CODED_SCHEMA.names], schema=CODED_SCHEMA)


def _events_in_python(frames: list[tuple[str, SpooledBlocks]]) -> Any:
    rows = [
        (id_, *row._replace(line=_signed(row.line), offset=_signed(row.offset)))
        for id_, frame in frames
        for block in saved(io.BytesIO(frame.blocks))
        for row in block_rows(block)
    ]
    columns = zip(*rows, strict=True) if rows else ((),) * len(CODED_SCHEMA)
    arrays = []
    for column, field in zip(columns, CODED_SCHEMA, strict=True):
        if pa.types.is_dictionary(field.type):
            arrays.append(_array(column, pa.string()).dictionary_encode())
        else:
            arrays.append(_array(column, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=CODED_SCHEMA)


def _signed(value: int) -> int:
    """A number that `packed` stored modulo 2**32."""
    return value - (1 << 32) if value >= 1 << 31 else value


def _array(column: Iterable[Any], type_: Any) -> Any:
    try:
        return pa.array(column, type_)
    except UnicodeEncodeError:
        return pa.array([None if text is None else _as_utf8(text) for text in column], type_)


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


def spooled_frames(finished: Finished) -> Iterator[SpooledBlocks]:
    """The frames of a recording in the spool.

    Raises RecordingError if they are damaged, or lack events.
    """
    if not finished.n_events:
        return
    if finished.events.suffix == _EARLIER:
        yield from _earlier_frames(finished)
        return
    left = finished.n_events
    with open(finished.events, "rb") as file:
        while start := file.read(_CHECKSUM.size):
            head = file.read(_FRAME.size)
            try:
                size, blocks_bytes, events, weight = _FRAME.unpack(head)
                content = file.read(size)
                if zlib.crc32(content, zlib.crc32(head)) != _CHECKSUM.unpack(start)[0]:
                    raise ValueError(f"the checksum of what ends at byte {file.tell()} differs")
                blocks = pa.decompress(content, blocks_bytes, codec=_CODEC, asbytes=True)
            except (struct.error, ValueError, pa.ArrowException) as error:
                spool_damaged(finished, str(error))
            left -= events
            yield SpooledBlocks(events, weight, blocks)
    if left:
        spool_damaged(finished, f"it holds {finished.n_events - left} of {finished.n_events} events")


def _earlier_frames(finished: Finished) -> Iterator[SpooledBlocks]:
    left = finished.n_events
    try:
        with pa.OSFile(str(finished.events), "rb") as file, pa.ipc.open_stream(file) as stream:
            for batch in stream:
                lacking = [None] * (len(Row._fields) - batch.num_columns)  # `schema.LATER`
                rows = [Row(*row.values(), *lacking) for row in batch.to_pylist()]
                blocks = io.BytesIO()
                save(packed(rows), blocks)
                left -= len(rows)
                yield SpooledBlocks(len(rows), batch.nbytes, blocks.getvalue())
    except (OSError, ValueError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        spool_damaged(finished, str(error))
    if left:
        spool_damaged(finished, f"it holds {finished.n_events - left} of {finished.n_events} events")


def spool_damaged(finished: Finished, reason: str) -> NoReturn:
    raise RecordingError.at(
        finished.events,
        f"the events of {finished.id!r} are damaged: {reason}. Delete "
        f"{finished.row.name} beside it and start again: the program is then recorded again.",
    )
