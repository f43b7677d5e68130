"""What `make` calls: nothing that tests leave behind goes unseen, and a change names the tests that it touches."""

import ctypes
import functools
import importlib.machinery
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from coverage import CoverageData

from deskcheck.sandbox.linux import cgroup
from tests.conftest import unmeasured
from tests.sample import spread

ROOT = Path(__file__).parents[1]


COMMAND = [sys.executable, str(ROOT / "tools" / "tests"), "-c", os.devnull, "-p", "no:cacheprovider"]
ENVIRONMENT = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TESTS_PATIENCE_S": "1"}


def tool(name: str) -> Any:
    """A command of tools/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "tools" / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def finished(path: Path) -> subprocess.CompletedProcess[str]:
    """A run of the tests in a file."""
    return subprocess.run([*COMMAND, str(path)], env=ENVIRONMENT, capture_output=True, text=True, check=False)


def written(folder: Path, body: str) -> Path:
    """A test file that imports what each of these needs."""
    path = folder / "test_it.py"
    path.write_text(
        "import ctypes, os, subprocess, sys, tempfile, time\n\ndef test_it():\n"
        + textwrap.indent(textwrap.dedent(body), "    ")
    )
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "told"),
    [
        # Twice forked and in a session of its own: nobody's child, and in nobody's process group.
        pytest.param(
            "if os.fork() == 0:\n    os.setsid()\n    os.fork() or time.sleep(600)\n    os._exit(0)\nos.wait()",
            "process: ",
            id="a process",
        ),
        pytest.param(
            "tempfile.mkdtemp(prefix='forgotten-')",
            "temporary file: forgotten-",
            id="a folder",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_is_left_behind_is_named_and_ended(tmp_path: Path, body: str, told: str) -> None:
    """The tests pass, the exit status is 1 all the same, and what was left is gone."""
    ran = finished(written(tmp_path, body))
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == 1
    assert f"Left behind by the tests:\n  {told}" in ran.stderr
    again = finished(written(tmp_path, "pass"))
    assert (again.returncode, again.stderr) == (0, ""), "what was left is still there"


@pytest.mark.slow
def test_shared_memory_that_is_left_is_named(tmp_path: Path) -> None:
    """It is not removed where it may be somebody else's, who began at the same time."""
    number = tmp_path / "number"
    path = written(
        tmp_path, f"open({str(number)!r}, 'w').write(str(ctypes.CDLL(None).shmget(0, 12345, 0o1600)))"
    )
    ran = finished(path)
    ctypes.CDLL(None).shmctl(int(number.read_text()), 0, None)
    assert ran.returncode == 1
    assert ", key 0, 12345 bytes" in ran.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="would have proved that others' System V objects are not seen")
@pytest.mark.slow
def test_shared_memory_of_others_is_not_ours(tmp_path: Path) -> None:
    """What another clone's tests have made, and still have, when these end."""
    begun, made = tmp_path / "begun", tmp_path / "made"
    body = (
        f"open({str(begun)!r}, 'w').close()\nwhile not os.path.exists({str(made)!r}):\n    time.sleep(0.01)"
    )
    with subprocess.Popen([*COMMAND, str(written(tmp_path, body))], env=ENVIRONMENT) as process:
        while not begun.exists() and process.poll() is None:
            time.sleep(0.01)
        number = ctypes.CDLL(None).shmget(0, 12345, 0o1600)
        made.touch()
        status = process.wait()
    assert (ctypes.CDLL(None).shmctl(number, 0, None), status) == (0, 0)


def test_only_the_control_groups_of_the_tests_are_theirs(tmp_path: Path) -> None:
    """Others run tests at the same time, and kill theirs: what these leave is not ours."""
    try:
        above = next(iter(cgroup.places().values())).folder
    except cgroup.Unavailable as error:
        pytest.skip(f"{error}: would have proved that groups of other tests are not taken for ours")
    ours, others = (Path(above, cgroup.own_prefix(name) + "left") for name in (str(tmp_path), "/of/others"))
    try:
        ours.mkdir()
        others.mkdir()
        assert tool("tests")._groups(tmp_path) == {str(ours)}
    finally:
        for folder in (ours, others):
            if folder.exists():  # the next sandbox of any test may have swept it
                folder.rmdir()


@pytest.mark.parametrize("how", spread(["Ctrl-C", "SIGTERM, in the background"], 2))
def test_after_an_interrupt_nothing_is_left(tmp_path: Path, how: str) -> None:
    """In the middle of a test: exit status 130, the fixtures have ended what they had, and no file is left."""
    path = tmp_path / "test_it.py"
    path.write_text(
        "import subprocess, sys, tempfile, time, pathlib, pytest\n\n@pytest.fixture\ndef started():\n"
        "    with tempfile.TemporaryDirectory() as folder:\n"
        "        process = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "        yield folder\n        process.kill()\n        process.wait()\n\n"
        f"def test_it(started):\n    pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n    time.sleep(600)\n"
    )
    terminal = how == "Ctrl-C"
    # A shell starts what it puts into the background with SIGINT ignored, and that is inherited.
    inherited = functools.partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL if terminal else signal.SIG_IGN
    )
    with subprocess.Popen(
        [*COMMAND, str(path)],
        env={**ENVIRONMENT, "TESTS_PATIENCE_S": "20"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=inherited,
    ) as running:
        end = time.monotonic() + 300
        while not (tmp_path / "begun").exists() and time.monotonic() < end and running.poll() is None:
            time.sleep(0.02)
        if terminal:
            os.killpg(running.pid, signal.SIGINT)  # a terminal sends it to the whole group
        else:
            running.terminate()
        said, errors = running.communicate(timeout=300)
    assert running.returncode == 130, said + errors
    assert "Nothing is left behind" in said


MEASURED = """
import sys
from deskcheck.ask.results.statistics import student_t_within

def test_one():
    sys.settrace(None)

def test_two():
    assert student_t_within(0.0, 5) == 0.0
"""


@pytest.mark.slow
def test_coverage_goes_on_after_a_test_that_ends_it(tmp_path: Path) -> None:
    """What a test reaches is measured, and ascribed to it, also where the one before took the trace function away."""
    (tmp_path / "test_it.py").write_text(MEASURED)
    command = [
        *(sys.executable, "-m", "coverage", "run", f"--rcfile={ROOT / 'pyproject.toml'}"),
        *(f"--data-file={tmp_path / 'data'}", "-m", "pytest", "-c", os.devnull, "-p", "no:cacheprovider"),
        *("-p", "tests.conftest", str(tmp_path)),
    ]
    with unmeasured():
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (file,) = tmp_path.glob("data*")
    read = CoverageData(str(file))
    read.read()
    ran = read.contexts_by_lineno(str(ROOT / "src/deskcheck/ask/results/statistics.py"))
    assert {name.partition("::")[2] for names in ran.values() for name in names} >= {"test_two"}


@pytest.fixture(scope="module")
def changed() -> Any:
    return tool("changed")


@pytest.mark.slow
def test_a_change_names_the_tests_that_it_touches(changed: Any) -> None:
    """Through imports, in functions too; by name, for what is run as a command; everything, for what all rests on."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git, or no checkout: would have proved that a change names the tests that it touches")
    files = changed.python_files()
    statistics = changed.touched(["src/deskcheck/ask/results/statistics.py"], files)
    assert "tests/ask/test_statistics.py" in statistics
    assert "tests/test_cli.py" in statistics, "the command line imports it on first use"
    assert "tests/tracer/test_native.py" not in statistics
    assert changed.touched(["tests/ask/test_run.py"], files) == ["tests/ask/test_run.py"]
    assert "tests/tracer/test_native.py" in changed.touched(["src/deskcheck/tracer/c/emit.h"], files)
    assert "tests/test_readme.py" in changed.touched(["README.md"], files)
    level = changed.touched(["packages/deskcheck-levels/src/deskcheck_levels/paper/cells.py"], files)
    assert "packages/deskcheck-levels/tests/levels/test_paper.py" in level, "of a package of packages/"
    assert "tests/teach/test_nano.py" not in level
    assert len(changed.touched(["pyproject.toml"], files)) > 130
    called = changed.touched(["src/deskcheck/tracer/call.py"], files)
    assert "tests/tracer/test_drain.py" in called, "`deskcheck.trace` is found on first use"
    assert "tests/tracer/test_drain.py" in changed.touched(["src/deskcheck/recording/trace.py"], files)


@pytest.mark.parametrize(
    ("message", "status", "said"),
    [
        ("ask: warn once\n", 0, ""),
        ("ask: warn once\n\nBecause two models had two entries.\n", 0, ""),
        ("Merge branch 'a branch with a name that is far too long for a subject of ours'\n", 0, ""),
        ("x" * 61 + "\n", 1, "has 61 characters"),
        ("ask: warn once.\n", 1, "full stop"),
        ("ask: warn once\nof each question\n", 1, "second line is not empty"),
    ],
)
def test_the_hook_reads_subjects(tmp_path: Path, message: str, status: int, said: str) -> None:
    """A subject has one line of at most 60 characters; a refusal says why."""
    (tmp_path / "message").write_text(message)
    hook = [str(ROOT / "tools" / "hooks" / "commit-msg"), str(tmp_path / "message")]
    done = subprocess.run(hook, capture_output=True, text=True)
    assert (done.returncode, said in done.stderr) == (status, True)
