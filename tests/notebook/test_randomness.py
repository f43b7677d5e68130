"""Draws are counted while cells run; whether a cell repeats is decided by its runs alone."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deskcheck.notebook.check.check import CellReport, CellStatus, NotebookStatus
from deskcheck.notebook.kernel.record import record_notebooks
from deskcheck.notebook.trajectory.file import read_trajectory
from deskcheck.view.notebooks import reason
from tests.notebook.books import cell, checked, printed, save, shown, statuses

pytest.importorskip("numpy", reason="would have proved that numpy's generators are seen")

HARNESS = """
import json, sys
from deskcheck.notebook.kernel.randomness import Randomness
randomness = Randomness(int(sys.argv[1]))
randomness.watch()
namespace = {"__name__": "__main__"}
for source in json.load(sys.stdin):
    randomness.begin(source)
    namespace.pop("v", None)
    exec(source, namespace)
    drew = randomness.end()
    print(json.dumps([[*drew], sum(drew.values()), repr(namespace.get("v"))]))
"""


def in_a_process(cells: list[str], run: int = 0) -> list[tuple[tuple[str, ...], str]]:
    """What each cell drew from, and what it left in ``v``."""
    return [(drew, v) for drew, _, v in counted(cells, run)]


def counted(cells: list[str], run: int = 0) -> list[tuple[tuple[str, ...], int, str]]:
    """The same, with how many words it drew."""
    done = subprocess.run(
        [sys.executable, "-c", HARNESS, str(run)], input=json.dumps(cells), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return [(tuple(drew), draws, v) for drew, draws, v in map(json.loads, done.stdout.splitlines())]


ONE = "numpy.random.default_rng()"
CELLS: list[tuple[str, tuple[str, ...]]] = [
    ("import random", ()),
    ("random.choice('ab')", ("random",)),
    ("import numpy as np; np.random.rand()", ("numpy.random",)),
    ("np.zeros(3)", ()),
    ("[random.random() for _ in range(5000)]", ("random",)),
    ("np.random.shuffle(list(range(10**5)))", ("numpy.random",)),
    ("random.shuffle([1, 2, 3]); np.random.normal(size=3)", ("random", "numpy.random")),
    ("random.getstate(); np.random.get_state()", ()),
    ("rng = np.random.default_rng()", ()),
    ("rng.integers(2)", (ONE,)),
    ("seeded = np.random.default_rng(3); seeded.random()", ()),
    ("own = random.Random(2); own.random(); np.random.RandomState(3).rand()", ()),
    ("np.random.RandomState().rand()", ()),
    ("np.random.seed(3); np.random.rand()", ()),
    ("np.random.rand()", ()),
    ("random.random()", ("random",)),
    ("random.random(); random.seed(1)", ("random",)),
    ("random.random()", ()),
    ("random.seed(); random.random()", ("random",)),
    ("random.random()", ("random",)),
    ("np.random.seed(None); np.random.rand()", ("numpy.random",)),
    ("state = np.random.get_state(); np.random.seed(0); np.random.rand(); np.random.set_state(state)", ()),
    ("np.random.rand()", ("numpy.random",)),
    ("np.random.seed(seed=0); random.seed(a=3)", ()),
    ("np.random.rand(); random.random()", ()),
    ("import secrets, uuid, os; from uuid import uuid4 as fresh", ()),
    ("secrets.token_hex()", ("secrets (os.urandom)",)),
    ("str(fresh())", ("uuid (os.urandom)",)),
    ("[os.urandom(1) for _ in range(3)]", ("os.urandom",)),
    ("class Dice:\n    def __init__(self):\n        self.rng = np.random.default_rng()", ()),
    ("dice = Dice()", ()),
    ("dice.rng.integers(2)", (ONE,)),
    ("system = random.SystemRandom()", ()),
    ("system.random()", ("os.urandom",)),
    ("own = random.Random()", ()),
    ("x = 1", ()),
    ("own.random()", ("random.Random",)),
    ("own.seed(3); own.random()", ()),
    ("own.random()", ()),
    ("own = None", ()),
    ("x = 1", ()),
]


def test_what_a_cell_draws_from() -> None:
    """Generators without a seed, by what they do and not by what the source says."""
    found = in_a_process([source for source, _ in CELLS])
    for (source, expected), (drew, _) in zip(CELLS, found, strict=True):
        assert drew == expected, source


def test_a_value_that_one_bit_decides_differs_between_runs() -> None:
    """For the generators of all at any place of a cell, for others with the first number that they give."""
    cells = [
        "import random, numpy as np",
        "v = random.choice('ab')",
        "v = random.random() < 0.5",
        "v = [random.randint(0, 1) for _ in range(9)][8]",
        "v = int(np.random.randint(2))",
        "v = [int(each) for each in np.random.permutation(2)]",
        "v = bool(np.random.normal() < 0)",
        "v = int(np.random.default_rng().integers(2))",
        "v = bool(np.random.default_rng().random() < 0.5)",
        "v = [int(each) for each in np.random.default_rng().permutation(2)]",
        "v = random.Random().random() < 0.5",
    ]
    runs = [in_a_process(cells, run) for run in range(3)]
    for number, source in enumerate(cells[1:], start=1):
        assert len({run[number][1] for run in runs}) == 2, source
    assert in_a_process(cells[:7], 1)[1:] == runs[1][1:7], "a run draws the same again"


def test_places_that_a_notebook_saved_stay() -> None:
    """What is drawn from a saved state is drawn again from it, cells later."""
    found = in_a_process(
        [
            "import random, numpy as np",
            "a = random.getstate(); b = np.random.get_state()",
            "one = random.random(), np.random.rand()",
            "random.setstate(a); np.random.set_state(b)",
            "v = one == (random.random(), np.random.rand())",
        ]
    )
    assert found[-1] == (("random", "numpy.random"), "True")


def test_a_library_that_draws_for_itself_is_named(tmp_path: Path) -> None:
    """What a module asks for while it is imported is no draw of the cell; what it draws later is."""
    (tmp_path / "dealer.py").write_text(
        "import os, random\nKEY = os.urandom(8)\ndice = random.Random()\ndef deal():\n    return dice.random()\n"
    )
    cells = [f"import sys; sys.path.insert(0, {str(tmp_path)!r})", "import dealer", "dealer.deal()"]
    assert [drew for drew, _ in in_a_process(cells)] == [(), (), ("dealer (random.Random)",)]


def test_what_modules_draw_while_they_are_imported_does_not_count(tmp_path: Path) -> None:
    """Nor where one imports another; what the cell draws before and after counts."""
    (tmp_path / "inner.py").write_text("import random\nX = [random.random() for _ in range(99)]\n")
    (tmp_path / "outer.py").write_text(
        "import random, numpy as np\nA = np.random.rand()\nimport inner\n"
        "rng = np.random.default_rng()\nB = rng.random(), random.random()\n"
    )
    (tmp_path / "broken.py").write_text("import random\nrandom.random()\nraise ValueError('broken')\n")
    caught = "try:\n    import broken\nexcept ValueError as error:\n    found = traceback.extract_tb(error.__traceback__)"
    cells = [
        f"import sys, random, traceback; sys.path.insert(0, {str(tmp_path)!r})",
        "import outer",
        "random.random(); import json.tool; random.random()",
        f"{caught}\nv = [frame.filename.rpartition('/')[2] for frame in found]",
        "outer.rng.random(3); random.getrandbits(32)",
    ]
    found = counted(cells)
    outer = "outer (numpy.random.default_rng())"
    assert [drew for drew, _, _ in found] == [(), (), ("random",), (), ("random", outer)]
    assert [draws for _, draws, _ in found] == [0, 0, 4, 0, 7]
    assert found[3][2] == "['<string>', 'broken.py']", "no frame of ours is in the traceback"


def test_how_much_is_drawn() -> None:
    """In words of 32 bits; what is not known is at least one."""
    cells = {
        "import random, numpy as np, os": 0,
        "random.random()": 2,
        "[random.random() for _ in range(600)]": 1200,
        "random.gauss(0, 1)": 4,
        "random.gauss(0, 1); random.gauss(0, 1)": 4,
        "np.random.rand(5)": 10,
        "rng = np.random.default_rng(); rng.random(3)": 6,
        "rng.integers(2)": 2,
        "rng.integers(2); rng.random(100)": 200,
        "rng.random(10**5)": 624,
        "os.urandom(9)": 3,
        "os.urandom(16)": 624,
        "dice = random.Random(); dice.random()": 2,
    }
    found = counted([*cells])
    assert {source: draws for source, (_, draws, _) in zip(cells, found, strict=True)} == cells


@pytest.mark.parametrize(
    "event", ["random.random() < p", "np.random.rand() < p", "np.random.default_rng().random() < p"]
)
def test_a_branch_that_is_not_rare_is_decided_both_ways(event: str) -> None:
    """Of three runs, whatever the first drew."""
    cells = ["import random, numpy as np"] + [f"p = {n / 16}; v = bool({event})" for n in range(2, 15)] * 4
    runs = [in_a_process(cells, run) for run in range(3)]
    undecided = [cell for cell, *values in zip(cells, *runs, strict=True) if len({v for _, v in values}) < 2]
    assert undecided == cells[:1]


class TestRuns:
    @pytest.fixture(autouse=True)
    def kernels(self) -> None:
        pytest.importorskip("ipykernel", reason="would have proved how random cells of notebooks are told")

    def check(self, tmp_path: Path, *cells: Any, **settings: Any) -> tuple[CellReport, ...]:
        return checked(save(tmp_path / "a.ipynb", *cells), **settings).cells

    def test_runs_decide(self, tmp_path: Path) -> None:
        """Wrong outputs are different though the notebook draws; what no draw decides is the same; what
        one drawn bit decides is not repeatable."""
        cells = (
            cell("import random, numpy as np\nx = np.random.normal(size=100)"),
            cell("x.shape", shown("(101,)")),
            cell("int(np.isnan(x).sum())", shown("17")),
            cell("print('2 tests passed')", printed("2 tests FAILED\n")),
            cell("np.linalg.matrix_rank(np.outer(x, x))", shown("np.int64(1)")),
            cell("len(random.sample(range(9), 3))", shown("3")),
            cell("random.choice('ab')", shown("'a'")),
            cell("coin = random.random() < 0.5"),
            cell("coin", shown("True")),
            cell("x.mean() > 9", shown("np.False_")),
        )
        found = self.check(tmp_path, *cells)
        assert statuses(found) == [
            *("no_stored_output", "different", "different", "different", "same", "same"),
            *("not_repeatable", "no_stored_output", "not_repeatable", "same"),
        ]
        assert found[5].note == "draws from random without a seed; equal in 3 runs"
        assert found[0].note == "draws from numpy.random without a seed"
        assert [each.note for each in found[1:5]] == [None] * 4

    def test_what_is_seeded_runs_once(self, tmp_path: Path) -> None:
        """Nothing unseeded was drawn, and all is as stored."""
        path = save(
            tmp_path / "a.ipynb",
            cell("import random, numpy as np; np.random.seed(0); random.seed(0)"),
            cell("round(random.random(), 3)", shown("0.844")),
            cell("round(np.random.rand(), 3)", shown("0.549")),
        )
        notebook = checked(path)
        assert (notebook.status, notebook.runs) == (NotebookStatus.SAME, 1)

    def test_a_note_can_be_a_failure(self, tmp_path: Path) -> None:
        """With ``strict_random``, whatever the runs gave."""
        cells = cell("import random"), cell("random.random() < 2", shown("True"))
        assert statuses(self.check(tmp_path, *cells)) == ["no_stored_output", "same"]
        (_, strict) = self.check(tmp_path, *cells, strict_random=True)
        assert strict.status is CellStatus.NOT_REPEATABLE
        assert reason(strict) == "draws from random without a seed; equal in 3 runs"
        assert strict.allowed is None
        (_, accepted) = self.check(tmp_path, *cells, strict_random=True, allow_random=True)
        assert (accepted.status, accepted.allowed) == (CellStatus.NOT_REPEATABLE, "--allow-random")

    @pytest.mark.parametrize(
        ("source", "tags", "settings", "why"),
        [
            ("random.random()", ("random-output",), {}, "its tag says that its output is random"),
            ("random.random()", (), {"allow_random": True}, "--allow-random"),
            (
                "# NBVAL_IGNORE_OUTPUT\nrandom.random()",
                (),
                {},
                "its tag or comment says that its outputs are not compared",
            ),
            ("random.random()", (), {}, None),
            ("7", ("random-output",), {"allow_random": True}, None),
        ],
    )
    def test_what_is_accepted(
        self, tmp_path: Path, source: str, tags: tuple[str, ...], settings: dict[str, Any], why: str | None
    ) -> None:
        """For a cell by its tag or comment, for all by an option: of cells whose runs differ, not of others
        that give something else than is stored."""
        path = save(tmp_path / "a.ipynb", cell("import random"), cell(source, shown("0.5"), tags=tags))
        notebook = checked(path, **settings)
        expected = "different" if source == "7" else "not_repeatable"
        assert (notebook.cells[1].status.value, notebook.cells[1].allowed) == (expected, why)
        assert notebook.status.value == (expected if why is None else "no_stored_output")

    def test_recordings_keep_what_repeats(self, tmp_path: Path) -> None:
        """The file says what a cell drew from, and that its runs agreed all the same."""
        save(tmp_path / "a.ipynb", cell("import random; random.random() < 2"), cell("y = random.random()"))
        record_notebooks([str(tmp_path / "a.ipynb")], tmp_path / "out")
        found = [*read_trajectory(tmp_path / "out" / "a.trajectory.parquet").executions]
        assert [each.repeats for each in found] == [True, True]
        assert [each.drew for each in found] == [("random",), ("random",)]

    def test_what_two_runs_forgive_is_no_difference(self, tmp_path: Path) -> None:
        """Runs that differ in an address alone are the same: a cell that gives another class is different."""
        found = self.check(
            tmp_path,
            cell("object()", shown("<list at 0x7f00000001>")),
            cell("object()", shown("<object at 0x7f00000001>")),
        )
        assert statuses(found) == ["different", "normalised"]
