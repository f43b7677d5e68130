"""What one run has of one question, one view of the state, one method and one model, as a log tells it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from deskcheck.ask.results.results import Marked, Usage

Key = tuple[str, str, str, str]
"""Question, view of the state, method, model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Samples of one key that were asked together. started: in seconds since the epoch."""

    key: Key
    folder: Path
    started: float
    samples: Sequence[Marked]
    usage: Sequence[Usage] = ()
    excluded: Mapping[str, int]


def seconds(told: object, file: Path) -> float:
    """A time as a card or a log tells it; where none is told, that of the file."""
    try:
        return datetime.fromisoformat(str(told)).timestamp()
    except ValueError:
        return file.stat().st_mtime


def is_short(value: object) -> bool:
    """Whether a field of somebody's sample is kept, to tell scores apart by it: a number, or a short text."""
    return isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= 200)
