"""A function or class that makes a generator without a seed where it is given none, and is given one with a
seed wherever the cell names it, draws nothing by chance."""

import pytest

from tests.notebook.test_reach import told

CLASS = """class W:
    def __init__(self, start=0, rng=None):
        self.n = start
        {}
    def go(self): return self.rng.random()"""
OWN = CLASS.format("self.rng = rng or np.random.default_rng()")
SEEDED: list[list[str]] = [
    [OWN, "W(rng=np.random.default_rng(7)).go()"],
    [OWN, "W(1, np.random.default_rng(7)).go()"],
    [OWN, "g = np.random.default_rng(7)", "W(rng=g).go()"],
    [
        CLASS.format("self.rng = np.random.default_rng() if rng is None else rng"),
        "W(rng=np.random.default_rng(7)).go()",
    ],
    [
        CLASS.format("self.rng = rng if rng is not None else np.random.default_rng()"),
        "W(rng=np.random.default_rng(7)).go()",
    ],
    [
        CLASS.format("if rng is None:\n            rng = np.random.default_rng()\n        self.rng = rng"),
        "W(rng=np.random.default_rng(7)).go()",
    ],
    ["def f(rng=None):\n    rng = rng or random.Random()\n    return rng.random()", "f(random.Random(3))"],
    [OWN, "w = W()", "x = w.go()", "W(rng=np.random.default_rng(7)).go()"],
]
CHANCE: list[list[str]] = [
    [OWN, "W().go()"],
    [OWN, "W(rng=None).go()"],
    [OWN, "W(rng=np.random.default_rng()).go()"],
    [OWN, "W(rng=np.random.default_rng(7)).go(), W().go()"],
    [OWN, "g = None", "W(rng=g).go()"],
    [OWN, "g = np.random.default_rng()", "W(rng=g).go()"],
    [OWN, "def make(): return W()\nmake().go(), W(rng=np.random.default_rng(7)).go()"],
    [OWN, "list(map(W, [1]))[0].go(), W(rng=np.random.default_rng(7)).go()"],
    [OWN, "class V(W): pass\nV().go(), W(rng=np.random.default_rng(7)).go()"],
    [OWN, "class V(W): pass", "V().go(), W(rng=np.random.default_rng(7)).go()"],
    [
        CLASS.format("self.rng = np.random.default_rng() if rng is not None else rng"),
        "W(rng=np.random.default_rng(7)).go()",
    ],
    [CLASS.format("self.rng = np.random.default_rng()"), "W(rng=np.random.default_rng(7)).go()"],
    [
        CLASS.format("rng = None\n        self.rng = rng or np.random.default_rng()"),
        "W(rng=np.random.default_rng(7)).go()",
    ],
    [
        CLASS.format("if start:\n            rng = None\n        self.rng = rng or np.random.default_rng()"),
        "W(1, rng=np.random.default_rng(7)).go()",
    ],
    [CLASS.format("self.rng = start or np.random.default_rng()"), "W(rng=np.random.default_rng(7)).go()"],
    [OWN, "k = {'rng': None}", "W(**k).go()"],
    [OWN, "w = W(rng=np.random.default_rng(7)); w.__init__(); w.go()"],
    [
        CLASS.format("self.rng = rng or np.random.default_rng()\n    def other(self): return type(self)()"),
        "W(rng=np.random.default_rng(7)).other().go()",
    ],
    [
        CLASS.format(
            "self.rng = rng or np.random.default_rng()\n    @classmethod\n    def new(cls): return cls()"
        ),
        "W(rng=np.random.default_rng(7)).new().go()",
    ],
]


@pytest.mark.parametrize("cells", SEEDED, ids=str)
def test_a_generator_that_is_given_is_used(cells: list[str]) -> None:
    assert not told(cells)[-1]


@pytest.mark.parametrize("cells", CHANCE, ids=str)
def test_a_generator_that_is_made_without_a_seed_is_chance(cells: list[str]) -> None:
    assert told(cells)[-1]
