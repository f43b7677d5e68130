"""Steps programs with a model behind an interface: any model of Inspect AI, by its name.

Your OpenAI-compatible server is one of them (``openai-api/vllm/MODEL``). The prompts of a round are sent
together, and Inspect limits how many are under way at once. The server batches them. If it caches prefixes,
like vLLM and SGLang, it reads a program once, because the program precedes the state. Needs the extra
``[ask]``.
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
    """A model that answers greedily (temperature 0), to be used in a `with` block.

    explain: the model was not taught the notation.
    """

    def __init__(self, model: Model, *, explain: bool) -> None:
        self.model = model
        self.explain = explain
        self._running = anyio.from_thread.start_blocking_portal()

    def __enter__(self) -> "ServedModel":
        # One event loop for all rounds: the connections of a client belong to the loop that it began in.
        self.portal = self._running.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._running.__exit__(*error)

    def read(self, programs: Sequence[str], longest: int = 2048) -> "ServedRows":
        """See `StepModel.read`. longest: tokens of the answer only, since the prompt's tokens are unknown."""
        return ServedRows(self, list(programs), longest)

    step_notation: str | None = None
    """See `StepModel.step_notation`."""

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """See `StepModel.refuse_untaught`. Jumps need likelihoods, which such models do not report."""
        if list(jumps) != [1]:
            raise InputError("--jump: jumps need likelihoods, which this model does not report.")
        if self.explain:
            refuse_explained(notation, jumps)

    def answers(self, prompts: Sequence[str], longest: int) -> list[StepAnswer]:
        """The answers to these prompts, which are sent together."""
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
    """Texts of programs. Guesses are ignored."""

    def __init__(self, model: ServedModel, programs: list[str], longest: int) -> None:
        self.model = model
        self.programs = programs
        self.longest = longest

    def answers(self, questions: Sequence[tuple[str, str, str]]) -> list[StepAnswer]:
        """See `Rows.answers`."""
        laid_out = explained if self.model.explain else add
        return self.model.answers(
            [laid_out(program, prompt) for program, prompt, _ in questions], self.longest
        )
