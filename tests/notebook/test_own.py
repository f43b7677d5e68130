"""The order of sets and addresses are followed into the notebook's own functions, classes and objects."""

import gc
from collections.abc import Iterator

import pytest

from deskcheck.notebook.kernel.chance.libraries import LibraryGenerators
from tests.notebook.test_orders import told

ORDER, ADDRESS = "the order of a set", "the address of an object"
WORDS = "words = ['fig', 'kiwi', 'plum', 'pear']"
BOX = """
class Box:
    def __init__(self, s=()):
        self.s = s
    def add(self, w):
        self.s = {*self.s, w}
    def first(self):
        return next(iter(self.s))
    def pick(self, s):
        return list(s)[0]
    def count(self, s):
        return len(s)
"""
THING = "class Thing:\n    pass\nx = Thing()"
PICK = "def pick(s):\n    return list(s)[0]"
PANDAS = "import pandas as pd"
DEFAULT = "def pick(s=set(words), f=lambda s: [*s][0]):\n    return f(s)"
CLOSURE = "def make():\n    s = set(words)\n    def inner():\n        return list(s)[-1]\n    return inner\nf = make()"
UNREAD = "def cut(s):\n    import re\n    out = []\n    for w in s:\n        out.append(re.sub('a', 'b', w))\n    return out"
RETURNS = "def first(s):\n    for w in s:\n        return w"
LONGEST = "def longest(s):\n    best = ''\n    for w in s:\n        best = w if len(w) > len(best) else best\n    return best"
UNIQUE = "def unique(ws):\n    seen, out = set(), []\n    for w in ws:\n        if w not in seen:\n            seen.add(w)\n            out.append(w)\n    return out"
CODES = (
    "def codes(ws):\n    import math as m\n    v = list(set(ws))\n    return [m.sqrt(v.index(w)) for w in ws]"
)
RATIO = "def ratio(a, b):\n    try:\n        return len(a & b) / len(a | b)\n    except ZeroDivisionError:\n        return 0"
CACHED = "from functools import lru_cache, partial\n@lru_cache\ndef pick(s, n):\n    return list(s)[n]"
DATACLASS = "from dataclasses import dataclass, field\n@dataclass\nclass D:\n    s: set\n    n: list = field(default_factory=list)\n    def first(self):\n        return list(self.s)[0]"
MAKES = """
class Made:
    @classmethod
    def of(cls, s):
        made = cls()
        made.items = [w for w in s]
        return made
    def __iter__(self):
        return iter(self.items)
"""
DECORATED = """
def twice(g):
    def inner(*given, **named):
        return g(*given, **named) * 2
    return inner
@twice
def f(s):
    return list(s)[0]
"""
SERIES = "s = pd.Series({w: len(w) for w in set(words)})"
FRAME = "df = pd.DataFrame({w: [len(w)] for w in set(words)})"

CHANCE = [
    (WORDS, PICK, "pick(set(words))"),
    (WORDS, PICK, "x = pick(set(words))", "x"),
    (WORDS, RETURNS, "first(set(words))"),
    (WORDS, "def first(ws):\n    return list(set(ws))[0]", "first(words)"),
    (WORDS, "pick = lambda s: list(s)[0]", "pick(set(words))"),
    (WORDS, DEFAULT, "pick()"),
    (WORDS, PICK, "def twice(s):\n    return pick(s) * 2", "twice(set(words))"),
    (WORDS, CLOSURE, "f()"),
    (WORDS, LONGEST, "longest({'kiwi', 'plum'})"),
    (WORDS, UNREAD, "cut(set(words))"),
    (WORDS, CODES, "codes(words)"),
    (WORDS, "def each(s):\n    yield from s", "next(each(set(words)))"),
    (WORDS, "def pick(*s, **named):\n    return list(named['s'])[0]", "pick(1, s=set(words))"),
    (WORDS, CACHED, "pick(frozenset(words), 0)"),
    (WORDS, CACHED, "last = partial(pick.__wrapped__, n=-1)", "last(set(words))"),
    (WORDS, "def key(w):\n    return 0", "sorted(set(words), key=key)[0]"),
    (WORDS, "def show(s):\n    print(list(s)[0])", "show(set(words))"),
    (WORDS, BOX, "box = Box()", "box.pick(set(words))"),
    (WORDS, BOX, "Box(set(words)).first()"),
    (WORDS, BOX, "box = Box(set(words))", "box.first()"),
    (WORDS, BOX, "box = Box()\nfor w in words:\n    box.add(w)", "box.first()"),
    (WORDS, DATACLASS, "D(set(words)).first()"),
    (WORDS, "import json", "json.dumps({w: 1 for w in set(words)})"),
    (WORDS, "def by(s, g):\n    return g(s)[0]", "by(set(words), list)"),
    (WORDS, "fs = [lambda s: list(s)[0], len]", "fs[0](set(words))"),
    (WORDS, "def f(s):\n    global last\n    last = list(s)[0]", "f(set(words))", "last"),
    (WORDS, MAKES, "Made.of(set(words)).items[0]"),
    (WORDS, MAKES, "made = Made.of(set(words))", "list(made)[0]"),
    (WORDS, DECORATED, "f(set(words))"),
]
SAME = [
    (WORDS, "def pick(s):\n    return sorted(s)[0]", "pick(set(words))"),
    (WORDS, BOX, "box = Box(set(words))", "box.count(set(words)), 'fig' in box.s, sorted(box.s)"),
    (WORDS, UNIQUE, "unique(words)"),
    (WORDS, RATIO, "ratio(set(words), {'fig'})"),
    (WORDS, "def has(s, w):\n    for x in s:\n        if x == w:\n            return True", "has(set(words), 'fig')"),
    (WORDS, "def vocabulary(s):\n    import re\n    return sorted(re.sub('a', '', w) for w in s)", "vocabulary(set(words))"),
    (WORDS, "def stop(text, s={'a', 'of'}):\n    return [w for w in text.split() if w not in s]", "stop('fig of a')"),
    (WORDS, "def codes(ws):\n    return {w: i for i, w in enumerate(sorted(set(ws)))}", "codes(words)"),
    (BOX, "box = Box()", "box.add('fig')\nbox.s, box.s == {'fig'}"),
    (WORDS, "import json", "json.dumps({w: 1 for w in set(words)}, sort_keys=True)"),
]  # fmt: skip
CHANCE_OF_ADDRESSES = [
    (THING, "repr(x)[-4:-1]"),
    (THING, "t = str(x)", "t[-3]"),
    (THING, "object.__repr__(x)[-3:]"),
    (THING, "f'{x}'[-3:]"),
    (THING, "('%s' % x)[-3:]"),
    (THING, "'{}'.format(x)[-3:]"),
    (THING, "x.__repr__()[-3:]"),
    (THING, "str([x])[-4:]"),
    (THING, "int(repr(x).split('0x')[1][:-1], 16) % 32"),
    (THING, "import hashlib", "hashlib.md5(repr(x).encode()).hexdigest()"),
    (THING, "def tail(x):\n    return repr(x)[-3:]", "tail(x)"),
    ("def f():\n    pass", "str(f)[-3:]"),
    ("repr(object())[-4:-1]",),
    ("g = (n for n in 'ab')", "str(g)[-3:]"),
    ("class P:\n    def m(self):\n        pass\np = P()", "str(p.m)[-4:-2]"),
]
SAME_OF_ADDRESSES = [
    (THING, "x"),
    (THING, "repr(x), f'{x}', [x]"),
    (THING, "print(f'made {x}')"),
    (THING, "repr(x).split(' at ')[0], repr(x)[:10], len(repr(x)), repr(x)[-2], repr(x).startswith('<')"),
    (THING, "y = Thing()", "x == y, repr(x) == repr(x), [y, x].index(x), str(type(x))[-5:]"),
    ("def f(n):\n    return n", "f, f.__name__[-1], f'{f(3)}'[-1]"),
    ("class P:\n    def __repr__(self):\n        return 'P()'\np = P()", "repr(p)[-3:], f'{p}'[-2], [p]"),
]
CHANCE_OF_PANDAS = [
    (WORDS, PANDAS, SERIES, "s"),
    (WORDS, PANDAS, SERIES, "s.index[0]"),
    (WORDS, PANDAS, SERIES, "s.iloc[0]"),
    (WORDS, PANDAS, "d = {}\nfor w in set(words):\n    d[w] = len(w)", "pd.Series(d)"),
    (WORDS, PANDAS, "pd.DataFrame({'n': {w: len(w) for w in set(words)}})"),
    (WORDS, PANDAS, "df = pd.DataFrame({'w': list(set(words))})\ndf['n'] = 1", "df.iloc[0]"),
    (WORDS, PANDAS, "pd.DataFrame.from_dict({w: [1] for w in set(words)})"),
    (WORDS, PANDAS, FRAME, "df.columns[0]"),
    (WORDS, PANDAS, FRAME, "list(df)"),
]
SAME_OF_PANDAS = [
    (WORDS, PANDAS, SERIES, "s['fig'], s.loc['fig'], s.sum(), s.sort_index(), s.shape, len(s), 'fig' in s"),
    (WORDS, PANDAS, "pd.Series({w: len(w) for w in sorted(set(words))})"),
    (WORDS, PANDAS, "df = pd.DataFrame({'w': words})", "df[df.w.isin({'fig', 'kiwi'})]"),
]
CHANCE_OF_DEVICES = [
    ("open('/dev/urandom', 'rb').read(4)",),
    ("f = open('/dev/urandom', 'rb')", "f.read(4)", "x = int.from_bytes(f.read(2), 'big')", "x % 2"),
    ("import os\nfd = os.open('/dev/urandom', os.O_RDONLY)", "os.read(fd, 4)[0] % 2"),
    ("def bit():\n    with open('/dev/urandom', 'rb') as f:\n        return f.read(1)[0] % 2", "bit()"),
    ("import os\nd = os.fdopen(os.open('/dev/urandom', os.O_RDONLY), 'rb')", "d.read(1)[0] % 2"),
    ("import struct\nwith open('/dev/urandom', 'rb') as f:\n    (n,) = struct.unpack('B', f.read(1))", "n % 2"),
    ("from pathlib import Path\np = Path('/dev/urandom')", "with p.open('rb') as f:\n    x = f.read(1)[0] % 2\nx"),
    ("class R:\n    def __init__(self):\n        self.f = open('/dev/urandom', 'rb')\n    def bit(self):\n        return self.f.read(1)[0] & 1", "r = R()", "r.bit()"),
]  # fmt: skip
SAME_OF_DEVICES = [
    ("f = open('/dev/null', 'rb')", "f.read(4)"),
    ("f = open('/dev/urandom', 'rb')", "f.name, f.mode"),
    ("x = open('/dev/urandom', 'rb').read(4)\nlen(x)",),
    ("import os\nos.path.exists('/dev/urandom')",),
]


def wrong(cells: list[tuple[str, ...]], expected: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [each for each in cells if told(each) != expected]


@pytest.mark.parametrize(("cells", "expected"), [(CHANCE, (ORDER,)), (SAME, ())])
def test_functions(cells: list[tuple[str, ...]], expected: tuple[str, ...]) -> None:
    """A set that a function is given, makes, keeps or is a method beside; what it does with it is computed,
    or read where it cannot be."""
    assert wrong(cells, expected) == []


@pytest.mark.parametrize(("cells", "expected"), [(CHANCE_OF_ADDRESSES, (ADDRESS,)), (SAME_OF_ADDRESSES, ())])
def test_addresses(cells: list[tuple[str, ...]], expected: tuple[str, ...]) -> None:
    """A piece of the text of an object, but not what a normaliser hides nor what all addresses share."""
    assert wrong(cells, expected) == []


@pytest.mark.parametrize(("cells", "expected"), [(CHANCE_OF_PANDAS, (ORDER,)), (SAME_OF_PANDAS, ())])
def test_data_frames_of_dicts(cells: list[tuple[str, ...]], expected: tuple[str, ...]) -> None:
    """The order of a dict becomes that of an index or of columns."""
    pytest.importorskip("pandas", reason="would have proved that the order of an index is followed")
    assert wrong(cells, expected) == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the cells leave files open
def test_devices() -> None:
    """A file of the system that gives random numbers, however it is opened and kept."""
    missed = [cells for cells in CHANCE_OF_DEVICES if not any("/dev/urandom" in each for each in told(cells))]
    assert missed == []
    gc.collect()  # closes it


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_devices_that_are_not_read() -> None:
    assert wrong(SAME_OF_DEVICES, ()) == []
    gc.collect()


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Generators that libraries make are seen."""
    ends = []
    init = LibraryGenerators.__init__

    def made(self: LibraryGenerators, run: int) -> None:
        init(self, run)
        ends.append(self.watch())

    monkeypatch.setattr(LibraryGenerators, "__init__", made)
    yield
    for end in reversed(ends):
        end()


@pytest.mark.usefixtures("watched")
def test_generators_of_numpy_inside_libraries() -> None:
    """They are drawn from where they are made, or later through the object that keeps them; with a seed they
    are no chance. Where the watching ends numpy is as it was."""
    pytest.importorskip(
        "scipy", reason="would have proved that generators inside of scipy's objects are seen"
    )
    start = "import scipy.stats as st\nimport numpy as np"
    drawing: list[tuple[str, ...]] = [
        (start, "q = st.qmc.Sobol(2)", "q.random(2)[0, 0] < .5"),
        (start, "q = st.qmc.Halton(1)", "x = q.random(1)", "x[0, 0] < .5"),
        (start, "def low():\n    return st.qmc.LatinHypercube(2).random(2)[0, 0] < .5", "low()"),
    ]
    seeded: list[tuple[str, ...]] = [
        (start, "st.qmc.Halton(1, seed=3).random(1)[0, 0] < .5"),
        (start, "r = np.random.default_rng(4)", "r.random()"),
        (start, "st.norm.rvs(random_state=3), st.norm.cdf(0)"),
    ]
    assert [each for each in drawing if not told(each)] == []
    assert [each for each in seeded if told(each)] == []


def test_numpy_is_as_it_was() -> None:
    numpy = pytest.importorskip("numpy", reason="would have proved that what is wrapped is unwrapped")
    before = numpy.random.default_rng
    end = LibraryGenerators(0).watch()
    assert numpy.random.default_rng.__wrapped__ is before
    assert numpy.random.default_rng(3).random() == before(3).random()
    end()
    assert numpy.random.default_rng is before is numpy.random._generator.default_rng
