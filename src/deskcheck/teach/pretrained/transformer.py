"""A Hugging Face causal language model that steps many programs at once.

What prompts about a program begin with is read once, and its keys and values are kept; a state is not, since
no history is. Rows of about one length are run over together, and the state before is offered as a draft
(`small.interpreter`). What comes out is what greedy decoding gives, up to the rounding of sums that a batch
adds in another order. Keys and values stay on the model's device. Needs torch and transformers.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from deskcheck.notation.layout import asked_state
from deskcheck.recording import InputError
from deskcheck.teach.pretrained.prompts import StepPrompts, common, refuse_explained
from deskcheck.teach.small.interpreter import Seen, StepAnswer, Writing, alike, most_tokens

_AT_ONCE_CPU, _AT_ONCE_GPU = 1024, 16_384
"""Tokens that are run over at a time."""
_ROOM = 64
"""Tokens by which keys and values grow."""


class Transformer:
    """A model from a folder, or by its name on the hub; also one of adapters (LoRA), which are merged in.

    device: "auto" for a GPU where there is one. dtype: of its weights, "auto" for bfloat16 on a GPU and
    float32 elsewhere. explain: it was not taught the notation.

    Raises:
        InputError: there is no such model; its tokenizer cannot be used; it keeps other things of what it has
            read than keys and values; no such device or dtype.
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

    def read(self, programs: Sequence[str], longest: int = 2048) -> "TransformerRows":
        """As `StepModel.read`."""
        return TransformerRows(self, programs, longest)

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """As `StepModel.refuse_untaught`; what a model was taught, its folder does not say."""
        if self.explain:
            refuse_explained(jumps)

    @torch.inference_mode()
    def run(
        self,
        tokens: Tensor,
        there: Tensor,
        known: Sequence[tuple[Tensor, Tensor]],
        lengths: Tensor,
        keep: int,
    ) -> tuple[Tensor, Tensor, list[tuple[Tensor, Tensor]]]:
        """tokens: [rows, length], filled up at their ends; there: [rows, length], which are none of these.
        known: keys and values of each layer, [rows, heads, size, head], of which the first `lengths` [rows]
        count. Of the last `keep` places: the most likely next token and its log probability, both [rows,
        keep]; and keys and values of all places of `tokens`."""
        from transformers import DynamicCache

        size = known[0][0].shape[2] if known else 0
        cache = DynamicCache()
        for number, (keys, values) in enumerate(known):
            cache.update(keys, values, number)
        before = torch.arange(size, device=self.device)[None, :] < lengths[:, None]
        out = self.network(
            input_ids=tokens,
            attention_mask=torch.cat([before, there], 1).long(),
            position_ids=lengths[:, None] + torch.arange(tokens.shape[1], device=self.device)[None, :],
            use_cache=True,
            **{self._cache: cache},
            **({"logits_to_keep": keep} if self._keep else {}),
        )
        logits = out.logits[:, -keep:].float()
        sure, best = logits.max(-1)
        new = [(layer.keys[:, :, size:], layer.values[:, :, size:]) for layer in cache.layers]
        return best, sure - logits.logsumexp(-1), new


@dataclass(frozen=True, slots=True)
class _Read:
    """A program that was read. known: keys and values of each layer, [heads, tokens, head]."""

    text: str
    tokens: list[int]
    known: list[tuple[Tensor, Tensor]]


class TransformerRows:
    """As `interpreter.Rows`."""

    def __init__(self, model: Transformer, programs: Sequence[str], longest: int) -> None:
        self.model = model
        self.longest = min(longest, model.context or longest)
        self.at_once = _AT_ONCE_CPU if model.device.type == "cpu" else _AT_ONCE_GPU
        self.seen = Seen()
        shared = {text: model.prompts.shared(text) for text in dict.fromkeys(programs)}
        known: dict[str, _Read] = {}
        texts = list(shared)
        for some in alike(dict(enumerate(shared.values())), self.at_once) if texts else ():
            tokens, there = _filled([shared[texts[number]] for number in some], model.device)
            nothing = torch.zeros(len(some), dtype=torch.long, device=model.device)
            _, _, new = model.run(tokens, there, [], nothing, 1)
            for place, number in enumerate(some):
                own = shared[texts[number]]
                kept = [(k[place, :, : len(own)].clone(), v[place, :, : len(own)].clone()) for k, v in new]
                known[texts[number]] = _Read(texts[number], own, kept)
        self.rows = [known[text] for text in programs]

    def __len__(self) -> int:
        return len(self.rows)

    def keep(self, rows: Sequence[int]) -> None:
        """As `Rows.keep`."""
        self.rows = [self.rows[row] for row in rows]

    def add(self, other: "TransformerRows") -> None:
        """As `Rows.add`."""
        self.rows += other.rows

    def ask(self, asked: Mapping[int, tuple[str, str]]) -> dict[int, StepAnswer]:
        """As `Rows.ask`."""
        found = self._answers([(self.rows[row], *question) for row, question in asked.items()])
        return dict(zip(asked, found, strict=True))

    def exact(self, rows: Sequence[int], texts: Sequence[tuple[str, str]]) -> list[bool]:
        """As `Rows.exact`. The answer is offered as the draft: where it is right, one pass finds it so."""
        asked = [(self.rows[row], *text) for row, text in zip(rows, texts, strict=True)]
        found = self._answers(asked)
        return [a.ended and a.text == text for a, (_, text) in zip(found, texts, strict=True)]

    def _answers(self, asked: Sequence[tuple[_Read, str, str]]) -> list[StepAnswer]:
        """Of each (program, prompt, a guess at the answer)."""
        prompts, end = self.model.prompts, self.model.prompts.tokenizer.end
        tokens = [prompts.tokens(read.text, prompt) for read, prompt, _ in asked]
        # The last token of a prompt is run over in any case: the answer begins behind it.
        starts = [
            min(len(common(read.tokens, all_)), len(all_) - 1)
            for (read, _, _), all_ in zip(asked, tokens, strict=True)
        ]
        writing = []
        for (_, prompt, guess), all_, start in zip(asked, tokens, starts, strict=True):
            state = asked_state(prompt)
            draft = [*prompts.tokenizer.encode(guess), end]
            pending = all_[start:]
            most = most_tokens(len(pending), max(self.longest - start, 0), whole=state is None)
            self._refuse_windowed(start + most)
            question = prompt.removeprefix(state or "")
            writing.append(Writing(pending, draft, question, self.seen, most))
        self._write(writing, asked, starts)
        return [
            StepAnswer(
                prompts.answer(all_, [token for token in one.written if token != end]),
                one.ended,
                len(one.written),
                one.nll,
                one.passes,
            )
            for one, all_ in zip(writing, tokens, strict=True)
        ]

    def _write(
        self, writing: list[Writing], asked: Sequence[tuple[_Read, str, str]], starts: Sequence[int]
    ) -> None:
        """All answers, to their ends."""
        device = self.model.device
        lengths = torch.tensor(starts, device=device)
        room = max((start + len(w.pending) for start, w in zip(starts, writing, strict=True)), default=0)
        buffers = [
            (_buffer(k, len(writing), room + _ROOM), _buffer(v, len(writing), room + _ROOM))
            for k, v in (asked[0][0].known if asked else ())
        ]
        for number, (read, _, _) in enumerate(asked):
            for (keys, values), (k, v) in zip(buffers, read.known, strict=True):
                keys[number, :, : starts[number]] = k[:, : starts[number]]
                values[number, :, : starts[number]] = v[:, : starts[number]]
        active = [number for number, one in enumerate(writing) if one.size < one.most]
        while active:
            feeds = {number: [*writing[number].pending, *writing[number].guess()] for number in active}
            for some in alike(feeds, self.at_once):
                counts = self._pass(
                    [writing[n] for n in some], [feeds[n] for n in some], some, lengths, buffers
                )
                lengths[some] += torch.tensor(counts, device=device)
            active = [n for n in active if not writing[n].ended and writing[n].size < writing[n].most]

    def _pass(
        self,
        writing: Sequence[Writing],
        feeds: Sequence[list[int]],
        rows: list[int],
        lengths: Tensor,
        buffers: list[tuple[Tensor, Tensor]],
    ) -> list[int]:
        """One pass over some rows: their answers go on. How many of the tokens of each stay, whose keys and
        values are put into the buffers."""
        tokens, there = _filled(feeds, self.model.device)
        size = int(lengths[rows].max())
        known = [(k[rows, :, :size], v[rows, :, :size]) for k, v in buffers]
        first = min(len(one.pending) - 1 for one in writing)
        best, sure, new = self.model.run(tokens, there, known, lengths[rows], tokens.shape[1] - first)
        ends = torch.isin(best, self.model.ends)
        best = torch.where(ends, self.model.prompts.tokenizer.end, best)
        said, doubts = best.cpu().numpy(), sure.cpu().numpy()
        counts = []
        for place, (one, feed) in enumerate(zip(writing, feeds, strict=True)):
            start = len(one.pending) - 1 - first
            stop = len(feed) - first
            counts.append(
                one.take(said[place, start:stop], doubts[place, start:stop], self.model.prompts.tokenizer.end)
            )
        ats = lengths[rows].tolist()
        need = max(at + count for at, count in zip(ats, counts, strict=True)) + 1
        for number, (keys, values) in enumerate(buffers):
            if keys.shape[2] < need:
                keys = torch.nn.functional.pad(keys, (0, 0, 0, need + _ROOM - keys.shape[2]))
                values = torch.nn.functional.pad(values, (0, 0, 0, need + _ROOM - values.shape[2]))
                buffers[number] = keys, values
            for place, (row, at, count) in enumerate(zip(rows, ats, counts, strict=True)):
                keys[row, :, at : at + count] = new[number][0][place, :, :count]
                values[row, :, at : at + count] = new[number][1][place, :, :count]
        return counts

    def _refuse_windowed(self, tokens: int) -> None:
        if self.model.window is not None and tokens > self.model.window:
            raise InputError(
                f"a prompt with its answer may have {tokens} tokens, and the model's attention reaches "
                f"{self.model.window} back. Leave out long programs, or serve the model."
            )


def _filled(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows filled up at their ends, and which places hold a token."""
    width = max(len(row) for row in rows)
    tokens = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
    sizes = torch.tensor([len(row) for row in rows], device=device)
    return tokens, torch.arange(width, device=device)[None, :] < sizes[:, None]


def _buffer(like: Tensor, rows: int, size: int) -> Tensor:
    """like: [heads, tokens, head]."""
    return like.new_zeros(rows, like.shape[0], size, like.shape[2])


def _ends(network: Any, end: int) -> Tensor:
    """All tokens that end an answer, by the tokenizer and by the model."""
    told = getattr(network.generation_config, "eos_token_id", None)
    more = told if isinstance(told, list) else [told] if told is not None else []
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
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype) or not found.is_floating_point:
        raise InputError(f"dtype={name}: is none. Known are auto, float32, bfloat16 and float16.")
    return found


def _window(name: str, config: Any) -> int | None:
    """How many tokens attention reaches back; None: all. Raises InputError for a model that keeps something
    else than keys and values of each token."""
    from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

    layers = DynamicCache(config=config).layers
    if any(type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers):
        raise InputError(
            f"{name}: {config.model_type} keeps something else than keys and values of what it has read, and "
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
        raise InputError(f"{name}: is no model that can be loaded: {first}") from error
    return network.to(device).eval()
