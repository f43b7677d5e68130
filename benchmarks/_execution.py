"""What `benchmarks.execution_tuning` and `mixed_teaching` share: notations, how models are asked in them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from deskcheck.ask.methods.solvers import read_trace
from deskcheck.ask.results.steps import PredictedRun
from deskcheck.notation import NOTATIONS, Moment, compare_runs, moments
from deskcheck.notation.forms.direct import ending
from deskcheck.notation.layout import program_text, trace_prompt
from deskcheck.recording import Recording
from deskcheck.recording.value import decode
from deskcheck.teach.lessons.tokens import Edits, Words
from deskcheck.teach.small.batches import read_lessons, shards, some_texts
from deskcheck.teach.small.checkpoints import Checkpoint
from deskcheck.teach.small.evaluation import run_all
from deskcheck.teach.small.interpreter import ModelRows

METHODS = ("direct", "scratchpad", "compact", "dynamic")
LENGTHS = (50, 120, 300, 700, 1300)
"""Line events of a run: figures are given for those nearest to each, in ratio."""
_TOKENS_OF_UPDATE = 700
"""Or one lesson, where that has more."""


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
        read += len(one.program) * -(-len(one.pairs) // together)
        read += sum(len(prompt) + len(completion) for prompt, completion in one.pairs)
        lessons += len(one.pairs)
    return read / lessons


def updates(folder: Path, tokens: int, together: int) -> tuple[int, int]:
    """Lessons of an update, and how many updates read so many tokens; up to `together` lessons of an update
    are of one program."""
    rows = max(1, round(_TOKENS_OF_UPDATE / tokens_of_lesson(folder, together)))
    if rows > together:  # a batch holds whole parts of so many
        rows -= rows % together
    return rows, max(1, round(tokens / (rows * tokens_of_lesson(folder, min(rows, together)))))


# -- asking ------------------------------------------------------------------------------------------

Result = tuple[Recording, bool, PredictedRun | None]
"""A run, whether its result is right, and how its states are; None where none were asked for."""


def written(checkpoint: Checkpoint, asked: Sequence[Recording], name: str, budget: int) -> Iterator[Result]:
    """The whole trace, or the ending alone, in one answer of at most `budget` tokens."""
    notation = NOTATIONS[name]
    by_length, sizes = [], []
    for one in sorted(asked, key=lambda one: len(one.trace)):
        size = len(checkpoint.tokenizer.encode(notation.render(one)))
        if size > budget:
            yield one, False, None
        else:
            by_length.append(one)
            sizes.append(size)
    for start in range(0, len(by_length), 16):
        some = by_length[start : start + 16]
        rows = ModelRows(
            checkpoint.network, checkpoint.tokenizer, [program_text(one.program) for one in some]
        )
        # Of 16 the longest answer bounds all.
        rows.longest = 100 + max(sizes[start : start + 16]) * 5 // 4
        found = rows.ask({n: (trace_prompt(one.program, name), "") for n, one in enumerate(some)})
        for number, one in enumerate(some):
            true = list(moments(one.trace, file=one.program.filename))
            if name == "direct":
                states = notation.parse(found[number].text).moments
                yield one, found[number].ended and same_end(states, true), None
            else:
                told = read_trace(found[number].text, name, truncated=not found[number].ended)
                agreed = compare_runs(told.states, true, told.stop)
                yield (
                    one,
                    same_end(told.states, true),
                    PredictedRun(key=one.id, asked=len(told.states), agreement=agreed),
                )


def stepped(checkpoint: Checkpoint, asked: Sequence[Recording]) -> Iterator[Result]:
    """State by state, up to ten more than the longest run of about that length has."""
    by_length = sorted(asked, key=_length_of)
    for _, group in groupby(by_length, key=_length_of):
        some = list(group)
        for one in run_all(checkpoint, some, budget=10 + max(len(one.trace) for one in some)):
            true = list(moments(one.recording.trace, file=one.recording.program.filename))
            last = NOTATIONS["dynamic"].parse(one.run.states[-1]).moments
            ran = PredictedRun(key=one.recording.id, asked=len(one.run.jumps), agreement=one.agreement)
            yield one.recording, same_end(last, true), ran


def _length_of(recording: Recording) -> int:
    return nearest_length(len(recording.trace) - 1)


def same_end(told: Sequence[Moment], true: Sequence[Moment]) -> bool:
    """Whether the last state that is told ends as the run does, with the same value."""
    wanted, found = ending(true), told[-1] if told else None
    assert wanted is not None, "families return"
    return (
        found is not None
        and found.kind is wanted.kind
        and decode(found.value, found.objects) == decode(wanted.value, wanted.objects)
    )
