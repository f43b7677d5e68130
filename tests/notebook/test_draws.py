"""Random cells are told from others by what they draw from, not by what they happen to give."""

import hashlib
import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from deskcheck.notebook.check.check import CellStatus, NotebookStatus, check_notebooks
from deskcheck.notebook.kernel.chance.draws import Draws
from deskcheck.notebook.kernel.record import record_notebooks
from deskcheck.notebook.settings import CheckSettings
from deskcheck.notebook.trajectory.file import read_trajectory
from tests.notebook.test_check import cell, printed, save, shown
from tests.notebook.words import words

numpy = pytest.importorskip("numpy", reason="would have proved that numpy's generators are seen")


@pytest.fixture
def states() -> Any:
    """The generators of all as they were."""
    kept = random.getstate(), numpy.random.get_state()
    yield
    random.setstate(kept[0])
    numpy.random.set_state(kept[1])


CELLS: list[tuple[str, tuple[str, ...]]] = [
    ("x = 1", ()),
    ("random.choice('ab')", ("random",)),
    ("[random.random() for _ in range(5000)]", ("random",)),
    ("np.random.rand()", ("numpy.random",)),
    ("np.random.shuffle(list(range(10**5)))", ("numpy.random",)),
    ("random.shuffle([1, 2, 3]); np.random.normal(size=3)", ("random", "numpy.random")),
    ("rng = np.random.default_rng()", ()),
    ("rng.integers(2)", ("rng",)),
    ("rng.bit_generator.state['state']['state'] % 2", ("rng",)),
    ("other = np.random.default_rng(); other.random()", ("other",)),
    ("seeded = np.random.default_rng(3); seeded.random()", ()),
    ("seeded.bit_generator.state['state']['state'] % 2", ()),
    ("long = np.random.default_rng(122807528840384100672342137672332424406); long.random()", ()),
    ("long.random()", ()),
    ("own = random.Random(2); own.random(); np.random.RandomState(3).rand()", ()),
    ("np.random.seed(3); np.random.rand()", ()),
    ("np.random.rand()", ()),
    ("random.random()", ("random",)),
    ("random.seed(1)", ()),
    ("random.random()", ()),
    ("random.seed()", ("random.seed",)),
    ("random.random()", ("random",)),
    ("np.random.seed(None); np.random.rand()", ("numpy.random.seed",)),
    ("np.random.rand()", ("numpy.random",)),
    ("import time; random.seed(time.time())", ("random.seed",)),
    ("import datetime; random.seed(datetime.datetime.now().timestamp())", ("random.seed",)),
    ("now = int(time.time()); random.seed(now); random.random()", ("random.seed",)),
    ("random.random()", ("random",)),
    ("np.random.seed(now)", ("numpy.random.seed",)),
    ("now = 3; np.random.seed(now); random.seed(now)", ()),
    ("random.seed(a=3); np.random.seed(seed=3)", ()),
    ("np.random.rand(); random.random()", ()),
    ("import secrets, uuid, os, time; from uuid import uuid4 as fresh", ()),
    ("secrets.token_hex()", ("secrets.token_hex",)),
    ("secrets.compare_digest('a', 'a'); uuid.UUID(int=3); os.getcwd()", ()),
    ("str(fresh())", ("uuid.uuid4",)),
    ("[os.urandom(1) for _ in range(3)]", ("os.urandom",)),
    ("def draw():\n    return uuid.uuid4()", ()),
    ("def twice():\n    return draw(), draw()", ()),
    ("twice()", ("uuid.uuid4",)),
    ("callable(twice) and 1", ()),
    ("[twice()] and 1", ("uuid.uuid4",)),
    ("class Dice:\n    def __init__(self):\n        self.rng = np.random.default_rng()", ()),
    ("dice = Dice()", ("numpy.random.default_rng",)),
    ("dice.rng.integers(2)", ("dice.rng",)),
    ("system = random.SystemRandom()", ()),
    ("system.random()", ("random.SystemRandom",)),
    ("own = random.Random()", ()),
    ("x = 1", ()),
    ("own.random()", ("own",)),
    ("own.seed(3); own.random()", ()),
    ("own.random()", ()),
    ("own = random.Random(); own.random()", ("own",)),
    ("own = random.Random(4); own.random()", ()),
    ("old = np.random.RandomState()", ()),
    ("old.normal(); old.normal()", ("old",)),
    ("old = np.random.RandomState(1); old.normal()", ()),
    ("random.Random().random()", ("random.Random",)),
    ("np.random.RandomState().rand()", ("numpy.random.RandomState",)),
    ("np.random.Generator(np.random.PCG64()).random()", ("numpy.random.PCG64",)),
    ("np.random.Generator(np.random.PCG64(3)).random()", ()),
    ("(lambda seed: random.Random(seed))(3).random()", ()),
    ("def number():\n    import os\n    return os.getpid()", ()),
    ("number() % 2", ("the number of a process",)),
    ("def sim(rng=np.random.default_rng()):\n    return rng.integers(2)", ()),
    ("sim()", ("sim",)),
    ("rngs = [np.random.default_rng(), np.random.default_rng(3)]", ("numpy.random.default_rng",)),
    ("rngs[0].integers(2)", ("rngs[0]",)),
    ("back = np.random.default_rng()\nback.bit_generator.state = seeded.bit_generator.state", ()),
    ("back.integers(9)", ()),
    (
        "back.bit_generator.state = np.random.default_rng().bit_generator.state; back.integers(9)",
        ("numpy.random.default_rng", "back"),
    ),
    ("back.integers(9)", ("back",)),
    ("class np: seed = len\nnp.seed([])", ()),
]


@pytest.mark.usefixtures("states")
def test_draws_are_seen() -> None:
    """Of each cell, the generators without a seed that it drew from. To look draws nothing."""
    numpy.random.set_state(numpy.random.RandomState().get_state())
    random.setstate(random.Random(5).getstate())
    namespace: dict[str, Any] = {"random": random, "np": numpy, "__name__": "__main__"}
    draws = Draws()
    for source, expected in CELLS:
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        assert words(draws.end(namespace, source)) == expected, source
    states = random.getstate(), repr(numpy.random.get_state())
    draws.begin(namespace, "")
    draws.end(namespace, "")
    assert (random.getstate(), repr(numpy.random.get_state())) == states


@pytest.mark.usefixtures("states")
def test_a_cell_that_draws_nothing_changes_no_generator() -> None:
    """Each cell begins elsewhere, and yet the state after a cell differs only where it drew. What it draws is
    another in each cell, and the same in the same run."""
    drawn = []
    for _ in range(2):
        namespace: dict[str, Any] = {"random": random, "np": numpy, "__name__": "__main__"}
        draws, places = Draws(), []
        for source in (
            "x = 1",
            "y = 2",
            "a = random.random()",
            "y = 3",
            "b = random.random()",
            "np.random.seed(1)",
        ):
            draws.begin(namespace, source)
            exec(source, namespace)  # cells of our own
            draws.end(namespace, source)
            places.append((random.getstate(), repr(numpy.random.get_state())))
        same = [one == other for one, other in itertools.pairwise(places)]
        assert same == [True, False, True, False, False]
        assert [one[1] == other[1] for one, other in itertools.pairwise(places)] == [True] * 4 + [False]
        drawn.append((namespace["a"], namespace["b"]))
    assert drawn[0] == drawn[1]
    assert drawn[0][0] != drawn[0][1]


BY_CHANCE: list[tuple[str, tuple[str, ...]]] = [
    ("import os, secrets, uuid, time", ()),
    ("np.random.seed(int.from_bytes(os.urandom(4), 'little'))", ("os.urandom", "numpy.random.seed")),
    ("x = np.random.rand() < .5", ("numpy.random",)),
    ("x", ("the value of x (numpy.random)",)),
    ("np.random.seed(4)", ()),
    ("np.random.rand()", ()),
    ("random.seed(secrets.randbits(32))", ("secrets.randbits", "random.seed")),
    ("random.random()", ("random",)),
    ("random.seed(uuid.uuid4().int)", ("uuid.uuid4", "random.seed")),
    ("random.random()", ("random",)),
    ("random.seed(3)", ()),
    (
        "random.seed(os.urandom(8)); np.random.seed(random.randrange(2**32)); random.seed(4)",
        ("os.urandom", "random.seed", "numpy.random.seed"),
    ),
    ("np.random.rand()", ("numpy.random",)),
    ("np.random.seed(random.randrange(2**32)); np.random.rand()", ()),
    ("rng = np.random.default_rng(np.random.SeedSequence().entropy)", ("numpy.random.SeedSequence",)),
    ("rng.integers(2)", ("rng",)),
    ("rng = np.random.default_rng(time.time_ns())", ()),
    ("rng.integers(2)", ("rng",)),
    ("old = np.random.RandomState(secrets.randbelow(2))", ("secrets.randbelow",)),
    ("old.rand() < .5", ("old",)),
    ("own = random.Random(4); own.seed(time.time_ns()); n = 1", ("own",)),
    ("own.random()", ("own",)),
    ("own.seed(4); np.random.seed(own.randrange(9)); own.random(), np.random.rand()", ()),
    ("rng = np.random.default_rng(3); np.random.seed(rng.integers(9)); np.random.rand()", ()),
    ("seed = int(time.time())", ()),
    ("np.random.seed(seed); np.random.seed(3)", ("numpy.random.seed",)),
    ("np.random.rand()", ()),
    ("np.random.seed(3); np.random.seed(seed)", ("numpy.random.seed",)),
    ("np.random.rand()", ("numpy.random",)),
    ("np.random.seed(len(str(seed))); np.random.rand()", ()),
    ("random.seed(hash('x')); n = 1", ("random.seed",)),
    ("random.seed(hash(3)); random.random()", ()),
    ("def set_seed(s):\n    random.seed(s)\n    np.random.seed(s)", ()),
    ("set_seed(int(time.time())); n = 1", ("random.seed", "numpy.random.seed")),
    ("random.random(), np.random.rand()", ("random", "numpy.random")),
    ("set_seed(4); random.random(), np.random.rand()", ()),
    ("cfg = {'seed': 3, 'id': uuid.uuid4()}", ("uuid.uuid4",)),
    ("random.seed(cfg['seed']); random.random()", ()),
    ("random.seed(cfg['id'].int); n = 1", ("random.seed",)),
    ("s = uuid.uuid4().int", ("uuid.uuid4",)),
    ("for s in (1, 2):\n    random.seed(s)\n    print(random.random())", ()),
    ("s = uuid.uuid4().int", ("uuid.uuid4",)),
    ("[random.Random(s).random() for s in range(2)]", ()),
    ("for s in (1, s):\n    random.seed(s)\nn = 1", ("random.seed",)),
    ("for s in (1, None):\n    random.seed(s)\nn = 1", ("random.seed",)),
]


@pytest.mark.usefixtures("states")
def test_chance_is_no_seed() -> None:
    """What is drawn after a seed that was chance itself is another in each run, until a seed is set again.
    Replays differ in their hash seed, so the hash of a text is no seed."""
    numpy.random.set_state(numpy.random.RandomState().get_state())
    random.setstate(random.Random(5).getstate())
    namespace: dict[str, Any] = {"random": random, "np": numpy, "__name__": "__main__"}
    draws = Draws()
    for source, expected in BY_CHANCE:
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        assert {*words(draws.end(namespace, source))} == {*expected}, source


@pytest.mark.usefixtures("states")
def test_torch_is_seen() -> None:
    """Its generator for all, until it is seeded; a generator of its own has a seed, until it is given none."""
    torch: Any = pytest.importorskip("torch", reason="would have proved that torch's draws are seen")
    cells = [
        ("y = torch.zeros(2)", ()),
        ("torch.rand(1)", ("torch",)),
        ("torch.nn.Linear(2, 2)", ()),
        ("x = torch.rand(1)", ("torch",)),
        ("(x > 0.5).item()", ("the value of x (torch)",)),
        ("x.shape, x.numel()", ()),
        ("torch.Generator().initial_seed(); torch.rand(1, generator=torch.Generator())", ()),
        ("torch.Generator().seed() % 2", ("torch.Generator.seed",)),
        ("torch.manual_seed(1); torch.rand(1)", ()),
        ("torch.rand(1)", ()),
        ("torch.seed()", ("torch.seed",)),
        ("torch.rand(1)", ("torch",)),
        ("torch.manual_seed(5)", ()),
        ("import time; torch.manual_seed(time.time_ns() % 9); n = 1", ("torch.manual_seed",)),
        ("torch.rand(1)", ("torch",)),
        ("g = torch.Generator(); g.manual_seed(time.time_ns()); n = 1", ("g",)),
        ("y = torch.rand(1, generator=g) < .5", ("g",)),
        ("y", ("the value of y (g)",)),
        ("g.manual_seed(3); torch.rand(1, generator=g)", ()),
    ]
    state = torch.get_rng_state()
    torch.seed()
    namespace: dict[str, Any] = {"torch": torch, "__name__": "__main__"}
    draws = Draws()
    for source, expected in cells:
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        assert words(draws.end(namespace, source)) == expected, source
    torch.set_rng_state(state)


TORCH_CELLS: list[tuple[str, tuple[str, ...]]] = [
    ("net = nn.Linear(1, 1)", ("torch",)),
    ("net", ()),
    ("print(net); net.weight.shape, net.eval()", ()),
    ("sum(p.numel() for p in net.parameters())", ()),
    ("for name, p in net.named_parameters():\n    print(name, p.shape)", ()),
    ("print('up' if net.weight.item() > 1 else 'down')", ("the value of net (torch)",)),
    ("net(torch.ones(1)) > 0", ("the value of net (torch)",)),
    ("net.forward(torch.ones(1)) > 0", ("the value of net (torch)",)),
    (
        "loss = nn.MSELoss()(net(torch.ones(1)), torch.ones(1)); loss.item() < 1",
        ("the value of net (torch)",),
    ),
    (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(1, 1)",
        (),
    ),
    ("own = Net(); print(own)", ()),
    ("own.a.bias.item() > 0", ("the value of own (torch)",)),
    ("relu = nn.ReLU(); layer = nn.Linear(1, 1)", ("torch",)),
    ("relu(torch.tensor([-1., 2]))", ()),
    ("X = torch.rand(100, 3); print(X.shape)", ()),
    ("X = torch.rand(100, 3); print(f'{X.shape} of {X.dtype}'); X.ndim, X.shape[0]", ()),
    ("X = torch.rand(100, 3); print(X.shape, X[0, 0] > .5)", ("torch", "the value of X (torch)")),
    ("M = torch.rand(4, 3); M.shape, M.T.shape", ()),
    ("nn.Dropout(.5)(torch.ones(5, 2)).shape", ()),
    ("Y = X[torch.rand(100) > .5]; Y.shape", ("torch",)),
    ("X[torch.rand(100) > .5].shape", ("torch",)),
    ("def show():\n    print(torch.rand(1) > .5)", ()),
    ("show(); X.shape", ("torch",)),
    ("b = torch.distributions.Bernoulli(.5).sample()", ("torch",)),
    ("b", ("the value of b (torch)",)),
    ("torch.initial_seed() % 2", ("torch.initial_seed",)),
    ("torch.manual_seed(3); torch.initial_seed()", ()),
    ("net = nn.Linear(1, 1); net.weight > 0", ()),
    ("net(torch.ones(1)) > 0", ()),
]


@pytest.mark.usefixtures("states")
def test_what_models_compute() -> None:
    """A model of torch whose weights were drawn: what it computes is chance, its own text and shapes are not,
    nor are the shapes of what the cell draws."""
    torch: Any = pytest.importorskip("torch", reason="would have proved that torch's draws are seen")
    state = torch.get_rng_state()
    torch.seed()
    namespace: dict[str, Any] = {"torch": torch, "nn": torch.nn, "__name__": "__main__"}
    draws = Draws()
    wrong = []
    for source, expected in TORCH_CELLS:
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        if (found := words(draws.end(namespace, source))) != expected:
            wrong.append((source, found))
    torch.set_rng_state(state)
    assert wrong == []


FOLLOWED: list[tuple[str, tuple[str, ...]]] = [
    (
        "rolls = [random.randint(1, 6) for _ in range(10)]; a = random.random(); b = random.random()",
        ("random",),
    ),
    ("max(rolls)", ("the value of rolls (random)",)),
    ("any(roll > 5 for roll in rolls)", ("the value of rolls (random)",)),
    ("[roll > 5 for roll in rolls]", ("the value of rolls (random)",)),
    ("sorted(rolls) == sorted(rolls), len(rolls)", ()),
    ("a > b", ("the value of a (random)",)),
    ("hashlib.sha256(bytes(rolls)).hexdigest()[0] < '8'", ("the value of rolls (random)",)),
    ("a == b, rolls != a", ("the value of a (random)",)),
    ("a == a, a + b == b + a, a >= a", ()),
    ("order = {'id': random.random(), 'total': 3}", ("random",)),
    ("order['total']", ()),
    ("order['id'] > .5", ("the value of order (random)",)),
    ("order.get('id') > .5, order.keys()", ("the value of order (random)",)),
    ("text = str(order.get('id')); text[3] > '4'", ("the value of order (random)",)),
    ("text[3] > '4'", ("the value of order (random)",)),
    ("order = {'id': 3}", ()),
    ("order['luck'] = random.random()", ("random",)),
    ("order['id'], order['id'] + 1", ()),
    ("order['luck'] > .5", ("the value of order (random)",)),
    ("order['luck'] = 1", ()),
    ("order", ()),
    ("grid = [0, 0, 0]; grid[random.randrange(3)] = 1", ("random",)),
    ("grid[0]", ("the value of grid (random)",)),
    ("deck = [1, 2]; random.shuffle(deck)", ("random",)),
    ("deck[0]", ("the value of deck (random)",)),
    ("len(deck), sorted(deck)", ()),
    ("kept = []\nfor _ in range(3):\n    kept.append(random.random() > .5)", ("random",)),
    ("any(kept)", ("the value of kept (random)",)),
    ("kept = []\nfor x in range(3):\n    kept.append(x)\nkept", ()),
    ("order['id']", ()),
]


@pytest.mark.usefixtures("states")
def test_what_was_drawn_is_followed() -> None:
    """Into builtins, comprehensions and dicts; not into what is the same for any numbers."""
    random.setstate(random.Random(5).getstate())
    namespace: dict[str, Any] = {"random": random, "hashlib": hashlib, "__name__": "__main__"}
    draws = Draws()
    for source, expected in FOLLOWED:
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        assert words(draws.end(namespace, source)) == expected, source


@pytest.mark.usefixtures("states")
def test_what_estimators_learn() -> None:
    """An estimator of scikit-learn that drew when it was fitted: what it predicts and has learned is chance."""
    sklearn: Any = pytest.importorskip("sklearn.ensemble", reason="would have proved that fits are followed")
    numpy.random.set_state(numpy.random.RandomState().get_state())
    linear: Any = pytest.importorskip("sklearn.linear_model")
    namespace: dict[str, Any] = {"sk": sklearn, "lm": linear, "np": numpy, "__name__": "__main__"}
    namespace |= {"x": numpy.arange(12.0).reshape(6, 2), "y": [0, 0, 0, 1, 1, 1]}
    draws = Draws()
    learned = ("the value of bag (numpy.random)",)
    for source, expected in (
        ("bag = sk.BaggingClassifier(n_estimators=2).fit(x, y); n = 1", ("numpy.random",)),
        ("bag.score(x, y) > .9", learned),
        ("print('a' if bag.predict(x)[0] else 'b')", learned),
        ("bag.estimators_samples_[0][0] > 2", learned),
        ("bag.classes_, bag.n_features_in_", ()),
        ("bag", ()),
        ("bag = sk.BaggingClassifier(n_estimators=2)", ()),
        ("bag.fit(x, y); n = 1", ("numpy.random",)),
        ("bag.fit(x, y)", ()),
        ("sk.BaggingClassifier(n_estimators=2).fit(x, y)", ()),
        ("sk.BaggingClassifier(n_estimators=2).fit(x, y).score(x, y)", ("numpy.random",)),
        ("liblinear = lm.LogisticRegression(solver='liblinear').fit(x, y)", ("perhaps numpy.random",)),
        ("lm.LogisticRegression(solver='liblinear').fit(x, y)", ()),
        ("liblinear.predict(x)", ()),
        ("bag.score(x, y) > .9", learned),
        (
            "np.random.rand(); bag = sk.BaggingClassifier(n_estimators=2, random_state=0).fit(x, y)",
            ("numpy.random",),
        ),
        ("bag.score(x, y) > .9", ()),
    ):
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        assert words(draws.end(namespace, source)) == expected, source


@pytest.mark.usefixtures("states")
def test_estimators_that_have_nothing_to_choose() -> None:
    """A tree with one feature, and what is not shuffled: whether draws decide, the runs tell. With several
    features, or where parts are held out, it is chance."""
    tree: Any = pytest.importorskip("sklearn.tree", reason="would have proved that parameters are looked at")
    linear: Any = pytest.importorskip("sklearn.linear_model")
    numpy.random.set_state(numpy.random.RandomState().get_state())
    namespace: dict[str, Any] = {"tree": tree, "SGDClassifier": linear.SGDClassifier, "__name__": "__main__"}
    namespace |= {"x": numpy.arange(24.0).reshape(12, 2), "y": [0] * 6 + [1] * 6}
    draws, perhaps, chance = Draws(), ("perhaps numpy.random",), ("numpy.random",)
    sgd, regressor = "SGDClassifier(shuffle=False, max_iter=5, tol=None", "tree.DecisionTreeRegressor"
    for source, expected in (
        (f"{sgd}).fit(x, y).score(x, y)", perhaps),
        (f"m = {sgd})\nm.fit(x, y)\nm.score(x, y)", perhaps),
        ("m.coef_", ()),
        (f"{sgd}, early_stopping=True).fit(x, y).score(x, y)", chance),
        ("SGDClassifier(max_iter=5, tol=None).fit(x, y).score(x, y)", chance),
        (f"{regressor}().fit([[0], [1], [2]], [0, 0, 5]).predict([[1.6]])", perhaps),
        (f"{regressor}(splitter='random').fit([[0], [1], [2]], [0, 0, 5]).predict([[1.6]])", chance),
        ("t = tree.DecisionTreeClassifier()\nt.fit(x[:, :1], y); t.predict([[7]])", perhaps),
        ("t.fit(x, y); t.feature_importances_", (*chance, "the value of t (numpy.random)")),
    ):
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        assert words(draws.end(namespace, source)) == expected, source


@pytest.mark.usefixtures("states")
def test_draws_that_decide_nothing() -> None:
    """A support vector machine draws a seed and does not use it; other draws of the cell count."""
    svm: Any = pytest.importorskip("sklearn.svm", reason="would have proved that idle draws do not count")
    numpy.random.set_state(numpy.random.RandomState().get_state())
    x = numpy.arange(12.0).reshape(6, 2)
    namespace: dict[str, Any] = {
        "svm": svm,
        "np": numpy,
        "x": x,
        "y": [0, 0, 0, 1, 1, 1],
        "__name__": "__main__",
    }
    draws = Draws()
    for source, expected in (
        ("svm.SVC().fit(x, y).predict(x)", ()),
        ("[svm.SVC(C=c).fit(x, y).predict(x) for c in (1, 2)]; svm.SVR().fit(x, y)", ()),
        ("np.random.rand(); svm.SVC().fit(x, y).predict(x)", ("numpy.random",)),
        ("svm.SVC().fit(x, y); np.random.rand()", ("numpy.random",)),
        ("svm.SVC().fit(x, y); np.random.rand(); svm.SVC().fit(x, y).predict(x)", ("numpy.random",)),
        ("svm.LinearSVC().fit(x, y).coef_", ("perhaps numpy.random",)),
        ("import inspect; 'libsvm' in inspect.getsource(svm.SVC.fit)", ()),
    ):
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        assert words(draws.end(namespace, source)) == expected, source


def test_faker_is_seen() -> None:
    """Its generator for all, until it is seeded."""
    faker: Any = pytest.importorskip("faker", reason="would have proved that Faker's draws are seen")
    namespace: dict[str, Any] = {"Faker": faker.Faker, "fake": faker.Faker(), "__name__": "__main__"}
    draws = Draws()
    for source, expected in (
        ("fake.boolean()", ("faker",)),
        ("name = fake.name()", ("faker",)),
        ("name < 'M'", ("the value of name (faker)",)),
        ("other = Faker(); other.seed_instance(3); other.name()", ()),
        ("Faker.seed(3); fake.boolean()", ()),
        ("fake.boolean()", ()),
    ):
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        assert words(draws.end(namespace, source)) == expected, source


@pytest.mark.usefixtures("states")
def test_numba_is_seen() -> None:
    """Compiled functions have generators of their own, until one of them seeds them."""
    pytest.importorskip("numba", reason="would have proved that draws of compiled functions are seen")
    namespace: dict[str, Any] = {"random": random, "np": numpy, "__name__": "__main__"}
    draws = Draws()
    for source, expected in (
        ("import numba", ()),
        ("@numba.njit\ndef f():\n    return np.random.rand() < .5", ()),
        ("f()", ("numba.numpy.random",)),
        ("c = f()", ("numba.numpy.random",)),
        ("@numba.njit\ndef g():\n    return random.random() < .5\nc = g()", ("numba.random",)),
        ("@numba.njit\ndef h(s):\n    np.random.seed(s)\n    random.seed(s)", ()),
        ("h(3)", ()),
        ("f(), g()", ()),
    ):
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        assert words(draws.end(namespace, source)) == expected, source


class TestRuns:
    @pytest.fixture(autouse=True)
    def kernels(self) -> None:
        pytest.importorskip("ipykernel", reason="would have proved that random cells of notebooks are told")

    def test_luck_gives_no_verdict(self, tmp_path: Path) -> None:
        """Six cells of two outcomes: none is the same or different; cells beside them are, whose generators
        were seeded. The notebook is not different for a random cell."""
        coin = cell("random.choice('ab')", shown("'a'"))
        cells = (
            cell("import random, numpy as np", count=None),
            *[coin] * 6,
            cell("print(1)", printed("1\n")),
            cell("np.random.seed(0); np.random.rand() < 1", shown("True")),
            cell("random.seed(2); random.choice('ab')", shown("'a'")),
        )
        path = save(tmp_path / "a.ipynb", *cells)
        (notebook,) = check_notebooks([path]).notebooks
        statuses = [each.status for each in notebook.cells]
        assert statuses[1:7] == [CellStatus.NOT_REPEATABLE] * 6
        assert statuses[7:] == [CellStatus.SAME] * 3
        assert notebook.status is NotebookStatus.NOT_REPEATABLE
        assert all(each.unstable for each in notebook.cells[1:7])
        (once,) = check_notebooks([path], CheckSettings(runs=1)).notebooks
        assert [each.status for each in once.cells] == statuses

    @pytest.mark.slow
    def test_what_follows_from_chance(self, tmp_path: Path) -> None:
        """What one drawn bit decides in a later cell is not taken for the same or different, whether the source
        tells or only the runs do. What does not depend on it is the same."""
        follows = (
            cell("u < 0.5", shown("True")),
            cell("print('a' if c else 'b')", printed("a\n")),
            cell("twice(c)", shown("0")),
            cell("twice(u < 0.5)", shown("2")),
            cell("hash('a') % 2 == 0", shown("True")),
            cell("time.time_ns() % 2", shown("0")),
        )
        fixed = (
            cell("z = uuid.uuid4(); print('made')", printed("made\n")),
            cell("len([u, c])", shown("2")),
            cell("time.time() > 0", shown("True")),
            cell("random.seed(1); c = random.choice([0, 1]); c", shown("0")),
            cell("c", shown("0")),
            cell("g = np.random.default_rng()"),
            cell(
                "%time g.random(9).shape",
                printed("CPU times: user 1 s, sys: 1 s, total: 2 s\nWall time: 2 s\n"),
                shown("(9,)"),
            ),
            cell(
                "%time k = g.random(9)",
                printed("CPU times: user 1 s, sys: 1 s, total: 2 s\nWall time: 2 s\n"),
            ),
        )
        draw = cell("u = random.random(); c = random.choice([0, 1])\ndef twice(v):\n    return v * 2")
        imports = cell("import random, time, uuid, numpy as np")
        path = save(tmp_path / "a.ipynb", imports, draw, *follows, *fixed)
        (notebook,) = check_notebooks([path]).notebooks
        statuses = [each.status for each in notebook.cells[2:]]
        assert statuses[:11] == [CellStatus.NOT_REPEATABLE] * 6 + [CellStatus.SAME] * 5
        assert statuses[12:] == [CellStatus.NORMALISED] * 2
        assert notebook.runs <= 6

    @pytest.mark.slow
    def test_what_variables_keep(self, tmp_path: Path) -> None:
        """A variable that took what was drawn in a way that is not followed by name: who reads it and shows one
        of few results is not taken for the same or different. What does not depend on it is the same."""
        follows = (
            cell("perm[0]", shown("1")),
            cell("again[0] > 1", shown("True")),
            cell("first()", shown("1")),
            cell("y", shown("0")),
        )
        fixed = (
            cell("len(deck), sorted(deck)", shown("(3, [1, 2, 3])")),
            cell("print(type(again))", printed("<class 'list'>\n")),
            cell("fresh[0]", shown("7")),
        )
        cells = (
            cell("import functools, random\nperm, deck = [1, 2, 3], [3, 1, 2]; again = perm; fresh = [7]"),
            cell("first = lambda: perm[0]\nmix = functools.partial(random.shuffle)"),
            cell("mix(perm); random.shuffle(deck)"),
            cell("try:\n    y = int(perm[0] > 1)\nexcept ValueError:\n    y = 0"),
        )
        path = save(tmp_path / "a.ipynb", *cells, *follows, *fixed)
        (notebook,) = check_notebooks([path]).notebooks
        statuses = [each.status for each in notebook.cells[4:]]
        assert statuses == [CellStatus.NOT_REPEATABLE] * 4 + [CellStatus.SAME] * 3
        (once,) = check_notebooks([path], CheckSettings(runs=1)).notebooks
        assert [each.status for each in once.cells[4:]] == statuses
        why = once.cells[4].unstable
        assert why == "reads perm (random), for which no seed was set, and may depend on it"

    def test_imports_are_no_draws(self, tmp_path: Path) -> None:
        """What a library draws when it is imported is not the cell's, before a seed and after; what the cell
        draws itself is, before the import and after it. A failed import shows none of our frames."""
        tmp_path = tmp_path / "books"
        tmp_path.mkdir()  # where tests run as root, `tmp_path` is root's alone
        (tmp_path / "drawing.py").write_text("import random\nx = random.random()\n")
        (tmp_path / "outer.py").write_text("import random\nrandom.random()\nimport inner\n")
        (tmp_path / "inner.py").write_text("import random, numpy\nrandom.random(); numpy.random.rand()\n")
        one = printed("1\n")
        cells = (
            cell("import random, drawing; print(1 * 1)", one),
            cell("import outer; print(1 * 1)", one),
            cell("import drawing; print(1 * 1)", one),
            cell("random.random(); import this_is_not_there"),
            cell(
                "import importlib, sys; del sys.modules['drawing']; r = random.random(); import drawing; print(1 * (r < 2))",
                one,
            ),
            cell("importlib.reload(drawing); print(1 * (drawing.x < 2))", one),
            cell("del sys.modules['drawing']; import drawing; r = random.random(); print(1 * (r < 2))", one),
            cell(
                "del sys.modules['inner']; import inner, numpy; r = numpy.random.rand(); print(1 * (r < 2))",
                one,
            ),
        )
        path = save(tmp_path / "a.ipynb", *cells)
        (notebook,) = check_notebooks([path], CheckSettings(runs=1), out=tmp_path / "out").notebooks
        same, random_ = CellStatus.SAME, CellStatus.NOT_REPEATABLE
        assert [each.status for each in notebook.cells] == [
            *(same, same, same, CellStatus.FAILED, random_, random_, random_, random_)
        ]
        (run,) = (tmp_path / "out").glob("*.parquet")
        shown_ = [*read_trajectory(run).executions][3].outputs[-1].text or ""
        assert "ModuleNotFoundError" in shown_
        assert "_find_and_load" not in shown_
        assert "importlib" not in shown_

    def test_what_two_runs_forgive_is_no_luck(self, tmp_path: Path) -> None:
        """Runs that differ in an address alone are the same: a cell that gives another class is different."""
        cells = (
            cell("object()", shown("<list at 0x7f00000001>")),
            cell("object()", shown("<object at 0x7f00000001>")),
        )
        path = save(tmp_path / "a.ipynb", *cells)
        (notebook,) = check_notebooks([path]).notebooks
        assert [each.status.value for each in notebook.cells] == ["different", "normalised"]

    def test_recordings_do_not_take_luck_for_repetition(self, tmp_path: Path) -> None:
        """An execution that drew without a seed does not repeat, whatever two runs gave; the file says what
        it drew from. One that shows nothing repeats."""
        draw = "import random; random.random() < 2"
        save(tmp_path / "a.ipynb", cell(draw), cell("y = random.random()"), cell("1"))
        record_notebooks([str(tmp_path / "a.ipynb")], tmp_path / "out")
        found = [*read_trajectory(tmp_path / "out" / "a.trajectory.parquet").executions]
        assert [each.repeats for each in found] == [False, True, True]
        assert [words(each.drew) for each in found] == [("random",), ("random",), ()]
