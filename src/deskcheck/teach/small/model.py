"""A small causal language model, for lessons in which many steps share one program.

The architecture is Llama's (Touvron et al. 2023, arXiv:2302.13971: RMSNorm, rotary positions, SwiGLU, no
biases, here with tied embeddings), and its weights are saved in the layout of Hugging Face's
`LlamaForCausalLM`, so that everything that runs those runs these.

Its extension is `Context`: the model reads a program once, and any number of steps attend to it and to
themselves, so that a step costs only its own tokens. The result is that of a block mask over a sequence of
the program and all its steps, but the masked blocks are never computed.

Needs torch (the extra ``[teach]``).
"""

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deskcheck.files import read_file, read_json
from deskcheck.recording import InputError
from deskcheck.teach.settings import ModelSize
from deskcheck.teach.small.gradients import Attended, RootMeanSquare

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
BASE = 10_000.0
"""Base of the wavelengths of rotary positions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """Sizes of a model.

    `vocab_size`, `hidden_size` and `intermediate_size` are those of Hugging Face's LlamaConfig; `layers` and
    `heads` are its `num_hidden_layers` and `num_attention_heads`.
    """

    vocab_size: int
    """Number of tokens."""
    layers: int = 5
    """Blocks of attention and feed-forward layer."""
    hidden_size: int = 192
    """Numbers in the residual stream, per position."""
    heads: int = 4
    """Attention heads of a layer."""
    intermediate_size: int = 512
    """Numbers between the two matrices of a feed-forward layer."""
    shift_tokens: int = 0
    """Number of earlier tokens whose embeddings each position receives (`Shift`). With 0 the model is a
    Llama."""

    def __post_init__(self) -> None:
        if self.hidden_size % (2 * self.heads):
            raise InputError(
                f"hidden_size={self.hidden_size} must be an even multiple of heads={self.heads}: rotary "
                "positions turn pairs of numbers in each head."
            )

    @classmethod
    def of(cls, size: ModelSize | None = None, *, vocab_size: int = 0) -> "ModelConfig":
        """A configuration for `size`.

        A head has 32 numbers, a width for which products in 16 bits are fast; if the size is not a multiple
        of 32, there are 4 heads. Feed-forward layers are 8/3 as wide, like Llama's, rounded to 64.
        """
        size = size or ModelSize()
        return cls(
            vocab_size=vocab_size,
            layers=size.layers,
            hidden_size=size.hidden_size,
            heads=4 if size.hidden_size % 32 else size.hidden_size // 32,
            intermediate_size=-(-size.hidden_size * 8 // 3 // 64) * 64,
            shift_tokens=size.shift_tokens,
        )


@dataclass(frozen=True, slots=True)
class Context:
    """Keys and values of the tokens before each row."""

    keys: tuple[Tensor, ...]
    """A [rows, heads, size, width of a head] for each layer."""
    values: tuple[Tensor, ...]
    """A [rows, heads, size, width of a head] for each layer."""
    lengths: Tensor
    """Tokens of each row, [rows]."""

    def of(self, rows: Tensor) -> "Context":
        """The context of the rows with these numbers, in this order. A number may occur many times."""
        return Context(
            tuple([k.index_select(0, rows) for k in self.keys]),
            tuple([v.index_select(0, rows) for v in self.values]),
            self.lengths.index_select(0, rows),
        )


class Norm(nn.Module):
    """Root mean square normalisation."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        if _by_hand(x.device):
            out: Tensor = RootMeanSquare.apply(x, self.weight, 1e-6, _computed(x.device, x.dtype))
            return out
        return nn.functional.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), 1e-6)


def turns(positions: Tensor, head: int) -> tuple[Tensor, Tensor]:
    """The rotations for `rotated`: cosines, and sines with the sign for each half, [rows, 1, length, head].

    positions: [rows, length]. head: width of a head.
    """
    half = head // 2
    waves = BASE ** (-torch.arange(half, device=positions.device, dtype=torch.float32) / half)
    angles = positions[:, None, :, None].float() * waves
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1)


def rotated(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """x, [rows, heads, length, head], rotated by `turns`. The numbers of a pair are half a head apart."""
    cos, sin = turn
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, -1), sin)


def _by_hand(device: torch.device) -> bool:
    """Whether to use the gradients of `gradients`: in training on a CPU."""
    return device.type == "cpu" and torch.is_grad_enabled()


def _computed(device: torch.device, dtype: torch.dtype) -> torch.dtype:
    """The type of products of matrices."""
    return torch.get_autocast_dtype(device.type) if torch.is_autocast_enabled(device.type) else dtype


class Attention(nn.Module):
    """Attention of each row to its context and, causally, to itself."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def forward(
        self,
        x: Tensor,
        turn: tuple[Tensor, Tensor],
        context: tuple[Tensor, Tensor] | None,
        mask: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The output, and the keys and values of x.

        x: [rows, length, width]. turn: the rotations of its positions (`turns`). mask: [rows or 1, 1, length,
        size + length], added to the logits.
        """
        rows, length, width = x.shape

        def split(y: Tensor) -> Tensor:
            return y.view(rows, length, self.heads, width // self.heads).transpose(1, 2)

        q, k = rotated(split(self.q_proj(x)), turn), rotated(split(self.k_proj(x)), turn)
        v = split(self.v_proj(x))
        keys = torch.cat([context[0], k], 2) if context else k
        values = torch.cat([context[1], v], 2) if context else v
        if _by_hand(x.device):
            out: Tensor = Attended.apply(q * (1 / math.sqrt(q.shape[-1])), keys, values, mask)
        else:
            out = nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        return self.o_proj(out.transpose(1, 2).reshape(rows, length, width)), k, v


class Mixing(nn.Module):
    """SwiGLU."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


class Shift(nn.Module):
    """Adds the embeddings of the tokens before to each token's embedding, each through a separate matrix.

    With it, one layer of attention finds the token that follows a name; without it, a first layer has to move
    each token to the place of the next. This is a short convolution: the Canon layer at the input (Allen-Zhu
    2025), and token shift in RWKV (Peng et al. 2023, arXiv:2305.13048).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.proj = nn.Linear(config.shift_tokens * config.hidden_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor, tokens: int) -> Tensor:
        """x: [rows, tokens before + tokens, hidden_size] -> [rows, tokens, hidden_size]."""
        more = x.shape[1] - tokens
        shifted = torch.cat([x[:, more - back : more - back + tokens] for back in range(1, more + 1)], -1)
        added: Tensor = self.proj(shifted)
        return x[:, more:] + added


class Layer(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.input_layernorm = Norm(config.hidden_size)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = Norm(config.hidden_size)
        self.mlp = Mixing(config)


class Model(nn.Module):
    """A causal language model over tokens."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.shift = Shift(config) if config.shift_tokens else None
        self.layers = nn.ModuleList([Layer(config) for _ in range(config.layers)])
        self.norm = Norm(config.hidden_size)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                # As in GPT-2 (Radford et al. 2019): what is added to the residual stream starts small.
                last = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * config.layers) if last else 0.02)
        if self.shift is not None:  # what it adds is as large as what it is added to
            nn.init.normal_(self.shift.proj.weight, std=0.5 / math.sqrt(config.hidden_size))

    def embedded(self, tokens: Tensor, before: Tensor | None) -> Tensor:
        """The embeddings of tokens, with those of the tokens before them.

        before: the tokens before the first, [rows, `ModelConfig.shift_tokens`], filled with -1 at the front;
        None if there are none.
        """
        x: Tensor = self.embed_tokens(tokens)
        if self.shift is None:
            return x
        if before is None:
            x = nn.functional.pad(x, (0, 0, self.config.shift_tokens, 0))
        else:
            present = (before >= 0).to(x.dtype)[..., None]
            x = torch.cat([self.embed_tokens(before.clamp(min=0)) * present, x], 1)
        out: Tensor = self.shift(x, tokens.shape[1])
        return out

    def forward(
        self, tokens: Tensor, context: Context | None = None, before: Tensor | None = None
    ) -> tuple[Tensor, Context]:
        """The hidden state of each token, [rows, length, width], and the tokens as a context.

        tokens: [rows, length], padded at the ends by any tokens. Positions continue from the end of a row's
        context. before: the last tokens of the context, [rows, `ModelConfig.shift_tokens`]; None without a
        context. `logits` turns hidden states into logits.
        """
        rows, length = tokens.shape
        start = context.lengths if context else torch.zeros(rows, dtype=torch.long, device=tokens.device)
        positions = start[:, None] + torch.arange(length, device=tokens.device)[None, :]
        mask = torch.full((length, length), -math.inf, device=tokens.device).triu(1)[None, None]
        if context:
            size = context.keys[0].shape[2]
            beyond = torch.arange(size, device=tokens.device)[None, :] >= start[:, None]
            context_mask = torch.zeros(beyond.shape, device=tokens.device).masked_fill(beyond, -math.inf)
            context_mask = context_mask[:, None, None, :].expand(rows, 1, length, size)
            mask = torch.cat([context_mask, mask.expand(rows, 1, length, length)], -1)
        x = self.embedded(tokens, before)
        computed = _computed(x.device, x.dtype)
        mask = mask.to(computed)
        cos, sin = turns(positions, self.config.hidden_size // self.config.heads)
        turn = cos.to(computed), sin.to(computed)
        keys, values = [], []
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, Layer)
            context_layer = (context.keys[number], context.values[number]) if context else None
            out, k, v = layer.self_attn(layer.input_layernorm(x), turn, context_layer, mask)
            keys.append(k)
            values.append(v)
            x = x + out
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return self.norm(x), Context(tuple(keys), tuple(values), torch.full_like(start, length))

    def read(self, tokens: Tensor, lengths: Tensor) -> Context:
        """Programs as a context. tokens: [programs, length]; lengths: [programs]."""
        return replace(self(tokens)[1], lengths=lengths)

    def logits(self, x: Tensor) -> Tensor:
        """[..., width] -> [..., vocabulary]."""
        return x @ self.embed_tokens.weight.t().to(x.dtype)

    # ---- files ----

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Writes `config.json`, with `about` under "deskcheck", and `model.safetensors`."""
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        weights = {f"model.{name}": weight.detach().float().cpu() for name, weight in self.named_parameters()}
        description = {**about, "config": asdict(self.config)}
        save_file(weights, folder / WEIGHTS, {"format": "pt"})
        (folder / CONFIG).write_text(
            json.dumps(_llama(self.config) | {"deskcheck": description}, indent=1) + "\n"
        )

    @classmethod
    def load(cls, folder: Path) -> tuple["Model", dict[str, Any]]:
        """A saved model and its `about`. Raises InputError for any other folder."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            config = read_json(read_file(folder / CONFIG))
            about = config["deskcheck"]
            model = cls(ModelConfig(**about["config"]))
            weights = load_file(folder / WEIGHTS)
            model.load_state_dict({name.removeprefix("model."): weight for name, weight in weights.items()})
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
            raise InputError(
                f"{folder}: has no model of deskcheck ({type(error).__name__}: {error}). `deskcheck teach "
                "LESSONS --out FOLDER` makes one."
            ) from error
        return model, about


def _llama(config: ModelConfig) -> dict[str, Any]:
    """The configuration of Hugging Face's LlamaForCausalLM with the same computation.

    Empty if no Llama computes the same.
    """
    if config.shift_tokens:
        return {}
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.heads,
        "rms_norm_eps": 1e-6,
        "rope_theta": BASE,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "max_position_embeddings": 8192,
        "attention_bias": False,
        "mlp_bias": False,
        "torch_dtype": "float32",
    }
