"""Torch models for the interpreter. Needs torch (the extra ``[teach]``)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from deskcheck.teach.small.interpreter import Floats, Numbers
from deskcheck.teach.small.model import Context, Model


class TorchNetwork:
    """A `Model` as a `deskcheck.teach.small.interpreter.Network`."""

    def __init__(self, model: Model, device: str = "cpu") -> None:
        self.device = torch.device(device)
        self.model = model.to(self.device).eval()
        self.layers = model.config.layers
        self.heads = model.config.heads
        self.head = model.config.hidden_size // model.config.heads
        self.shift_tokens = model.config.shift_tokens
        self.dtype: np.dtype[Any] = np.dtype(np.float32)

    @torch.inference_mode()
    def run(
        self, tokens: Numbers, keys: Sequence[Floats], values: Sequence[Floats], lengths: Numbers
    ) -> tuple[NDArray[np.float32], Sequence[Floats], Sequence[Floats]]:
        """See `Network.run`."""
        context = Context(
            tuple([torch.from_numpy(k).to(self.device) for k in keys]),
            tuple([torch.from_numpy(v).to(self.device) for v in values]),
            torch.from_numpy(lengths).to(self.device),
        )
        inputs = torch.from_numpy(tokens).to(self.device)
        hidden, new = self.model(inputs[:, self.shift_tokens :], context, inputs[:, : self.shift_tokens])
        logs = torch.log_softmax(self.model.logits(hidden).float(), -1)
        return (
            logs.cpu().numpy(),
            [k.cpu().numpy() for k in new.keys],
            [v.cpu().numpy() for v in new.values],
        )
