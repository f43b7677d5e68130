"""What a solver may know beside its own sample: the other questions of its task, and the run folder.

Whoever makes a task tells `remember_questions` of its samples. Each of them has the key in its metadata, as
``asked``, and `questions_of` finds the rest by that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from deskcheck.ask.results.folder import prompts_digest
from deskcheck.ask.samples.sample import Sample


class AskedQuestion(NamedTuple):
    """A question of a task, as a model is asked it."""

    id: str
    cluster: str
    prompt: str


@dataclass(frozen=True, slots=True)
class AskedTogether:
    """The questions of a task. folder: of the run of `deskcheck ask`; None for an evaluation of Inspect's."""

    questions: tuple[AskedQuestion, ...] = ()
    folder: Path | None = None


_tasks: dict[str, AskedTogether] = {}


def remember_questions(samples: Sequence[Sample], folder: Path | None = None) -> str:
    """The key under which solvers find all questions of a task: a digest of them."""
    key = prompts_digest(samples)
    questions = tuple(AskedQuestion(sample.id, sample.cluster, sample.prompt) for sample in samples)
    _tasks[key] = AskedTogether(questions, folder)
    return key


def questions_of(key: str) -> AskedTogether:
    """The questions that were remembered under a key; none if nothing was."""
    return _tasks.get(key, AskedTogether())
