"""A trained model as a graph that `runtime` runs without torch. Needs torch and onnx (extra ``[teach]``)."""

import json
import math
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deskcheck.teach.small.model import Attention, Layer, Model, rotated, turns
from deskcheck.teach.small.runtime import ABOUT


class _Graph(nn.Module):
    """`Model.forward` and the log probabilities, with only tensors as arguments.

    Attention to the context is computed apart from attention to the tokens, so that keys are not copied.
    """

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, lengths: Tensor, *context: Tensor) -> tuple[Tensor, ...]:
        model = self.model
        layers, shift = len(model.layers), model.config.shift_tokens
        before, tokens = tokens[:, :shift], tokens[:, shift:]
        length, size = tokens.shape[1], context[0].shape[2]
        counted = torch.arange(length)
        turn = turns(lengths[:, None] + counted[None, :], model.config.hidden_size // model.config.heads)
        later = torch.where(counted[None, :] > counted[:, None], -math.inf, 0.0)[None, None]
        beyond = torch.where(torch.arange(size)[None, :] >= lengths[:, None], -math.inf, 0.0)[:, None, None]
        x = model.embedded(tokens, before)
        keys, values = [], []
        for number, layer in enumerate(model.layers):
            assert isinstance(layer, Layer)
            out, k, v = _attended(
                layer.self_attn,
                layer.input_layernorm(x),
                turn,
                (context[number], context[layers + number], beyond),
                later,
            )
            keys.append(k)
            values.append(v)
            x = x + out
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return torch.log_softmax(model.logits(model.norm(x)), -1), *keys, *values


def _attended(
    attention: Attention,
    x: Tensor,
    turn: tuple[Tensor, Tensor],
    context: tuple[Tensor, Tensor, Tensor],
    later: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    rows, length, width = x.shape
    head = width // attention.heads

    def split(y: Tensor) -> Tensor:
        return y.view(rows, length, attention.heads, head).transpose(1, 2)

    q, k = rotated(split(attention.q_proj(x)), turn), rotated(split(attention.k_proj(x)), turn)
    v = split(attention.v_proj(x))
    q = q * (1 / math.sqrt(head))
    keys, values, beyond = context
    weights = torch.softmax(
        torch.cat([q @ keys.transpose(2, 3) + beyond, q @ k.transpose(2, 3) + later], -1), -1
    )
    size = keys.shape[2]
    out = weights[..., :size] @ values + weights[..., size:] @ v
    return attention.o_proj(out.transpose(1, 2).reshape(rows, length, width)), k, v


def export(model: Model, about: dict[str, Any], file: Path) -> None:
    """Writes a model as a graph. about: metadata of the graph; "config" is required."""
    import onnx
    from onnx import numpy_helper

    config = model.config
    head = config.hidden_size // config.heads
    dimension = torch.export.Dim
    rows, length, size = (
        dimension("rows", min=1),
        dimension("length", min=config.shift_tokens + 1),
        dimension("size", min=0),
    )
    blank = [torch.zeros(3, config.heads, 5, head) for _ in range(2 * config.layers)]
    names = [f"{what}_{number}" for what in ("keys", "values") for number in range(config.layers)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's exporter warns of its own ways, whatever the model
        program = torch.onnx.export(
            _Graph(model).eval().cpu(),
            (torch.zeros(3, config.shift_tokens + 4, dtype=torch.long), torch.full((3,), 5), *blank),
            input_names=["tokens", "lengths", *names],
            output_names=["log_probabilities", *[f"new_{name}" for name in names]],
            dynamic_shapes=({0: rows, 1: length}, {0: rows}, tuple([{0: rows, 2: size} for _ in blank])),
            dynamo=True,
            verbose=False,
        )
    proto = program.model_proto
    _half_weights(proto, onnx, numpy_helper)
    entry = proto.metadata_props.add()
    entry.key, entry.value = ABOUT, json.dumps(about)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + ".part")
    onnx.save(proto, str(part))
    part.replace(file)


def _half_weights(proto: Any, onnx: Any, numpy_helper: Any) -> None:
    """Stores the graph's matrices in 16 bits. A cast gives the 32 bits of the computation."""
    casts = []
    for weight in proto.graph.initializer:
        if weight.data_type != onnx.TensorProto.FLOAT or len(weight.dims) < 2:
            continue
        name, array = weight.name, numpy_helper.to_array(weight)
        weight.CopyFrom(numpy_helper.from_array(array.astype("float16"), name + "_half"))
        casts.append(onnx.helper.make_node("Cast", [name + "_half"], [name], to=onnx.TensorProto.FLOAT))
    for cast in reversed(casts):
        proto.graph.node.insert(0, cast)
