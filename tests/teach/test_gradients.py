"""Gradients that are written out: against their definitions, by finite differences and by autograd."""

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="no torch: would have proved that gradients by hand are right")

from torch import Tensor  # noqa: E402

from deskcheck.teach.small.gradients import Attended, RootMeanSquare  # noqa: E402
from deskcheck.teach.small.model import Model, ModelConfig  # noqa: E402

attended: Any = Attended.apply


def norm(x: Tensor, weight: Tensor) -> Any:
    apply: Any = RootMeanSquare.apply
    return apply(x, weight, 1e-6, torch.float64)


def drawn(*shape: int) -> Tensor:
    found: Tensor = torch.randn(
        *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(len(shape))
    )
    return found.requires_grad_()


@pytest.mark.parametrize("block", [1, 2, 256])
def test_attention(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deskcheck.teach.small.gradients.BLOCK", block)
    q, k, v = drawn(2, 2, 3, 4), drawn(2, 2, 5, 4), drawn(2, 2, 5, 4, 1)[..., 0] * 2
    seen = torch.full((3, 5), -math.inf, dtype=torch.float64).triu(3).repeat(2, 1, 1, 1)
    seen[1, :, :, 1] = -math.inf
    assert torch.autograd.gradcheck(lambda *x: attended(*x, seen), (q, k, v))
    plain = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=1.0)
    torch.testing.assert_close(attended(q, k, v, seen), plain)


def test_norm() -> None:
    x, weight = drawn(2, 3, 8), drawn(8)
    assert torch.autograd.gradcheck(norm, (x, weight))
    torch.testing.assert_close(norm(x, weight), torch.nn.functional.rms_norm(x, (8,), weight, 1e-6))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_model_says_the_same_with_and_without(precision: str) -> None:
    torch.manual_seed(0)
    model = Model(ModelConfig(vocab_size=40, layers=2, hidden_size=32, heads=2, intermediate_size=48))
    tokens = torch.randint(40, (3, 9))
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
        trained, _ = model(tokens)
        with torch.no_grad():
            asked, _ = model(tokens)
    assert trained.requires_grad
    assert not asked.requires_grad
    near = {"rtol": 1e-5, "atol": 1e-5} if precision == "fp32" else {"rtol": 5e-2, "atol": 5e-2}
    torch.testing.assert_close(trained.float(), asked.float(), **near)
