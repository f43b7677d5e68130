"""The methods of this package as Inspect's solvers, with Inspect's model and the sandbox of answers.

The sample's metadata has a method's transcript as ``attempts``. Inspect logs it with the sample, so that an
interrupted run retains complete samples with all their attempts, and repeats only the others.
"""

import json
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import anyio
from anyio.to_thread import run_sync
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.solver import Generate, Solver, TaskState

from deskcheck.ask.inspect.context import questions_of
from deskcheck.ask.inspect.solvers import registered
from deskcheck.ask.results.folder import SHARED, write_whole
from deskcheck.ask.scoring import sandbox as _sandbox
from deskcheck.files import read_file, read_json
from deskcheck.recording import InputError
from deskcheck_methods.bench import Bench, Completion, Request, Share, solved
from deskcheck_methods.place import ProgramRunner
from deskcheck_methods.registry import SCAFFOLDS, scaffold_of
from deskcheck_methods.visible import AskedQuestions, puzzle_of

_CHAT: dict[str, Callable[[str], ChatMessage]] = {
    "system": lambda text: ChatMessageSystem(content=text),
    "user": lambda text: ChatMessageUser(content=text),
    "assistant": lambda text: ChatMessageAssistant(content=text),
}


@cache
def _place() -> ProgramRunner:
    return ProgramRunner(_sandbox.shared())


@cache
def _at_once() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(_sandbox.shared().workers)


async def _in_thread(work: Callable[[], Any]) -> Any:
    return await run_sync(work, limiter=_at_once())


async def _generated(request: Request) -> Completion:
    """A completion of Inspect's model.

    The same messages again give a new draw, not the answer in the cache or one with the same seed.
    """
    active = active_generate_config()
    config = GenerateConfig()
    if active.max_tokens is not None:  # without, providers refuse more than a model can write
        config.max_tokens = min(request.max_tokens, active.max_tokens)
    if active.seed is not None:
        config.seed = active.seed + request.draw
    if active.cache and request.draw:
        policy = active.cache if isinstance(active.cache, CachePolicy) else CachePolicy()
        scopes = {**policy.scopes, "draw": str(request.draw)}
        config.cache = policy.model_copy(update={"scopes": scopes})
    output = await get_model().generate(
        [_CHAT[turn.role](turn.text) for turn in request.messages], config=config
    )
    used = output.usage
    return Completion(
        text=output.completion,
        stop_reason=output.stop_reason if output.choices else None,
        input_tokens=0 if used is None else used.total_tokens - used.output_tokens,
        output_tokens=0 if used is None else used.output_tokens,
    )


_shared: dict[str, dict[str, str]] = {}
_locks: dict[tuple[Any, ...], anyio.Lock] = {}


@cache
def _asked(key: str) -> AskedQuestions:
    return AskedQuestions(questions_of(key).questions)


def forget_shared() -> None:
    """Forget the texts that questions share. Those in run folders remain."""
    _shared.clear()


def _sharing(run: str, model: str, epoch: int) -> Share:
    """Texts that the questions of a task share, by model and epoch.

    A run folder stores them, so that a resumed run has the same texts. Without one, the process has them.
    """
    folder = questions_of(run).folder
    file = None if folder is None else folder / SHARED

    def known() -> dict[str, str]:
        texts = _shared.setdefault(str(folder), {})
        if file is not None and file.exists():
            texts |= read_json(read_file(file), str(file), "Remove the folder.")
        return texts

    async def share(key: str, work: Callable[[], Awaitable[str]]) -> str:
        name = json.dumps([run, model, epoch, key])
        async with _locks.setdefault((str(folder), name), anyio.Lock()):
            if name not in known():
                text = await work()
                texts = known() | {name: text}  # another task may have written meanwhile
                _shared[str(folder)] = texts
                if file is not None:
                    write_whole(file, json.dumps(texts, indent=1) + "\n")
            return known()[name]

    return share


def _solver(name: str, values: dict[str, Any]) -> Solver:
    scaffold, options = scaffold_of(name, values)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        metadata = state.metadata
        puzzle = puzzle_of(str(state.sample_id), metadata["question"], metadata["data"], state.input_text)
        if (reason := scaffold.refuses(puzzle.form)) is not None:
            raise InputError(f"{name} cannot answer {puzzle.question}: {reason}.")
        model, run = str(get_model()), str(metadata.get("asked", ""))
        bench = Bench(
            puzzle,
            _generated,
            _place(),
            options,
            _in_thread,
            model_name=model,
            run_questions=_asked(run),
            share=_sharing(run, model, state.epoch),
        )
        try:
            await solved(bench, scaffold.solve)
        finally:  # where a limit of Inspect's ends it, too, what there is by then is the answer
            metadata["attempts"] = bench.to_dict()
            completion = bench.answer or Completion(text="")
            state.output = ModelOutput.from_content(model, completion.text)
            if completion.stop_reason is not None:
                state.output.choices[0].stop_reason = completion.stop_reason  # type: ignore[assignment]
        state.messages.append(state.output.message)
        state.completed = True
        return state

    return solve


def _made(name: str) -> Callable[..., Solver]:
    options = {option: default for option, (_, default) in SCAFFOLDS[name].options.described().items()}
    return registered(name, options, lambda **values: _solver(name, values))


SOLVERS: dict[str, Callable[..., Solver]] = {name: _made(name) for name in SCAFFOLDS}
"""The functions that make a method's solver from its options, by name."""
