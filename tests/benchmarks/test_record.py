"""benchmarks/: that it measures what it says, and that the page says what was measured. Not: how fast anything is."""

import ast
import functools
import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
PROGRAMS = sorted((TOP / "benchmarks" / "programs").glob("*.py"))
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
OURS = ["deskcheck, blocks", "deskcheck, Parquet"]
PEERS = {"PySnooper": "pysnooper", "hunter": "hunter", "viztracer": "viztracer"}
INSTALLED = [peer for peer, module in PEERS.items() if importlib.util.find_spec(module) is not None]
TRACERS = [*OURS, "deskcheck reference", "E.T.-style", *INSTALLED]
QUICK = (
    "--parts",
    "lines",
    "--tracers",
    "deskcheck, Parquet;E.T.-style",
    "--reps",
    "1",
    "--own-size",
    "ONCE",
)


def record(*arguments: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, TOP / "benchmarks" / "record.py", *arguments]
    # A shell starts what it puts in the background with SIGINT ignored, and that is inherited.
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        preexec_fn=listening,
        env=os.environ | environment,
    )


def tables(text: str) -> list[list[list[str]]]:
    """The cells of every Markdown table."""
    found: list[list[list[str]]] = []
    table: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            table.append([cell.strip() for cell in line.strip("|").split(" | ")])
        elif table:
            found, table = [*found, table], []
    return found


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """All programs under all tracers, once, at their smallest size."""
    done = record(
        "--size", "TINY", "--own-size", "TINY", "--parts", "lines,outside,probes", "--reps", "1", "--json"
    )
    assert done.returncode == 0, done.stderr
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


@pytest.mark.exhaustive
def test_every_program_is_measured_under_every_tracer(measured: dict[str, Any]) -> None:
    """A row for each pair with figures above zero, and the means of each tracer."""
    rows = [row for row in measured["rows"] if row["part"] == "lines"]
    pairs = {(row["program"], row["tracer"]) for row in rows}
    programs = [path.stem for path in PROGRAMS] + ["geometric mean"]
    assert pairs == {(program, tracer) for program in programs for tracer in TRACERS}
    for row in rows:
        assert row["slowdown"] > 0
        assert set(row["ratios"]) == set(OURS)
        assert row["tracer"] not in OURS or row["ratios"][row["tracer"]] == pytest.approx(1)


@pytest.mark.exhaustive
def test_tracers_see_the_same_lines(measured: dict[str, Any]) -> None:
    """Without comprehensions those that can be counted have the same line events; with one, ours counts its own way."""
    plain = {
        path.stem
        for path in PROGRAMS
        if not any(isinstance(node, COMPREHENSIONS) for node in ast.walk(ast.parse(path.read_text())))
    }
    assert plain
    for program in plain:
        counts = {
            row["tracer"]: row["lines"]
            for row in measured["rows"]
            if row["program"] == program and "lines" in row
        }
        assert {"deskcheck, Parquet", "deskcheck reference", "E.T.-style"} <= counts.keys()
        assert len(set(counts.values())) == 1


@pytest.mark.exhaustive
def test_what_each_tracer_shows(measured: dict[str, Any]) -> None:
    """Ours shows everything that the probes ask for; forty lines of `repr` show neither attributes, identity nor iterators."""
    seen = {row["tracer"]: row["seen"] for row in measured["measurements"] if row["part"] == "probes"}
    assert set(seen) == set(TRACERS) - {"deskcheck, Parquet"}
    assert set(seen["deskcheck, blocks"].values()) == {True}
    assert [feature for feature, shown in seen["E.T.-style"].items() if not shown] == [
        "attribute of an object",
        "identity",
        "live iterators",
    ]


@pytest.mark.exhaustive
def test_code_that_is_not_recorded_is_measured(measured: dict[str, Any]) -> None:
    """Both shapes, under ours and the forty lines."""
    pairs = {(row["program"], row["tracer"]) for row in measured["measurements"] if row["part"] == "outside"}
    programs = ("few_long_calls", "many_short_calls")
    assert pairs == {
        (program, tracer) for program in programs for tracer in ("deskcheck, blocks", "E.T.-style")
    }


@pytest.mark.slow
def test_the_page_keeps_what_is_around_the_figures(tmp_path: Path) -> None:
    """Figures go between the markers, in place of older ones, with the versions and the notes; the rest stays."""
    (tmp_path / "double.py").write_text("ONCE = 1\n\ndef main(n):\n    m = n + n\n    return m\n")
    page = tmp_path / "page.md"
    text = (TOP / "lab" / "benchmarks.md").read_text()
    before, begin, rest = text.partition("<!-- figures: written by benchmarks/record.py -->")
    _, end, after = rest.partition("<!-- end of the figures -->")
    assert begin
    assert end
    page.write_text(f"{before}{begin}\nold figures\n{end}{after}more\n")
    done = record(*QUICK, "--programs", tmp_path, "--size", "ONCE", "--publish", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert text.startswith(before + begin)
    assert text.endswith(f"{end}{after}more\n")
    assert "old figures" not in text
    assert f"CPython {sys.version.split()[0]}" in text
    by_head = {table[0][1]: table for table in tables(text) if len(table[0]) > 1}
    assert by_head["double"][0] == ["", "double", "geometric mean"]
    assert [line[0] for line in by_head["line events"][2:]] == ["double"]
    assert by_head["line events"][2][1] == "2"


@pytest.mark.slow
def test_a_page_without_markers_is_refused(tmp_path: Path) -> None:
    """Before anything is measured."""
    page = tmp_path / "page.md"
    page.write_text("# Mine\n")
    done = record("--publish", page)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{page}: it has no lines '<!-- figures")
    assert page.read_text() == "# Mine\n"


@pytest.mark.slow
def test_a_missing_peer_is_named_and_left_out(tmp_path: Path) -> None:
    """With the command that installs it; what is there is measured. Here one is there in name only."""
    (tmp_path / "double.py").write_text("ONCE = 1\n\ndef main(n):\n    m = n + n\n    return m\n")
    hidden = tmp_path / "path"
    hidden.mkdir()
    # sitecustomize runs at the start of every interpreter: importlib finds no hunter from then on.
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['hunter'] = None\n")
    path = os.pathsep.join(filter(None, (str(hidden), os.environ.get("PYTHONPATH"))))
    chosen = ("--parts", "lines", "--tracers", "E.T.-style;hunter", "--reps", "1", "--own-size", "ONCE")
    done = record(*chosen, "--programs", tmp_path / "double.py", "--size", "ONCE", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    said = f"hunter is left out for Python {version}, since it is not installed: pip install 'hunter>=3.9'"
    assert said in done.stderr
    assert f"- {said}" in done.stdout
    slowdowns = next(table for table in tables(done.stdout) if "double" in table[0])
    assert [line[0] for line in slowdowns[2:]] == ["E.T.-style (ONCE)"]


@pytest.mark.slow
def test_a_wrong_result_is_no_measurement(tmp_path: Path) -> None:
    """A program that does not return what it should is named with the difference, and the status says so."""
    program = tmp_path / "wrong.py"
    program.write_text("ONCE = 1\nEXPECT = {'ONCE': 3}\n\ndef main(n):\n    return n + n\n")
    done = record(*QUICK, "--programs", program, "--size", "ONCE")
    assert done.returncode == 1
    assert "wrong under E.T.-style at ONCE on Python" in done.stderr
    assert "RuntimeError: main(1) gave 2, not 3" in done.stderr


@pytest.mark.slow
def test_interrupted_it_prints_what_is_done(tmp_path: Path) -> None:
    """Ctrl-C in the second program: the table holds the first, and the status is that of an interrupt."""
    (tmp_path / "a.py").write_text("ONCE = 1\n\ndef main(n):\n    return n\n")
    (tmp_path / "b.py").write_text(
        f"import os\nONCE = 1\nos.kill(os.getppid(), {signal.SIGINT.value})\n"
        "import time\ntime.sleep(600)\n\ndef main(n):\n    return n\n"
    )
    done = record(*QUICK, "--programs", tmp_path, "--size", "ONCE")
    assert done.returncode == 130
    assert any("a" in table[0] and "b" not in table[0] for table in tables(done.stdout))
    assert "2 of 4 measurements are done" in done.stderr


@pytest.mark.slow
def test_programs_that_are_not_there() -> None:
    """The path is named, with what is asked for."""
    done = record("--programs", "nowhere.py")
    assert done.returncode == 1
    assert done.stderr.startswith("nowhere.py: there is no such file or folder")
