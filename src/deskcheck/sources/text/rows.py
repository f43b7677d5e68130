"""Rows of a data file, one at a time, each with its location: JSON lines, a JSON list, Parquet or CSV.

A row is checked when it is reached, so the rows before a bad row have been used already.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from deskcheck.errors import own_failures
from deskcheck.files import NotJSON, open_file, opened_name, read_file, read_json
from deskcheck.recording import InputError

Row = dict[str, Any]

FORMATS = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".parquet", ".csv")


Refuse = Callable[[str, str], None]
"""Takes the location of a row that cannot be used, and the reason. Reading continues after the row."""
T = TypeVar("T")


def has_format(path: Path) -> bool:
    return path.name.endswith(FORMATS)


def from_rows(
    path: Path, display_path: str, holds: str, make: Callable[[Row, str], Iterable[T]], refuse: Refuse | None
) -> Iterator[T]:
    """The results of `make` for every row and location of `read_rows`.

    refuse: takes the rows that cannot be used, also if deskcheck itself fails. Without it, the first such row
    is an error.
    """
    for location, row in read_rows(path, display_path, holds, refuse):
        if refuse is None:
            yield from make(row, location)
            continue
        results: list[T] = []
        try:
            with own_failures(partial(refuse, location)):
                results += make(row, location)
        except InputError as error:
            refuse(location, str(error))
        yield from results


def read_rows(
    path: Path, display_path: str, holds: str, refuse: Refuse | None = None
) -> Iterator[tuple[str, Row]]:
    """(location, row) for every row. Locations are ``file:12`` in JSON lines, else ``file: row 12``, from 1.

    display_path: the path as the user wrote it. holds: a sentence about the form of a row, for messages.
    refuse: takes rows that are not JSON objects; without it the first such row is an error.

    Raises:
        InputError: the file cannot be read, is cut off, has other content, or is empty.
    """
    if not has_format(path):
        raise InputError(f"{display_path}: is not in one of the formats {', '.join(FORMATS)}. {holds}")
    count = 0
    try:
        for location, row in _rows(path, display_path, holds):
            count += 1
            if not isinstance(row, dict):
                if not isinstance(row, InputError):
                    row = InputError(f"{location}: a row is a JSON object, this is {_kind(row)}. {holds}")
                if refuse is None:
                    raise row
                refuse(location, str(row))
                continue
            yield location, row
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"{display_path}: after {count} rows: incomplete gzip data: {error}. Fetch it again."
        ) from error
    except OSError as error:
        raise InputError(f"{display_path}: cannot be read: {error.strerror or error}") from error
    if not count:
        raise InputError(f"{display_path}: has no rows. {holds}")


def _rows(path: Path, display_path: str, holds: str) -> Iterator[tuple[str, object]]:
    """Locations and rows. A line that cannot be read is represented by its error."""
    if path.name.endswith(".parquet"):
        yield from _parquet(path, display_path, holds)
        return
    if path.name.endswith(".csv"):
        yield from _csv(path, display_path, holds)
        return
    packed = path.name.endswith(".gz")
    with open_file(path) as opened, cast(IO[bytes], gzip.open(opened)) if packed else opened as file:
        if path.name.endswith((".json", ".json.gz")):
            yield from _json_list(file, display_path, holds)
        else:
            yield from _json_lines(file, display_path, holds)


def _json_lines(file: IO[bytes], display_path: str, holds: str) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(file, start=1):
        if line.strip():
            location = f"{display_path}:{number}"
            try:
                yield location, _decoded(line.rstrip(b"\r\n"), location, holds, ended=line.endswith(b"\n"))
            except InputError as error:  # concerns only this line
                yield location, error


def _json_list(file: IO[bytes], display_path: str, holds: str) -> Iterator[tuple[str, object]]:
    value = _decoded(file.read(), display_path, holds, ended=False)
    if not isinstance(value, list):
        raise InputError(
            f"{display_path}: a .json file holds a list of rows, this is {_kind(value)}. {holds}"
        )
    for number, row in enumerate(value, start=1):
        yield f"{display_path}: row {number}", row


def _decoded(data: bytes, location: str, holds: str, *, ended: bool) -> object:
    try:
        return read_json(data, location, holds)
    except NotJSON as error:
        if error.cut and data and not ended:
            raise InputError(f"{error} If the file was cut short, fetch it again.") from None
        raise


def _csv(path: Path, display_path: str, holds: str) -> Iterator[tuple[str, object]]:
    """Rows of texts. The first line names the columns; a quoted cell may contain line ends."""
    try:
        text = read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{display_path}: is not UTF-8 at byte {error.start}. {holds}") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = next(reader, [])
        if len({*head}) < len(head):
            raise InputError(f"{display_path}: two columns have the same name. {holds}")
        for number, cells in enumerate(reader, 1):
            if cells and len(cells) != len(head):
                raise InputError(
                    f"{display_path}: row {number}: has {len(cells)} cells, and the first line "
                    f"{len(head)}. {holds}"
                )
            if cells:
                yield f"{display_path}: row {number}", dict(zip(head, cells, strict=True))
    except csv.Error as error:
        raise InputError(f"{display_path}: line {reader.line_num}: not CSV: {error}. {holds}") from error


def _parquet(path: Path, display_path: str, holds: str) -> Iterator[tuple[str, object]]:
    import pyarrow
    import pyarrow.parquet

    try:
        with opened_name(path) as name, pyarrow.parquet.ParquetFile(name) as file:
            number = 0
            for batch in file.iter_batches(batch_size=256):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{display_path}: row {number}", row
    except (pyarrow.ArrowException, ValueError) as error:  # ValueError: text that is not UTF-8
        raise InputError(f"{display_path}: incomplete Parquet: {error}. {holds}") from error


def check_fields(row: Row, required: Mapping[str, type], location: str, holds: str) -> None:
    """Refuse a row that lacks a field, or has a field of another type."""
    for name, kind in required.items():
        if name not in row:
            raise InputError(
                f"{location}: the row lacks {name!r}; it has {', '.join(sorted(row)) or 'nothing'}. {holds}"
            )
        check_type(row[name], kind, name, location)


def check_type(value: object, kind: type, name: str, location: str) -> None:
    """Refuse a value of another type, and text that cannot be written as UTF-8."""
    # For isinstance a bool is an int, but a bool is never meant as a number.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"{location}: {name!r} is {_kind(value)}, not {_KINDS[kind]}.")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:  # JSON can escape half of a surrogate pair
            raise InputError(f"{location}: {name!r} is not text at character {error.start}.") from error


_KINDS: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__)
