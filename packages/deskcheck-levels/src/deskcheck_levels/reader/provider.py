"""Models of the levels `processor` and `reader` that can be asked: ``processor/nano``, ``reader/FOLDER``.
Inspect AI loads this by its entry point. Needs the extra ``[ask]``.

The name of the provider is the level, so that every table shows it. A machine runs the program of a prompt
with the model. So these models only answer what a call returns (question `output`, method `direct`).
"""

import re
from threading import Lock
from typing import Any

from anyio.to_thread import run_sync
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from deskcheck.errors import InputError
from deskcheck_levels.levels import Level
from deskcheck_levels.machine.frames import OutsideLanguage, ProgramRaised, StepsSpent
from deskcheck_levels.machine.runs import text_of
from deskcheck_levels.paper.working import UnreadableWorking
from deskcheck_levels.processor.stepping import Processor
from deskcheck_levels.reader.stepping import ReaderModels
from deskcheck_levels.shipped import folder_of

MOST = 1_000_000
"""Line events of a run that is asked about."""
_ASKED = re.compile(r"(`{3,})python\n(.*?)\n?\1\s*Call: ([A-Za-z_]\w*)(\([^\n]*\))", re.DOTALL)


class _Level(ModelAPI):
    """A machine with a model of a level. folder: where its files are, which `deskcheck ask` notes."""

    level: Level

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
        self._runs = Processor(self.folder) if self.level is Level.PROCESSOR else ReaderModels(self.folder)
        self._alone = Lock()

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        return ModelOutput.from_content(self.model_name, await run_sync(self.answer, input[-1].text))

    def answer(self, prompt: str) -> str:
        """The answer to a prompt. Raises InputError for another question."""
        calls = _ASKED.findall(prompt)
        if not calls or "What does this call return?" not in prompt:
            raise InputError(
                f"{self.level.value}/{self.model_name}: answers only what a call returns: ask it with "
                f"--question output --method direct."
            )
        _, code, entry, arguments = calls[-1]
        with self._alone:
            machine = self._runs.machine(steps=MOST)
            try:
                text = text_of(machine.call_program(code, entry, arguments))
            except ProgramRaised as raised:
                return f"[ANSWER]raises {type(raised.error).__name__}[/ANSWER]"
            except OutsideLanguage as error:
                return f"Outside of the declared language: {error}."
            except (StepsSpent, UnreadableWorking) as error:
                return f"It came to no end: {error}."
        return f"[ANSWER]{text}[/ANSWER]" if text is not None else "It returns what no text says all of."

    def max_connections(self) -> int:
        return 16


@modelapi(name=Level.PROCESSOR.value)
class AskedProcessor(_Level):
    """``processor/FOLDER``, or ``processor/nano``."""

    level = Level.PROCESSOR


@modelapi(name=Level.READER.value)
class AskedReader(_Level):
    """``reader/FOLDER``, or ``reader/nano``."""

    level = Level.READER
