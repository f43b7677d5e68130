"""Logs of the JuNE recorder: the columns of the report, moves absent, places drifting, restarts."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import InputError
from deskcheck.notebook.kernel.replayer import replay
from deskcheck.notebook.trajectory.june import read_june
from deskcheck.notebook.trajectory.trajectory import Insertion, Restart, Status, check

COLUMNS = (
    "action_id time session_id kernel_id notebook_name event cell_index cell_num cell_type cell_source "
    "cell_output user_id expert"
).split()


def log(path: Path, *rows: dict[str, Any]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        for number, row in enumerate(rows):
            given = {"action_id": number, "time": f"2023-05-06T10:00:{number:02d}.000Z", "kernel_id": "k1"}
            given |= {"user_id": "u1", "notebook_name": "n", "session_id": "s", "expert": "False"}
            writer.writerow(given | row)
    return path


def event(kind: str, cell: str = "", num: Any = "", source: str = "", **more: Any) -> dict[str, Any]:
    return {"event": kind, "cell_index": cell, "cell_num": num, "cell_source": source} | more


SESSION = (
    event("create", "c1", 0, ""),
    event("execute", "c1", 0, "x = 1"),
    event("finished_execute", "c1", 0, "x = 1"),
    event("create", "c2", 1, ""),
    event("execute", "c2", 5, "x / 0"),
    event(
        "error",
        "c2",
        1,
        "x / 0",
        cell_output=json.dumps(
            [{"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero"}]
        ),
    ),
    event("finished_execute", "c2", 1, "x / 0"),
    event("kernel_restarting"),
    event("execute", "c9", 99, "print(2)"),
    event("rendered", "m1", 0, "# title", cell_type="markdown"),
    event("execute", "c1", 0, "x = 2"),
    event("kernel_interrupting"),
    event("delete", "c2", 1, "x / 0"),
    event("delete", "c7", 1, ""),
    event("notebook_renamed"),
)


def test_a_session(tmp_path: Path) -> None:
    """Executions with their sources and ends, and what came between, in steps that follow each other."""
    (found,) = read_june(log(tmp_path / "log.csv", *SESSION))
    check(found.cells, found.steps)
    ran = list(found.executions)
    assert [(e.cell, e.source, e.status) for e in ran] == [
        ("c1", "x = 1", Status.OK),
        ("c2", "x / 0", Status.ERROR),
        ("c9", "print(2)", Status.INTERRUPTED),
        ("c1", "x = 2", Status.UNKNOWN),
    ]
    assert ran[1].error is not None
    assert ran[1].error.name == "ZeroDivisionError"
    assert ran[0].wall_s == 1.0
    assert [step.kind for step in found.steps if not isinstance(step, Insertion)][:3] == [
        "edit",
        "execution",
        "edit",
    ]
    assert sum(isinstance(step, Restart) for step in found.steps) == 1
    assert found.steps[-1].order == ("m1", "c1", "c9")
    said = " ".join(found.notes)
    for part in ("whose creation is not in the log", "'c7', which is not there", "put at the end"):
        assert part in said


def test_sessions_are_kept_apart(tmp_path: Path) -> None:
    """By user; another kernel of one user is a restart; cells saved at the start are there from it."""
    saved = json.dumps([{"cell_type": "code", "source": "a"}, {"cell_type": "markdown", "source": ["b"]}])
    rows = [
        event("save_notebook", "", "", saved),
        event("execute", "c1", 2, "1"),
        event("execute", "d1", 0, "2", user_id="u2"),
        event("execute", "c1", 2, "1", kernel_id="k2"),
    ]
    one, two = read_june(log(tmp_path / "log.csv", *rows))
    assert [cell.source for cell in one.cells] == ["a", "b"]
    assert [step.kind for step in one.steps] == ["insertion", "execution", "restart", "execution"]
    assert (two.id, len(list(two.executions))) == ("u2/n", 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("cell_index", "cell"), "lacks the columns cell_index"),
        (lambda text: text.replace("execute", "explode", 1), "line 2: the event 'explode'"),
        (lambda text: text.replace("2023-05", "May"), "line 2: the time"),
        (lambda text: text[: text.rindex("s,k1")], "cut off"),
        (lambda text: text.replace(",c1,", ",,"), "without a cell_index"),
        (lambda text: text.replace(",c1,0", ",c1,top"), "is no number"),
        (lambda text: "", "lacks the columns"),
        (lambda text: text + '"x', "no CSV file"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, change: Any, said: str) -> None:
    """The error names the file, the line and what is wrong."""
    path = log(tmp_path / "log.csv", event("execute", "c1", 0, "1"), event("execute", "c1", 0, "2"))
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=said) as caught:
        list(read_june(path))
    assert "log.csv" in str(caught.value)


def test_a_log_is_replayed(tmp_path: Path) -> None:
    """Its outputs, which the log has not, are there after the replay; edits and restarts stay."""
    pytest.importorskip("ipykernel", reason="would have proved that a log is replayed")
    (given,) = read_june(log(tmp_path / "log.csv", *SESSION))
    found = replay(given, tmp_path / "n.trajectory.parquet")
    assert [step.kind for step in found.steps] == [step.kind for step in given.steps]
    assert [e.status for e in found.executions] == ["ok", "error", "ok", "ok"]
    assert list(found.executions)[2].text() == "2\n"
    check(found.cells, found.steps)
