"""What authors say to nbval, nbmake, nbclient and Jupyter Book counts here too."""

from pathlib import Path
from typing import Any

import pytest

from deskcheck.notebook.settings import ReplayLimits
from deskcheck.notebook.trajectory.ipynb import read_notebook
from deskcheck.notebook.trajectory.markers import Marker, markers_of
from deskcheck.notebook.trajectory.trajectory import Cell
from tests.notebook.books import cell, checked, printed, raised, save, statuses

MARKED: list[tuple[str, tuple[str, ...], set[Marker]]] = [
    ("x", (), set()),
    ("# NBVAL_SKIP\nx", (), {Marker.SKIP}),
    ("x\n  #NBVAL_IGNORE_OUTPUT", (), {Marker.IGNORE}),
    ("x  # NBVAL_SKIP", (), set()),
    ("# about NBVAL_SKIP\nx", (), set()),
    ("# raises-exception", (), set()),
    ("x", ("skip-execution",), {Marker.SKIP}),
    ("x", ("nbval-skip", "hide-input", "parameters"), {Marker.SKIP}),
    ("x", ("raises-exception", "nbval-ignore-output"), {Marker.RAISES, Marker.IGNORE}),
    ("# NBVAL_RAISES_EXCEPTION", (), {Marker.RAISES}),
]


@pytest.mark.parametrize(("source", "tags", "expected"), MARKED)
def test_markers_are_read(source: str, tags: tuple[str, ...], expected: set[Marker]) -> None:
    """A comment counts on a line of its own, a tag in any of its spellings; other words are nothing."""
    assert markers_of(Cell(id="a", source=source, tags=tags)) == expected


class TestRuns:
    @pytest.fixture(autouse=True)
    def kernels(self) -> None:
        pytest.importorskip("ipykernel", reason="would have proved that marked cells are run as they ask")

    def test_each_marker(self, tmp_path: Path) -> None:
        """What is to be skipped does not run; what may raise has not failed; what is not to be compared is
        not; and the same without a mark has its usual status."""
        cells = [
            (cell("1 / 0", tags=("nbval-skip",)), "not_run"),
            (cell("# NBVAL_SKIP\n1 / 0"), "not_run"),
            (cell("1 / 0", tags=("raises-exception",)), "no_stored_output"),
            (cell("# NBVAL_RAISES_EXCEPTION\n1 / 0"), "no_stored_output"),
            (cell("# NBVAL_RAISES_EXCEPTION\n1 / 0", raised("ValueError", "x")), "different"),
            (cell("print(1); 1 / 0", printed("1\n"), tags=("raises-exception",)), "same"),
            (cell("print(1); 1 / 0", printed("2\n"), tags=("raises-exception",)), "different"),
            (cell("# NBVAL_IGNORE_OUTPUT\nprint(1)", printed("2\n")), "different"),
            (cell("# NBVAL_IGNORE_OUTPUT\n1 / 0", printed("2\n")), "failed"),
            (cell("1 / 0", printed("2\n")), "failed"),
        ]
        path = save(tmp_path / "a.ipynb", *(each for each, _ in cells))
        assert statuses(checked(path, runs=1).cells) == [status for _, status in cells]

    @pytest.mark.slow
    def test_what_the_notebook_asks_for_all(self, tmp_path: Path) -> None:
        """`allow_errors` and `timeout` of a notebook's own metadata, as nbmake and Jupyter Book read them."""
        slow = cell("import time; time.sleep(1); 1 / 0")
        path = save(tmp_path / "a.ipynb", slow, execution={"allow_errors": True, "timeout": 30})
        assert statuses(checked(path, runs=1).cells) == ["no_stored_output"]
        save(path, slow, execution={"allow_errors": True, "timeout": 0.5})
        assert statuses(checked(path, runs=1).cells) == ["timed_out"]
        assert statuses(checked(path, runs=1, cell_s=30).cells) == ["timed_out"]

    def test_a_notebook_does_not_raise_a_limit(self, tmp_path: Path) -> None:
        """The caller's limit on a cell holds, whatever the notebook asks for."""
        path = save(tmp_path / "a.ipynb", cell("while True: pass"), execution={"timeout": 1e999})
        report = checked(path, runs=1, cell_s=0.5)
        assert statuses(report.cells) == ["timed_out"]
        assert "execution.timeout inf of the metadata is not a number of seconds: ignored" in report.notes

    @pytest.mark.parametrize("timeout", [1e999, -1, 0, True, "1h", [3], 10**400])
    def test_a_timeout_that_is_none_is_a_note(self, tmp_path: Path, timeout: Any) -> None:
        """What is not a number of seconds is ignored, with a word."""
        read = read_notebook(save(tmp_path / "a.ipynb", cell("1"), execution={"timeout": timeout}))
        assert read.limits == {}
        assert any("execution.timeout" in note for note in read.notes)

    def test_the_lower_limit_holds(self, tmp_path: Path) -> None:
        """Of the caller and the notebook; without either, 60 seconds."""
        pairs = {(3, 30): 3, (30, 3): 3, (None, 300): 300, (3, None): 3, (None, None): 60}
        assert {pair: ReplayLimits(cell_s=pair[0]).of_cells(pair[1]) for pair in pairs} == pairs

    def test_a_notebook_may_end_itself(self, tmp_path: Path) -> None:
        """`sys.exit(0)` is no failure, and what never ran after it is not run; another status is one."""
        end = cell("import sys; print(1); sys.exit(0)", printed("1\n"))
        path = save(tmp_path / "a.ipynb", end, cell("gone", count=None), cell("print(2)", printed("2\n")))
        assert statuses(checked(path, runs=1).cells) == ["same", "not_run", "same"]
        path = save(tmp_path / "b.ipynb", cell("import sys; sys.exit(3)"))
        assert statuses(checked(path, runs=1).cells) == ["failed"]
