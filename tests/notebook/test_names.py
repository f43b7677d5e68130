"""Trajectories have names that tell them apart, and are found by all that they are called."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.notebook.kernel.record import record_notebooks
from deskcheck.notebook.settings import NotebookSettings
from deskcheck.notebook.trajectory.file import trajectories
from deskcheck.notebook.trajectory.markers import is_own
from tests.notebook.books import cell, save

OWN = [
    ("%load_ext deskcheck\n%deskcheck record runs", True),
    ("# look\n%deskcheck status", True),
    ("%%deskcheck context\nplot(x)", True),
    ("import deskcheck\ndeskcheck.context(budget=100)", True),
    ("%deskcheck stop\nprint(1)", False),
    ("# only a comment", False),
    ("", False),
    ("\n" * 5000, False),
]


@pytest.mark.parametrize(("source", "own"), OWN)
def test_our_own_commands_are_no_work(source: str, own: bool) -> None:
    """A cell that only records, or asks for the state, is not asked about."""
    assert is_own(source) is own


class TestRuns:
    @pytest.fixture(autouse=True)
    def kernels(self) -> None:
        pytest.importorskip("ipykernel", reason="would have proved that notebooks of one name are kept apart")

    def test_notebooks_of_one_name(self, tmp_path: Path) -> None:
        """Two folders of one name, each with a notebook of one name: two trajectories, each of its own; the
        same file named twice is one. `view` finds each by its own id, and by that of a question about it."""
        for number in (1, 2):
            folder = tmp_path / str(number) / "work"
            folder.mkdir(parents=True)
            save(folder / "a.ipynb", cell(f"print({number})"))
        paths = [str(tmp_path / number / "work" / "a.ipynb") for number in "121"]
        record_notebooks(paths, tmp_path / "out", NotebookSettings(repeat=False))
        found = {each.id: each for each in trajectories(tmp_path / "out")}
        assert {id_: [e.text() for e in each.executions] for id_, each in found.items()} == {
            paths[0]: ["1\n"],
            paths[1]: ["2\n"],
        }
        for asked in (paths[1], f"{paths[1]}:cell_output:0"):
            ran = CliRunner().invoke(app, ["view", str(tmp_path / "out"), asked, "--json"])
            assert json.loads(ran.stdout)["id"] == paths[1]
