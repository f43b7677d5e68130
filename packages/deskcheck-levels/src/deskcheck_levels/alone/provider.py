"""Models of the level `alone` that work their answers out, as models that can be asked: ``alone/FOLDER``.
Inspect AI loads this by its entry point. Needs the extras ``[ask]`` and ``[teach]``.

They are asked as checkpoints of the level are (`small.provider`): for the next state, which comes whole.
"""

from typing import Any

from inspect_ai.model import ModelOutput, modelapi

from deskcheck.errors import MissingExtra
from deskcheck.teach.small.provider import AskedSteps
from deskcheck_levels.levels import Level
from deskcheck_levels.shipped import folder_of


@modelapi(name=Level.ALONE.value)
class AskedAlone(AskedSteps):
    """``alone/FOLDER``."""

    def opened(self, model_name: str, device: str) -> Any:
        try:
            from deskcheck_levels.alone.stepping import AloneModels
        except ImportError as error:
            raise MissingExtra(str(error.name), "teach", f"Asking the model in {model_name}") from error
        return AloneModels(folder_of(model_name))

    def answered(self, program: str, prompt: str, max_tokens: int | None) -> ModelOutput:
        rows = self.checkpoint.read([program], max_tokens or 2048)
        answer = rows.ask({0: (prompt, prompt)})[0]
        return ModelOutput.from_content(
            self.model_name, answer.text, stop_reason="stop" if answer.ended else "max_tokens"
        )
