"""The seam to Inspect AI: our samples, marking and stand-in models as its tasks, scorer and provider.

Besides this, only `_inspect_solvers`, `_inspect_sandbox` and `run` import `inspect_ai`, and only where it is
used. In-task metrics are means: a metric that raises on part of a set kills the run. Statistics are made
afterwards.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import anyio
from anyio.to_thread import run_sync
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelName,
    ModelOutput,
    modelapi,
)
from inspect_ai.model._model import active_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Solver, TaskState
from inspect_ai.tool import ToolChoice, ToolInfo

from deskcheck.ask import _sandbox, oracle
from deskcheck.ask._inspect_solvers import direct, remember, sample_of
from deskcheck.ask.load import load
from deskcheck.ask.marking import mark
from deskcheck.ask.notebooks import NotebookOptions, notebook_samples, trajectory_files
from deskcheck.ask.questions import QUESTIONS
from deskcheck.ask.sample import Sample
from deskcheck.ask.stand_ins import STAND_INS
from deskcheck.ask.suites import SUITES
from deskcheck.recording import InputError


def task_of(
    name: str,
    samples: Sequence[Sample],
    *,
    solver: Solver | None = None,
    runs: Mapping[str, str] | None = None,
    **metadata: Any,
) -> Task:
    """An Inspect task of our samples. The oracle is told their answers. solver: `direct` if none is given.
    runs: program -> key of its run (`_inspect_solvers.remember`)."""
    oracle.remember(samples)
    active = active_model()
    if active is not None:
        count_offline(active)
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
                **({"run": runs[sample.program]} if runs is not None else {}),
            },
        )
        for sample in samples
    ]
    return Task(
        dataset=MemoryDataset(rows, name=name),
        solver=solver or direct(),
        scorer=marked(),
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


@scorer(metrics=[mean()], name="marked")
def marked() -> Scorer:
    """Our marking. An answer that cannot be read scores 0 and stays in n."""

    async def score(state: TaskState, target: Target) -> Score:
        if "unfit" in state.metadata:
            return Score.unscored(explanation=state.metadata["unfit"])
        sample = sample_of(state)
        completion = state.output.completion
        if sample.data["form"] == "arguments":  # starts a process and waits for it
            given = await run_sync(lambda: mark(sample, completion, run=_sandbox.run), limiter=_at_once())
        else:
            given = mark(sample, completion)
        return Score(
            value=given.score,
            answer=given.answer,
            explanation=given.reason or None,
            metadata={"metrics": dict(given.metrics)},
        )

    return score


def _recorded(question: str, path: str | None, seed: int, per_recording: int | None) -> Task:
    if path is None:
        raise InputError(
            f"{question}: say which recordings: -T path=FOLDER, a folder that `deskcheck record` made."
        )
    excluded: Counter[str] = Counter()
    ask = QUESTIONS[question]
    samples: list[Sample] = []
    runs: dict[str, str] = {}
    for recording in load(path):
        found = list(ask(recording, seed=seed, per_recording=per_recording, excluded=excluded))
        samples += found
        if found:
            runs[recording.id] = remember(recording)
    _refuse_none(samples, question, path, excluded)
    return task_of(question, samples, runs=runs, excluded=dict(excluded))


def _refuse_none(samples: Sequence[Sample], question: str, path: str, excluded: Counter[str]) -> None:
    if not samples:
        reasons = "; ".join(f"{reason} ({count})" for reason, count in excluded.most_common())
        raise InputError(f"{path}: no recording can be asked {question}: {reasons or 'the folder is empty'}.")


@task(name="output")
def output(path: str | None = None, seed: int = 0, per_recording: int | None = None) -> Task:
    """What does the call return, or the program print?"""
    return _recorded("output", path, seed, per_recording)


@task(name="input")
def input_(path: str | None = None, seed: int = 0, per_recording: int | None = None) -> Task:
    """Which arguments make the function return this value? Answers are run in the sandbox."""
    return _recorded("input", path, seed, per_recording)


@task(name="next_line")
def next_line(path: str | None = None, seed: int = 0, per_recording: int | None = None) -> Task:
    """Which line of the frame runs next?"""
    return _recorded("next_line", path, seed, per_recording)


@task(name="state")
def state(path: str | None = None, seed: int = 0, per_recording: int | None = None) -> Task:
    """What is the value of a variable just before a line runs for the k-th time?"""
    return _recorded("state", path, seed, per_recording)


@task(name="path")
def path(path: str | None = None, seed: int = 0, per_recording: int | None = None) -> Task:
    """Which lines run, in order?"""
    return _recorded("path", path, seed, per_recording)


@task(name="cruxeval_output")
def cruxeval_output(path: str | None = None) -> Task:
    """CRUXEval-O, from a file of the published set (-T path=cruxeval.jsonl) or fetched."""
    return task_of("cruxeval_output", list(SUITES["cruxeval_output"].samples(path)))


@task(name="cruxeval_input")
def cruxeval_input(path: str | None = None) -> Task:
    """CRUXEval-I, from a file of the published set (-T path=cruxeval.jsonl) or fetched. Answers are run."""
    return task_of("cruxeval_input", list(SUITES["cruxeval_input"].samples(path)))


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
    return task_of(question, samples, excluded=dict(excluded), state=key[1])


@task(name="cell_output")
def cell_output(
    path: str | None = None,
    state: str = "none",
    seed: int = 0,
    per_recording: int | None = None,
    history_tokens: int = 4000,
    state_tokens: int = 2000,
    unchecked: bool = False,
) -> Task:
    """What does this cell of a notebook show?"""
    return _of_notebooks(
        "cell_output",
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


@modelapi(name="deskcheck")
class StandIn(ModelAPI):
    """``deskcheck/oracle`` and the others in `stand_ins.STAND_INS`. model_args: rate, seed: of ``erring``,
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
        if model_name not in STAND_INS:
            known = ", ".join(f"deskcheck/{name}" for name in STAND_INS)
            raise InputError(f"deskcheck/{model_name}: there is no such model. deskcheck's own are {known}.")
        self.completion = STAND_INS[model_name].make(model_args)

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
