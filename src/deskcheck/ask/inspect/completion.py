"""Continuations of a prompt, without a chat template, for base models."""

from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

from deskcheck.ask.answers.parsing import CLOSE, FORMS, OPEN, closed
from deskcheck.errors import InputError

MAX_TOKENS = 512
"""The default limit of a completion; servers stop after 16."""


def continue_prompts(model: Model) -> None:
    """Let a model continue each prompt after ``[ANSWER]``, until ``[/ANSWER]``, by ``/v1/completions`` of
    OpenAI's protocol; prompts of steps, which ask for a code fence, between two of these.

    Raises InputError: the server of the model does not have it.
    """
    api: Any = model.api
    if not hasattr(getattr(api, "client", None), "completions"):
        raise InputError(
            f"model {model}: --completion needs a server with OpenAI's /v1/completions. Name the model "
            "openai-api/SERVICE/NAME, and give the server's address: -M base_url=http://127.0.0.1:8080/v1."
        )

    async def generate(
        input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        prompt = input[-1].text
        begin, end = _MARKS if FORMS["step"].asked[0] not in prompt else _FENCES
        answered = await api.client.completions.create(
            model=api.service_model_name(),
            prompt=prompt if prompt.endswith(begin) else f"{prompt}\n{begin}",
            max_tokens=config.max_tokens or MAX_TOKENS,
            stop=[*(config.stop_seqs or ()), end],
            **{
                name: value
                for name in ("temperature", "seed")
                if (value := getattr(config, name)) is not None
            },
        )
        (choice,) = answered.choices
        cut = choice.finish_reason == "length"
        text = begin + choice.text + ("" if cut else end)  # servers do not send the stop word
        output = ModelOutput.from_content(str(model), text, stop_reason="max_tokens" if cut else "stop")
        if answered.usage is not None:
            read, written = answered.usage.prompt_tokens, answered.usage.completion_tokens
            output.usage = ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
        return output

    api.generate = generate


def close_answers(model: Model) -> None:
    """Let the end of each completion close its answer, for requests with the stop word [/ANSWER]."""
    api: Any = model.api
    answered = api.generate

    async def generate(*args: Any, **options: Any) -> Any:
        response = await answered(*args, **options)
        output = response[0] if isinstance(response, tuple) else response
        if isinstance(output, ModelOutput) and output.stop_reason == "stop":
            output.completion = closed(output.completion)
        return response

    api.generate = generate


_MARKS, _FENCES = (OPEN, CLOSE), ("```\n", "\n```")
"""The beginning and the end of an answer."""
