"""Two parts of the model with hand-written gradients, for training on a CPU.

On a CPU, passes over memory take most of a step's time. These gradients store and read half as much as
autograd does (figures: lab/2026-11.md). Tests compare each with its definition.

Needs torch (the extra ``[teach]``).
"""

from typing import Any

import torch
from torch import Tensor

BLOCK = 256
"""Queries that are computed together."""


class Attended(torch.autograd.Function):
    """softmax(q kᵀ + mask) v, computed in the type of q.

    q: [rows, heads, length, head], already scaled. k, v: [rows, heads, size, head]. mask: [rows or 1, 1,
    length, size], of the type of q, without a gradient.

    Query i belongs to key `size - length + i` and sees no key after it. Each block of queries leaves out the
    keys after its last query.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        ahead = k.shape[2] - q.shape[2]
        out, weights_by_block = [], []
        with torch.autocast(q.device.type, enabled=False):
            for block, of_them in zip(q.split(BLOCK, 2), mask.split(BLOCK, 2), strict=True):
                ahead += block.shape[2]
                weights = torch.matmul(block, k[:, :, :ahead].transpose(2, 3))
                weights += of_them[..., :ahead]
                weights = torch.softmax(weights, -1)
                weights_by_block.append(weights)
                out.append(torch.matmul(weights, v[:, :, :ahead]))
        ctx.save_for_backward(q, k, v, *weights_by_block)
        return torch.cat(out, 2)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, *weights_by_block = ctx.saved_tensors
        of_q, of_k, of_v = [], torch.zeros_like(k), torch.zeros_like(v)
        for block, gradient, weights in zip(
            q.split(BLOCK, 2), gradients[0].split(BLOCK, 2), weights_by_block, strict=True
        ):
            ahead = weights.shape[-1]
            of_weights = torch.matmul(gradient, v[:, :, :ahead].transpose(2, 3))
            of_scores = torch.ops.aten._softmax_backward_data(of_weights, weights, -1, weights.dtype)
            of_q.append(torch.matmul(of_scores, k[:, :, :ahead]))
            of_k[:, :, :ahead] += torch.matmul(of_scores.transpose(2, 3), block)
            of_v[:, :, :ahead] += torch.matmul(weights.transpose(2, 3), gradient)
        return torch.cat(of_q, 2), of_k, of_v, None


class RootMeanSquare(torch.autograd.Function):
    """x / sqrt(mean(x²) + epsilon) * weight (Zhang and Sennrich 2019, arXiv:1910.07467, equation 4).

    x: [..., width]. weight: [width]. dtype: type of the result. The gradients have the types of x and weight.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, epsilon: float, dtype: torch.dtype) -> Tensor:
        width = x.shape[-1]
        scale = torch.linalg.vector_norm(x, dim=-1, keepdim=True).pow_(2).div_(width).add_(epsilon).rsqrt_()
        normed = (x * scale).to(dtype)
        ctx.save_for_backward(normed, weight, scale)
        return normed * weight.to(dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        normed, weight, scale = ctx.saved_tensors
        of_weight = (gradient * normed).flatten(0, -2).sum(0, dtype=weight.dtype)
        gradient = gradient * weight.to(gradient.dtype)
        along = (gradient * normed).mean(-1, keepdim=True)
        return (gradient - normed * along) * scale, of_weight, None, None
