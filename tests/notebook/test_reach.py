"""What was drawn is followed from cell to cell, through whatever a notebook does with it. A cell that reads it
and shows something is chance, unless it is proved that what it shows does not depend on it."""

import functools
import random
from typing import Any

import pytest

from deskcheck.notebook.kernel.chance.draws import Draws
from deskcheck.notebook.kernel.chance.reach import leads_to
from tests.notebook.words import words

numpy: Any = pytest.importorskip("numpy", reason="would have proved that arrays are followed")

LISTS = "import random, functools, collections\nperm, other = [1, 2, 3], ['a', 'bcd']\nsame = perm; box = {'in': perm}"
CHANCE: list[list[str]] = [
    ["mix = functools.partial(random.shuffle)", "mix(perm)", "perm[0]"],
    ["mix = functools.partial(random.shuffle)", "mix(perm); n = 1", "print(len(perm), perm[0])"],
    ["random.shuffle(perm)", "same[0]"],
    ["random.shuffle(perm); collections.Counter(perm)"],
    ["random.shuffle(perm)", "box['in'][0]"],
    ["first = lambda: perm[0]", "random.shuffle(perm)", "first()"],
    ["def first():\n    return perm[0]", "random.shuffle(perm)", "first() > 1"],
    ["def first(at=0):\n    return perm[at]", "random.shuffle(perm)", "list(map(first, range(2)))"],
    ["draw = functools.partial(random.choice, [1, 2])", "x = draw()", "y = [x]", "z = {'a': y}", "z"],
    ["x = random.choice([1, 2])", "def put():\n    global y\n    y = x", "put()", "y"],
    ["x = random.choice([1, 2])", "try:\n    y = x + 1\nexcept ValueError:\n    y = 0", "y"],
    ["x = random.choice([1, 2])", "match x:\n    case 1: y = 'a'\n    case _: y = 'b'", "y"],
    ["x = random.choice([1, 2])", "if x > 1:\n    y = 1\nelse:\n    y = 2", "y"],
    ["x = random.choice([1, 2])", "y = 0\nwhile y < x:\n    y += 1", "y"],
    ["x = random.choice([1, 2])", "y = collections.Counter([x])", "y.most_common(1)"],
    ["x = random.choice([1, 2])", "import sys; sys.stdout.write(str(x))"],
    ["x = random.choice([1, 2])", "class P:\n    n = x", "P.n"],
    ["x = random.choice([1, 2])", "class P:\n    def __init__(self, n): self.n = n\np = P(x)", "p.n"],
    ["class P:\n    def go(self): self.n = random.randint(1, 2)\np = P()", "p.go()", "p.n"],
    ["x = random.choice([1, 2])", "print('a', end=str(x))"],
    ["x = random.choice([1, 2])", "def f(n=x):\n    return n", "f()"],
    ["random.shuffle(other)", "len(other[0])"],
    ["random.shuffle(other)", "print(sorted(other, key=bool))"],
    ["random.shuffle(perm)", "hit = perm == [1, 2, 3]", "sum([hit])"],
    ["x = [.1, .2, .3]; random.shuffle(x)", "sum(x)"],
    ["x = np.arange(9.).reshape(3, 3); np.random.shuffle(x)", "x.sum(axis=1)"],
    ["x = np.random.permutation(3)", "(x * np.array([1, 2, 3])).sum()"],
    ["x = np.random.rand(9); x = x[x > .5]", "x.shape"],
    ["def f(_):\n    return random.choice([1, 2])", "print(list(map(f, range(2))))"],
    ["x = np.arange(3.); np.copyto(x, np.random.rand(3)); n = 1", "x[0] > .5"],
    ["import heapq; h = [2, 3]\nheapq.heappush(h, random.choice([1, 4]))", "h"],
]
GAME = """class Words:
    def __init__(self, texts): self.texts = set(texts); self.n = 3
    def plays(self, text): return {text + c for c in "ab"} & self.texts
def best(words, text):
    return next(iter(sorted(words.plays(text))), None) or random.choice(["a", "x"])
def play(words, *players):
    told = []
    for player in players:
        told.append(player(words, "a"))
    return told
def change(words): words.n = random.choice([1, 2])
def swap(given): given.append(random.choice([1, 2]))
words = Words(["a", "ab"])
"""
CHANCE += [
    [GAME, "change(words)", "words.n"],
    [GAME, "change(words); n = 1", "words.n"],
    [GAME, "swap(perm); n = 1", "perm"],
    [GAME, "list(map(swap, [perm])); n = 1", "perm"],
    ["random.shuffle(perm)", "def f():\n    perm = 3\n    return perm\nf()", "perm[0]"],
    ["def f(xs):\n    random.shuffle(xs)\n    return xs", "print(f([3, 1, 2]))"],
]
FIXED: list[list[str]] = [
    ["random.shuffle(perm)", "len(perm), sorted(perm), sum(perm), set(perm), 3 in perm, max(perm)"],
    ["random.shuffle(perm)", "same.sort()", "perm"],
    ["random.shuffle(perm); collections.Counter(perm) == collections.Counter([3, 2, 1])"],
    ["random.shuffle(perm)", "def f():\n    return len(perm)", "f()"],
    ["random.shuffle(perm)", "perm = [1, 2]", "perm[0]"],
    ["random.shuffle(perm)", "other[0], [n + 1 for n in [1, 2]]"],
    ["random.shuffle(perm)", "def add(perm):\n    return perm[0]", "add([4])"],
    ["mix = functools.partial(random.shuffle)", "mix(perm)", "type(perm), isinstance(perm, list)"],
    ["x = np.random.rand(5, 2)", "x.shape, x.dtype, len(x), type(x)", "print(f'{x.shape} {x.ndim}')"],
    ["x = np.random.rand(5, 2)", "y = x[:3] + 1", "y.shape"],
    ["x = np.random.permutation(5)", "x.sum(), x.mean(), x.max()"],
    ["x = [.5, .25, 4.]; random.shuffle(x)", "sum(x)"],
    ["x = random.choice([1, 2])", "try:\n    y = 1\nexcept ValueError:\n    y = 0\ny"],
    ["x = random.choice([1, 2])", "class P:\n    n = 3\n    def go(self): print('a')\nP().go()", "P.n"],
    ["r = random.Random(); x = r.random()", "r.seed(3); r.random()"],
    ["x = np.arange(3); np.histogram(np.random.rand(5), x); n = 1", "x[0]"],
]
FIXED += [
    [GAME, "play(words, best)", "words.n, len(words.texts), sorted(words.plays('a'))"],
    [GAME, "x = best(words, 'b')", "words.n, perm[0]"],
    [GAME, "def f():\n    def other(): yield random.random()\n    return [*other()]\nx = f()", "other[0]"],
]
FRAME = "import pandas as pd\ndf = pd.DataFrame({'g': list('abab'), 'v': range(4)})"
OF_FRAMES: list[tuple[list[str], bool]] = [
    (["df.sample(frac=.5).shape, len(df.sample(2))"], False),
    (["df.sample(frac=1).sort_index()"], False),
    (["df.sample(frac=1).sort_values('v')"], False),
    (["df.sample(frac=1).sort_values('g')"], True),
    (["df['noise'] = np.random.rand(4)\ndf[['g', 'v']].tail(2)"], False),
    (
        [
            "df['noise'] = np.random.rand(4)",
            "df[['g', 'v']].tail(2), df.g.nunique(), df['v'].sum(), df.columns",
        ],
        False,
    ),
    (["df['noise'] = np.random.rand(4)", "df[['g', 'noise']].tail(2)"], True),
    (["df['noise'] = np.random.rand(4)", "df.noise > .5"], True),
    (["df['noise'] = np.random.rand(4)\ndf['v'] = df['noise'] > .5", "df[['v']]"], True),
    (["mixed = df.sample(frac=1)", "mixed.shape, mixed.dtypes, len(mixed)"], False),
    (["mixed = df.sample(frac=1)", "mixed.g.iloc[0]"], True),
]


@pytest.mark.parametrize(("cells", "is_chance"), OF_FRAMES, ids=str)
def test_data_frames(cells: list[str], is_chance: bool) -> None:
    """Other columns than those that were drawn, the shape of a sample, and rows that are sorted again by what
    no two have in common, are no chance."""
    pytest.importorskip("pandas", reason="would have proved that data frames are followed")
    assert bool(told([FRAME, *cells])[-1]) is is_chance


def told(cells: list[str]) -> list[tuple[str, ...]]:
    """What of each cell is chance."""
    kept = random.getstate(), numpy.random.get_state()
    random.setstate(random.Random(5).getstate())
    numpy.random.set_state(numpy.random.RandomState().get_state())
    namespace: dict[str, Any] = {"np": numpy, "__name__": "__main__"}
    draws, found = Draws(), []
    for source in (LISTS, *cells):
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        found.append(words(draws.end(namespace, source)))
    random.setstate(kept[0])
    numpy.random.set_state(kept[1])
    return found


@pytest.mark.parametrize("cells", CHANCE, ids=str)
def test_what_reads_it_is_chance(cells: list[str]) -> None:
    assert told(cells)[-1]


@pytest.mark.parametrize("cells", FIXED, ids=str)
def test_what_does_not_depend_on_it_is_not(cells: list[str]) -> None:
    assert not told(cells)[-1]


def test_what_a_value_leads_to() -> None:
    """Objects in collections, what functions are closed over, and the variables that the notebook's read."""
    held = [1]
    namespace: dict[str, Any] = {"x": held, "__name__": "__main__"}
    exec(
        "def f(): return [g() for _ in 'a']\ndef g(): return x\nclass A: pass\na = A()\na.b = (x,)", namespace
    )
    for value in ("f", "a"):
        assert leads_to(namespace[value], ["x"], namespace) == "x"
    assert leads_to({"a": [functools.partial(len, held)]}, ["x"], namespace) == "x"
    assert leads_to(lambda: held, ["x"], namespace) == "x"
    assert leads_to([[1], f"{held}", len], ["x"], namespace) is None
