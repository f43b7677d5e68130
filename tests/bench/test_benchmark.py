"""`deskcheck bench`: a small real project, from its folder to a benchmark with its page."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask.questions.lines import lines_of, sample_in
from deskcheck.bench.benchmark import missing_of
from deskcheck.files import FolderLock
from deskcheck.recording.reader import Recordings
from tests.command import PROCESS, deskcheck
from tests.conftest import unmeasured
from tests.pages import page_facts

SHOP: dict[str, str] = tomllib.loads(Path(__file__).with_name("shop.toml").read_text("utf-8"))["files"]
TESTS, LACKING = SHOP["test_tools"], SHOP["test_lacking"]


def project(folder: Path, **tests: str) -> Path:
    """A package in ``src``, with tests and a licence."""
    package = folder / "src" / "shop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "tools.py").write_text(SHOP["tools"])
    (folder / "tests").mkdir()
    for name, text in (tests or {"test_tools": TESTS}).items():
        (folder / "tests" / f"{name}.py").write_text(textwrap.dedent(text))
    (folder / "LICENSE").write_text(SHOP["licence"])
    (folder / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1.2"\n')
    return folder


@pytest.fixture(scope="module", autouse=True)
def nobody_is_watching() -> Iterator[None]:
    """Tests that ask whether they are traced would find what measures us."""
    with unmeasured():
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a benchmark, and what the command printed."""
    folder = tmp_path_factory.mktemp("bench")
    project(folder / "shop", test_tools=TESTS, test_lacking=LACKING)
    ran = bench(folder)
    assert ran.returncode == 0, ran.stderr
    return folder / "bench-shop", ran.stdout


def bench(folder: Path, *more: str, name: str = "shop") -> subprocess.CompletedProcess[str]:
    return deskcheck("bench", name, "--python", sys.executable, "--workers", "1", *more, cwd=folder)


def test_the_functions_are_asked_about_and_never_the_tests(made: tuple[Path, str]) -> None:
    """Each public function that a test calls has questions; a generator, and what nobody calls, are named."""
    place, printed = made
    facts = json.loads((place / "bench.json").read_text())
    asked = {each["name"]: sum(each["samples"].values()) for each in facts["functions"] if each["samples"]}
    assert asked.keys() >= {"price", "grade", "words", "Basket.add", "_own"}
    with_made = {each["name"] for each in facts["functions"] if each["made"]}
    assert with_made == {"nobody_calls_this", "each", "Basket.count"}
    assert {each["module"] for each in facts["functions"]} == {"shop.tools"}
    why_not = {each["name"]: each["why_not"] for each in facts["functions"] if each["why_not"]}
    assert why_not == {
        "of_stream": "no test calls it; none of the inputs that were tried could be kept",
        "Basket.size": "no test calls it; is a property",
    }
    told = {"asked_about": 7, "all": 9, "from_tests": 4, "from_made_inputs": 3}
    assert facts["public_functions"] == told
    assert facts["clusters"] == len(asked)
    assert "public functions asked about: 7 of 9 (78 %)" in printed
    assert "4 from tests, 3 from made inputs, 2 left out" in printed


def test_the_file_of_questions_is_the_benchmark(made: tuple[Path, str]) -> None:
    """As many of each kind as the facts say, of these functions, and each with its licence in the recordings."""
    place, _ = made
    facts = json.loads((place / "bench.json").read_text())
    samples = [sample_in(line.raw) for line in lines_of(place / "questions.jsonl")]
    assert len(samples) == facts["samples"] > 20
    asked_of = {sample.id: sample.program for sample in samples}
    recordings = Recordings(place / "recordings")
    for line in lines_of(place / "questions.jsonl"):
        row = json.loads(line.raw)
        extra = recordings[asked_of[row["id"]]].program.extra
        assert row["made_from"] == ("made inputs" if "input" in extra else "tests")
        assert ("input" in extra) != ("test" in extra)
    for kind in facts["kinds"]:
        of_kind = [sample for sample in samples if sample.question == kind["name"]]
        assert len(of_kind) == kind["samples"]
        assert len({sample.cluster for sample in of_kind}) == kind["functions"]
        assert not of_kind or kind["scores"]["oracle"]["value"] == 1
        assert not of_kind or kind["scores"]["guess"]["value"] < 1
    assert {recording.program.licence for recording in recordings} == {"BSD-3-Clause"}
    assert not any("test_" in recording.program.entry for recording in recordings if recording.program.entry)
    assert facts["licence"] == {"name": "BSD-3-Clause", "where": "LICENSE"}


def test_what_tests_lack_is_named(made: tuple[Path, str]) -> None:
    """A fixture with its package, a module, the network; a failing test with its reason."""
    _, printed = made
    assert (
        "missing: fixture benchmark, for 1 test: add it with --replace --with-package pytest-benchmark"
        in printed
    )
    assert "missing: module there_is_no_such_module, for 1 test" in printed
    assert "failed for lack of a network: 1 test" in printed
    assert "tests/test_lacking.py::test_wrong: AssertionError: assert '<b>one</b>' == 'two'" in printed


def test_the_page_says_all_of_it(made: tuple[Path, str]) -> None:
    """Figures, functions, reasons, licence; hostile text stays text, and nothing is loaded."""
    place, _ = made
    page = (place / "index.html").read_text()
    shown = page_facts(page)
    stored = json.loads((place / "bench.json").read_text())
    assert shown["title"] == "A benchmark of shop 1.2"
    assert "BSD-3-Clause" in shown["facts"]
    assert shown["samples"] == stored["samples"]
    public = shown["public_functions"]
    assert (public["asked_about"], public["all"]) == (7, 9)
    assert "Basket.add" in {function["name"] for function in shown["functions"]}
    assert any(function["made"] for function in shown["functions"])
    assert "no test calls it; is a property" in {function["why_not"] for function in shown["functions"]}
    assert "pytest-benchmark" in {missing["package"] for missing in shown["missing"]}
    assert {kind["oracle"] for kind in shown["kinds"]} <= {1.0, None}
    assert "<b>one</b>" not in page
    assert not re.findall(r"(?:src|href)=\"", page)


def test_the_same_command_again_records_nothing(made: tuple[Path, str]) -> None:
    """It reads what is there; of a project that has changed it refuses, and --replace makes anew."""
    place, printed = made
    before = (place / "recorded.json").stat().st_mtime_ns
    again = bench(place.parent)
    assert (again.returncode, again.stdout) == (0, printed)
    assert (place / "recorded.json").stat().st_mtime_ns == before
    lock = FolderLock(place)
    try:
        assert "only one writer at a time" in bench(place.parent).stderr
    finally:
        lock.release()
    tools = place.parent / "shop" / "src" / "shop" / "tools.py"
    text = tools.read_text()
    try:
        tools.write_text(text + "\n\ndef more(x):\n    return x\n")
        refused = bench(place.parent)
        assert refused.returncode == 2
        others = bench(place.parent, "--with-package", "six")
        assert "was made before, with other options or for another project" in others.stderr
        assert "the project has changed since. Make it again with --replace" in refused.stderr
    finally:
        tools.write_text(text)


def test_made_inputs_do_what_plain_python_does(made: tuple[Path, str]) -> None:
    """Each recorded call with made inputs, a method's too, made again by another interpreter, unrecorded."""
    place, _ = made
    calls = {}
    for recording in Recordings(place / "recordings"):
        program = recording.program
        if "input" in program.extra and program.entry != "each":
            calls[f"{program.entry}{program.arguments}"] = recording.run_result.result
            if program.entry == "Basket.count":  # what a prompt has to show of a long file
                assert program.extra["needs"] == {"shop/tools.py": ["Basket.__init__"]}
    assert {call.partition("(")[0] for call in calls} == {"nobody_calls_this", "Basket.count"}
    code = "import sys; from shop.tools import *; print(*(repr(eval(c)) for c in sys.argv[1:]), sep='\\n')"
    ran = subprocess.run(
        [sys.executable, "-c", code, *calls],
        env={"PYTHONPATH": str(place.parent / "shop" / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines() == list(calls.values())


@pytest.mark.slow
def test_made_inputs_can_be_left_out(tmp_path: Path) -> None:
    """Then only what tests call is asked about, and the reasons are those of the tests."""
    project(tmp_path / "shop")
    ran = bench(tmp_path, "--no-inputs")
    assert ran.returncode == 0, ran.stderr
    assert "4 from tests, 0 from made inputs, 5 left out" in ran.stdout
    assert "not asked about: 1, a generator or coroutine" in ran.stdout


BAD: dict[str, tuple[Any, str]] = {
    "no folder": (lambda at: None, "no such folder"),
    "a file": (lambda at: at.write_text("x"), "is a file: name the folder that contains it"),
    "no project": (lambda at: at.mkdir(), "is not a Python project: it has no Python files"),
    "no tests": (
        lambda at: (at.mkdir(), (at / "a.py").write_text("x = 1\n")),
        "has no tests: no file in it is named",
    ),
    "unparsable settings": (
        lambda at: (project(at), (at / "pyproject.toml").write_text("[project\n")),
        "pyproject.toml: cannot be read:",
    ),
    "nothing runs": (
        lambda at: project(at, test_x="import there_is_no_such_module\n"),
        "no test finished",
    ),
    "no call": (lambda at: project(at, test_x="def test_x():\n    pass\n"), "no call of a function in"),
}


@pytest.mark.parametrize(
    "what",
    [pytest.param(what, marks=[pytest.mark.slow] * (what in ("nothing runs", "no call"))) for what in BAD],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(what: str, tmp_path: Path) -> None:
    """With exit status 2, and no traceback."""
    make, said = BAD[what]
    make(tmp_path / "shop")
    ran = bench(tmp_path)
    assert ran.returncode == 2, ran.stdout
    assert said in ran.stderr
    assert (
        "Traceback (most recent call last)" not in ran.stderr.replace("\n", " ").partition("pytest failed")[0]
    )


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    project(tmp_path / "shop")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    ran = bench(tmp_path, "--out", "other", "--replace")
    assert ran.returncode == 2
    assert "contains something other than a benchmark" in ran.stderr
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["mine.txt"]
    (tmp_path / "file").write_text("")
    ran = bench(tmp_path, "--out", "file")
    assert ran.returncode == 2
    assert "file: cannot be made" in ran.stderr


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    """The command says so, with status 130; the same command goes on and ends."""
    slow = TESTS + "\n\ndef test_slow():\n    import time\n    time.sleep(4)\n"
    project(tmp_path / "shop", test_tools=slow)
    command = [*PROCESS, "bench", "shop", "--python", sys.executable]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    kept = tmp_path / "bench-shop" / "recordings" / ".suite"
    end = time.monotonic() + 120
    while not [*kept.rglob("unwatched")] and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "interrupted: finished work is in bench-shop; rerun the command to resume" in said
    again = bench(tmp_path)
    assert again.returncode == 0, again.stderr
    assert "public functions asked about: 7 of 9" in again.stdout


def test_what_is_missing_is_read_from_reasons() -> None:
    """Counted by what is missing, the most first."""
    found = missing_of(
        {
            "a": "fixture 'mocker' not found\n available fixtures: x",
            "b": "fixture 'mocker' not found",
            "c": "ModuleNotFoundError: No module named 'freezegun'",
            "d": "assert 1 == 2",
            "e": "async def functions are not natively supported.",
        }
    )
    assert [(each.what, each.package, each.tests) for each in found] == [
        ("fixture mocker", "pytest-mock", 2),
        ("module freezegun", None, 1),
        ("a plugin that runs coroutines, or its mark", "pytest-asyncio", 1),
    ]
