"""Lessons on disk: ``train-00000.parquet``, ...; docs/reference/lessons.md describes the columns.

A shard's files receive their names when they are complete, and then ``lessons.json`` names them. So a file
that it does not name was left by a killed builder.
"""

import os
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from deskcheck.files import NotJSON, disk_errors, read_file, read_json, sync
from deskcheck.recording import InputError
from deskcheck.teach.lessons.choice import SPLITS
from deskcheck.teach.lessons.ids import Ids

_TEXT, _COUNT = pa.string(), pa.int32()
_SHARED_TEXT = pa.dictionary(pa.int32(), _TEXT)
"""Type in memory, where neighbouring rows share the program. In the file it is plain text."""
COLUMNS = {
    "prefix": _SHARED_TEXT,
    "prompt": _TEXT,
    "completion": _TEXT,
    "program": _SHARED_TEXT,
    "program_sha256": _SHARED_TEXT,
    "notation": _SHARED_TEXT,
    "granularity": _SHARED_TEXT,
    "jump": _COUNT,
    "index": pa.int64(),
    "depth": _COUNT,
    "events": pa.int64(),
    "prefix_tokens": _COUNT,
    "tokens": _COUNT,
    "trained_tokens": _COUNT,
    "source": _SHARED_TEXT,
    "licence": _SHARED_TEXT,
    "train_ok": pa.bool_(),
    "split": _SHARED_TEXT,
    "key": pa.uint64(),
}
_GROUP_BYTES = 16 << 20
_GROUP_ROWS = 20_000
_FILE = re.compile(rf"(?:{'|'.join(SPLITS)})-(\d{{5,}})\.parquet(\.part)?")


STATE_NAME = "lessons.json"
_JOB_NAME = "job.json"
MIXED = f"{SPLITS[0]}-mixed.parquet"
"""The file of examples from other data (`mixing`)."""


def refuse_unfinished(folder: Path) -> None:
    """Raise InputError for a folder with incomplete lessons, after an interrupted `deskcheck lessons`."""
    state = _state(folder)
    begun = (folder / _JOB_NAME).exists() if state is None else not state.get("complete", True)
    mixed = (state or {}).get("settings", {}).get("mix")
    if begun or (mixed and not (folder / MIXED).exists()):
        raise InputError(
            f"{folder}: its lessons are incomplete, because making them was interrupted. Rerun the same "
            "`deskcheck lessons` command to resume."
        )


def taught_as(folder: Path) -> dict[str, Any]:
    """Notations and jumps of a folder of lessons; empty if it does not say."""
    settings = (_state(folder) or {}).get("settings", {})
    return {name: settings[name] for name in ("notations", "jumps") if name in settings}


def _state(folder: Path) -> dict[str, Any] | None:
    path = folder / STATE_NAME
    if not path.exists():
        return None
    try:
        state = read_json(read_file(path))
    except NotJSON:
        state = None
    if not isinstance(state, dict):
        raise InputError(f"{path}: damaged. Make the lessons again, in another folder.")
    return state


class Shared(NamedTuple):
    """The common values of neighbouring rows."""

    prefix: str
    program: str
    program_sha256: str
    notation: str
    granularity: str
    events: int
    source: str
    licence: str | None
    train_ok: bool
    split: str


def schema(token: Any | None) -> Any:
    """Columns of a shard. token: the Arrow type of a token, None without tokens."""
    tokens = {} if token is None else dict.fromkeys(("input_ids", "labels"), pa.list_(token))
    return pa.schema(COLUMNS | tokens)


class LessonRows:
    """The rows of one split in memory."""

    def __init__(self, ids: Ids | None) -> None:
        self.ids = ids
        self.shared: list[Shared] = []
        self.where = array("i")
        """The place of each row's values in `shared`."""
        self.prompts: list[str] = []
        self.completions: list[str] = []
        self.jumps: list[int | None] = []
        self.events: list[int | None] = []
        self.depths: list[int] = []
        self.tokens = array("i")
        self.prefixes = array("i")
        self.trained = array("i")
        self.keys = array("Q")
        self.chars = 0

    def __len__(self) -> int:
        return len(self.where)

    @property
    def size_bytes(self) -> int:
        return self.chars + (self.ids.size_bytes if self.ids else 0)

    @property
    def full(self) -> bool:
        return len(self.where) >= _GROUP_ROWS or self.size_bytes >= _GROUP_BYTES

    def table(self, schema: Any) -> Any:
        where = _numbers(pa.int32(), self.where)
        columns = {
            "prompt": pa.array(self.prompts, _TEXT),
            "completion": pa.array(self.completions, _TEXT),
            "jump": self.jumps,
            "index": self.events,
            "depth": self.depths,
            "tokens": _numbers(_COUNT, self.tokens),
            "prefix_tokens": _numbers(_COUNT, self.prefixes),
            "trained_tokens": _numbers(_COUNT, self.trained),
            "key": _numbers(pa.uint64(), self.keys),
        }
        for name in Shared._fields:
            of_runs = [getattr(shared, name) for shared in self.shared]
            if COLUMNS[name] == _SHARED_TEXT:
                texts = dict.fromkeys(text for text in of_runs if text is not None)
                numbers = {text: at for at, text in enumerate(texts)}
                places = pa.array([numbers.get(text) for text in of_runs], pa.int32()).take(where)
                columns[name] = pa.DictionaryArray.from_arrays(places, pa.array(list(numbers), _TEXT))
            else:
                columns[name] = pa.array(of_runs, COLUMNS[name]).take(where)
        if self.ids is not None:
            columns["input_ids"], columns["labels"] = self.ids.columns()
        return pa.table([columns[name] for name in schema.names], schema=schema)


def _numbers(type_: Any, values: "array[int]") -> Any:
    return pa.Array.from_buffers(type_, len(values), [None, pa.py_buffer(values)])


def file_writer(path: Path, schema: Any) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        str(path),
        schema,
        compression="zstd",
        use_dictionary=[name for name in COLUMNS if COLUMNS[name] == _SHARED_TEXT],
        store_schema=False,  # dictionaries are a matter of memory
        write_statistics=["program_sha256", "notation", "tokens", "depth", "events"],
        write_page_checksum=True,
    )


class LessonShard:
    """The files of a shard that is being written."""

    def __init__(self, folder: Path, name: str, schema: Any) -> None:
        self.folder = folder
        self.name = name
        self.schema = schema
        self._files: dict[str, pq.ParquetWriter] = {}

    def _part(self, split: str) -> Path:
        return self.folder / f"{split}-{self.name}.parquet.part"

    def write(self, split: str, rows: LessonRows) -> None:
        with disk_errors(self._part(split), "write lessons"):
            if split not in self._files:
                self._files[split] = file_writer(self._part(split), self.schema)
            self._files[split].write_table(rows.table(self.schema))

    def finish(self) -> dict[str, Path]:
        """Give the files their names. Returns them by split."""
        files = {}
        for split, file in self._files.items():
            part = self._part(split)
            with disk_errors(part, "write lessons"):
                file.close()
                sync(part)
                os.replace(part, part.with_suffix(""))
            files[split] = part.with_suffix("")
        self._files = {}
        return files

    def abandon(self) -> None:
        for split, file in self._files.items():
            try:
                file.close()
            except (OSError, pa.ArrowException):  # what happened first is what to report
                pass
            self._part(split).unlink(missing_ok=True)


def shard_files(folder: Path) -> Iterator[tuple[Path, int, bool]]:
    """(path, number, whether it is complete) of each file of a builder."""
    for path in sorted(folder.iterdir()):
        if named := _FILE.fullmatch(path.name):
            yield path, int(named[1]), named[2] is None
