"""Checkpoints of `deskcheck teach` as Inspect AI models, named ``taught/FOLDER``.

Inspect AI loads this module by its entry point. Needs the extra ``[ask]``.

A prompt has the layout of lessons: the program first, then an empty line. The program stays read for the next
prompt about it. The explanation of the notation is left out, since these models know only the notation.
"""

from collections import OrderedDict
from functools import partial
from threading import Lock
from typing import Any

from anyio.to_thread import run_sync
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from deskcheck.ask.inspect.provider import as_logprobs
from deskcheck.notation.forms.explained import EXPLAINED
from deskcheck.notation.forms.explained_steps import explained_step
from deskcheck.notation.layout import divided
from deskcheck.teach.small.checkpoints import folder_of, open_checkpoint
from deskcheck.teach.small.interpreter import ModelRows

_KEPT = 64
"""Programs whose keys and values are kept."""
_CONTEXT = 8192
"""Limit for the tokens of program and prompt. Lessons are shorter, and attention needs memory that grows with
the square of a prompt's length."""


class AskedSteps(ModelAPI):
    """A checkpoint that answers greedily, one prompt at a time. device: where a torch model runs.

    folder: the folder of its files, which `deskcheck ask` records.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (the signature that Inspect calls)
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.folder = folder_of(model_name)
        self.checkpoint = self.opened(model_name, str(model_args.pop("device", "cpu")))
        self._read: OrderedDict[str, ModelRows] = OrderedDict()
        self._alone = Lock()

    def opened(self, model_name: str, device: str) -> Any:
        """The model that answers."""
        return open_checkpoint(model_name, device)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        return await run_sync(partial(self._answer, input[-1].text, config.max_tokens))

    def _answer(self, text: str, max_tokens: int | None) -> ModelOutput:
        text = self._unexplained(text)
        program, prompt = divided(text)
        with self._alone:
            return self.answered(program, prompt, max_tokens)

    def answered(self, program: str, prompt: str, max_tokens: int | None) -> ModelOutput:
        """The answer to a prompt about a program, within `max_tokens`."""
        encode = self.checkpoint.tokenizer.encode_prompt
        prompt_tokens = len(encode(prompt, program))
        if prompt_tokens + len(self.checkpoint.tokenizer.encode(program)) > _CONTEXT:
            return ModelOutput.from_content(self.model_name, "", stop_reason="model_length")
        rows = self._rows(program)
        rows.longest = prompt_tokens + (max_tokens or 2048)
        answer = rows.ask({0: (prompt, prompt)})[0]
        output = ModelOutput.from_content(
            self.model_name, answer.text, stop_reason="stop" if answer.ended else "max_tokens"
        )
        if answer.nll is not None:
            output.choices[0].logprobs = as_logprobs(answer.text, answer.nll)
        return output

    def _unexplained(self, text: str) -> str:
        """A prompt in the layout of lessons. Raises InputError for an untaught notation or jump."""
        steps = {
            name: explained_step("dynamic", instructions=instructions, back=False)
            for name, instructions in (("dynamic", False), ("dynamic_instruction", True))
        }
        explanations = [*EXPLAINED.items(), *steps.items()]
        for notation, words in explanations:
            if text.startswith(words):
                jumps = [int(text.rstrip().rpartition("\n")[2])] if notation in steps else []
                self.checkpoint.refuse_untaught(notation, jumps)
                text = text.removeprefix(words)
                if notation == "dynamic_instruction":  # lessons do not tell the version of Python
                    text = text.partition("\n\n")[2]
        return text

    def _rows(self, program: str) -> ModelRows:
        rows = self._read.pop(program, None)
        if rows is None:
            rows = ModelRows(self.checkpoint.network, self.checkpoint.tokenizer, [program])
            if len(self._read) >= _KEPT:
                self._read.popitem(last=False)
        self._read[program] = rows
        return rows

    def max_connections(self) -> int:
        return 16


@modelapi(name="taught")
class Taught(AskedSteps):
    """``taught/FOLDER``, or ``taught/nano``."""
