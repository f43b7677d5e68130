"""Two parts of the model with their gradients written out, for training on a CPU.

There most of a step's time goes into passes over memory, not into products of matrices: what autograd keeps
and goes over again is halved here (docs/log.md has the figures). Each is tested against its definition.

Needs torch (the extra ``[teach]``).
"""

from typing import Any

import torch
from torch import Tensor


class Attended(torch.autograd.Function):
    """softmax(q kᵀ + seen) v. q: [rows, heads, length, head], scaled already; k, v: [rows, heads, size,
    head]; seen: [rows or 1, 1, length, size], of their type, no gradient. Computed in the type of q."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, seen: Tensor) -> Tensor:
        with torch.autocast(q.device.type, enabled=False):
            weights = torch.matmul(q, k.transpose(2, 3))
            weights += seen
            weights = torch.softmax(weights, -1)
            ctx.save_for_backward(q, k, v, weights)
            return torch.matmul(weights, v)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        (g,) = given
        q, k, v, weights = ctx.saved_tensors
        of_weights = torch.matmul(g, v.transpose(2, 3))
        of_scores = torch.ops.aten._softmax_backward_data(of_weights, weights, -1, weights.dtype)
        return (
            torch.matmul(of_scores, k),
            torch.matmul(of_scores.transpose(2, 3), q),
            torch.matmul(weights.transpose(2, 3), g),
            None,
        )


class RootMeanSquare(torch.autograd.Function):
    """x / sqrt(mean(x²) + epsilon) * weight (Zhang and Sennrich 2019, arXiv:1910.07467, equation 4).
    x: [..., width]; weight: [width]; the result is of type `dtype`, the gradients of x's and weight's."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, epsilon: float, dtype: torch.dtype) -> Tensor:
        width = x.shape[-1]
        scale = torch.linalg.vector_norm(x, dim=-1, keepdim=True).pow_(2).div_(width).add_(epsilon).rsqrt_()
        normed = (x * scale).to(dtype)
        ctx.save_for_backward(normed, weight, scale)
        return normed * weight.to(dtype)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        (g,) = given
        normed, weight, scale = ctx.saved_tensors
        of_weight = (g * normed).flatten(0, -2).sum(0, dtype=weight.dtype)
        g = g * weight.to(g.dtype)
        along = (g * normed).mean(-1, keepdim=True)
        return (g - normed * along) * scale, of_weight, None, None
