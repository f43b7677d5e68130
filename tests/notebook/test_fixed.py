"""A cell that draws is the same in each run if what it shows does not depend on the draws: that is proved from
its source, or it is taken to be chance."""

import random
from typing import Any

import pytest

from deskcheck.notebook.kernel.chance.draws import Draws
from tests.notebook.words import words

numpy: Any = pytest.importorskip("numpy", reason="would have proved that numpy's shapes are told from values")

RANDOM, NUMPY, UUID = ("random",), ("numpy.random",), ("uuid.uuid4",)

CELLS: list[tuple[str, tuple[str, ...]]] = [
    ("import uuid, time", ()),
    ("len(str(uuid.uuid4()))", ()),
    ("str(uuid.uuid4())", UUID),
    ("len(str(uuid.uuid4()).replace('a', ''))", UUID),
    ("isinstance(uuid.uuid4(), uuid.UUID), uuid.uuid4().version, len(uuid.uuid4().hex[:8])", ()),
    ("len(str(random.random()))", RANDOM),
    ("x = np.random.rand(5, 3)\nprint(len(x), x.shape, x.dtype)\nx.size", ()),
    ("x = np.random.rand(5, 3)\nx.mean() > 0", (*NUMPY, "the value of x (numpy.random)")),
    ("np.unique(np.random.randint(3, size=5)).shape", NUMPY),
    ("A = np.random.rand(3, 3); np.allclose(A @ np.linalg.inv(A), np.eye(3))", ()),
    ("np.allclose(A, A.copy()), np.array_equal(A, A[:2])", ()),
    ("A = np.random.randint(2, size=1); np.array_equal(A, [1])", (*NUMPY, "the value of A (numpy.random)")),
    ("np.array_equal(A, [1])", ("the value of A (numpy.random)",)),
    ("A = (np.random.rand(1) > .5) * 1.; np.allclose(A, 1)", (*NUMPY, "the value of A (numpy.random)")),
    ("x = np.random.rand(9); x[x > .5].shape, len(x[:3])", NUMPY),
    ("x = np.random.rand(9); x[:3].shape, (x + 1).shape, len([n > .5 for n in x])", ()),
    ("len([n for n in np.random.rand(9) if n > .5])", NUMPY),
    ("sorted(random.sample(range(5), 5))", ()),
    ("sorted(random.sample(range(5), 4))", RANDOM),
    ("random.sample(range(3), 3) == [0, 1, 2]", RANDOM),
    ("xs = [3, 1, 2]; sorted(random.sample(xs, len(xs))), set(random.sample('ab', 2)) == {'a', 'b'}", ()),
    ("random.shuffle(xs); sum(xs), len(xs), sorted(xs), 3 in xs", ()),
    ("random.shuffle(xs); xs[0]", (*RANDOM, "the value of xs (random)")),
    ("p = np.random.permutation(5); sorted(p), p.sum()", ()),
    ("p = np.random.permutation(5); p[:3].sum() > 3", (*NUMPY, "the value of p (numpy.random)")),
    ("c = random.choice(['a', 'bcd']); len(c)", RANDOM),
    ("[len(word) for word in random.sample(['a', 'bcd', 'ef'], 2)]", RANDOM),
    ("for i in range(3):\n    y = random.random()\n    print(i)", ()),
    ("for i in range(random.randrange(1, 3)):\n    print(i)", RANDOM),
    ("if random.random() < 2:\n    print('a')", RANDOM),
    ("n = 0\nwhile random.random() < .5:\n    n += 1\nn", RANDOM),
    ("n = 0\nfor i in range(3):\n    print(n)\n    n += random.random() < .5", RANDOM),
    ("def f(x):\n    print(x)\n    return random.random() < x", ()),
    ("f(3); y = random.random()", ()),
    ("f(random.random())", RANDOM),
    ("y = f(.5); y", RANDOM),
    ("class A:\n    def go(self):\n        print(random.random())", ()),
    ("A().go(); print(1)", RANDOM),
    ("class B:\n    n = 0\n    def go(self):\n        self.n = random.random() < 2\nb = B()", ()),
    ("b.go(); b.n", RANDOM),
    ("def g(given):\n    given['a'] = random.random() < 2", ()),
    ("d = {}; g(d); d", RANDOM),
    ("n = 1\ndef h():\n    global n\n    n = random.random() < 2", ()),
    ("h(); n", RANDOM),
    ("g = (random.random() for _ in range(3)); n = 1", ()),
    ("next(g) < 2", RANDOM),
    ("class C:\n    def __len__(self):\n        return random.randint(1, 1)\nc = C()", ()),
    ("len(c)", RANDOM),
    ("import functools; r = functools.partial(random.choice, 'ab')", ()),
    ("r()", RANDOM),
    ("s = {'x', 'y'}; n = 1", ()),
    ("[c for c in s][0]", ("the order of a set",)),
    ("def k(m):\n    m = random.random()\n    return 3", ()),
    ("m = 1; k(m), m", ()),
    ("t = time.time(); x = np.random.rand(9).sum(); print(f'took {time.time() - t:.1f} s')", ()),
    ("t = time.time(); x = np.random.rand(9).sum(); print(t)", ("the clock",)),
    ("print(f'{np.random.rand():.1f}')", NUMPY),
    ("a, b = np.random.rand(3), 7; b", ()),
    ("a, b = 7, random.random(); b > .5", (*RANDOM, "the value of b (random)")),
    ("assert random.random() < 2; print(3)", RANDOM),
    ("d = {'a': 1}; d['a'] = random.random(); list(d.values())", (*RANDOM, "the value of d (random)")),
    ("np.random.choice(['a', 'b'], size=4).shape", ()),
]
TORCH_CELLS: list[tuple[str, tuple[str, ...]]] = [
    ("layer = nn.Linear(2, 2)\nnn.init.ones_(layer.weight); layer.weight", ()),
    ("layer.weight", ()),
    ("layer.bias > 0", ("the value of layer (torch)",)),
    ("layer = nn.Linear(2, 2)\nnn.init.ones_(layer.weight); layer.bias > 0", ("torch",)),
    ("net, other = nn.Linear(2, 1), nn.Linear(2, 1); n = 1", ("torch",)),
    ("net.load_state_dict({'weight': torch.tensor([[1., 2.]]), 'bias': torch.zeros(1)}); n = 1", ()),
    ("net(torch.tensor([3., 1.])).item()", ()),
    ("net.load_state_dict(other.state_dict()); n = 1", ()),
    ("net(torch.tensor([3., 1.])).item()", ("the value of other (torch)",)),
    ("x = torch.randn(5); torch.ones(3)", ()),
    ("torch.ones(3) + torch.bernoulli(torch.ones(3) / 2)", ("torch",)),
    ("x = torch.ones(3); x.uniform_(); x > .5", ("torch",)),
    ("net = nn.Sequential(nn.Linear(3, 2)); print(net); sum(p.numel() for p in net.parameters())", ()),
    ("net = nn.Linear(3, 2)\nfor name, p in net.named_parameters():\n    print(name, p.shape)", ()),
    ("net = nn.Linear(3, 2); net(torch.ones(1, 3)).shape", ()),
    ("net = nn.Linear(3, 2); net(torch.ones(1, 3)) > 0", ("torch", "the value of net (torch)")),
]


@pytest.fixture
def namespace() -> Any:
    """With generators that have no seed, and that are put back as they were."""
    kept = random.getstate(), numpy.random.get_state()
    random.setstate(random.Random(5).getstate())
    numpy.random.set_state(numpy.random.RandomState().get_state())
    yield {"random": random, "np": numpy, "__name__": "__main__"}
    random.setstate(kept[0])
    numpy.random.set_state(kept[1])


def wrong(cells: list[tuple[str, tuple[str, ...]]], namespace: dict[str, Any]) -> list[Any]:
    """The cells, run in their order, that are not taken for what they are."""
    draws, found = Draws(), []
    for source, expected in cells:
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        told = words(draws.end(namespace, source))
        if not {*expected} <= {*told} or bool(expected) != bool(told):
            found.append((source, told))
    return found


def test_what_draws_decide(namespace: dict[str, Any]) -> None:
    """Lengths, shapes, types, and what does not depend on the order of a permutation, are no chance; what
    is chosen, counted, compared or repeated by the draws is."""
    assert wrong(CELLS, namespace) == []


def test_what_draws_decide_of_tensors(namespace: dict[str, Any]) -> None:
    """As above; weights that are overwritten with one number are no chance."""
    torch: Any = pytest.importorskip("torch", reason="would have proved that weights are told from shapes")
    state = torch.get_rng_state()
    torch.seed()
    found = wrong(TORCH_CELLS, namespace | {"torch": torch, "nn": torch.nn})
    torch.set_rng_state(state)
    assert found == []
