"""What a notebook finds beside its folder: its repository, to read."""

from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import InputError
from deskcheck.notebook.check.check import CellReport
from deskcheck.notebook.kernel.folders import as_outside, copy_folder, root_of, time_zone
from deskcheck.sandbox.confinement import Confinement
from tests.notebook.books import cell, checked, limits, printed, save, shown, statuses

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


def cells_of(path: Path, **settings: Any) -> tuple[CellReport, ...]:
    return checked(path, runs=1, **settings).cells


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
    found = cells_of(path, sandbox=Confinement(level))
    assert statuses(found[:3]) == ["same"] * 3
    assert (project / "data" / "table.csv").read_text() == "1,2"
    assert not (project / "books" / "own.txt").exists()
    if level != "trusted":
        assert limits(found[3:]) == ["files outside"] * 2


@pytest.mark.parametrize(
    "level",
    [Confinement.STRICT, *(pytest.param(each, marks=pytest.mark.slow) for each in ("standard", "trusted"))],
)
@pytest.mark.parametrize(
    "alone",
    [pytest.param(False, id="in a repository"), pytest.param(True, id="alone", marks=pytest.mark.slow)],
)
def test_paths_are_those_of_the_original(project: Path, level: str, alone: bool) -> None:
    """That cells run in a copy makes no cell that shows a path different, and none not repeatable. Paths of
    another machine, and the copy's names, still differ."""
    books = (project / "books").resolve()
    if alone:
        (project / ".git").rmdir()
    cells = [
        cell("import os, pathlib\nos.getcwd()", shown(repr(str(books)))),
        cell("!pwd", printed(f"{books}\n")),
        cell("pathlib.Path('own.txt').resolve()", shown(f"PosixPath('{books}/own.txt')")),
        cell("print(pathlib.Path.home(), os.path.abspath('/etc'))", printed(f"{Path.home()} /etc\n")),
        cell("raise OSError(os.getcwd())", {**_ERROR, "evalue": str(books)}),
        cell("os.getcwd() ", shown("'/home/someone/books'")),
        cell("os.getcwd() + '2'", shown(f"{str(project)[:-1]!r}")),
    ]
    notebook = checked(save(books / "a.ipynb", *cells), sandbox=Confinement(level))
    expected = [*["same"] * 5, *["different"] * 2]
    assert [each.status.value.replace("normalised", "same") for each in notebook.cells] == expected


def test_the_time_zone_is_the_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a notebook shows of a local time was stored on this machine, in its time zone."""
    monkeypatch.setenv("TZ", "America/New_York")
    cells = [
        cell("import time\ntime.ctime(0)", shown("'Wed Dec 31 19:00:00 1969'")),
        cell("!date -d @0 +%H:%M", printed("19:00\r\n")),
        cell("import datetime; datetime.datetime.fromtimestamp(0).hour", shown("19")),
    ]
    assert statuses(cells_of(save(tmp_path / "a.ipynb", *cells))) == ["same"] * 3


@pytest.mark.parametrize(
    ("named", "zone"),
    [
        (":Europe/Berlin", "Europe/Berlin"),
        ("EST5EDT", "EST5EDT"),
        ("/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
    ],
)
def test_names_of_time_zones(monkeypatch: pytest.MonkeyPatch, named: str, zone: str) -> None:
    monkeypatch.setenv("TZ", named)
    assert time_zone() == zone


READS_ENVIRONMENT = [
    cell("import os; os.environ['DESKCHECK_DATA']", shown("'/srv'")),
    cell("os.getenv('DESKCHECK_DATA', '.')", shown("'/srv'")),
    cell("!echo $DESKCHECK_DATA", printed("/srv\r\n")),
    cell("def folder(name):\n    return os.environ[name]\nd = folder('DESKCHECK_DATA')"),
    cell("d", shown("'/srv'")),
    cell("{}['DESKCHECK_OTHER']"),
    cell("os.environ['DESKCHECK_UNSET']"),
    cell("os.environ['DESKCHECK_OWN'] = 'x'; os.environ['DESKCHECK_OWN']", shown("'y'")),
]


def test_variables_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is kept from a cell that reads it is our doing, and so is what follows; with `env` the cells
    have it. One that is not set, the same word as a key of something else, and one that the notebook itself
    sets are the notebook's."""
    for name in ("DATA", "OTHER", "OWN"):
        monkeypatch.setenv(f"DESKCHECK_{name}", "/srv")
    path = save(tmp_path / "a.ipynb", *READS_ENVIRONMENT)
    own = ["failed", "failed", "different"]
    found = cells_of(path)
    assert statuses(found) == ["confined"] * 5 + own
    assert limits(found) == ["environment"] * 5 + [None] * 3
    found = cells_of(path, env=("DESKCHECK_DATA",))
    assert statuses(found) == [*["same"] * 3, "no_stored_output", "same", *own]
    with pytest.raises(InputError, match="--env DESKCHECK_UNSET: is not set here"):
        checked(path, env=("DESKCHECK_UNSET",))


def test_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing in the home folder of the sandbox, and is in the user's, is ours, whatever exception
    tells it; a trusted notebook can have the user's own."""
    (tmp_path / "home" / "data").mkdir(parents=True)
    (tmp_path / "home" / "data" / "a.txt").write_text("here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    cells = [
        cell("from pathlib import Path\nPath('~/data/a.txt').expanduser().read_text()", shown("'here'")),
        cell(
            "d = Path.home() / 'data'\nif not d.exists(): raise LookupError(f'searched in:\\n- {str(d)!r}')"
        ),
        cell("open(Path.home() / 'data' / 'b.txt')"),
        cell("raise LookupError(str(Path.home() / 'notebook' / 'data'))"),
    ]
    path = save(tmp_path / "a.ipynb", *cells)
    assert limits(cells_of(path)) == ["home", "home", None, None]
    found = cells_of(path, sandbox=Confinement.TRUSTED, env=("HOME",))
    assert statuses(found[:2]) == ["same", "no_stored_output"]


_ERROR = {"output_type": "error", "ename": "OSError", "traceback": []}


def test_what_paths_are_those_of_a_copy() -> None:
    """Only whole names are, wherever they stand in a text."""
    text = "/scratch/program/notebook /scratch/program/notebook2 /scratch/programs a/scratch/program '/scratch/program/notebook/x'"
    home = Path.home()
    assert as_outside(text, "/r") == f"/r {home}/notebook2 /scratch/programs a/scratch/program '/r/x'"


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
    found = cells_of(save(books / "a.ipynb", *cells))
    assert statuses(found) == ["same"] * 4, [each.message for each in found]


def test_a_root_of_ones_own(project: Path, tmp_path: Path) -> None:
    """`--root` says which folder; what is not below it is `confined`, and a folder that the notebook does not
    lie in is refused."""
    path = save(project / "books" / "a.ipynb", cell(READ, printed("1,2\n")))
    (found,) = cells_of(path, root=project / "books")
    assert found.limit == "files outside"
    (found,) = cells_of(path, root=tmp_path)
    assert found.status == "same"
    with pytest.raises(InputError, match="does not contain"):
        cells_of(path, root=project / "data")


def test_the_top_of_a_repository(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the nearest folder with .git, but never one that holds the user's home."""
    assert root_of(project / "books") == project
    assert root_of(project.parent) == project.parent
    monkeypatch.setenv("HOME", str(project))
    assert root_of(project / "books") == project / "books"


def test_a_folder_of_many_entries_is_copied_as_far_as_it_is_near(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a home folder, or one that other programs put theirs into; a link to a folder stays a link."""
    monkeypatch.setattr("deskcheck.notebook.kernel.folders._ENTRIES", 30)
    there, here = tmp_path / "there", tmp_path / "here"
    for number in range(9):
        deep = there / f"folder{number}" / "deep" / "deeper"
        deep.mkdir(parents=True)
        (deep / "far.txt").write_text("far")
        (deep.parent.parent / "near.txt").write_text("near")
    (there / "linked").symlink_to(there / "folder0")
    assert copy_folder(str(there), str(here), 10) == 2  # two files of four bytes; the others are linked to
    for number in range(9):
        folder = here / f"folder{number}"
        assert (folder / "near.txt").read_text() == "near"
        assert (folder / "near.txt").is_symlink() is (number >= 2)
        assert (folder / "deep").is_symlink() is (number >= 2)
        assert (folder / "deep" / "deeper" / "far.txt").read_text() == "far"
    assert (here / "linked").is_symlink()
