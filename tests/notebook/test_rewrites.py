"""Marking by running tells cells that do the same from cells that nearly do: rewritten by machine."""

import os
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.rewrites import near_misses, renamed, reordered
from benchmarks.trials import cells_of
from deskcheck.notebook.compare import Agreement
from deskcheck.notebook.reads import Later, read_later
from deskcheck.notebook.trial import Trials
from tests.notebook.test_trial import notebook

SHARED = Path(os.environ.get("DESKCHECK_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "notebooks"
IPYTHON = "would have proved that rewritten cells score 1 and near misses 0"
NOTHING = Later(frozenset())

CELLS = (
    "import math\nimport random",
    "prices = [3, 1, 4, 1, 5]\nrate = 2.0",
    "total = sum(prices)\nmean = total / len(prices)\nprint('mean', mean)",
    "low = min(prices)\nhigh = max(prices)\nspread = high - low\nspread",
    "def rising(items):\n    return [b for a, b in zip(items, items[1:]) if b > a]",
    "best = [p for p in sorted(prices) if p > 3]\ncount = len(best)\ncount * 2",
    "table = {}\nfor n, p in enumerate(prices):\n    key = 'odd' if p % 2 else 'even'\n    table.setdefault(key, []).append(p)",
    "draws = [random.random() for _ in range(3)]\nworst = max(draws)\nround(worst, 3) * 2",
    "prices.append(round(mean * rate))\nprices",
    "rising(prices), table, spread, low, draws",
)  # fmt: skip


def test_rewritten_cells_and_near_misses() -> None:
    """Of every cell of a notebook: itself and its rewrites score 1, each near miss 0."""
    pytest.importorskip("IPython", reason=IPYTHON)
    marked: Counter[str] = Counter()
    with Trials(notebook(*CELLS)) as trials:
        for step, source in enumerate(CELLS):
            place = trials.at(step)
            assert place.refusal is None
            same = {"itself": source, "renamed": renamed(source, place.later), "reordered": reordered(source)}
            for kind, candidate in same.items():
                if candidate is not None:
                    assert (candidate, place.mark(candidate)) == (candidate, Agreement(1))
                    marked[kind] += 1
            for kind, candidate in near_misses(source):
                assert (candidate, place.mark(candidate).score) == (candidate, 0)
                marked[kind] += 1
    assert marked == COUNTS


COUNTS = {"itself": 10, "renamed": 4, "reordered": 2, "constant": 6, "operator": 7, "result": 6}


@pytest.mark.slow
def test_real_notebooks(tmp_path: Path) -> None:
    """Of 123 published notebooks some quick ones: every cell that can be marked scores 1 against itself and
    its rewrites, and most near misses score 0. Those that score 1 do the same, as docs/log.md tells."""
    pytest.importorskip("IPython", reason=IPYTHON)
    names = ["nbval/tests", "norvig-pytudes/ipynb/Cheryl-and-Eve.ipynb"]
    if not SHARED.is_dir():
        pytest.skip(f"no notebooks in DESKCHECK_SHARED or ../shared: {IPYTHON}")
    scores: Counter[tuple[str, int | None]] = Counter()
    for name in names:
        for path in sorted((SHARED / name).rglob("*.ipynb")) or [SHARED / name]:
            for row in cells_of(path, 4, 0):
                if row["status"] == "ok":  # what raises, raises something else in another order
                    scores.update((mark["kind"], mark["score"]) for mark in row["marks"])
    assert {score for kind, score in scores if kind in ("itself", "renamed", "reordered")} == {1}
    assert scores["itself", 1] >= 10
    near = ("constant", "operator", "result")
    wrong, right = (sum(scores[kind, score] for kind in near) for score in (1, 0))
    assert wrong < right / 4


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("t = 1\ny = t", "t_x = 1\ny = t_x"),
        ("y = t\nt = 1\nt", None),
        ("t = 1\ndef f(t): return t\nt", None),
        ("t = 1\nf(t=t)", None),
        ("t = 1\n[t for t in a]\nt", None),
        ("t = t_x = 1\nt", "t_xx = t_x = 1\nt_xx"),
        ("t = 1\nt;", "t_x = 1\nt_x;"),
        ("%time t = 1\nt", None),
    ],
)
def test_renaming(source: str, expected: str | None) -> None:
    """Only what is a variable of the cell alone, to a name that is nobody's."""
    assert renamed(source, NOTHING) == expected
    assert renamed(source, read_later(["t"])) is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = 1\nb = 2", "b = 2\na = 1"),
        ("a = 1\nb = a", None),
        ("a = b\nb = 1", None),
        ("a = 1\na = 2", None),
        ("a = f()\nb = 2", None),
        ("a = list(i)\nb = list(i)", None),
        ("a = list(i)\nb = list(j)", "b = list(j)\na = list(i)"),
        ("a = 1\nprint(1)\nb = 2", None),
        ("import a\nimport b", "import b\nimport a"),
        ("def f(): pass\na = 1", "a = 1\n\ndef f():\n    pass"),
        ("def f(): pass\n@f\ndef g(): pass", None),
    ],
)
def test_reordering(source: str, expected: str | None) -> None:
    """Only neighbours that read and bind nothing of each other's and have no effects."""
    found = reordered(source)
    assert (found and found.strip()) == expected


def test_near_misses() -> None:
    """One constant, one operator, the value that is shown: each changed alone; docstrings are no constants."""
    source = "def f(a):\n    'doc'\n    return a + 1\nf(2)"
    assert [kind for kind, _ in near_misses(source)] == ["constant", "operator", "result"]
    new = [candidate for _, candidate in near_misses(source)]
    assert all("doc" in each and "docx" not in each for each in new)
    assert [each.endswith(end) for each, end in zip(new, ("f(2)", "f(2)", "+ 1"), strict=True)] == [True] * 3
    assert len({*new, source}) == 4
    assert [*near_misses("x = y")] == []
