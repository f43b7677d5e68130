"""Kernels that are installed for Jupyter: a small one of our own for ``sh``, and bash_kernel where it is there."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.errors import InputError
from deskcheck.notebook.check.check import check_notebooks
from deskcheck.notebook.check.job import _as_json, _from_json
from deskcheck.notebook.settings import CheckSettings
from deskcheck.view.notebooks_page import notebooks_facts
from tests.notebook.books import cell, checked, printed, save, statuses

pytest.importorskip("ipykernel", reason="would have proved that cells run in installed kernels")


def install(folder: Path, name: str, language: str, *command: str) -> None:
    """A kernelspec, as `jupyter kernelspec install` leaves it."""
    place = folder / "kernels" / name
    place.mkdir(parents=True)
    argv = [sys.executable, *command, "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": name, "language": language, "interrupt_mode": "signal"}
    (place / "kernel.json").write_text(json.dumps(spec))


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "jupyter"
    install(folder, "tests-sh", "sh", str(Path(__file__).with_name("sh_kernel.py")))
    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    monkeypatch.setenv("SEEN_BY_CELLS", "yes")
    return folder


SH = {"kernelspec": {"name": "tests-sh", "language": "sh"}}


@pytest.mark.slow
def test_every_status(kernels: Path, tmp_path: Path) -> None:
    """Cells of another language are compared with what is stored, and two runs with each other."""
    (tmp_path / "nb").mkdir()
    (tmp_path / "nb" / "data.txt").write_text("7\n")
    path = save(
        tmp_path / "nb" / "a.ipynb",
        cell("echo a", printed("a\n")),
        cell("echo b", printed("c\n")),
        cell("date +%N", printed("1\n")),
        cell("nosuch"),
        cell("echo e; exit 4", printed("e\n")),
        cell("cat data.txt; echo 8 > data.txt; echo $SEEN_BY_CELLS", printed("7\nyes\n")),
        cell("sleep 100"),
        cell("die"),
        cell("cat data.txt", printed("7\n")),
        cell("exit 1", tags=("raises-exception",)),
        cell("echo $PYTHONHASHSEED"),
        **SH,
    )
    found = checked(path, kernel="tests-sh", cell_s=2)
    assert [(cell.number, cell.status.value) for cell in found.cells] == [
        (2, "same"),
        (3, "different"),
        (4, "not_repeatable"),
        (5, "failed"),
        (6, "same"),
        (7, "same"),
        (8, "timed_out"),
        (9, "failed"),
        (10, "same"),
        (11, "no_stored_output"),
        (12, "not_repeatable"),
    ]
    by_number = {cell.number: cell for cell in found.cells}
    assert (by_number[5].category, by_number[5].message) == ("error", "status 127")
    assert (by_number[9].category, by_number[9].message) == ("kernel died", "the kernel's process ended")
    assert found.runs == 2
    assert any("without a sandbox" in note for note in found.notes)
    assert (tmp_path / "nb" / "data.txt").read_text() == "7\n"


def test_who_is_refused(kernels: Path, tmp_path: Path) -> None:
    """Notebooks of another language, with what to do; names of no kernel; a file of settings that names one."""
    path = save(tmp_path / "a.ipynb", cell("echo a", printed("a\n")), **SH)
    found = checked(path)
    assert found.status.value == "no_kernel"
    assert "is for sh (kernel 'tests-sh')" in found.detail
    assert "deskcheck notebooks check --kernel tests-sh" in found.detail
    r = save(tmp_path / "r.ipynb", cell("1"), kernelspec={"name": "ir", "language": "R"})
    assert checked(r, kernel="tests-sh").detail == (
        "the notebook is for R (kernel 'ir'), and the kernel 'tests-sh' is for sh"
    )
    with pytest.raises(InputError, match=r"--kernel ir: no such kernel .* Installed are: .*tests-sh"):
        checked(r, kernel="ir")
    (tmp_path / "pyproject.toml").write_text('[tool.deskcheck.notebooks.check]\nkernel = "tests-sh"\n')
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        ran = CliRunner().invoke(app, ["notebooks", "check", "a.ipynb"])
    finally:
        os.chdir(before)
    assert "kernel: can only be given on the command line" in str(ran.exception)


def test_it_is_said_wherever_a_report_is(kernels: Path, tmp_path: Path) -> None:
    """Table, JSON and page; and runs that --out keeps are not those of deskcheck's own kernel."""
    path = save(tmp_path / "a.ipynb", cell("print = 1", count=None), cell("echo = 2", printed("x")))
    arguments = ["notebooks", "check", str(path), "--out", str(tmp_path / "out"), "--fail-on", "none"]
    own = CliRunner().invoke(app, arguments)
    ran = CliRunner().invoke(app, [*arguments, "--kernel", "tests-sh"])
    assert "without a sandbox" in ran.output
    assert "without a sandbox" not in own.output
    settings = CheckSettings(kernel="tests-sh")
    report = check_notebooks([path], settings, out=tmp_path / "out")
    assert statuses(report.notebooks[0].cells) == ["failed", "different"]
    assert report.to_dict()["kernel"] == "tests-sh"
    facts = notebooks_facts(report)["facts"]
    assert "without a sandbox" in facts
    assert "in a sandbox" not in facts
    assert _from_json(_as_json(settings)).kernel == "tests-sh"


@pytest.mark.exhaustive
@pytest.mark.skipif(find_spec("bash_kernel") is None, reason="would have proved the same of bash_kernel")
def test_bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel of others, whose variables stay from cell to cell, as nbclient runs it."""
    install(tmp_path / "jupyter", "tests-bash", "bash", "-m", "bash_kernel")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    sources = ("x=3; echo $x", "echo $((x + 1))", "echo $RANDOM", "grep x /dev/null", "ls | wc -l")
    path = save(
        tmp_path / "a.ipynb", *map(cell, sources), kernelspec={"name": "tests-bash", "language": "bash"}
    )
    execute = [sys.executable, "-c", "from nbclient.cli import main; main()", "--inplace", "--allow-errors"]
    subprocess.run([*execute, str(path)], check=True, capture_output=True)
    found = checked(path, kernel="tests-bash")
    assert statuses(found.cells[:4]) == ["same", "same", "not_repeatable", "same"]
