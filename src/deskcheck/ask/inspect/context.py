"""State that the tasks, solvers and hooks of one run share. This module does not import Inspect AI."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from deskcheck.ask.baselines import oracle
from deskcheck.ask.methods.ground_truth import GroundTruth, ground_truth_of
from deskcheck.ask.results.folder import prompts_digest
from deskcheck.ask.samples.sample import Sample
from deskcheck.recording import Recording

AnswerKey = tuple[str, str, str, int]
"""Task, model, sample, epoch."""


class TaskQuestion(NamedTuple):
    """A question of a task, as a model is asked it."""

    id: str
    cluster: str
    prompt: str


@dataclass(frozen=True, slots=True)
class TaskQuestions:
    """The questions of a task. folder: the run folder of `deskcheck ask`; None for an evaluation of
    Inspect's."""

    questions: tuple[TaskQuestion, ...] = ()
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskProgress:
    """The progress of a run."""

    done: int
    """Scored answers, of `total`."""
    total: int
    before: int
    """Answers that were scored before this process began; the other figures are those of this process."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars; None: unknown."""
    retries: int = 0


class AnswerCounter:
    """Counts the answers of a run, and reports each change."""

    def __init__(self, scored: set[AnswerKey], total: int, report: Callable[[AskProgress], None]) -> None:
        self.scored = set(scored)
        self.tasks: dict[str, tuple[str, str]] = {}
        """Inspect's id of an evaluation -> task and model."""
        self.state = AskProgress(done=len(scored), total=total, before=len(scored))
        self._report = report
        self.update()

    def update(self, **changes: Any) -> None:
        self.state = replace(self.state, done=len(self.scored), **changes)
        self._report(self.state)


@dataclass(slots=True)
class RunContext:
    """The state of one run of `ask`, or of all evaluations of Inspect's in this process."""

    tasks: dict[str, TaskQuestions] = field(default_factory=dict)
    """Digest of the questions of a task -> these questions."""
    runs: dict[str, Recording | GroundTruth | str] = field(default_factory=dict)
    """Key of a recorded run -> the run, or why it cannot be predicted."""
    predictions: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """Predicted runs, each with the stop reason of its last completion."""
    locks: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    folders: dict[Path, Path] = field(default_factory=dict)
    """Place of a run folder when its run began -> its place now. Inspect knows tasks by the first."""
    progress: AnswerCounter | None = None

    def add_task(self, samples: Sequence[Sample], folder: Path | None = None) -> str:
        """Add the questions of a task; return the key under which `questions_of` finds them."""
        key = prompts_digest(samples)
        questions = tuple(TaskQuestion(sample.id, sample.cluster, sample.prompt) for sample in samples)
        self.tasks[key] = TaskQuestions(questions, folder)
        return key

    def add_run(self, run: Recording | GroundTruth, key: str | None = None) -> str:
        """Add a recorded run; return its key, a new one by default."""
        key = str(len(self.runs)) if key is None else key
        self.runs[key] = run
        return key

    def truth(self, key: str) -> GroundTruth | str | None:
        """The true states of a run, or why it cannot be predicted; None for an unknown key. The oracle learns
        of the run."""
        run = self.runs.get(key)
        if isinstance(run, Recording):
            run = self.runs[key] = ground_truth_of(run)
        if isinstance(run, GroundTruth):
            oracle.remember_truth(run)
        return run

    def close(self) -> None:
        """Let the oracle forget the runs."""
        for run in self.runs.values():
            if isinstance(run, GroundTruth):
                oracle.forget_truth(run)


_context = ContextVar("deskcheck_run", default=RunContext())  # noqa: B039 (shared by the process on purpose)


def run_context() -> RunContext:
    """The context of the current run of `ask`; outside of one, that of the process."""
    return _context.get()


@contextmanager
def new_run() -> Iterator[RunContext]:
    """A new context for everything that is called in the block."""
    context = RunContext()
    token = _context.set(context)
    try:
        yield context
    finally:
        _context.reset(token)
        context.close()


def questions_of(key: str) -> TaskQuestions:
    """The questions of the task whose samples have this key in their metadata, as ``asked``."""
    return run_context().tasks.get(key, TaskQuestions())


def run_key(recordings: str, program: str) -> str:
    """The key of a program's run among recordings with this digest: the same in every process."""
    return f"{recordings[:16]}:{program}"
