"""Logs of the JuNE recorder: what it wrote of a scripted notebook, and what logs lack and confuse.

`june_session.jsonl` is what the recorder's own main.js sent when `june_frontend.js` led it through a script;
`june_script.jsonl` is the script's word on what ran and what the notebook was like then."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import InputError
from deskcheck.notebook.kernel.replayer import replay
from deskcheck.notebook.trajectory.june import read_june
from deskcheck.notebook.trajectory.trajectory import Insertion, Restart, Status, Trajectory
from tests.notebook.valid import check

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
    event("finished_execute", "c1", 0, "x = 1", cell_output="[]"),
    event("create", "c2", 0, ""),
    event("execute", "c2", 1, "x / 0"),
    event("finished_execute", "c2", 1, "x / 0", cell_output='[{"output_type": "error", "size": 0}]'),
    event(
        "error",
        "c2",
        1,
        json.dumps({"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero"}),
    ),
    event("kernel_restarting"),
    event("execute", "c9", 99, "print(2)"),
    event("rendered", "m1", 0, "# title", cell_type="markdown"),
    event("execute", "c1", 1, "x = 2"),
    event("kernel_interrupting"),
    event("delete", "c2", 1, "x / 0"),
    event("delete", "c7", 1, ""),
)
HERE = Path(__file__).parent
POSTED = HERE / "june_session.jsonl"


def as_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    """As the recorder's server keeps events and its authors publish them: floats for places, a user."""
    given = [
        {name: "" if value is None else value for name, value in row.items()}
        | {"cell_num": "" if row.get("cell_num") is None else float(row["cell_num"])}
        | {"time": row["time"].replace("T", " ").removesuffix("Z")}
        for row in rows
    ]
    return log(path, *given)


def told(found: Trajectory) -> list[Any]:
    """What `june_script.jsonl` tells of a trajectory, without the place of the cell that checks the log."""
    ran = [
        {
            "cell": e.cell,
            "source": e.source,
            "error": [e.error.name, e.error.value] if e.error else None,
            "order": list(e.order),
        }
        for e in found.executions
    ]
    *_, (_, cells) = found.notebooks()
    return [*ran, {"cells": [[cell.id, cell.type, cell.source] for cell in cells]}]


def scripted() -> list[Any]:
    """The script; of a cell whose type was changed last the trajectory has the id of the new one."""
    rows = [json.loads(line) for line in (HERE / "june_script.jsonl").read_text().splitlines()]
    assert rows[0]["source"].endswith("check_logging('http://127.0.0.1/')")
    return rows[1:]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_what_the_recorder_writes_is_the_script(tmp_path: Path, form: str) -> None:
    """Of main.js's own events: each execution with its source, exception and the notebook around it, and the
    cells in the end. Saved cells are those that run; a cell created above, a changed type, a queue that a
    raising cell ends, "Run All", a rename and a page opened again are seen through."""
    path = POSTED
    if form == "csv":
        rows = [json.loads(line) for line in POSTED.read_text().splitlines()]
        path = as_csv(tmp_path / "log.csv", rows)
    found, *others = read_june(path)
    assert not others
    check(found.cells, found.steps)
    assert told(found) == scripted()
    assert [cell.source for cell in found.cells] == ["# is the log on?\n", '# Task\nIt\'s "one" of two', ""]
    assert [e.status for e in found.executions if e.error is None] == ["ok"] * 8
    assert [e.status for e in found.executions if e.error] == ["error", "error", "interrupted"]
    (note,) = found.notes
    assert "'c09' was queued after one that raised" in note


def test_what_the_recorder_writes_of_drawn_steps_is_what_was_done() -> None:
    """As above, of forty things that are drawn: `june_frontend.js` with a seed. A cell that ran just before
    "Run All", at the place from which that is called, is at this place."""
    (found,) = read_june(HERE / "june_random.jsonl")
    check(found.cells, found.steps)
    checks, *done = map(json.loads, (HERE / "june_random_script.jsonl").read_text().splitlines())
    done[-1]["cells"][0][-1] = checks["source"].partition("from")[0]
    assert told(found) == done


def test_an_error_may_overtake_the_end(tmp_path: Path) -> None:
    """Each event is a request of its own: the two may arrive in either order. Without the second, the
    outputs tell that the cell raised."""
    rows = [json.loads(line) for line in POSTED.read_text().splitlines()]
    for number, row in enumerate(rows):
        if row["event"] == "error":
            rows[number - 1], rows[number] = row, rows[number - 1]
    (found,) = read_june(as_csv(tmp_path / "swapped.csv", rows))
    assert told(found) == scripted()
    (found,) = read_june(as_csv(tmp_path / "lost.csv", [row for row in rows if row["event"] != "error"]))
    assert [e.status for e in found.executions].count(Status.ERROR) == 2


def test_a_save_after_the_first_event_counts(tmp_path: Path) -> None:
    """Cells that a later save shows are there from it, those that it lacks are gone, ids stay."""
    saved = [
        {"cell_type": "code", "source": "a", "id": "c1"},
        {"cell_type": "code", "source": "b", "id": "c2"},
    ]
    rows = [
        event("execute", "c9", 0, "gone"),
        event("execute", "c2", 1, "b"),
        event("save_notebook", "", "", json.dumps(saved)),
        event("execute", "c1", 0, "a"),
    ]
    (found,) = read_june(log(tmp_path / "log.csv", *rows))
    check(found.cells, found.steps)
    assert [step.kind for step in found.steps][4:] == ["deletion", "insertion", "execution"]
    assert found.steps[-1].order == ("c1", "c2")


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
    for part in ("whose creation is not in the log", "deletes the unknown cell 'c7'", "put at the end"):
        assert part in said


def test_sessions_are_kept_apart(tmp_path: Path) -> None:
    """By user; another kernel of one user is a restart; cells saved at the start are there from it."""
    saved = json.dumps(
        [
            {"cell_type": "code", "source": "a", "id": "s1"},
            {"cell_type": "markdown", "source": "b", "id": "s2"},
        ]
    )
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
        (lambda text: text.replace("execute", "explode", 1), "line 2: unknown event 'explode'"),
        (lambda text: text.replace("2023-05", "May"), "line 2: the time"),
        (lambda text: text[: text.rindex("s,k1")], "cut off"),
        (lambda text: text.replace(",c1,", ",,"), "without a cell_index"),
        (lambda text: text.replace(",c1,0", ",c1,top"), "is not a number"),
        (lambda text: text.replace(",c1,0", ",c1,-1"), "less than zero"),
        (lambda text: "", "lacks the columns"),
        (lambda text: '{"event": "execute"}', "line 1: lacks time, kernel_id"),
        (lambda text: POSTED.read_text()[:300], "line 1: is not a JSON object"),
        (lambda text: POSTED.read_text().replace('\\"ename', '\\"name'), "line 9: error has no exception"),
        (lambda text: POSTED.read_text().replace('\\"id', '\\"no'), "line 1: save_notebook has no list"),
        (lambda text: text + '"x', "not a CSV file"),
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
