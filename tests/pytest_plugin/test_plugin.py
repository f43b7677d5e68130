"""`pytest --deskcheck`, in a pytest of its own: pages of the last calls, and nothing else changed."""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

LIB = """\
import asyncio

def mean(numbers):
    total = sum(numbers)
    print("summed", total)
    return total / len(numbers)

class Stack:
    def __init__(self):
        self.items = []
    def push(self, item):
        self.items.append(item)
    def __repr__(self):
        return f"<Stack {self.items}>"

def squares(n):
    for i in range(n):
        yield i * i

async def fetch(n):
    for i in range(n):
        await asyncio.sleep(0)
    return n

def spin():
    while True:
        pass
"""
TESTS = """\
import asyncio, os, signal, sys, unittest
import lib, pytest

@pytest.fixture
def broken():
    return lib.mean([])

def test_passes(): assert lib.mean([1, 2, 3]) == 2
def test_returned(): assert lib.mean([1, 2, 3]) == 3
def test_raised(): lib.mean([])
def test_none(): assert 1 == 2
def test_setup(broken): pass
@pytest.mark.parametrize("n", [1, 2])
def test_param(n): assert lib.mean([n]) == 1
def test_repr():
    stack = lib.Stack()
    stack.push(1)
    assert stack == 5
def test_half():
    numbers = lib.squares(4)
    assert next(numbers) == 1
def test_thrown():
    numbers = lib.squares(4)
    next(numbers)
    try:
        numbers.throw(ValueError)
    except ValueError:
        pass
    assert lib.mean([4]) == 3
def test_coroutine(): assert asyncio.run(lib.fetch(3)) == 4
def test_output(capsys):
    lib.mean([2])
    assert capsys.readouterr().out == "summed 2\\n"
    assert lib.mean([2]) == 3
def test_stopped():
    def stop(*_): raise TimeoutError("too slow")
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        lib.spin()
    finally:
        signal.signal(signal.SIGALRM, before)
def test_tracing():
    sys.settrace(lambda *_: None)
    try:
        lib.mean([1])
    finally:
        sys.settrace(None)
    assert 0
@pytest.mark.xfail
def test_xfail(): lib.mean([])
class TestUnit(unittest.TestCase):
    def test_unit(self): self.assertEqual(lib.mean([3]), 4)
"""
SAID = {
    "test_returned": "mean(numbers=[1, 2, 3]) returned 2.0, 5 events",
    "test_raised": "mean(numbers=[]) raised ZeroDivisionError('division by zero'), 6 events",
    "test_none": "no page: the test did not call code of the project",
    "test_setup (setup)": "mean(numbers=[]) raised ZeroDivisionError('division by zero'), 6 events",
    "test_param[2]": "mean(numbers=[2]) returned 2.0, 5 events",
    "test_repr": "Stack.push(self=Stack#1(items=[]), item=1) returned None, 3 events",
    "test_half": "squares(n=4) it had not ended at the end of the test, 4 events",
    "test_thrown": "mean(numbers=[4]) returned 4.0, 5 events",
    "test_coroutine": "fetch(n=3) returned 3",
    "test_output": "mean(numbers=[2]) returned 2.0, 5 events",
    "test_stopped": "spin() raised TimeoutError('too slow')",
    "test_tracing": "no page: another trace function was active",
    "TestUnit::test_unit": "mean(numbers=[3]) returned 3.0, 5 events",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "src" / "lib.py").write_text(LIB)
    (tmp_path / "tests" / "test_lib.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['src']\n")
    return tmp_path


def run(project: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    ran = subprocess.run([*command, "-q", *options], cwd=project, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran.stdout


def told(output: str) -> dict[str, list[str]]:
    """Of each test in our part of the summary, its lines."""
    part = output.split("deskcheck: last calls of failed tests")[1].split("\n", 1)[1]
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in part.splitlines():
        if line.startswith("tests/"):
            lines = found[line.split("::", 1)[1]] = []
        elif line.startswith("    "):
            lines.append(line.strip())
    return found


def rest(output: str) -> str:
    """The output without our part, and without what differs between any two runs."""
    before, _, after = output.partition("deskcheck: last calls of failed tests")
    kept = (
        before.rpartition("\n")[0] + after[after.rindex("\n", 0, after.rindex(" failed")) :]
        if after
        else output
    )
    return re.sub(r"0x[0-9a-f]+|in [0-9.]+s|(?m:^\n)", "", kept)


@pytest.mark.slow
def test_pages_of_last_calls(project: Path) -> None:
    """Each failed test has its line and, where there was a call, its page; all else is as it is without us."""
    output = run(project, "--deskcheck", "--deskcheck-folder", "pages", "-rN")
    found = told(output)
    assert {name: lines[0].startswith(SAID[name]) for name, lines in found.items()} == dict.fromkeys(
        SAID, True
    )
    for name, lines in found.items():
        if "no page" not in lines[0]:
            address = urlparse(lines[1])
            page = Path(unquote(address.path))
            assert page.parent == project / "pages", name
            assert "<!doctype html>" in page.read_text()[:20]
    assert rest(output) == rest(run(project, "-rN"))


@pytest.mark.slow
def test_at_the_exception(project: Path) -> None:
    """The link leads to the event of the exception, as the page counts them."""
    lines = told(run(project, "--deskcheck", "--deskcheck-folder", "pages", "-k", "test_raised"))[
        "test_raised"
    ]
    assert lines[1].endswith("#event=4")


@pytest.mark.slow
def test_in_two_processes(project: Path) -> None:
    """Under pytest-xdist the same lines arrive."""
    pytest.importorskip("xdist", reason="would have proved that pages are linked from workers")
    found = told(run(project, "--deskcheck", "--deskcheck-folder", "pages", "-n", "2"))
    assert {name: lines[0].startswith(SAID[name]) for name, lines in found.items()} == dict.fromkeys(
        SAID, True
    )


def test_time_is_bounded(project: Path) -> None:
    """After so much CPU time a test's calls are recorded no more, and the summary says so."""
    told_of = ("--deskcheck", "--deskcheck-folder", "pages", "--deskcheck-seconds", "0", "-k", "test_raised")
    assert "--deskcheck-seconds" in told(run(project, *told_of))["test_raised"][0]


def test_without_a_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages go to a temporary folder where pytest keeps no cache. It goes again where it has none."""
    temporary = project / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    run(project, "--deskcheck", "-k", "test_none")
    assert list(temporary.glob("deskcheck-*")) == []
    run(project, "--deskcheck", "-k", "test_raised")
    page, recording = sorted(temporary.glob("deskcheck-*/*"), key=Path.is_dir)
    assert page == recording.with_name(f"{recording.name}.html")


def test_the_recording_of_a_failed_test_can_be_asked(project: Path) -> None:
    """The summary has the command, and a second run replaces the recording of the first."""
    asked_for = ("--deskcheck", "--deskcheck-folder", "pages", "-k", "test_raised")
    run(project, *asked_for)
    output = run(project, *asked_for)
    (line,) = [line for line in told(output)["test_raised"] if line.startswith("deskcheck why ")]
    folder = line.split()[2]
    asked = [sys.executable, "-m", "deskcheck", "find", folder, "--exceptions"]
    ran = subprocess.run(asked, cwd=project, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "exceptions: 1 event" in ran.stdout


def test_nothing_is_imported_while_it_is_off(project: Path) -> None:
    """Without the option the plugin's own module is all that comes, from a run of pytest itself."""
    (project / "tests" / "conftest.py").write_text(
        "import json, sys\n"
        "def pytest_sessionfinish():\n"
        "    names = sorted(name for name in sys.modules if name.split('.')[0] in ('deskcheck', 'pyarrow', 'rich'))\n"
        "    open('modules.json', 'w').write(json.dumps(names))\n"
    )
    run(project, "-k", "test_raised")
    found = json.loads((project / "modules.json").read_text())
    names = "_version lazy pytest_plugin pytest_plugin.plugin".split()
    assert found == ["deskcheck", *(f"deskcheck.{name}" for name in names)]
