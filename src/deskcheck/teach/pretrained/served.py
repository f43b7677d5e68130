"""A model behind an interface, stepped: any that Inspect AI has, by name, an OpenAI-compatible server of
one's own among them (``openai-api/vllm/MODEL``).

The prompts of a round are sent together, and Inspect bounds how many are on their way at once. The server
batches them. If it caches prefixes, as vLLM and SGLang do, it reads a program once: the program stands before
the state. Needs the extra ``[ask]``.
"""

from collections.abc import Sequence
from operator import add
from typing import Any

import anyio
import anyio.from_thread
from inspect_ai.model import ChatMessageUser, GenerateConfig, Model, ModelOutput

from deskcheck.recording import InputError
from deskcheck.teach.pretrained.prompts import explained, plain, refuse_explained
from deskcheck.teach.small.interpreter import Rows, StepAnswer


class ServedModel:
    """Asks greedily (temperature 0). explain: it was not taught the notation. close: when it is not needed
    any more, on leaving `with`."""

    def __init__(self, model: Model, *, explain: bool) -> None:
        self.model = model
        self.explain = explain
        self._running = anyio.from_thread.start_blocking_portal()

    def __enter__(self) -> "ServedModel":
        # One event loop for all rounds: the connections of a client belong to the one that it began in.
        self.portal = self._running.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._running.__exit__(*error)

    def read(self, programs: Sequence[str], longest: int = 2048) -> "ServedRows":
        """As `StepModel.read`. longest: tokens of an answer, since the model's tokens are not known here."""
        return ServedRows(self, list(programs), longest)

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """As `StepModel.refuse_untaught`: jumps are chosen by likelihood, which such models do not tell."""
        if list(jumps) != [1]:
            raise InputError("--jump: jumps are chosen by their likelihood, which this model does not tell.")
        if self.explain:
            refuse_explained(jumps)

    def answers(self, prompts: Sequence[str], longest: int) -> list[StepAnswer]:
        """The answers to all of these, asked at once."""
        return self.portal.call(self._answers, prompts, longest)

    async def _answers(self, prompts: Sequence[str], longest: int) -> list[StepAnswer]:
        outputs: dict[int, ModelOutput] = {}
        config = GenerateConfig(temperature=0, max_tokens=longest)

        async def ask(number: int, prompt: str) -> None:
            outputs[number] = await self.model.generate([ChatMessageUser(content=prompt)], config=config)

        async with anyio.create_task_group() as group:
            for number, prompt in enumerate(prompts):
                group.start_soon(ask, number, prompt)
        return [self._answer(outputs[number]) for number in range(len(prompts))]

    def _answer(self, output: ModelOutput) -> StepAnswer:
        text = plain(output.completion) if self.explain else output.completion.strip("\n")
        tokens = output.usage.output_tokens if output.usage else 0
        return StepAnswer(text, output.stop_reason == "stop", tokens, None, 1)


class ServedRows(Rows):
    """Texts of programs; guesses are of no use here."""

    def __init__(self, model: ServedModel, programs: list[str], longest: int) -> None:
        self.model = model
        self.programs = programs
        self.longest = longest

    def answers(self, asked: Sequence[tuple[str, str, str]]) -> list[StepAnswer]:
        """As `Rows.answers`."""
        laid_out = explained if self.model.explain else add
        return self.model.answers([laid_out(program, prompt) for program, prompt, _ in asked], self.longest)
