"""The model of the level `reader`, run by numpy: what `deskcheck.teach.small.model.Model` computes, a word at
a time, with keys and values kept while one prompt is answered. Weights are kept in 16 bits."""

import math
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deskcheck_levels import weights as files
from deskcheck_levels.levels import Level
from deskcheck_levels.reader.text import WORDS

FILE = "reader.npz"
_BASE, _EPSILON = 10_000.0, 1e-6
Floats: TypeAlias = NDArray[np.float32]


class TransformerNetwork:
    """Weights that read. about: what was said of them when they were written.

    remember: what was written to a prompt is not computed again. Then `computed` counts distinct ones.
    """

    def __init__(
        self, weights: dict[str, NDArray[Any]], about: dict[str, Any], *, remember: bool = True
    ) -> None:
        self.about, self.remember = about, remember
        self.computed = 0
        self.prompts: set[tuple[int, ...]] = set()
        self._weights = {name: weight.astype(np.float32) for name, weight in weights.items()}
        self.parameters = sum(weight.size for weight in self._weights.values())
        config = about["config"]
        self._layers, self._heads = config["layers"], config["heads"]
        self._width, self._shift = config["hidden_size"], config["shift_tokens"]
        self._words: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        self._text: list[int] = []
        self._keys: list[Floats] = []
        self._values: list[Floats] = []

    def __call__(self, prompt: tuple[int, ...], written: tuple[int, ...]) -> int:
        """The most likely word after a prompt and what was written so far."""
        word = self._words.get((prompt, written))
        if word is None:
            self.computed += 1
            self.prompts.add(prompt)
            word = int(self._logits([*prompt, *written]).argmax())
            if self.remember:
                self._words[prompt, written] = word
        return word

    def _logits(self, text: list[int]) -> Floats:
        """After the last word; of the words before what is known is kept."""
        kept_words = len(self._text)
        if not kept_words or kept_words >= len(text) or text[:kept_words] != self._text:
            kept_words = 0
            head = self._width // self._heads
            self._keys = [np.zeros((self._heads, 0, head), np.float32) for _ in range(self._layers)]
            self._values = list(self._keys)
        self._text = list(text)
        x = self._embedded(text, kept_words)
        turn = self._turns(np.arange(kept_words, len(text)))
        for layer in range(self._layers):
            x = x + self._attended(layer, _normed(x, self._of(layer, "input_layernorm")), turn, kept_words)
            y = _normed(x, self._of(layer, "post_attention_layernorm"))
            gate: Floats = y @ self._of(layer, "mlp.gate_proj").T
            mixed: Floats = gate / (1 + np.exp(-gate)) * (y @ self._of(layer, "mlp.up_proj").T)
            x += mixed @ self._of(layer, "mlp.down_proj").T
        last = _normed(x[-1:], self._weights["norm.weight"])[0]
        logits: Floats = self._weights["embed_tokens.weight"] @ last
        return logits

    def _of(self, layer: int, name: str) -> Floats:
        return self._weights[f"layers.{layer}.{name}.weight"]

    def _embedded(self, text: list[int], start: int) -> Floats:
        table = self._weights["embed_tokens.weight"]
        x = table[text[start:]]
        before = np.zeros((self._shift + len(text), self._width), np.float32)
        before[self._shift :] = table[text]
        shifted = [
            before[self._shift + start - back : self._shift + len(text) - back]
            for back in range(1, self._shift + 1)
        ]
        more: Floats = np.concatenate(shifted, 1).astype(np.float32)
        embedded: Floats = x + more @ self._weights["shift.proj.weight"].T
        return embedded

    def _turns(self, positions: NDArray[np.int64]) -> tuple[Floats, Floats]:
        half = self._width // self._heads // 2
        waves = _BASE ** (-np.arange(half, dtype=np.float32) / half)
        angles = positions[:, None].astype(np.float32) * waves
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([cos, cos], 1), np.concatenate([-sin, sin], 1)

    def _attended(self, layer: int, x: Floats, turn: tuple[Floats, Floats], start: int) -> Floats:
        head = self._width // self._heads

        def split(name: str) -> Floats:
            output: Floats = (x @ self._of(layer, f"self_attn.{name}").T).reshape(-1, self._heads, head)
            return output.transpose(1, 0, 2)

        q, k, v = _turned(split("q_proj"), turn), _turned(split("k_proj"), turn), split("v_proj")
        keys = self._keys[layer] = np.concatenate([self._keys[layer], k], 1)
        values = self._values[layer] = np.concatenate([self._values[layer], v], 1)
        scores = q @ keys.transpose(0, 2, 1) / math.sqrt(head)
        if len(x) > 1:
            later = np.arange(keys.shape[1])[None, :] > np.arange(start, start + len(x))[:, None]
            scores = np.where(later, -np.inf, scores)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        out = (weights / weights.sum(-1, keepdims=True)) @ values
        output: Floats = (
            out.transpose(1, 0, 2).reshape(len(x), self._width) @ self._of(layer, "self_attn.o_proj").T
        )
        return output


def _normed(x: Floats, weight: Floats) -> Floats:
    normed: Floats = x / np.sqrt((x * x).mean(-1, keepdims=True) + _EPSILON) * weight
    return normed


def _turned(x: Floats, turn: tuple[Floats, Floats]) -> Floats:
    cos, sin = turn
    turned: Floats = x * cos + np.roll(x, x.shape[-1] // 2, -1) * sin
    return turned


def load(file: Path, *, remember: bool = True) -> TransformerNetwork:
    """The network of a file that `weights.save` wrote, by the names of `Model`. Raises InputError for any
    other."""
    weights, about = files.load(file, Level.READER, WORDS)
    return TransformerNetwork(weights, about, remember=remember)
