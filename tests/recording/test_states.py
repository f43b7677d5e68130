"""The table of states: equal to the states of traces, and to what another tracer sees."""

import csv
import json
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import deskcheck
from deskcheck.cli.app import app
from deskcheck.recording import Environment, Program
from deskcheck.recording.reader import Recordings
from deskcheck.recording.states import STATES_SCHEMA
from deskcheck.recording.value import render
from deskcheck.recording.writer import Writer
from deskcheck.sandbox import Tracing, run
from tests.sample import spread

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.py"))
HERE = Environment(
    python="3.12.1",
    implementation="cpython",
    platform="linux-x86_64",
    hash_seed=0,
    deskcheck="0",
    tracer="native",
)
LOOPS = """
def shortened(words):
    kept = []
    for place, word in enumerate(words):
        if len(word) > 3:
            word = word[:3]
        kept.append(word)
    return kept

def tree(depth):
    if not depth:
        return {"leaf": []}
    left = tree(depth - 1)
    right = tree(depth - 1)
    left["leaf"] = [depth]
    return {"left": left, "right": right}

def main():
    alias = nested = [[1], (2, "x")]
    texts = shortened(["a", "abcd", "é" * 5])
    alias[0].append(texts)
    grown = tree(2)
    grown["left"]["left"] = {1.5, None}
    del texts
    return nested
"""


def _recorded(folder: Path, paths: list[Path]) -> Recordings:
    with Writer(folder) as writer:
        for path in paths:
            program = Program(id=path.stem, code=path.read_text(encoding="utf-8"), filename=path.name)
            with writer.begin(program) as spool:
                run_result = run(program, tracing=Tracing(spool.write))
                spool.finish(run_result, HERE)
    return Recordings(folder)


def _of_traces(recordings: Recordings, variable: str | None = None) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for recording in recordings:
        for trace in recording.traces:
            for event in trace:
                place = (recording.id, event.index, event.frame, event.function, event.line)
                for name, value in event.locals.items():
                    text = render(value).encode("utf-8", "backslashreplace").decode("utf-8")
                    if variable in (None, name):
                        rows.append((*place, name, text, trace.thread))
    return rows


def _of_table(reader: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for batch in reader for row in batch.to_pylist()]


@pytest.mark.parametrize("path", spread(PROGRAMS, 24, 12), ids=lambda path: path.stem)
def test_states_are_those_of_the_trace(path: Path, tmp_path: Path) -> None:
    """Every variable of every event, also of one variable alone."""
    recordings = _recorded(tmp_path / "runs", [path])
    true = _of_traces(recordings)
    assert _of_table(recordings.states()) == true
    names = {row[5] for row in true}
    for name in sorted(names)[:3]:
        assert _of_table(recordings.states(name)) == _of_traces(recordings, name)


def _seen_by_settrace(code: str) -> list[tuple[str, int, dict[str, str]]]:
    """Function, line and variables at each line event of the functions in this code."""
    lines = []

    def traced(frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code.co_filename != "loops.py":
            return None
        if event == "line" and frame.f_code.co_name != "<module>":
            values = {name: repr(value) for name, value in frame.f_locals.items()}
            lines.append((frame.f_code.co_qualname, frame.f_lineno, values))
        return traced

    names: dict[str, Any] = {}
    exec(compile(code, "loops.py", "exec", dont_inherit=True), names)
    before = sys.gettrace()
    sys.settrace(traced)
    try:
        names["main"]()
    finally:
        sys.settrace(before)
    return lines


def test_states_are_those_that_settrace_sees(tmp_path: Path) -> None:
    """At every line of functions, the `repr` of every local variable."""
    path = tmp_path / "loops.py"
    path.write_text(f"{LOOPS}\nmain()\n", encoding="utf-8")
    recordings = _recorded(tmp_path / "runs", [path])
    by_event: dict[int, dict[str, str]] = {}
    for _, index, _, _, _, variable, value, _ in _of_table(recordings.states()):
        by_event.setdefault(index, {})[variable] = value
    lines = [
        (event.function, event.line, by_event.get(event.index, {}))
        for event in recordings["loops"].trace
        if event.kind == "line" and event.function != "<module>"
    ]
    assert lines == _seen_by_settrace(LOOPS)


def test_states_are_read_lazily(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first batch is there before the second recording is read."""
    monkeypatch.setattr("deskcheck.recording.states._ROWS", 2)
    path = tmp_path / "loops.py"
    path.write_text("a = 1\nb = [a]\nb.append(b)\n", encoding="utf-8")
    recordings = _recorded(tmp_path / "runs", [path])
    read: list[str] = []

    class Watched(Recordings):
        def __iter__(self) -> Any:
            for recording in super().__iter__():
                read.append(recording.id)
                yield recording

    reader = Watched(tmp_path / "runs").states()
    assert read == []
    assert reader.schema == STATES_SCHEMA
    assert reader.read_next_batch().num_rows >= 2
    assert read == ["loops"]
    assert _of_table(Recordings(tmp_path / "runs").states()) == _of_traces(recordings)


def test_the_command_writes_every_form(tmp_path: Path) -> None:
    """Parquet, CSV and JSON lines have the same rows; other names are refused."""
    path = tmp_path / "loops.py"
    path.write_text(f"{LOOPS}\nmain()\n", encoding="utf-8")
    true = _of_traces(_recorded(tmp_path / "runs", [path]), "kept")
    assert true
    command = ["runs", "states", str(tmp_path / "runs"), "--variable", "kept"]
    for suffix in (".parquet", ".csv", ".jsonl"):
        done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / f"states{suffix}")])
        assert done.exit_code == 0, done.output
        assert f"{len(true):,} rows" in done.output
    table = pq.read_table(tmp_path / "states.parquet")
    assert table.schema.names == STATES_SCHEMA.names
    assert _of_table(table.to_batches()) == true
    with open(tmp_path / "states.csv", encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    assert names == STATES_SCHEMA.names
    assert rows == [[str(value) for value in row] for row in true]
    lines = (tmp_path / "states.jsonl").read_text(encoding="utf-8").splitlines()
    assert [tuple(json.loads(line).values()) for line in lines] == true
    printed = CliRunner().invoke(app, [*command, "--json"]).output.splitlines()
    assert [tuple(json.loads(line).values()) for line in printed] == true
    refused = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "states.txt")])
    assert ".parquet, .csv, .jsonl" in str(refused.exception)


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB and pandas read the stream as docs/reference/format.md says."""
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pandas")
    path = tmp_path / "sample_12.py"
    path.write_text("x = 0\nfor i in range(9):\n    x += i\n", encoding="utf-8")
    recordings = _recorded(tmp_path / "runs" / "crux", [path])
    page = (Path(__file__).parents[2] / "docs/reference/format.md").read_text(encoding="utf-8")
    section = page[page.index("## States") :]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code is not None
    states_of_x = {
        index: value for _, index, *_, variable, value, _ in _of_traces(recordings) if variable == "x"
    }
    monkeypatch.chdir(tmp_path)
    *before, query, blank, frame, count = code[1].splitlines()
    assert not blank
    names: dict[str, Any] = {"deskcheck": deskcheck, "duckdb": duckdb}
    exec("\n".join([*before, f"found = {query}.fetchall()", frame, f"counts = {count}"]), names)
    assert names["found"] == [(states_of_x[17],)]
    assert dict(names["counts"]) == {"sample_12": len(set(states_of_x.values()))}
