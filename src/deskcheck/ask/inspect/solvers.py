"""Our methods as solvers of Inspect's.

Methods that predict a run need its first state and compare with the recording: samples carry the key of a run
in the `RunContext`. A model and method predict a run once, and every question about it is answered from that.
The logs of the other samples do not show it again.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput, StopReason, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.inspect.context import run_context
from deskcheck.ask.inspect.settings import STEP_BUDGET
from deskcheck.ask.methods.ground_truth import GroundTruth
from deskcheck.ask.methods.jumps import JumpAnswer, JumpOptions, by_likelihood, by_oracle, by_search
from deskcheck.ask.methods.solvers import (
    METHODS,
    THINK,
    Predicted,
    PromptedRun,
    agreement,
    answer_of,
    check_methods,
    named,
    read_trace,
    state_said,
    step_question,
    trace_question,
    unfit,
)
from deskcheck.ask.results.steps import PredictedRun
from deskcheck.ask.samples.sample import Sample
from deskcheck.notation import NOTATIONS, Moment, state_text
from deskcheck.recording import InputError

SHOWN_CHARS = 20_000
"""The limit of a predicted trace in a sample's row; the log has all of it."""
Prediction = tuple[Predicted, StopReason]
"""A predicted run, and the reason why its last completion ended."""


def solver_of(method: str, *, explain: bool, max_steps: int) -> Solver:
    """The solver of a method, ``NAME`` or with its options (`named`)."""
    definition, options = named(method)
    if definition.make is not None:
        return definition.make(**options)
    match definition.name:
        case "direct":
            return direct()
        case "chain_of_thought":
            return chain_of_thought()
        case "dynamic_scratchpad":
            return dynamic_scratchpad(explain=explain, max_steps=max_steps, **options)
        case "dynamic_instruction":
            return dynamic_instruction(explain=explain, max_steps=max_steps, **options)
        case name:
            return {"scratchpad": scratchpad, "compact": compact}[name](explain=explain)


def registered(name: str, options: Mapping[str, Any], make: Callable[..., Solver]) -> Callable[..., Solver]:
    """A maker of solvers that Inspect knows as ``deskcheck/NAME``, from any package.

    options: option -> default. Inspect writes them into its log.
    """

    def made(**options: Any) -> Solver:
        return make(**options)

    made.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default)
            for option, default in options.items()
        ],
        return_annotation=Solver,
    )
    return solver(name=name)(made)


def sample_of(state: TaskState) -> Sample:
    """Our sample without its prompt, from the metadata of an Inspect sample."""
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
    """The question without any addition, and one completion."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await generate(state, tool_calls="none")

    return solve


@solver(name="chain_of_thought")
def chain_of_thought() -> Solver:
    """The question, worked through in words before the answer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.user_prompt.text += THINK
        state.metadata["data"] = {**state.metadata["data"], "marks": True}
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
def dynamic_scratchpad(
    explain: bool = True, max_steps: int = STEP_BUDGET, jump: str = "1", choose: str = "likelihood"
) -> Solver:
    """The model as an interpreter: one state in, the next out, no history. The answer is read from the
    states.

    explain: put an explanation of the notation and an example before every prompt; without it prompts are
    those of lessons. max_steps: most states to ask for in one run. jump: numbers of events that a step may
    have, as in "1+2+4". choose: how one of them is chosen (`methods.jumps`).
    """
    return _of_steps("dynamic_scratchpad", explain, max_steps, {"jump": jump, "choose": choose})


@solver(name="dynamic_instruction")
def dynamic_instruction(
    explain: bool = True, max_steps: int = STEP_BUDGET, jump: str = "1", choose: str = "likelihood"
) -> Solver:
    """`dynamic_scratchpad` with a state at each instruction, of recordings by instruction."""
    return _of_steps("dynamic_instruction", explain, max_steps, {"jump": jump, "choose": choose})


def _of_steps(name: str, explain: bool, max_steps: int, options: Mapping[str, str]) -> Solver:
    if max_steps < 1:
        raise InputError(f"max_steps={max_steps} must be at least 1.")
    choice = JumpOptions.of(options)
    instructions = NOTATIONS[str(METHODS[name].notation)].instructions

    async def interpreted(truth: GroundTruth, until: Sample | None) -> Prediction:
        states = (
            truth.states(instructions=instructions)
            if until is None
            else truth.states_from(until.data["event"], instructions=instructions)
        )
        first = next(states)
        if not choice.plain:
            return await jumped(truth, first)
        machine = PromptedRun(truth, first, budget=max_steps, until=until, instructions=instructions)
        ended: StopReason = "stop"
        while machine.stop is None:
            output = await _generated(machine.prompt(explain=explain))
            machine.take(output.completion)
            ended = output.stop_reason
        return machine.predicted(), ended

    async def jumped(truth: GroundTruth, first: Moment) -> Prediction:
        ended: StopReason = "stop"

        async def ask(state: Moment, jump: int) -> JumpAnswer:
            nonlocal ended
            prompt = step_question(
                truth, state_text(state), explain=explain, jump=jump, instructions=instructions
            )
            output = await _generated(prompt, GenerateConfig(logprobs=True))
            ended = output.stop_reason
            return JumpAnswer(state_said(output.completion), _nll(output, name))

        match choice.choose:
            case "search":
                run = await by_search(first, choice.jumps, ask, max_steps)
            case "oracle":
                true = list(truth.states(instructions=instructions))
                run = await by_oracle(first, choice.jumps, ask, max_steps, true)
            case _:
                run = await by_likelihood(first, choice.jumps, ask, max_steps)
        return Predicted.of_steps(run), ended

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sample = sample_of(state)
        until = sample if sample.question == "next_line" else None
        part = () if until is None else (sample.id,)
        jumps = () if choice.plain else ("+".join(map(str, choice.jumps)), choice.choose)
        key = (explain, max_steps, *jumps, *part)
        return await _answered(state, sample, name, key, lambda truth: interpreted(truth, until))

    return solve


def _nll(output: ModelOutput, method: str) -> float:
    """Negative log likelihood of a completion in nats. Raises InputError if the model does not report it."""
    logprobs = output.choices[0].logprobs if output.choices else None
    if logprobs is None:
        raise InputError(
            f"{output.model}: does not report likelihoods, by which {method} chooses a jump. Leave jump out, "
            "or ask a model of a provider that reports them."
        )
    return -sum(token.logprob for token in logprobs.content)


def _of_trace(name: str, explain: bool) -> Solver:
    notation = METHODS[name].notation
    assert notation is not None

    async def traced(truth: GroundTruth) -> Prediction:
        output = await _generated(trace_question(truth, notation, explain=explain))
        cut = output.stop_reason == "max_tokens"
        return read_trace(output.completion, notation, truncated=cut), output.stop_reason

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await _answered(state, sample_of(state), name, (explain,), traced)

    return solve


async def _generated(prompt: str, config: GenerateConfig | None = None) -> ModelOutput:
    return await get_model().generate([ChatMessageUser(content=prompt)], config=config or GenerateConfig())


async def _answered(
    state: TaskState,
    sample: Sample,
    name: str,
    key: tuple[Any, ...],
    predict: Callable[[GroundTruth], Awaitable[Prediction]],
) -> TaskState:
    """The answer to a sample from a predicted run. key: values that the prediction depends on, in addition to
    the run, the method, the model and the epoch."""
    check_methods([name], [sample.question])
    token = state.metadata.get("run")
    truth = run_context().truth(str(token))
    if token is None or truth is None:
        raise InputError(
            f"{sample.id}: {name} needs the recording, for its first state and to compare with. Ask about "
            "recordings (`deskcheck record cruxeval:...`, for example), not about a published set."
        )
    reason = unfit(truth, name)
    if reason is not None:
        state.metadata["unfit"] = reason
        return state
    assert isinstance(truth, GroundTruth)
    full = (token, name, str(get_model()), state.epoch, *key)
    run, stop_reason = await _predicted(full, lambda: predict(truth))
    notation = METHODS[name].notation
    instructions = notation is not None and NOTATIONS[notation].instructions
    event = sample.data["event"] if run.given and sample.question == "next_line" else None
    predicted = PredictedRun(
        key="/".join(map(str, full)),
        asked=run.asked,
        agreement=agreement(truth, run, event=event, instructions=instructions),
        why=run.why,
    )
    state.metadata["steps"] = predicted.to_dict()
    state.metadata["predicted"] = run.text[:SHOWN_CHARS]
    answer = answer_of(sample, truth, run)
    if answer is None:
        end = f"{run.stop.value}: {run.why}" if run.why else run.stop.value
        text = f"The run ended without an answer: {end}"
    else:
        text, stop_reason = f"{OPEN}{answer}{CLOSE}", "stop"
    state.output = ModelOutput.from_content(str(get_model()), text, stop_reason=stop_reason)
    state.messages.append(state.output.message)
    state.completed = True
    return state


async def _predicted(key: tuple[Any, ...], predict: Callable[[], Awaitable[Prediction]]) -> Prediction:
    """The predicted run of a key, which is made once."""
    context = run_context()
    async with context.locks.setdefault(key, anyio.Lock()):
        if key not in context.predictions:
            context.predictions[key] = await predict()
    prediction: Prediction = context.predictions[key]
    return prediction
