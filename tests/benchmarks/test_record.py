"""benchmarks/record.py: that it measures what it says. Not: how fast anything is."""

import ast
import functools
import importlib.util
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
PROGRAMS = sorted((TOP / "benchmarks" / "programs").glob("*.py"))
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
TRACERS = ["deskcheck", "E.T.-style"] + ["PySnooper"] * (importlib.util.find_spec("pysnooper") is not None)


def record(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, TOP / "benchmarks" / "record.py", *arguments]
    # A shell starts what it puts in the background with SIGINT ignored, and that is inherited.
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, preexec_fn=listening
    )


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """All programs under all tracers, once, at their smallest size."""
    done = record("--size", "TINY", "--reps", "1", "--json")
    assert done.returncode == 0, done.stderr
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


@pytest.mark.slow
def test_every_program_is_measured_under_every_tracer(measured: dict[str, Any]) -> None:
    """A row for each pair with figures above zero, then the means of each tracer."""
    rows = measured["rows"]
    pairs = [(row["program"], row["tracer"]) for row in rows]
    programs = [path.stem for path in PROGRAMS] + ["geometric mean"]
    assert pairs == [(program, tracer) for program in programs for tracer in TRACERS]
    for row in rows:
        for name in ("events_per_s", "bytes_per_event", "zstd_bytes_per_event", "slowdown", "time_ratio"):
            assert row[name] > 0
        assert row["tracer"] != "deskcheck" or row["time_ratio"] == pytest.approx(1)


@pytest.mark.slow
def test_tracers_see_the_same_lines(measured: dict[str, Any]) -> None:
    """Without comprehensions all count the same line events; with one, ours counts its own way."""
    plain = {
        path.stem
        for path in PROGRAMS
        if not any(isinstance(node, COMPREHENSIONS) for node in ast.walk(ast.parse(path.read_text())))
    }
    assert plain
    for program in plain:
        assert len({row["lines"] for row in measured["rows"] if row["program"] == program}) == 1


@pytest.mark.slow
def test_the_table(tmp_path: Path) -> None:
    """Markdown with one line for each row, and the size that was measured above it."""
    program = tmp_path / "double.py"
    program.write_text("ONCE = 1\n\ndef main(n):\n    m = n + n\n    return m\n")
    done = record("--programs", tmp_path, "--size", "ONCE", "--reps", "1")
    assert done.returncode == 0, done.stderr
    above, _, *table = done.stdout.splitlines()
    assert "size ONCE; 1 repetitions" in above
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert {len(line) for line in cells} == {12}
    assert [line[:3] for line in cells[2:]] == (
        [["double", tracer, "2"] for tracer in TRACERS]
        + [["geometric mean", tracer, ""] for tracer in TRACERS]
    )


@pytest.mark.slow
def test_a_wrong_result_is_no_measurement(tmp_path: Path) -> None:
    """A program that does not return what it should is named with the difference, and the status says so."""
    program = tmp_path / "wrong.py"
    program.write_text("ONCE = 1\nEXPECT = {'ONCE': 3}\n\ndef main(n):\n    return n + n\n")
    done = record("--programs", program, "--size", "ONCE", "--reps", "1")
    assert done.returncode == 1
    assert "wrong.py under deskcheck at ONCE: RuntimeError: main(1) gave 2, not 3" in done.stderr


@pytest.mark.slow
def test_interrupted_it_prints_what_is_done(tmp_path: Path) -> None:
    """Ctrl-C in the second program: the table holds the first, and the status is that of an interrupt."""
    (tmp_path / "a.py").write_text("ONCE = 1\n\ndef main(n):\n    return n\n")
    (tmp_path / "b.py").write_text(
        f"import os\nONCE = 1\nos.kill(os.getppid(), {signal.SIGINT.value})\n"
        "import time\ntime.sleep(600)\n\ndef main(n):\n    return n\n"
    )
    done = record("--programs", tmp_path, "--size", "ONCE", "--reps", "1")
    assert done.returncode == 130
    assert [line.split("|")[1].strip() for line in done.stdout.splitlines()[4:]][:1] == ["a"]
    assert f"{len(TRACERS)} of {2 * len(TRACERS)} measurements are done" in done.stderr


def test_programs_that_are_not_there() -> None:
    """The path is named, with what is asked for."""
    done = record("--programs", "nowhere.py")
    assert done.returncode == 1
    assert done.stderr.startswith("nowhere.py: there is no such file or folder")
