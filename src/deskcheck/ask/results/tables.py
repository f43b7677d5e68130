"""The files of a run: its answers and their usage as Parquet, its results as JSON."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deskcheck.ask.results.effects import effects
from deskcheck.ask.results.folder import RESULTS, write_whole
from deskcheck.ask.results.results import Result
from deskcheck.ask.results.rows import ScoredSample, Usage


def write_results(results: Sequence[Result], folder: Path, card: Mapping[str, Any]) -> None:
    """Write ``samples.parquet``, ``usage.parquet``, ``effects.json`` if views or methods are compared, and
    last ``results.json``. Each is written atomically."""
    compared = effects(results)
    _write_table(folder / "usage.parquet", Usage, [row for result in results for row in result.usage])
    _write_table(
        folder / "samples.parquet", ScoredSample, [row for result in results for row in result.samples]
    )
    if compared or any(result.state for result in results):
        write_whole(folder / "effects.json", _json([effect.to_dict() for effect in compared]))
    card_and_results = {"card": card, "results": [result.to_dict() for result in results]}
    write_whole(folder / RESULTS, _json(card_and_results))


def _json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


_TYPES: dict[Any, pa.DataType] = {float: pa.float64(), int: pa.int64(), str: pa.string()}
_TYPES |= {kind | None: column for kind, column in _TYPES.items()}
"""Type of a field -> type of its column."""


def _write_table(
    path: Path, kind: type[ScoredSample] | type[Usage], rows: Sequence[ScoredSample] | Sequence[Usage]
) -> None:
    schema = pa.schema([(field.name, _TYPES[field.type]) for field in fields(kind)])
    texts = [{name: utf8(getattr(row, name)) for name in schema.names} for row in rows]
    part = path.with_name(f".{path.name}")
    try:
        pq.write_table(pa.Table.from_pylist(texts, schema), part, compression="zstd")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def utf8(value: Any) -> Any:
    """A text without lone surrogates, which models and programs write and files cannot hold."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
