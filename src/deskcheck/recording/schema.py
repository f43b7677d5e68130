"""Columns, encodings and file names of recordings on disk: docs/reference/format.md."""

import re
from typing import Any

import pyarrow as pa

from deskcheck.recording.trace import Row

FORMAT = 2
"""Version of the columns that deskcheck writes. It reads this version and all earlier ones."""


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
    ("refused", pa.string(), True),
)
RECORDINGS_JSON = frozenset({"extra", "sources", "packages", "environment", "refused"})


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
LATER = ("left_out", "refused")
"""Columns that older files lack. They are nullable, and the last columns of their table."""
DICTIONARY = {
    "events": ["recording", "kind", "function", "file"],
    "recordings": ["mode", "filename", "source", "licence", "outcome", "environment", "python"],
}
_CODES = pa.dictionary(pa.int32(), pa.string())
CODED_SCHEMA = pa.schema(
    [field.with_type(_CODES) if field.name in DICTIONARY["events"] else field for field in EVENTS_SCHEMA],
    EVENTS_SCHEMA.metadata,
)
"""Events in memory, before they are written: names by their number. Files have plain text columns."""
# Statistics let `recording = 'x'` skip row groups. On JSON text they would be ballast.
ENCODING: dict[str, dict[str, str] | None] = {
    "recordings": None,
    # `index` counts up. The high bytes of the others rarely change. Bytes an event, by programs: 0.01 instead
    # of 1.0, and 0.04 to 0.6 instead of 0.05 to 1.1.
    "events": {"index": "DELTA_BINARY_PACKED"}
    | dict.fromkeys(("frame", "line", "offset"), "BYTE_STREAM_SPLIT"),
}
STATISTICS = {
    "events": ["recording", "thread", "index", "kind", "frame", "function", "file", "line"],
    "recordings": ["id", "mode", "source", "licence", "train_ok", "date", "outcome", "python"],
}
SHARD_NAME = re.compile(r"(recordings|events)-(\d{5,15}|[0-9a-f]{32})\.parquet")
"""A writer numbers its shards. A job (`deskcheck.jobs`) names them by a hash of their contents."""
HASH_CHARS = 32
OF_KEY = "deskcheck.of"
"""Metadata key of a recordings file that was joined from several shards (`deskcheck.jobs.compact`). Its value
is a JSON object: name of a shard -> its first recording and its first event in the joined shard."""
COMPACTING_NAME = ".compacting"
"""A file that exists in the folder while shards are joined."""
SPOOL_NAME = ".spool"


def file_name(table: str, shard: int | str) -> str:
    return f"{table}-{shard:05d}.parquet" if isinstance(shard, int) else f"{table}-{shard}.parquet"
