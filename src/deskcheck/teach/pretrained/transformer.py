"""A Hugging Face causal language model that steps many programs at once.

The common beginning of all prompts about a program is read once, and its keys and values stay on the model's
device; those of states are dropped. Rows of similar length share a pass, and the state before serves as a
draft (`small.interpreter`). The result is that of greedy decoding, except for rounding: a batch adds in a
different order. Needs torch and transformers.
"""

import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deskcheck.recording import InputError
from deskcheck.teach.pretrained.prompts import StepPrompts, refuse_explained
from deskcheck.teach.small.interpreter import KnownProgram, NetworkRows, Numbers, Pass, alike, most_tokens

_AT_ONCE_CPU, _AT_ONCE_GPU = 1024, 16_384
"""Tokens in one pass of the network."""


class Transformer:
    """A model from a folder or the hub. Adapters (LoRA) are merged into their model.

    device: "auto" for a GPU, if present. dtype: type of the weights; "auto" for bfloat16 on a GPU and float32
    elsewhere. explain: the model was not taught the notation.

    Raises:
        InputError: the model, device or dtype does not exist; its tokenizer cannot be used; its memory of
            tokens is not keys and values.
    """

    def __init__(
        self, name: str, *, explain: bool = False, device: str = "auto", dtype: str = "auto"
    ) -> None:
        self.explain = explain
        self.device = _device(device)
        self.network = _loaded(name, self.device, _dtype(dtype, self.device))
        self.prompts = StepPrompts(name, explain=explain)
        config = self.network.config.get_text_config()
        self.window = _window(name, config)
        self.context: int | None = getattr(config, "max_position_embeddings", None)
        self.ends = _ends(self.network, self.prompts.tokenizer.end)
        parameters = inspect.signature(self.network.forward).parameters
        self._cache = "cache" if "cache" in parameters else "past_key_values"
        self._keep = "logits_to_keep" in parameters

    def read(self, programs: Sequence[str], longest: int = 2048) -> NetworkRows:
        """See `StepModel.read`."""
        return NetworkRows(self, programs, longest)

    step_notation: str | None = None
    """See `StepModel.step_notation`."""

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """See `StepModel.refuse_untaught`. A folder does not say what its model was taught."""
        if self.explain:
            refuse_explained(notation, jumps)

    # ---- as a `StepDecoder` ----

    @property
    def end(self) -> int:
        return self.prompts.tokenizer.end

    @property
    def at_once(self) -> int:
        return _AT_ONCE_CPU if self.device.type == "cpu" else _AT_ONCE_GPU

    def together(self, programs: Sequence[list[int]]) -> Iterator[list[int]]:
        return alike(dict(enumerate(programs)), self.at_once)

    def shared(self, program: str) -> list[int]:
        return self.prompts.shared(program)

    def tokens(self, program: KnownProgram, prompt: str) -> list[int]:
        return self.prompts.tokens(program.text, prompt)

    def draft(self, prompt: str, guess: str) -> list[int]:
        return self.prompts.tokenizer.encode(guess)

    def answer(self, tokens: list[int], prompt: str, written: list[int]) -> str:
        return self.prompts.answer(tokens, [token for token in written if token != self.end])

    def most(self, start: int, prompt: int, longest: int, *, whole_trace: bool) -> int:
        """See `StepDecoder.most`. Raises InputError if attention does not reach back so far."""
        limit = most_tokens(
            prompt, max(min(longest, self.context or longest) - start, 0), whole_trace=whole_trace
        )
        if self.window is not None and start + limit > self.window:
            raise InputError(
                f"a prompt with its answer may have {start + limit} tokens, but the model's attention "
                f"reaches only {self.window}. Leave out long programs, or serve the model."
            )
        return limit

    def zeros(self, like: Tensor, *shape: int) -> Tensor:
        return like.new_zeros(shape)

    @torch.inference_mode()
    def run(self, batch: Pass) -> tuple[Numbers, NDArray[np.float32], list[Any], list[Any]]:
        """See `StepDecoder.run`. All tokens by which the model ends an answer become `end`."""
        from transformers import DynamicCache

        tokens, present = _filled(batch.feeds, self.device)
        starts = torch.tensor(batch.lengths, device=self.device)
        size = batch.keys[0].shape[2] if batch.keys else 0
        cache = DynamicCache()
        for number, (keys, values) in enumerate(zip(batch.keys, batch.values, strict=True)):
            cache.update(keys, values, number)
        before = torch.arange(size, device=self.device)[None, :] < starts[:, None]
        keep = tokens.shape[1] - batch.first
        out = self.network(
            input_ids=tokens,
            attention_mask=torch.cat([before, present], 1).long(),
            position_ids=starts[:, None] + torch.arange(tokens.shape[1], device=self.device)[None, :],
            use_cache=True,
            **{self._cache: cache},
            **({"logits_to_keep": keep} if self._keep else {}),
        )
        logits = out.logits[:, -keep:].float()
        sure, best = logits.max(-1)
        best = torch.where(torch.isin(best, self.ends), self.end, best)
        return (
            best.cpu().numpy(),
            (sure - logits.logsumexp(-1)).cpu().numpy(),
            [layer.keys[:, :, size:] for layer in cache.layers],
            [layer.values[:, :, size:] for layer in cache.layers],
        )


def _filled(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows padded at their ends, and the mask of their tokens."""
    width = max(len(row) for row in rows)
    tokens = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
    sizes = torch.tensor([len(row) for row in rows], device=device)
    return tokens, torch.arange(width, device=device)[None, :] < sizes[:, None]


def _ends(network: Any, end: int) -> Tensor:
    """All tokens that end an answer, according to the tokenizer and the model."""
    end_ids = getattr(network.generation_config, "eos_token_id", None)
    more = end_ids if isinstance(end_ids, list) else [end_ids] if end_ids is not None else []
    return torch.tensor(sorted({end, *more}), device=network.device)


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device={name}: cannot be used: {str(error).splitlines()[0]}") from error
    return device


def _dtype(name: str, device: torch.device) -> torch.dtype:
    if name == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise InputError(f"dtype={name}: unknown. Choose auto, float32, bfloat16 or float16.")
    return dtype


def _window(name: str, config: Any) -> int | None:
    """The number of tokens that attention reaches back; None for all.

    Raises InputError for a model whose memory is not keys and values of each token.
    """
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

    layers = DynamicCache(config=config).layers
    if any(type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers):
        raise InputError(
            f"{name}: {config.model_type} does not store keys and values of each token and "
            "cannot be stepped here. Serve it, and give --model openai-api/SERVER/MODEL."
        )
    windows = [layer.sliding_window for layer in layers if isinstance(layer, DynamicSlidingWindowLayer)]
    return min(windows, default=None)


def _loaded(name: str, device: torch.device, dtype: torch.dtype) -> Any:
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM

    try:
        if (Path(name) / "adapter_config.json").is_file():
            from peft import AutoPeftModelForCausalLM

            network = AutoPeftModelForCausalLM.from_pretrained(name, dtype=dtype).merge_and_unload()
        else:
            network = AutoModelForCausalLM.from_pretrained(name, dtype=dtype)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{name}: is not a model that can be loaded: {first}") from error
    return network.to(device).eval()
