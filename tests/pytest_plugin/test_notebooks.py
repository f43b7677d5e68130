"""`pytest --deskcheck-notebooks`, in a pytest of its own, on real kernels."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from deskcheck.notebook.check.normalise import NORMALISERS
from deskcheck.notebook.check.sanitise import read_sanitisers
from deskcheck.notebook.settings import CheckSettings
from deskcheck.pytest_plugin.notebooks import FAIL_ON, register
from deskcheck.sandbox.confinement import Confinement
from tests.notebook.books import cell, printed, save
from tests.pages import ROOT, blocks

pytest.importorskip("ipykernel", reason="would have proved that notebooks are tests of pytest")
PEERS = Path(__file__).parents[1] / "notebook" / "tested_elsewhere"
GUIDE = ROOT / "docs" / "guides" / "notebooks.md"
TRUSTED = "--deskcheck-notebooks-options=--sandbox trusted --runs 1"


def run(folder: Path, *options: str, status: int = 1, cache: bool = False) -> str:
    command = [
        sys.executable,
        "-m",
        "pytest",
        *([] if cache else ["-p", "no:cacheprovider"]),
        "--deskcheck-notebooks",
    ]
    ran = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def outcomes(output: str) -> dict[str, str]:
    """Of `pytest -v`: each test with the word for what became of it."""
    found = {}
    for line in output.splitlines():
        name, _, rest = line.partition(".ipynb::")
        if rest and line.endswith("%]") and "::" not in name:
            test, _, word = rest.partition(" ")
            found[f"{name}::{test}"] = word.rpartition("[")[0].strip()
    return found


def writes(folder: Path, name: str, *sources: str) -> Path:
    """A notebook each run of which is a line in ``runs.txt``: at `trusted` a cell can write there."""
    log = f"open({str(folder / 'runs.txt')!r}, 'a').write({name!r} + chr(10)) and None"
    cells = [cell(log), *(cell(source, printed("1\n")) for source in sources)]
    return save(folder / name, *cells)


@pytest.mark.exhaustive
def test_a_script_with_cells_is_a_notebook_where_it_is_named(tmp_path: Path) -> None:
    """Given by name, and not in a folder; a file of tests stays one."""
    pytest.importorskip("jupytext", reason="would have proved that scripts with cells are tests")
    (tmp_path / "note.py").write_text("# %%\nx = 1\n\n# %%\n1 / 0\n")
    (tmp_path / "test_own.py").write_text("# %%\ndef test_own():\n    assert True\n\n\n# %%\n")
    output = run(tmp_path, "-v", "--deskcheck-notebooks-options=--sandbox trusted", "note.py", "test_own.py")
    words = [line.split()[:2] for line in output.splitlines() if "%]" in line]
    assert words == [
        ["note.py::cell-1", "PASSED"],
        ["note.py::cell-2", "FAILED"],
        ["test_own.py::test_own", "PASSED"],
    ]
    assert "note.py:5: cell-2" in output
    assert "1 passed" in run(tmp_path, status=0)


@pytest.mark.level("strict")
@pytest.mark.slow
def test_every_status_is_an_outcome(tmp_path: Path) -> None:
    """Each with its reason, in the terminal and in JUnit XML; what is no notebook is a test that fails, not the end."""
    save(
        tmp_path / "all.ipynb",
        cell("x = 1", count=1),
        cell("print(x)", printed("1\n")),
        cell("print(x)", printed("2\n")),
        cell(
            "object()",
            {
                "output_type": "execute_result",
                "execution_count": 1,
                "metadata": {},
                "data": {"text/plain": "<object at 0x7f00000001>"},
            },
        ),
        cell("import random; print(random.random())", printed("0.5\n")),
        cell("1 / 0", tags=("division",)),
        cell("1 / 0", tags=("skip-execution",)),
        cell("# NBVAL_SKIP\n1 / 0"),
        cell("import urllib.request as u; u.urlopen('http://example.com')"),
        cell("import os; os._exit(3)"),
        cell("print('goes on')", printed("goes on\n")),
    )
    save(tmp_path / "r.ipynb", cell("1"), kernelspec={"name": "ir", "language": "R"})
    (tmp_path / "text.ipynb").write_text("text")
    (tmp_path / "empty.ipynb").write_text("")
    save(tmp_path / "nothing.ipynb")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    save(tmp_path / ".ipynb_checkpoints" / "all-checkpoint.ipynb", cell("1 / 0"))
    output = run(tmp_path, "-v", "-rs", "--junitxml=junit.xml", "-o", "norecursedirs=")
    assert {name: word.partition(" (")[0] for name, word in outcomes(output).items()} == {
        "all::cell-2": "PASSED",
        "all::cell-3": "PASSED",
        "all::cell-4": "FAILED",
        "all::cell-5": "PASSED",
        "all::cell-6": "FAILED",
        "all::cell-7": "FAILED",
        "all::cell-8": "SKIPPED",
        "all::cell-9": "SKIPPED",
        "all::cell-10": "ERROR",
        "all::cell-11": "FAILED",
        "all::cell-12": "PASSED",
        "empty::notebook": "FAILED",
        "r::notebook": "ERROR",
        "text::notebook": "FAILED",
    }
    assert outcomes(output)["all::cell-2"] == "PASSED (nothing stored)"
    assert outcomes(output)["all::cell-5"] == "PASSED (normalised)"
    lines = (tmp_path / "all.ipynb").read_text()
    assert "all.ipynb:1: cell-4" in output  # the file has one line
    assert lines.count("\n") == 0
    for said in (
        "- 2\n+ 1",
        "confined: network: ",
        "--sandbox trusted",
        "kernel died",
        "not repeatable: ",
        "is not JSON",
    ):
        assert said in output
    tests = ET.parse(tmp_path / "junit.xml").getroot().iter("testcase")
    kinds = {
        f"{t.attrib['classname']}::{t.attrib['name']}": {e.tag for e in t} - {"properties"} for t in tests
    }
    assert kinds["all.ipynb::cell-4"] == {"failure"}
    assert kinds["all.ipynb::cell-10"] == {"error"}
    assert kinds["all.ipynb::cell-6"] == {"failure"}
    assert kinds["all.ipynb::cell-3"] == set()


@pytest.mark.slow
def test_a_notebook_runs_once_and_only_if_a_test_of_it_runs(tmp_path: Path) -> None:
    """--collect-only and a tag that no test has run nothing; a cell alone has those before it; --lf is what failed."""
    writes(tmp_path, "a.ipynb", "x = 1; print(x)", "print(x + 1)")
    writes(tmp_path, "b.ipynb", "print(1)")
    book = json.loads((tmp_path / "b.ipynb").read_text())
    book["cells"][2]["metadata"]["tags"] = ["mine"]
    (tmp_path / "b.ipynb").write_text(json.dumps(book))
    collected = run(tmp_path, TRUSTED, "--collect-only", "-q", "-k", "not mine", status=0)
    names = [line for line in collected.splitlines() if "::" in line]
    assert names == ["a.ipynb::cell-2", "a.ipynb::cell-3", "a.ipynb::cell-4", "b.ipynb::cell-2"]
    assert not (tmp_path / "runs.txt").exists()
    assert "3 passed" not in run(tmp_path, TRUSTED, "-q", cache=True)
    assert (tmp_path / "runs.txt").read_text().split() == ["a.ipynb", "b.ipynb"]
    output = run(tmp_path, TRUSTED, "-v", "--lf", cache=True)
    assert outcomes(output) == {"a::cell-4": "FAILED"}
    assert "- 1\n+ 2" in output
    assert (tmp_path / "runs.txt").read_text().split() == ["a.ipynb", "b.ipynb", "a.ipynb"]


def registered(folder: Path, ini: str, options: str) -> Any:
    """What the plugin registers for its options, in this process."""
    config: Any = mock.Mock(spec=["getini", "option", "rootpath", "pluginmanager"])
    config.getini.return_value = shlex.split(ini)
    config.option.deskcheck_notebooks_options = [options]
    config.rootpath = folder
    register(config)
    return config.pluginmanager.register.call_args[0][0]


def test_options_are_those_of_the_command(tmp_path: Path) -> None:
    """[tool.deskcheck] comes first, then pytest's ini file, then its command line; a file cannot say the sandbox."""
    (tmp_path / "pyproject.toml").write_text(
        "[tool.deskcheck.notebooks.check]\nfail-on = 'failed'\ncell-s = 7\nruns = 1\n"
    )
    made = registered(tmp_path, "--cell-s 8 --sandbox trusted", "--cell-s 9 --without all")
    assert (made.settings.limits.cell_s, made.settings.runs, made.settings.normalisers) == (9.0, 1, ())
    assert (made.settings.sandbox, made.failing) == (Confinement.TRUSTED, {"failed"})
    assert registered(tmp_path, "", "--fail-on 'none'").failing == set()
    (tmp_path / "pyproject.toml").write_text("")
    made = registered(tmp_path, "", "")
    normalisers = CheckSettings(normalisers=NORMALISERS)
    assert (made.settings, made.failing) == (normalisers, FAIL_ON)
    (tmp_path / "pyproject.toml").write_text("[tool.deskcheck.notebooks.check]\nsandbox = 'trusted'\n")
    with pytest.raises(pytest.UsageError, match="can only be given on the command line"):
        registered(tmp_path, "", "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--cell-s no", "--cell-s no: Invalid value for '--cell-s'"),
        ("--html a.html", "--html"),
        ("--fail-on never", "--fail-on never: unknown. The statuses are"),
        ("--sanitize-with none.cfg", "none.cfg: cannot be read"),
        ("--runs 0", "--runs"),
        ("other.ipynb", "other.ipynb"),
        ("--help", "on a command line"),
        ("'", "No closing quotation"),
    ],
)
def test_wrong_options_are_usage_errors(options: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(pytest.UsageError) as error:
        registered(tmp_path, "", options)
    assert said in str(error.value)
    assert str(error.value).startswith("--deskcheck-notebooks")


@pytest.mark.slow
def test_what_the_guide_shows_happens(tmp_path: Path) -> None:
    """Its printed lines, of a notebook that it fits; its settings of pytest, its file of rules, the names in its YAML."""
    shown = {block.language: block.text for block in blocks(GUIDE)}
    printed_ = next(block.text for block in blocks(GUIDE) if "analysis.ipynb::cell-2" in block.text)
    save(
        tmp_path / "analysis.ipynb",
        cell("x = 1"),
        cell("print(x)", printed("1\n")),
        cell("print(x)", printed("2\n")),
        cell("import random; print(random.random())", printed("0.5\n"), tags=("random-output",)),
    )
    output = run(tmp_path, TRUSTED, "-v", "--deskcheck-notebooks-options=--runs 2")
    wanted = {name: word.partition(" (not")[0] for name, word in outcomes(printed_).items()}
    assert {name: word.partition(" (not")[0] for name, word in outcomes(output).items()} == wanted
    failure = printed_[printed_.index("different: ") : printed_.index("analysis.ipynb:37")]
    assert failure.count("\n") == 5
    assert failure in output
    assert "analysis.ipynb:1: cell-4" in output
    (tmp_path / "sanitize.cfg").write_text(shown["ini"])
    assert [rule.name for rule in read_sanitisers(tmp_path / "sanitize.cfg")] == ["sanitize: time of day"]
    settings = tomllib.loads(shown["toml"])["tool"]["pytest"]["ini_options"]
    assert settings.pop("addopts") == ["--deskcheck-notebooks"]
    with contextlib.chdir(tmp_path):
        assert (
            registered(tmp_path, settings.pop("deskcheck_notebooks_options"), "").settings.limits.cell_s
            == 120
        )
    assert settings == {}
    yaml = pytest.importorskip(
        "yaml", reason="no PyYAML: would have proved that the guide's YAML names what there is"
    )
    hook, action = [yaml.safe_load(block.text) for block in blocks(GUIDE) if block.language == "yaml"]
    known = yaml.safe_load((GUIDE.parents[2] / ".pre-commit-hooks.yaml").read_text())
    assert [each["id"] for each in hook[0]["hooks"]] == [each["id"] for each in known]
    assert set(action[-1]["with"]) <= set(
        yaml.safe_load((GUIDE.parents[2] / "action.yml").read_text())["inputs"]
    )


@pytest.mark.slow
@pytest.mark.level("strict")
@pytest.mark.parametrize(
    ("folders", "options", "outcomes"),
    [
        (
            ["nbval", "papermill"],
            f"--sanitize-with '{PEERS / 'nbval' / 'sanitize.cfg'}'",
            "13 passed, 2 skipped, 2 xfailed",
        ),
        (["nbmake", "papermill"], "--fail-on failed,timed_out,unreadable", "10 passed, 1 skipped, 1 xfailed"),
    ],
)
def test_a_folder_of_other_tools_is_green(folders: list[str], options: str, outcomes: str) -> None:
    """As it is with them: nbval 0.11.0 says "15 passed, 2 skipped" of the first, nbmake 1.5.5 "3 passed" of the notebooks
    of the second, one of which has an output that nbmake does not look at. Here what nbval passes for its mark is xfailed."""
    output = run(PEERS, "-q", "--deskcheck-notebooks-options", options, *folders, status=0)
    assert outcomes in output


@pytest.mark.slow
def test_cells_of_a_notebook_go_to_one_process(tmp_path: Path) -> None:
    """Under pytest-xdist with --dist loadfile each notebook runs once; without, in each process, and outcomes are the same."""
    pytest.importorskip("xdist", reason="would have proved that notebooks are tests under pytest-xdist")
    for name in ("a.ipynb", "b [1]@x.ipynb"):
        writes(tmp_path, name, "x = 1; print(x)", "print(x + 1)", "print(x)")
    said = []
    for dist in (["--dist", "loadfile"], []):
        (tmp_path / "runs.txt").unlink(missing_ok=True)
        output = run(tmp_path, TRUSTED, "-q", "-n", "2", *dist)
        said.append(sorted(line for line in output.splitlines() if line.startswith("FAILED")))
        assert "2 failed, 6 passed" in output
        runs = sorted((tmp_path / "runs.txt").read_text().splitlines())
        assert runs == ["a.ipynb", "b [1]@x.ipynb"] if dist else set(runs) == {"a.ipynb", "b [1]@x.ipynb"}
    assert said[0] == said[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "workers", [[], pytest.param(["-n", "2"], marks=pytest.mark.exhaustive)], ids=["alone", "xdist"]
)
def test_an_interrupt_leaves_no_process(workers: list[str], tmp_path: Path) -> None:
    """Ctrl-C while a cell runs: pytest ends with its own status for that, and so does all that it started."""
    started = tmp_path / "started"
    save(
        tmp_path / "a.ipynb",
        cell(f"import os, time; open({str(started)!r}, 'w').write(str(os.getpid())); time.sleep(600)"),
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--deskcheck-notebooks",
        TRUSTED,
        *workers,
    ]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        while not (started.exists() and started.read_text()):
            assert process.poll() is None
            time.sleep(0.05)
        kernel = int(started.read_text())
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        output, _ = process.communicate(timeout=300)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == 2, output
    until = time.monotonic() + 60
    while os.path.exists(f"/proc/{kernel}") and time.monotonic() < until:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{kernel}")


@pytest.mark.slow
def test_odd_files_are_tests_too(tmp_path: Path) -> None:
    """Names with blanks, colons, line feeds; equal names in two folders, equal ids of cells; a folder nobody may write to;
    `--deskcheck` at the same time."""
    odd = "na: me,é\n::error x.ipynb"
    (tmp_path / "sub").mkdir()
    for path in (tmp_path / odd, tmp_path / "a.ipynb", tmp_path / "sub" / "a.ipynb"):
        save(path, cell("print(1)", printed("1\n")))
    twice = json.loads((tmp_path / "a.ipynb").read_text())
    twice["cells"] = [dict(cell("print(1)", printed("1\n")), id="same") for _ in range(2)]
    (tmp_path / "twice.ipynb").write_text(json.dumps(twice))
    (tmp_path / "sub").chmod(0o555)
    try:
        output = run(tmp_path, TRUSTED, "-q", "--deskcheck", status=0)
    finally:
        (tmp_path / "sub").chmod(0o755)
    assert "5 passed" in output
    alone = run(tmp_path, TRUSTED, "-q", "sub/a.ipynb::cell-2", status=0)  # pytest itself cannot take `odd`
    assert "1 passed" in alone
