"""The network of the level `alone`: the model of `small.model` with the position of each word as an input.

For a word of a number, this is the owner of the number and the place in it; for a word of a line, the line
and the distance from its beginning. Positions follow from the words so far, from left to right. So attention
can copy a variable's third digit by looking for the third digit of that variable, without counting.

Needs torch (the extra ``[teach]``).
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from deskcheck.teach.small.model import Model, ModelConfig
from deskcheck_levels import weights as files
from deskcheck_levels.alone.words import FILE, FILLERS, LINES, NUMBER, SIGN, WORDS
from deskcheck_levels.levels import Level

PLACES, ALONG = 16, 32
"""Places of a number, including the last place for its sign; words after the beginning of a line."""
_SIZE = 0.02
"""Of each number of an address, as the embeddings begin."""


class Standing(nn.Module):
    """The positions of words, as numbers."""

    filler: Tensor
    line: Tensor

    def __init__(self) -> None:
        super().__init__()
        filler, line = torch.zeros(len(WORDS), dtype=torch.bool), torch.zeros(len(WORDS), dtype=torch.long)
        for word in FILLERS:
            filler[NUMBER[word]] = True
        for number in range(1, LINES + 1):
            line[NUMBER[f"L{number}"]] = number
        self.register_buffer("filler", filler, persistent=False)
        self.register_buffer("line", line, persistent=False)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """tokens: [rows, length], each row from where its program or state begins. Of each token: the word
        whose number it is in, the word before that one, its place there, its line, how far along that."""
        length = tokens.shape[1]
        at = torch.arange(length, device=tokens.device)[None, :]
        sign = tokens == NUMBER[SIGN]
        filler = self.filler[tokens]
        owner = torch.where(filler, 0, at).cummax(1).values
        whose = tokens.gather(1, owner)
        before = torch.where(owner > 0, tokens.gather(1, (owner - 1).clamp(min=0)), 0)
        signs = sign.long().cumsum(1)
        position = (at - owner - (signs - signs.gather(1, owner))).clamp(max=PLACES - 2)
        position = torch.where(sign, PLACES - 1, position)
        begins = self.line[tokens] > 0
        start = torch.where(begins, at + 1, 0).cummax(1).values
        line = torch.where(start > 0, self.line[tokens.gather(1, (start - 1).clamp(min=0))], 0)
        along = torch.where(start > 0, at - (start - 1), 0).clamp(max=ALONG - 1)
        return whose, before, position, line, along


def addresses(count: int, width: int, number: int) -> Tensor:
    """Vectors that are nearly at right angles to one another, [count, width]: the same wherever a model runs,
    and not trained. number: of the table."""
    mask = (1 << 64) - 1
    with np.errstate(over="ignore"):
        mixed = np.arange(count * width, dtype=np.uint64) + np.uint64((number * 0x9E3779B97F4A7C15) & mask)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    signs = (mixed >> np.uint64(63)).astype(np.float32)
    return torch.from_numpy((2 * signs - 1).reshape(count, width) * _SIZE)


class AloneModel(Model):
    """A causal language model over words and their positions. Positions begin anew in programs and states.

    In addition to trained embeddings of a position's parts, each position has one address, so that attention
    finds it by one match instead of several.
    """

    along_line: Tensor
    in_number: Tensor
    in_source: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        width = config.hidden_size
        self.standing = Standing()
        self.whose = nn.Embedding(config.vocab_size, width)
        self.before = nn.Embedding(config.vocab_size, width)
        self.place = nn.Embedding(PLACES, width)
        self.line = nn.Embedding(LINES + 1, width)
        self.along = nn.Embedding(ALONG, width)
        self.register_buffer("along_line", addresses((LINES + 1) * ALONG, width, 1), persistent=False)
        self.register_buffer("in_number", addresses(config.vocab_size * PLACES, width, 2), persistent=False)
        self.register_buffer("in_source", addresses(config.vocab_size * PLACES, width, 3), persistent=False)
        for table in (self.whose, self.before, self.place, self.line, self.along):
            nn.init.normal_(table.weight, std=0.02)

    def embedded(self, tokens: Tensor, before: Tensor | None) -> Tensor:
        """before: all words of the state that stand before these, -1 in front of shorter ones; None: these
        begin a program or a state."""
        length = tokens.shape[1]
        words = tokens if before is None else torch.cat([before.clamp(min=0), tokens], 1)
        whose, owner, position, line, along = self.standing(words)
        x = self.embed_tokens(words) + self.whose(whose) + self.before(owner)
        x = x + self.place(position) + self.line(line) + self.along(along)
        x = x + self.along_line[line * ALONG + along] + self.in_number[whose * PLACES + position]
        x = x + self.in_source[owner * PLACES + position]
        if before is not None:
            present = torch.cat([before >= 0, torch.ones_like(tokens, dtype=torch.bool)], 1)
            x = x * present.to(x.dtype)[..., None]
        assert self.shift is not None
        count = self.config.shift_tokens
        shifted: Tensor = self.shift(nn.functional.pad(x, (0, 0, count, 0)), words.shape[1])
        return shifted[:, -length:]


def save(model: AloneModel, folder: Path, about: dict[str, Any]) -> None:
    """Writes the weights in 16 bits, and `about`."""
    weights = {name: value.detach().float().cpu().numpy() for name, value in model.named_parameters()}
    files.save(folder / FILE, weights, {**about, "config": asdict(model.config)})


def load(file: Path) -> tuple[AloneModel, dict[str, Any]]:
    """A model that `save` wrote, and its `about`. Raises InputError for any other file."""
    weights, about = files.load(file, Level.ALONE, WORDS)
    model = AloneModel(ModelConfig(**about["config"]))
    model.load_state_dict({name: torch.from_numpy(value).float() for name, value in weights.items()})
    return model.eval(), about
