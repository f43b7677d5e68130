"""The seam to Inspect AI: our samples, scoring and baseline models as its tasks, scorer and provider.

Besides this, only `solvers`, `sandbox` and `run` import `inspect_ai`, and only where it is used. In-task
metrics are means, and a standard error clustered by program: a metric that raises on part of a set kills the
run. Intervals are made afterwards.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
from anyio.to_thread import run_sync
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.hooks import Hooks, ModelRetry, ModelUsageData, SampleEnd, TaskStart, hooks
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ContentText,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelName,
    ModelOutput,
    modelapi,
)
from inspect_ai.model._model import active_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.solver import Solver, TaskState
from inspect_ai.tool import ToolChoice, ToolInfo

from deskcheck.ask.baselines import oracle
from deskcheck.ask.baselines.stand_ins import BASELINES
from deskcheck.ask.inspect.context import remember_questions
from deskcheck.ask.inspect.models import solver_of
from deskcheck.ask.inspect.settings import STEP_BUDGET
from deskcheck.ask.inspect.solvers import direct, is_known, remember, sample_of, token_of
from deskcheck.ask.methods.solvers import named
from deskcheck.ask.questions.benchmarks import BENCHMARKS
from deskcheck.ask.questions.generate import of_each
from deskcheck.ask.questions.lines import sample_in
from deskcheck.ask.questions.load import load, recordings_of
from deskcheck.ask.questions.notebooks import NOTEBOOK_QUESTIONS, notebook_samples, trajectory_files
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.questions.reader import BenchmarkReader
from deskcheck.ask.questions.sampling import drawn
from deskcheck.ask.questions.settings import NotebookOptions
from deskcheck.ask.results.folder import questions_file, read_card
from deskcheck.ask.results.results import AskProgress, input_tokens
from deskcheck.ask.samples.kind import Question
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.ask.scoring import sandbox as _sandbox
from deskcheck.ask.scoring.score import PROGRAM_FORMS, Reading, score_answer
from deskcheck.files import read_file
from deskcheck.recording import InputError


def task_of(
    name: str,
    samples: Sequence[Sample],
    *,
    solver: Solver | None = None,
    runs: Mapping[str, str] | None = None,
    folder: Path | None = None,
    **metadata: Any,
) -> Task:
    """An Inspect task of our samples. The oracle is told their answers. solver: `direct` if none is given.
    runs: program -> key of its run (`solvers.remember`). folder: of the run of `ask`."""
    oracle.remember(samples)
    active = active_model()
    if active is not None:
        count_offline(active)
    asked = remember_questions(samples, folder)
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
                "asked": asked,
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


def count_offline(model: Model) -> None:
    """Let Inspect's mock model count tokens roughly: its own way (0.3.285) downloads a table first, and fails
    where there is no network."""
    if ModelName(model).api == "mockllm":

        async def count_text_tokens(text: str) -> int:
            return len(text) // 4 + 1

        model.api.count_text_tokens = count_text_tokens  # type: ignore[method-assign]


@cache
def _at_once() -> anyio.CapacityLimiter:
    # One event loop at a time: Inspect makes a new one per eval, and a limiter holds nothing between them.
    return anyio.CapacityLimiter(os.cpu_count() or 1)


def _refuses(message: ChatMessageAssistant) -> bool:
    """Whether it is the provider's refusal and no answer."""
    parts = message.content if isinstance(message.content, list) else []
    return any(isinstance(part, ContentText) and bool(part.refusal) for part in parts)


@metric
def lenient() -> Metric:
    """The mean of the scores as a person would read the answers (`score.METRICS`)."""

    def mean_of(scores: list[SampleScore]) -> float:
        found = [(each.score.metadata or {}).get("metrics", {}).get("lenient") for each in scores]
        known = [float(value) for value in found if value is not None]
        return sum(known) / len(known) if known else math.nan

    return mean_of


@metric
def unreadable() -> Metric:
    """The share of answers that are not in the form that was asked for."""

    def share(scores: list[SampleScore]) -> float:
        found = [(each.score.metadata or {}).get("reading") == Reading.UNREADABLE for each in scores]
        return sum(found) / len(found) if found else math.nan

    return share


@scorer(metrics=[mean(), stderr(cluster="cluster"), lenient(), unreadable()], name="scored")
def scored() -> Scorer:
    """Our scoring. An answer that cannot be read scores 0 and stays in n."""

    async def score(state: TaskState, target: Target) -> Score:
        if "unfit" in state.metadata:
            return Score.unscored(explanation=state.metadata["unfit"])
        sample = sample_of(state)
        completion = state.output.completion
        # A sample that met a limit of Inspect's before its first answer has no choice to ask.
        stopped: str | None = state.output.stop_reason if state.output.choices else None
        if stopped is not None and _refuses(state.output.message):
            stopped = "refusal"
        if sample.data["form"] == "arguments":  # starts a process and waits for it
            given = await run_sync(
                lambda: score_answer(sample, completion, run=_sandbox.run, stop_reason=stopped),
                limiter=_at_once(),
            )
        elif sample.data["form"] in PROGRAM_FORMS:
            judge = _sandbox.judge()
            given = await run_sync(
                lambda: score_answer(sample, completion, judge=judge, stop_reason=stopped), limiter=_at_once()
            )
        else:
            given = score_answer(sample, completion, stop_reason=stopped)
        return Score(
            value=given.score,
            answer=given.answer,
            explanation=given.reason or None,
            metadata={
                "metrics": dict(given.metrics),
                "reading": given.reading.value,
                "stop_reason": stopped,
            },
        )

    return score


def _recorded(
    question: str,
    path: str | None,
    seed: int,
    per_recording: int | None,
    steps: StepOptions | None = None,
) -> Task:
    if path is None:
        raise InputError(
            f"{question}: say which recordings: -T path=FOLDER, a folder that `deskcheck record` made."
        )
    excluded: Counter[str] = Counter()
    samples: list[Sample] = []
    runs: dict[str, str] = {}
    for _, found, recording in of_each(
        load(path),
        [question],
        seed=seed,
        per_recording=per_recording,
        steps=steps,
        excluded={question: excluded},
        beside=lambda recording: (recording, None),
    ):
        samples += found
        runs[recording.id] = remember(recording)
    _refuse_none(samples, question, path, excluded)
    return task_of(question, drawn(samples, seed=seed), runs=runs, excluded=dict(excluded))


def _refuse_none(samples: Sequence[Sample], question: str, path: str, excluded: Counter[str]) -> None:
    if not samples:
        reasons = "; ".join(f"{reason} ({count})" for reason, count in excluded.most_common())
        raise InputError(f"{path}: no recording can be asked {question}: {reasons or 'the folder is empty'}.")


def _task_of_kind(question: Question) -> Callable[..., Task]:
    @task(name=question.name)
    def made(path: str | None = None, seed: int = 0, per_recording: int | None = None) -> Task:
        return _recorded(question.name, path, seed, per_recording)

    made.__doc__ = f"{question.about[0].upper()}{question.about[1:]} Asked of recordings: -T path=FOLDER."
    return made


@task(name="step")
def step(
    path: str | None = None,
    seed: int = 0,
    per_recording: int | None = None,
    detail: str = "line",
    jump: int | Sequence[int | str] = 1,
    notation: str = "dynamic",
) -> Task:
    """What is the state some events after a given one, or before it? -T jump=2,5,10,50 or -1,
    detail=instruction, notation=compact. Asked of recordings: -T path=FOLDER."""
    try:
        jumps = (jump,) if isinstance(jump, int) else tuple(map(int, jump))
    except ValueError as error:
        raise InputError(f"jump={jump}: give whole numbers with commas, as 2,5,10.") from error
    steps = StepOptions(detail=detail, jump=jumps, notation=notation)
    return _recorded("step", path, seed, per_recording, steps)


OF_RECORDINGS = {name: _task_of_kind(kind) for name, kind in QUESTIONS.own.items() if name != "step"} | {
    "step": step
}
"""Kind of question -> its task."""


def _task_of_benchmark(benchmark: BenchmarkReader) -> Callable[..., Task]:
    @task(name=benchmark.name)
    def made(path: str | None = None) -> Task:
        return task_of(benchmark.name, list(benchmark.samples(path)))

    made.__doc__ = f"{benchmark.about}. From a file of the set (-T path=FILE) or fetched."
    return made


OF_BENCHMARKS = {name: _task_of_benchmark(benchmark) for name, benchmark in BENCHMARKS.items()}
"""Name of a benchmark -> its task."""


def _of_notebooks(question: str, path: str | None, seed: int, per_recording: int | None, given: Any) -> Task:
    if path is None:
        raise InputError(
            f"{question}: say which notebooks: -T path=FOLDER, a folder of trajectories that "
            "`deskcheck record` made of notebooks."
        )
    options = NotebookOptions(**given)
    ((key, (samples, excluded)),) = notebook_samples(
        trajectory_files([path]), [question], options, seed=seed, per_recording=per_recording
    ).items()
    _refuse_none(samples, question, path, excluded)
    return task_of(question, drawn(samples, seed=seed), excluded=dict(excluded), state=key[1])


def _task_of_cells(question: str) -> Callable[..., Task]:
    """A task about a cell that is shown: whether its output repeats matters."""

    @task(name=question)
    def made(
        path: str | None = None,
        state: str = "none",
        seed: int = 0,
        per_recording: int | None = None,
        history_tokens: int = 4000,
        state_tokens: int = 2000,
        unchecked: bool = False,
    ) -> Task:
        return _of_notebooks(
            question,
            path,
            seed,
            per_recording,
            {
                "state": (state,),
                "history_tokens": history_tokens,
                "state_tokens": state_tokens,
                "unchecked": unchecked,
            },
        )

    about = NOTEBOOK_QUESTIONS[question]
    made.__doc__ = f"{about[0].upper()}{about[1:]} Asked of recordings: -T path=FOLDER."
    return made


cell_output = _task_of_cells("cell_output")
crash = _task_of_cells("crash")


@task(name="next_cell")
def next_cell(
    path: str | None = None,
    state: str = "none",
    seed: int = 0,
    per_recording: int | None = None,
    history_tokens: int = 4000,
    state_tokens: int = 2000,
) -> Task:
    """Which cell of a notebook is executed next?"""
    return _of_notebooks(
        "next_cell",
        path,
        seed,
        per_recording,
        {"state": (state,), "history_tokens": history_tokens, "state_tokens": state_tokens},
    )


_now_in: dict[Path, Path] = {}


@contextmanager
def now_in(begun: Path, folder: Path) -> Iterator[None]:
    """Inspect knows tasks of a run folder by where it was when they began. As long as this lasts,
    it is read where it is now."""
    _now_in[begun] = folder
    try:
        yield
    finally:
        del _now_in[begun]


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

    questions: the file in the run folder; digest: its SHA-256. alone: there is no other method.
    Methods that predict the run need the recordings: the run folder's card says where they are.
    """
    path = Path(questions)
    begun = path.parent.parent
    folder = _now_in.get(begun, begun)
    path = questions_file(folder, path.stem)
    try:
        raw = read_file(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}. Where the run folder was moved, "
            "`deskcheck ask` goes on with it: the same command, with --out FOLDER."
        ) from error
    if sha256(raw).hexdigest() != digest:
        raise InputError(f"{path}: was changed since it was asked. Start another run.")
    samples = [sample_in(line) for line in raw.splitlines()]
    card, runs = read_card(folder) or {}, None
    if named(method)[0].notation is not None:
        of = card.get("recordings", "")
        runs = {sample.program: token_of(of, sample.program) for sample in samples}
        missing = {program for program, key in runs.items() if not is_known(key)}
        for recording in recordings_of(card.get("folders", ())) if missing else ():
            if recording.id in missing:
                remember(recording, runs[recording.id])
    return task_of(
        "_".join([question, *([state] if state else []), *([] if alone else [method])]),
        samples,
        solver=solver_of(method, explain=explain, max_steps=max_steps),
        runs=runs,
        folder=folder,
        question=question,
        state=state,
        method=method,
        card=card,
    )


class _Watch:
    """Counts what a run of `ask` has, from Inspect's hooks."""

    def __init__(
        self, kept: set[tuple[str, str, str, int]], total: int, tell: Callable[[AskProgress], None]
    ) -> None:
        self.kept, self.tell = set(kept), tell
        self.answered = AskProgress(done=len(kept), total=total, before=len(kept))
        self.tasks: dict[str, tuple[str, str]] = {}

    def more(self, **changed: Any) -> None:
        self.answered = replace(self.answered, done=len(self.kept), **changed)
        self.tell(self.answered)


_watch: _Watch | None = None


@contextmanager
def watched(
    kept: set[tuple[str, str, str, int]], total: int, tell: Callable[[AskProgress], None]
) -> Iterator[None]:
    """Tell how far a run is, as long as it lasts. kept: task, model, sample, epoch of what was answered
    before."""
    global _watch
    _listen()
    _watch = _Watch(kept, total, tell)
    _watch.more()
    try:
        yield
    finally:
        _watch = None


class _Progress(Hooks):
    def enabled(self) -> bool:
        return _watch is not None

    async def on_task_start(self, data: TaskStart) -> None:
        if _watch is not None:
            _watch.tasks[data.eval_id] = (data.spec.task, data.spec.model)

    async def on_sample_end(self, data: SampleEnd) -> None:
        if _watch is not None and data.sample.scores and data.eval_id in _watch.tasks:
            _watch.kept.add((*_watch.tasks[data.eval_id], str(data.sample.id), data.sample.epoch))
            _watch.more()

    async def on_model_usage(self, data: ModelUsageData) -> None:
        if _watch is not None:
            so_far, used = _watch.answered, data.usage
            cost = so_far.cost if used.total_cost is None else (so_far.cost or 0.0) + used.total_cost
            _watch.more(
                input_tokens=so_far.input_tokens + input_tokens(used),
                output_tokens=so_far.output_tokens + used.output_tokens,
                cost=cost,
            )

    async def on_model_retry(self, data: ModelRetry) -> None:
        if _watch is not None:
            _watch.more(retries=_watch.answered.retries + 1)


@cache
def _listen() -> None:
    # Not when this module is imported: Inspect then prints how many hooks there are, in every `inspect eval`.
    hooks(name="deskcheck_progress", description="How far a run of `deskcheck ask` is")(_Progress)


@modelapi(name="deskcheck")
class StandIn(ModelAPI):
    """``deskcheck/oracle`` and the others in `stand_ins.BASELINES`. model_args: rate, seed: of ``erring``,
    the share of faults and what draws them."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (the signature that Inspect calls)
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in BASELINES:
            known = ", ".join(f"deskcheck/{name}" for name in BASELINES)
            raise InputError(f"deskcheck/{model_name}: there is no such model. deskcheck's own are {known}.")
        self.completion = BASELINES[model_name].make(model_args)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        return ModelOutput.from_content(self.model_name, self.completion(input[-1].text))

    def max_connections(self) -> int:
        return 256
