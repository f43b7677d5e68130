"""Generators without a seed begin elsewhere in each run: one bit never agrees in three runs by chance."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from deskcheck.notebook.kernel.chance.generators import KEPT, words


@pytest.fixture
def kept() -> Iterator[dict[str, Any]]:
    """Those that are here, put back at the end."""
    found = {each.name: each for each in KEPT}
    before = random.getstate()
    yield found
    random.setstate(before)


def drawn(kept: Any, draw: Callable[[], Any]) -> list[Any]:
    """What a draw gives at the same place of the first three runs."""
    found = []
    for run in range(3):
        kept.put(words(7, run))
        found.append(draw())
    return found


def test_opposite_bits_of_python(kept: dict[str, Any]) -> None:
    """All bits, all but the highest; for as long as a state lasts."""
    one, two, three = drawn(kept["random"], lambda: [random.getrandbits(32) for _ in range(624)])
    assert {a ^ b for a, b in zip(one, two, strict=True)} == {0xFFFFFFFF}
    assert {a ^ b for a, b in zip(one, three, strict=True)} == {0x7FFFFFFF}
    fourth = words(7, 3)
    assert len({*fourth} & {*words(7, 0)}) < 3
    assert words(8, 0) != words(7, 0)
    for draw in (lambda: random.choice("ab"), lambda: random.random() < 0.5, lambda: random.randint(0, 1)):
        assert len({*drawn(kept["random"], draw)}) == 2


def test_opposite_bits_of_numpy(kept: dict[str, Any]) -> None:
    """Uniform numbers, integers, orders, and the sign of normal ones."""
    numpy: Any = pytest.importorskip("numpy", reason="would have proved it of numpy's generator")
    state = numpy.random.get_state()
    one, two, _ = drawn(kept["numpy.random"], lambda: numpy.random.rand(300))
    assert (abs(one + two - 1) < 1e-9).all()
    for draw in (
        lambda: numpy.random.randint(2),
        lambda: tuple(numpy.random.permutation(2)),
        lambda: bool(numpy.random.normal() < 0),
    ):
        assert len({*drawn(kept["numpy.random"], draw)}) == 2
    numpy.random.set_state(state)


def test_opposite_bits_of_torch(kept: dict[str, Any]) -> None:
    """As numpy's; its seed stays what it was, and it is told whether it was given one."""
    torch: Any = pytest.importorskip("torch", reason="would have proved it of torch's generator")
    state, seed = torch.get_rng_state(), torch.initial_seed()
    of_torch = kept["torch"]
    for draw in (
        lambda: torch.randint(2, (1,)).item(),
        lambda: (torch.rand(1) < 0.5).item(),
        lambda: tuple(torch.randperm(2).tolist()),
    ):
        assert len({*drawn(of_torch, draw)}) == 2
    assert torch.initial_seed() == seed
    then = of_torch.place()
    torch.rand(10_000)
    assert not of_torch.was_seeded(then, of_torch.place(), 0.0, may_be=True)
    torch.manual_seed(3)
    assert of_torch.was_seeded(then, of_torch.place(), 0.0, may_be=False)
    assert of_torch.is_new(of_torch.place(), "x") is None
    torch.manual_seed(17 << 58)
    assert of_torch.is_new(of_torch.place(), "x")
    torch.rand(1)
    assert of_torch.is_new(of_torch.place(), "x") is False
    torch.set_rng_state(state)


@pytest.mark.parametrize(("count", "seeded"), [(1, False), (2_000_000, False), (1, True)])
def test_draws_are_told_from_seeds(kept: dict[str, Any], count: int, seeded: bool) -> None:
    """However many there were: a state that draws lead to was not seeded."""
    of_random = kept["random"]
    of_random.put(words(7, 0))
    then = of_random.place()
    if seeded:
        random.seed(5)
    random.randbytes(8 * count)
    assert of_random.was_seeded(then, of_random.place(), 0.05, may_be=not seeded) == seeded
