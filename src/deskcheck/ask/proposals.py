"""A model that is asked for inputs of functions: what `find_inputs` calls its `propose`."""

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
    """Asks a model: prompt -> answer. model: one of Inspect's, as ``openai/gpt-4o-mini``.

    Raises InputError for a model that cannot be had, and when called, for one that gives no answer.
    """
    (found,) = prepare([model], {"memoize": False} if isinstance(model, str) else None)
    from inspect_ai.model import GenerateConfig

    async def answer(prompt: str) -> str:
        return (await found.generate(prompt, config=GenerateConfig(max_retries=3))).completion

    with asyncio.Runner() as loop:  # one for all questions: the model's connections belong to it

        def propose(prompt: str) -> str:
            try:
                return loop.run(answer(prompt))
            except Exception as error:  # each provider has its own
                text = " ".join(str(error).split())[-400:]  # why it failed comes last
                raise InputError(f"model {found}: gave no inputs: {type(error).__name__}: {text}") from error

        try:
            yield propose
        finally:
            loop.run(found.api.aclose())
