"""Our methods as Inspect's solvers.

Those that predict a run need its first state, and compare with the recording: whoever makes a task tells
`remember` of the runs, and samples carry the key that it gives. A run is predicted once by a model and
method, and every question about it is answered from that; the other samples' logs do not show it again.
"""

import inspect
import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import anyio
from inspect_ai.model import ChatMessageUser, ModelOutput, StopReason, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.baselines import oracle
from deskcheck.ask.inspect.settings import STEP_BUDGET
from deskcheck.ask.methods.ground_truth import GroundTruth, ground_truth_of
from deskcheck.ask.methods.solvers import (
    METHODS,
    THINK,
    Predicted,
    PromptedRun,
    agreement,
    answer_of,
    check_methods,
    read_trace,
    trace_question,
    unfit,
)
from deskcheck.ask.results.steps import PredictedRun
from deskcheck.ask.samples.sample import Sample
from deskcheck.recording import InputError, Recording

SHOWN_CHARS = 20_000
"""Of a predicted trace, as it is kept beside a sample; the log has all of it."""

_known: dict[str, Recording | GroundTruth | str] = {}
_predicted: dict[tuple[Any, ...], tuple[Predicted, StopReason]] = {}
"""Runs as they were predicted, each with why the last completion of it ended."""
_locks: dict[tuple[Any, ...], anyio.Lock] = {}
_numbers = itertools.count()


def remember(run: Recording | GroundTruth, key: str | None = None) -> str:
    """The key under which solvers find this run, a new one unless it is given; `forget` frees it."""
    key = str(next(_numbers)) if key is None else key
    _known[key] = run
    return key


def token_of(recordings: str, program: str) -> str:
    """The key of a program's run among recordings with this digest: the same in every process."""
    return f"{recordings[:16]}:{program}"


def is_known(key: str) -> bool:
    return key in _known


def _truth(key: str) -> GroundTruth | str | None:
    """The run of a key, or why there is none to be predicted; None for an unknown key. Made when a solver
    first asks for it; the oracle is told then."""
    known = _known.get(key)
    if isinstance(known, Recording):
        known = _known[key] = ground_truth_of(known)
    if isinstance(known, GroundTruth):
        oracle.remember_truth(known)
    return known


def forget(keys: Iterable[str]) -> None:
    """Free what was remembered under these keys, and what was predicted."""
    gone = set(keys)
    for key in gone:
        truth = _known.pop(key, None)
        if isinstance(truth, GroundTruth):
            oracle.forget_truth(truth)
    for table in (_predicted, _locks):
        for entry in [entry for entry in table if entry[0] in gone]:
            del table[entry]


def registered(name: str, options: Mapping[str, Any], make: Callable[..., Solver]) -> Callable[..., Solver]:
    """What makes a solver that Inspect knows as ``deskcheck/NAME``, whichever package it is from.

    options: each with its default. Inspect writes them into its log, and shows them of the solver.
    """

    def made(**given: Any) -> Solver:
        return make(**given)

    made.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default)
            for option, default in options.items()
        ],
        return_annotation=Solver,
    )
    return solver(name=name)(made)


def sample_of(state: TaskState) -> Sample:
    """Our sample, as far as an Inspect sample holds it: without its prompt."""
    metadata = state.metadata
    return Sample(
        id=str(state.sample_id),
        question=metadata["question"],
        program=metadata["program"],
        cluster=metadata["cluster"],
        parts={},
        answer=metadata["answer"],
        data=metadata["data"],
    )


@solver(name="direct")
def direct() -> Solver:
    """The question as it is, one completion."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await generate(state, tool_calls="none")

    return solve


@solver(name="chain_of_thought")
def chain_of_thought() -> Solver:
    """The question, worked through in words before the answer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.user_prompt.text += THINK
        return await generate(state, tool_calls="none")

    return solve


@solver(name="scratchpad")
def scratchpad(explain: bool = True) -> Solver:
    """The whole trace, with all variables of the running frame at every event; the answer is read from it."""
    return _of_trace("scratchpad", explain)


@solver(name="compact")
def compact(explain: bool = True) -> Solver:
    """The whole trace, with what changes; the answer is read from it."""
    return _of_trace("compact", explain)


@solver(name="dynamic_scratchpad")
def dynamic_scratchpad(explain: bool = True, max_steps: int = STEP_BUDGET) -> Solver:
    """The model as an interpreter: one state in, the next out, no history. The answer is read from the
    states.

    explain: put an explanation of the notation and an example before every prompt; without it prompts are
    those of lessons. max_steps: states asked for at most in one run.
    """
    name = "dynamic_scratchpad"
    if max_steps < 1:
        raise InputError(f"max_steps={max_steps} must be at least one.")

    async def interpreted(truth: GroundTruth, until: Sample | None) -> tuple[Predicted, StopReason]:
        states = truth.states() if until is None else truth.states_from(until.data["event"])
        machine = PromptedRun(truth, next(states), budget=max_steps, until=until)
        ended: StopReason = "stop"
        while machine.stop is None:
            output = await _generated(machine.prompt(explain=explain))
            machine.take(output.completion)
            ended = output.stop_reason
        return machine.predicted(), ended

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sample = sample_of(state)
        until = sample if sample.question == "next_line" else None
        part = () if until is None else (sample.id,)
        key = (explain, max_steps, *part)
        return await _answered(state, sample, name, key, lambda truth: interpreted(truth, until))

    return solve


def _of_trace(name: str, explain: bool) -> Solver:
    notation = METHODS[name].notation
    assert notation is not None

    async def told(truth: GroundTruth) -> tuple[Predicted, StopReason]:
        output = await _generated(trace_question(truth, notation, explain=explain))
        cut = output.stop_reason == "max_tokens"
        return read_trace(output.completion, notation, truncated=cut), output.stop_reason

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await _answered(state, sample_of(state), name, (explain,), told)

    return solve


async def _generated(prompt: str) -> ModelOutput:
    return await get_model().generate([ChatMessageUser(content=prompt)])


async def _answered(
    state: TaskState,
    sample: Sample,
    name: str,
    key: tuple[Any, ...],
    predict: Callable[[GroundTruth], Awaitable[tuple[Predicted, StopReason]]],
) -> TaskState:
    check_methods([name], [sample.question])
    token = state.metadata.get("run")
    truth = _truth(str(token))
    if token is None or truth is None:
        raise InputError(
            f"{sample.id}: {name} needs the recording, for its first state and to compare with. Ask about "
            "recordings (`deskcheck record cruxeval:...`, for example), not about a published set."
        )
    why_not = unfit(truth, name)
    if why_not is not None:
        state.metadata["unfit"] = why_not
        return state
    assert isinstance(truth, GroundTruth)
    full = (token, name, str(get_model()), state.epoch, *key)
    async with _locks.setdefault(full, anyio.Lock()):
        if full not in _predicted:
            _predicted[full] = await predict(truth)
    run, ended = _predicted[full]
    event = sample.data["event"] if run.given and sample.question == "next_line" else None
    ran = PredictedRun(
        key="/".join(map(str, full)),
        asked=run.asked,
        agreement=agreement(truth, run, event=event),
        why=run.why,
    )
    answer = answer_of(sample, truth, run)
    state.metadata["steps"] = ran.to_dict()
    state.metadata["predicted"] = run.text[:SHOWN_CHARS]
    none = f"The run ended without an answer: {_ended(run)}"
    shown = none if answer is None else f"{OPEN}{answer}{CLOSE}"
    state.output = ModelOutput.from_content(
        str(get_model()), shown, stop_reason="stop" if answer is not None else ended
    )
    state.messages.append(state.output.message)
    state.completed = True
    return state


def _ended(run: Predicted) -> str:
    return f"{run.stop.value}: {run.why}" if run.why else run.stop.value
