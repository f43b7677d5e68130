"""The files of a run: its answers and what they took as Parquet, its results as JSON."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deskcheck.ask.results.effects import effects
from deskcheck.ask.results.folder import (
    RESULTS,
    write_whole,
)
from deskcheck.ask.results.results import MEASURED, STEPS, Result, ScoredSample, Usage


def write_results(results: Sequence[Result], folder: Path, card: Mapping[str, Any]) -> None:
    """``samples.parquet``, ``usage.parquet``, where views or methods are compared ``effects.json``, and
    ``results.json``, each whole or not there."""
    compared = effects(results)
    _write_table(folder / "usage.parquet", Usage, [row for result in results for row in result.usage])
    _write_table(
        folder / "samples.parquet", ScoredSample, [row for result in results for row in result.samples]
    )
    if compared or any(result.state for result in results):
        write_whole(folder / "effects.json", _json([effect.to_dict() for effect in compared]))
    told = {"card": card, "results": [result.to_dict() for result in results]}
    write_whole(folder / RESULTS, _json(told))


def _json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


_NUMBERS = {"score", *MEASURED, "cost", "time_s"}


_COUNTS = {*STEPS, "input_tokens", "output_tokens", "epoch"}


def _write_table(
    path: Path, kind: type[ScoredSample] | type[Usage], rows: Sequence[ScoredSample] | Sequence[Usage]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(kind.__dataclass_fields__)
    schema = pa.schema(
        [
            (name, pa.float64() if name in _NUMBERS else pa.int64() if name in _COUNTS else pa.string())
            for name in names
        ]
    )
    table = pa.Table.from_pylist([{name: utf8(getattr(row, name)) for name in names} for row in rows], schema)
    made = path.with_name(f".{path.name}")
    try:
        pq.write_table(table, made, compression="zstd")
        os.replace(made, path)
    finally:
        made.unlink(missing_ok=True)


def utf8(value: Any) -> Any:
    """Text that a model or a program wrote may hold lone surrogates, which no file of text can."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
