"""Rows of a data file, one at a time, each with its place for messages: JSON lines or a list, Parquet, CSV.

A row is checked when it is reached, so whatever stands before a bad row has been used already.
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
"""Told the place of a row that cannot be used, and why. The rows after it are read."""
T = TypeVar("T")


def has_format(path: Path) -> bool:
    return path.name.endswith(FORMATS)


def from_rows(
    path: Path, shown: str, holds: str, make: Callable[[Row, str], Iterable[T]], refuse: Refuse | None
) -> Iterator[T]:
    """What `make` makes of every row and its place, as of `read_rows`.

    refuse: told of the rows that cannot be used, also those that deskcheck itself fails on; None: the first
    of them is an error.
    """
    for place, row in read_rows(path, shown, holds, refuse):
        if refuse is None:
            yield from make(row, place)
            continue
        made: list[T] = []
        try:
            with own_failures(partial(refuse, place)):
                made += make(row, place)
        except InputError as error:
            refuse(place, str(error))
        yield from made


def read_rows(path: Path, shown: str, holds: str, refuse: Refuse | None = None) -> Iterator[tuple[str, Row]]:
    """(place, row) for every row; place is ``file:12`` in JSON lines, else ``file: row 12``, from 1.

    `shown` is the path as the user wrote it. `holds` says what a row should look like. refuse: told of rows
    that are not JSON objects; without it the first of them is an error.

    Raises:
        InputError: the file cannot be read, is cut short, holds something else, or holds nothing.
    """
    if not has_format(path):
        raise InputError(f"{shown}: is none of {', '.join(FORMATS)}. {holds}")
    count = 0
    try:
        for place, row in _rows(path, shown, holds):
            count += 1
            if not isinstance(row, dict):
                if not isinstance(row, InputError):
                    row = InputError(f"{place}: a row is a JSON object, this is {_kind(row)}. {holds}")
                if refuse is None:
                    raise row
                refuse(place, str(row))
                continue
            yield place, row
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"{shown}: after {count} rows: not whole gzip data: {error}. Fetch it again."
        ) from error
    except OSError as error:
        raise InputError(f"{shown}: cannot be read: {error.strerror or error}") from error
    if not count:
        raise InputError(f"{shown}: holds no rows. {holds}")


def _rows(path: Path, shown: str, holds: str) -> Iterator[tuple[str, object]]:
    """Rows with their places; in the place of a line that cannot be read, its error."""
    if path.name.endswith(".parquet"):
        yield from _parquet(path, shown, holds)
        return
    if path.name.endswith(".csv"):
        yield from _csv(path, shown, holds)
        return
    packed = path.name.endswith(".gz")
    with open_file(path) as opened, cast(IO[bytes], gzip.open(opened)) if packed else opened as file:
        if path.name.endswith((".json", ".json.gz")):
            yield from _json_list(file, shown, holds)
        else:
            yield from _json_lines(file, shown, holds)


def _json_lines(file: IO[bytes], shown: str, holds: str) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(file, start=1):
        if line.strip():
            place = f"{shown}:{number}"
            try:
                yield place, _decoded(line.rstrip(b"\r\n"), place, holds, ended=line.endswith(b"\n"))
            except InputError as error:  # of this line alone
                yield place, error


def _json_list(file: IO[bytes], shown: str, holds: str) -> Iterator[tuple[str, object]]:
    value = _decoded(file.read(), shown, holds, ended=False)
    if not isinstance(value, list):
        raise InputError(f"{shown}: a .json file holds a list of rows, this is {_kind(value)}. {holds}")
    for number, row in enumerate(value, start=1):
        yield f"{shown}: row {number}", row


def _decoded(data: bytes, place: str, holds: str, *, ended: bool) -> object:
    try:
        return read_json(data, place, holds)
    except NotJSON as error:
        if error.cut and data and not ended:
            raise InputError(f"{error} If the file was cut short, fetch it again.") from None
        raise


def _csv(path: Path, shown: str, holds: str) -> Iterator[tuple[str, object]]:
    """Every value is text. The first line names the columns; a quoted cell may hold line ends."""
    try:
        text = read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{shown}: is not UTF-8 at byte {error.start}. {holds}") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = next(reader, [])
        if len({*head}) < len(head):
            raise InputError(f"{shown}: two columns have one name. {holds}")
        for number, cells in enumerate(reader, 1):
            if cells and len(cells) != len(head):
                raise InputError(
                    f"{shown}: row {number}: has {len(cells)} cells, and the first line {len(head)}. {holds}"
                )
            if cells:
                yield f"{shown}: row {number}", dict(zip(head, cells, strict=True))
    except csv.Error as error:
        raise InputError(f"{shown}: line {reader.line_num}: not CSV: {error}. {holds}") from error


def _parquet(path: Path, shown: str, holds: str) -> Iterator[tuple[str, object]]:
    import pyarrow
    import pyarrow.parquet

    try:
        with opened_name(path) as name, pyarrow.parquet.ParquetFile(name) as file:
            number = 0
            for batch in file.iter_batches(batch_size=256):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{shown}: row {number}", row
    except (pyarrow.ArrowException, ValueError) as error:  # ValueError: text that is not UTF-8
        raise InputError(f"{shown}: not whole Parquet: {error}. {holds}") from error


def check_fields(row: Row, required: Mapping[str, type], place: str, holds: str) -> None:
    """Refuse a row that lacks a field or has one of another type."""
    for name, kind in required.items():
        if name not in row:
            raise InputError(
                f"{place}: the row lacks {name!r}; it has {', '.join(sorted(row)) or 'nothing'}. {holds}"
            )
        check_type(row[name], kind, name, place)


def check_type(value: object, kind: type, name: str, place: str) -> None:
    """Refuse a value of another type, and text that cannot be written as UTF-8."""
    # bool is an int to isinstance, and never meant where a number is asked for.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"{place}: {name!r} is {_kind(value)}, not {_KINDS[kind]}.")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:  # JSON can escape half of a surrogate pair
            raise InputError(f"{place}: {name!r} is not text at character {error.start}.") from error


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
