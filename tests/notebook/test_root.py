"""What a notebook finds beside its folder: its repository, to read."""

from pathlib import Path

import pytest

from deskcheck.errors import InputError
from deskcheck.notebook.check.check import CellReport, check_notebooks
from deskcheck.notebook.kernel.folders import root_of
from deskcheck.notebook.settings import CheckSettings
from deskcheck.sandbox.confinement import Confinement
from tests.notebook.test_check import cell, printed, save

pytest.importorskip("ipykernel", reason="would have proved that a notebook finds what is beside its folder")

READ = "print(open('../data/table.csv').read())"
IMPORT = "import sys; sys.path.append('../src'); import helper; print(helper.word)"
WRITE = "open('../data/table.csv', 'w').write('lost')"
OWN = "open('own.txt', 'w').write('x'); print(open('own.txt').read(), open('../README').read())"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in ("data", "src", "books"):
        (root / name).mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "README").write_text("read")
    (root / "data" / "table.csv").write_text("1,2")
    (root / "data" / ".env").write_text("hidden")
    (root / "src" / "helper.py").write_text("word = 'help'\n")
    return root


def checked(path: Path, level: Confinement, root: Path | None = None) -> list[CellReport]:
    settings = CheckSettings(sandbox=level, runs=1, root=root)
    (notebook,) = check_notebooks([path], settings).notebooks
    return [*notebook.cells]


@pytest.mark.parametrize(
    "level",
    [Confinement.STRICT, *(pytest.param(each, marks=pytest.mark.slow) for each in ("standard", "trusted"))],
)
def test_a_repository_can_be_read(project: Path, level: str) -> None:
    """Data and modules beside the notebook's folder are there, by default of the git repository; they can be
    read and not written to; what is private is not there."""
    hidden = "print(open('../data/.env').read())"
    cells = (cell(READ, printed("1,2\n")), cell(IMPORT, printed("help\n")), cell(OWN, printed("x read\n")))
    path = save(project / "books" / "a.ipynb", *cells, cell(WRITE), cell(hidden, printed("")))
    found = checked(path, Confinement(level))
    assert [each.status.value for each in found[:3]] == ["same"] * 3
    assert (project / "data" / "table.csv").read_text() == "1,2"
    assert not (project / "books" / "own.txt").exists()
    if level != "trusted":
        assert [each.limit for each in found[3:]] == ["files outside"] * 2


def test_modules_of_its_own_folder_can_be_imported(project: Path) -> None:
    """As in Jupyter: those that lie there and those that a cell writes, but not instead of the standard library;
    none of what the kernel's own process has."""
    books = project / "books"
    for name in ("beside", "json"):
        (books / f"{name}.py").write_text("word = 'own'\n")
    cells = (
        cell("import beside; print(beside.word)", printed("own\n")),
        cell(
            "open('written.py', 'w').write('word = 1'); import written; print(written.word)", printed("1\n")
        ),
        cell("import json; print(hasattr(json, 'word'))", printed("False\n")),
        cell(
            "from importlib.util import find_spec; print(find_spec('kernel'), find_spec('beside').name)",
            printed("None beside\n"),
        ),
    )
    found = checked(save(books / "a.ipynb", *cells), Confinement.STRICT)
    assert [each.status.value for each in found] == ["same"] * 4, [each.message for each in found]


def test_a_root_of_ones_own(project: Path, tmp_path: Path) -> None:
    """`--root` says which folder; what is not below it is `confined`, and a folder that the notebook does not
    lie in is refused."""
    path = save(project / "books" / "a.ipynb", cell(READ, printed("1,2\n")))
    (found,) = checked(path, Confinement.STRICT, project / "books")
    assert found.limit == "files outside"
    (found,) = checked(path, Confinement.STRICT, tmp_path)
    assert found.status == "same"
    with pytest.raises(InputError, match="does not lie in it"):
        checked(path, Confinement.STRICT, project / "data")


def test_the_top_of_a_repository(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the nearest folder with .git, but never one that holds the user's home."""
    assert root_of(project / "books") == project
    assert root_of(project.parent) == project.parent
    monkeypatch.setenv("HOME", str(project))
    assert root_of(project / "books") == project / "books"
