"""What the parts of `benchmarks.execution_tuning` share: its notations, an answer, how long a run is."""

import math
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from deskcheck.ask.results.steps import PredictedRun
from deskcheck.teach.lessons.tokens import Edits, Words
from deskcheck.teach.small.batches import read_lessons, shards, some_texts

METHODS = ("direct", "scratchpad", "compact", "dynamic")
LENGTHS = (50, 120, 300, 700, 1300)
"""Line events of a run: figures are given for those nearest to each, in ratio."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A run that was asked about. run: its recording. steps: events after the first. right: the true result
    is the answer. ran: how the states are; None where none were asked for: of `direct`, and over the budget.
    seen: whether the program's text was trained, with other inputs."""

    method: str
    seed: int
    run: str
    family: str
    program: str
    steps: int
    right: bool
    ran: PredictedRun | None
    seen: bool

    @property
    def whole(self) -> bool:
        """Whether every state is right, to the end."""
        return self.ran is not None and self.ran.agreement.first is None

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "Answered":
        """Inverse of `asdict`."""
        return cls(**(row | {"ran": row["ran"] and PredictedRun.from_dict(row["ran"])}))


def family_of(run: str) -> str:
    """A run's family: `collatz_6_0` is of `collatz`."""
    return run.rsplit("_", 2)[0]


def nearest_length(steps: int) -> int:
    """Which of `LENGTHS` a run belongs to."""
    return min(LENGTHS, key=lambda events: abs(math.log(steps / events)))


def tokens_of_lesson(folder: Path, together: int) -> float:
    """Tokens that a lesson takes to read, in the mean, with its part of the program, which is read once for
    so many `together`; words of these lessons count as one."""
    files = shards(folder)
    tokenizer = Edits(Words.learned(some_texts(files), 768))
    read = lessons = 0
    for one in islice(read_lessons(files, "train", tokenizer), 300):
        read += len(one.program) * -(-len(one.each) // together)
        read += sum(len(prompt) + len(completion) for prompt, completion in one.each)
        lessons += len(one.each)
    return read / lessons
