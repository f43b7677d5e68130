"""Generators that libraries make for themselves are seen; whether they decide what is shown, the runs tell."""

import copy
import random
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.notebook.check.check import CellStatus, check_notebooks
from deskcheck.notebook.kernel.chance.draws import Draws
from deskcheck.notebook.kernel.chance.libraries import LibraryGenerators
from tests.notebook.test_check import cell, save, shown
from tests.notebook.words import words

LIBRARY = """
import random
own = random.Random()
def random_pick(): return own.choice("ab")
def verified(x): return own.random() < 2 and x
def split(x): return random.random() < 2 and x
"""


@pytest.fixture
def draws() -> Iterator[Draws]:
    """Of a kernel in which libraries are watched. A library is there, ``toolbox``."""
    state, found = random.getstate(), Draws()
    random.setstate(random.Random(5).getstate())
    end = found.libraries.watch()
    toolbox = types.ModuleType("toolbox")
    exec(LIBRARY, vars(toolbox))  # a library of our own
    sys.modules["toolbox"] = toolbox
    yield found
    del sys.modules["toolbox"]
    end()
    random.setstate(state)


CELLS: list[tuple[str, tuple[str, ...]]] = [
    ("import random, toolbox, copy, tempfile", ()),
    ("toolbox.random_pick()", ("toolbox",)),
    ("x = toolbox.random_pick()", ("toolbox",)),
    ("x == 'a'", ("the value of x (toolbox)",)),
    ("toolbox.verified(3)", ("perhaps toolbox",)),
    ("toolbox.split(3)", ("perhaps random",)),
    ("toolbox.split(3), random.random()", ("random",)),
    ("y = (lambda: toolbox.split(3))()", ("random",)),  # what is called is not known
    ("toolbox.own.seed(3)", ()),
    ("toolbox.random_pick()", ()),
    ("class Dice:\n    def __init__(self, seed=None):\n        self.r = random.Random(seed)", ()),
    ("class Two:\n    def __init__(self):\n        self.rs = [random.Random(), random.Random(4)]", ()),
    ("two = Two(); n = 1", ("random.Random",)),
    ("two.rs[0].choice('ab')", ("random.Random",)),
    ("two.rs[1].choice('ab')", ("reads two (random.Random)",)),  # which of them has a seed is not proved
    ("dice = Dice(3); copy.copy(dice.r).random(), dice.r.random()", ()),
    ("dice = Dice(); dice.r.random()", ("random.Random",)),
    ("dice.r.random()", ("random.Random",)),
    ("dice.r.setstate(random.Random(3).getstate()); dice.r.random()", ()),
    ("def again(seed=None):\n    random.seed(seed)\nagain(3)\nrandom.choice('ab')", ()),
    ("again()", ()),
    ("random.choice('ab')", ("random",)),
    ("word = random.choice(['ab', 'a1'])\nkinds = {'digit': str.isdigit}", ("random",)),
    ("[any(test(c) for c in word) for test in kinds.values()]", ("the value of word (random)",)),
    ("kinds['digit'](word), len(word)", ("the value of word (random)",)),
    ("digit = str.isdigit\ndigit(word[1])", ("the value of word (random)",)),
    ("digit('3'), kinds['digit']('4')", ()),
    ("def alive(n, left=3):\n    return n if not left else alive(random.choice([0, n]), left - 1)", ()),
    ("family = alive(2)", ("random",)),
    ("'yes' if family else 'no'", ("the value of family (random)",)),
    ("again(4); random.choice('ab')", ()),
    ("random.choice('ab')", ()),
    ("with tempfile.TemporaryDirectory() as d:\n    n = 1\nn", ()),
]


def test_libraries_are_seen(draws: Draws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that say that they draw give chance; of others it is not known. A seed, and a state that is
    set, end it. What `tempfile` draws for its names does not count."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for source, expected in CELLS:
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        assert words(draws.end(namespace, source)) == expected, source


def test_runs_differ() -> None:
    """A generator without a seed draws opposite bits in the second run; one with a seed, what it draws."""
    drawn = []
    for run in (0, 1):
        end = LibraryGenerators(run).watch()
        try:
            drawn.append(
                (
                    random.Random().getrandbits(32),
                    random.Random(3).random(),
                    copy.copy(random.Random(3)).random(),
                )
            )
        finally:
            end()
    assert drawn[0][0] ^ drawn[1][0] == 0xFFFFFFFF
    assert drawn[0][1:] == drawn[1][1:]
    assert random.Random.seed.__qualname__ == "Random.seed"
    assert not hasattr(random.Random.seed, "__wrapped__")


@pytest.mark.slow
def test_the_runs_tell(tmp_path: Path) -> None:
    """Draws of a library that decide nothing are no reason to give no verdict; what they decide is told by
    runs that differ. A module in the notebook's folder is the notebook's own."""
    pytest.importorskip("ipykernel", reason="would have proved that runs tell what a library draws")
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "flip.py").write_text(
        "import random\nown = random.Random()\ndef toss():\n    return own.random() < 9\n"
    )
    cells = (
        cell("import sys, types, random\nlib = types.ModuleType('lib')"),
        cell(
            "exec('import random\\ndef same(x): return random.random() < 2 and x', vars(lib)); sys.modules['lib'] = lib"
        ),
        cell("exec('def up(): return random.random() < .5', vars(lib))"),
        cell("lib.same(3)", shown("3")),
        cell("lib.same(3)", shown("4")),
        cell("lib.up()", shown("True")),
        cell("import flip"),
        cell("flip.toss()", shown("True")),
    )
    (notebook,) = check_notebooks([save(folder / "a.ipynb", *cells)]).notebooks
    assert [each.status for each in notebook.cells[3:6]] == [
        CellStatus.SAME,
        CellStatus.NOT_REPEATABLE,
        CellStatus.NOT_REPEATABLE,
    ]
    assert notebook.cells[7].status is CellStatus.NOT_REPEATABLE
    assert notebook.runs == 6
