"""Our samples as tasks of Inspect's: of recordings, notebooks and benchmarks, and of the runs of `ask`."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.model._model import active_model
from inspect_ai.solver import Solver

from deskcheck.ask.baselines import oracle
from deskcheck.ask.inspect.context import run_context, run_key
from deskcheck.ask.inspect.provider import count_offline
from deskcheck.ask.inspect.scorer import scored
from deskcheck.ask.inspect.settings import STEP_BUDGET
from deskcheck.ask.inspect.solvers import direct, solver_of
from deskcheck.ask.methods.solvers import named
from deskcheck.ask.questions.benchmarks import BENCHMARKS
from deskcheck.ask.questions.gathering import Gathering
from deskcheck.ask.questions.lines import sample_in
from deskcheck.ask.questions.load import recordings_of
from deskcheck.ask.questions.notebooks import NOTEBOOK_QUESTIONS
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.questions.reader import BenchmarkReader
from deskcheck.ask.questions.sampling import drawn
from deskcheck.ask.questions.settings import NotebookOptions, Sampling
from deskcheck.ask.results.folder import questions_file, read_card
from deskcheck.ask.samples.kind import Question
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.files import read_file
from deskcheck.recording import InputError, Recording


def task_of(
    name: str,
    samples: Sequence[Sample],
    *,
    solver: Solver | None = None,
    runs: Mapping[str, str] | None = None,
    folder: Path | None = None,
    **metadata: Any,
) -> Task:
    """A task of deskcheck's samples, with `direct` as the default solver. The oracle learns the answers.

    runs: program -> key of its run in the `RunContext`. folder: the run folder of `ask`.
    """
    oracle.remember(samples)
    active = active_model()
    if active is not None:
        count_offline(active)
    task_key = run_context().add_task(samples, folder)
    rows = [
        InspectSample(
            id=sample.id,
            input=sample.prompt,
            target=sample.answer,
            metadata={
                "question": sample.question,
                "program": sample.program,
                "cluster": sample.cluster,
                "answer": sample.answer,
                "data": sample.data,
                "asked": task_key,
                **({"run": runs[sample.program]} if runs is not None else {}),
            },
        )
        for sample in samples
    ]
    return Task(
        dataset=MemoryDataset(rows, name=name),
        solver=solver or direct(),
        scorer=scored(),
        name=name,
        metadata={"question": name, **metadata},
    )


def _about(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]} About recordings: -T path=FOLDER."


def _folder(path: str | None, question: str, folder: str) -> str:
    if path is None:
        raise InputError(f"{question} needs {folder}")
    return path


def _refuse_none(samples: Sequence[Sample], question: str, path: str, excluded: Counter[str]) -> None:
    if not samples:
        reasons = "; ".join(f"{reason} ({count})" for reason, count in excluded.most_common())
        raise InputError(
            f"{path}: no recording suits the question {question}: {reasons or 'the folder is empty'}."
        )


# -- recordings ------------------------------------------------------------------------------------------


def _of_recordings(
    question: str,
    path: str | None,
    seed: int,
    per_recording: int | None,
    steps: StepOptions | None = None,
) -> Task:
    path = _folder(path, question, "recordings: -T path=FOLDER, a folder that `deskcheck record` made.")
    runs: dict[str, str] = {}

    def add_run(recording: Recording) -> None:
        runs[recording.id] = run_context().add_run(recording)

    sampling = Sampling(seed=seed, per_recording=per_recording)
    gathering = Gathering(path, [question], sampling=sampling, steps=steps)
    samples, excluded = gathering.sets(lambda recording: (recording, None), add_run)[question, ""]
    _refuse_none(samples, question, path, excluded)
    return task_of(question, drawn(samples, seed=seed), runs=runs, excluded=dict(excluded))


def _task_of_kind(question: Question) -> Callable[..., Task]:
    @task(name=question.name)
    def make(path: str | None = None, seed: int = 0, per_recording: int | None = None) -> Task:
        return _of_recordings(question.name, path, seed, per_recording)

    make.__doc__ = _about(question.about)
    return make


@task(name="step")
def step(
    path: str | None = None,
    seed: int = 0,
    per_recording: int | None = None,
    detail: str = "line",
    jump: int | Sequence[int | str] = 1,
    notation: str = "dynamic",
) -> Task:
    """Which state is some events after a given one, or before it? -T jump=2,5,10,50 or -1,
    detail=instruction, notation=compact. Asked of recordings: -T path=FOLDER."""
    try:
        jumps = (jump,) if isinstance(jump, int) else tuple(map(int, jump))
    except ValueError as error:
        raise InputError(f"jump={jump}: give whole numbers with commas, such as 2,5,10.") from error
    steps = StepOptions(detail=detail, jump=jumps, notation=notation)
    return _of_recordings("step", path, seed, per_recording, steps)


OF_RECORDINGS = {name: _task_of_kind(kind) for name, kind in QUESTIONS.built_in.items() if name != "step"} | {
    "step": step
}
"""Kind of question -> its task."""


# -- benchmarks and notebooks ----------------------------------------------------------------------------


def _task_of_benchmark(benchmark: BenchmarkReader) -> Callable[..., Task]:
    @task(name=benchmark.name)
    def make(path: str | None = None) -> Task:
        return task_of(benchmark.name, list(benchmark.samples(path)))

    make.__doc__ = f"{benchmark.about}. From a file of the set (-T path=FILE) or fetched."
    return make


OF_BENCHMARKS = {name: _task_of_benchmark(benchmark) for name, benchmark in BENCHMARKS.items()}
"""Name of a benchmark -> its task."""


def _task_of_cells(question: str) -> Callable[..., Task]:
    @task(name=question)
    def make(
        path: str | None = None,
        state: str = "none",
        seed: int = 0,
        per_recording: int | None = None,
        history_tokens: int = 4000,
        state_tokens: int = 2000,
        unchecked: bool = False,
    ) -> Task:
        folder = _folder(
            path,
            question,
            "notebooks: -T path=FOLDER, a folder of trajectories that `deskcheck record` made of notebooks.",
        )
        options = NotebookOptions(
            state=(state,),
            history_tokens=history_tokens,
            state_tokens=state_tokens,
            unchecked=unchecked,
        )
        sampling = Sampling(seed=seed, per_recording=per_recording)
        sets = Gathering(folder, [question], sampling=sampling, notebooks=options).sets()
        samples, excluded = sets[question, state]
        _refuse_none(samples, question, folder, excluded)
        return task_of(question, drawn(samples, seed=seed), excluded=dict(excluded), state=state)

    make.__doc__ = _about(NOTEBOOK_QUESTIONS[question])
    return make


cell_output = _task_of_cells("cell_output")
crash = _task_of_cells("crash")
next_cell = _task_of_cells("next_cell")


# -- runs of `ask` ---------------------------------------------------------------------------------------


@task(name="asked")
def asked(
    questions: str,
    digest: str,
    question: str,
    state: str = "",
    method: str = "direct",
    alone: bool = True,
    explain: bool = True,
    max_steps: int = STEP_BUDGET,
) -> Task:
    """Questions of a run of `deskcheck ask`, which Inspect can make again from these arguments.

    questions: the file in the run folder; digest: its SHA-256. alone: whether it is the only method of the
    run. Methods that predict the run need the recordings, whose folders are in the run folder's card.
    """
    name = Path(questions).stem
    begun = Path(questions).parent.parent
    folder = run_context().folders.get(begun, begun)
    samples = _samples_in(questions_file(folder, name), digest)
    card = read_card(folder) or {}
    return task_of(
        "_".join([question, *([state] if state else []), *([] if alone else [method])]),
        samples,
        solver=solver_of(method, explain=explain, max_steps=max_steps),
        runs=None if named(method)[0].notation is None else _runs(samples, card),
        folder=folder,
        question=question,
        state=state,
        method=method,
        card=card,
    )


def _samples_in(path: Path, digest: str) -> list[Sample]:
    try:
        raw = read_file(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}. If the run folder was moved, "
            "rerun `deskcheck ask` with --out FOLDER to resume it."
        ) from error
    if sha256(raw).hexdigest() != digest:
        raise InputError(f"{path}: was changed since it was asked. Start another run.")
    return [sample_in(line) for line in raw.splitlines()]


def _runs(samples: Sequence[Sample], card: Mapping[str, Any]) -> dict[str, str]:
    """Program -> key of its run. Runs that the context does not have are read again."""
    context = run_context()
    keys = {sample.program: run_key(card.get("recordings", ""), sample.program) for sample in samples}
    missing = {program for program, key in keys.items() if key not in context.runs}
    for recording in recordings_of(card.get("folders", ())) if missing else ():
        if recording.id in missing:
            context.add_run(recording, keys[recording.id])
    return keys
