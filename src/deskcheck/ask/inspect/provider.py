"""The baselines as a provider of Inspect's, and a setup with which models of Inspect work without a
network."""

from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Logprob,
    Logprobs,
    Model,
    ModelAPI,
    ModelName,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from deskcheck.ask.baselines.stand_ins import BASELINES
from deskcheck.recording import InputError


@modelapi(name="deskcheck")
class StandIn(ModelAPI):
    """``deskcheck/oracle`` and the other `BASELINES`. model_args: arguments of the baseline."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (the signature that Inspect calls)
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in BASELINES:
            names = ", ".join(f"deskcheck/{name}" for name in BASELINES)
            raise InputError(f"deskcheck/{model_name}: is not a model of deskcheck. Choose one of {names}.")
        self.completion = BASELINES[model_name].make(model_args)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        output = ModelOutput.from_content(self.model_name, self.completion(input[-1].text))
        if config.logprobs:
            output.choices[0].logprobs = as_logprobs(output.completion, 0.0)  # it does not doubt
        return output

    def max_connections(self) -> int:
        return 256


def as_logprobs(text: str, nll: float) -> Logprobs:
    """The likelihood of a whole completion as that of one token. nll: its negative logarithm, in nats."""
    return Logprobs(content=[Logprob(token=text, logprob=-nll)])


def count_offline(model: Model) -> None:
    """Let Inspect's mock model estimate tokens. Its own way (0.3.285) downloads a table and fails offline."""
    if ModelName(model).api == "mockllm":

        async def count_text_tokens(text: str) -> int:
            return len(text) // 4 + 1

        model.api.count_text_tokens = count_text_tokens  # type: ignore[method-assign]
