"""Inputs of functions that a model proposes, for `find_inputs`."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deskcheck.ask.inspect.models import prepare
from deskcheck.recording import InputError

if TYPE_CHECKING:
    from inspect_ai.model import Model


@contextmanager
def proposer(model: "str | Model") -> Iterator[Callable[[str], str]]:
    """A function that asks a model: prompt -> answer. model: a name of Inspect's, such as
    ``openai/gpt-4o-mini``. Raises InputError for an unknown model; the function for one that gives no
    answer."""
    (prepared,) = prepare([model], {"memoize": False} if isinstance(model, str) else None)
    from inspect_ai.model import GenerateConfig

    async def answer(prompt: str) -> str:
        return (await prepared.generate(prompt, config=GenerateConfig(max_retries=3))).completion

    with asyncio.Runner() as loop:  # one for all questions: the model's connections belong to it

        def propose(prompt: str) -> str:
            try:
                return loop.run(answer(prompt))
            except Exception as error:  # each provider has its own
                text = " ".join(str(error).split())[-400:]  # why it failed comes last
                message = f"model {prepared}: gave no inputs: {type(error).__name__}: {text}"
                raise InputError(message) from error

        try:
            yield propose
        finally:
            loop.run(prepared.api.aclose())
