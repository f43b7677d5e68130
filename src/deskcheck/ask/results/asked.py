"""What one run has of one question, one view of the state, one method and one model, as a log tells it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from deskcheck.ask.results.results import ScoredSample, Usage
from deskcheck.recording import InputError

Key = tuple[str, str, str, str]
"""Question, view of the state, method, model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Samples of one key that were asked together. started: in seconds since the epoch."""

    key: Key
    folder: Path
    started: float
    samples: Sequence[ScoredSample]
    usage: Sequence[Usage] = ()
    excluded: Mapping[str, int]


def seconds(told: object, file: Path) -> float:
    """A time as a card or a log tells it; where none is told, that of the file."""
    try:
        return datetime.fromisoformat(str(told)).timestamp()
    except ValueError:
        return file.stat().st_mtime


def scored_elsewhere(
    id_: str, fields: Mapping[str, Any], cluster: str | None, where: str, **columns: Any
) -> ScoredSample:
    """The row of a sample that another program scored. fields: what its task tells of it, of which numbers
    and short texts are kept. cluster: the field by which samples belong together. where: for an error.

    Raises InputError: it has no such field.
    """
    if cluster is not None and cluster not in fields:
        raise InputError(
            f"{where}: sample {id_} has no {cluster!r}: it has {', '.join(fields) or 'no fields'}."
        )
    data = {name: value for name, value in fields.items() if _is_short(value)}
    own = id_ if cluster is None else str(fields[cluster])
    return ScoredSample(id=id_, program=id_, cluster=own, reason="", data=json.dumps(data), **columns)


def _is_short(value: object) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= 200)
