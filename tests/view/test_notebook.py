"""What the page of a notebook's trajectory is told: steps, outputs, variables, what is stored beside."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.notebook.kernel.refusals import RULES
from deskcheck.notebook.trajectory.file import read_trajectory, write_trajectory
from deskcheck.notebook.trajectory.ipynb import parse_notebook, read_notebook
from deskcheck.notebook.trajectory.trajectory import (
    Cell,
    Deletion,
    Edit,
    Execution,
    Insertion,
    Move,
    Output,
    Restart,
    Status,
    Trajectory,
)
from deskcheck.recording import DeskcheckError
from deskcheck.view.notebook_page import IMAGE_CHARS, OUTPUT_CHARS, notebook_facts, notebook_page
from tests.pages import page_facts
from tests.view.conftest import HOSTILE, hostile_trajectory


def test_a_recorded_notebook(book: Path) -> None:
    """Every execution with its outputs and what it did to the variables; a failure is one."""
    facts = notebook_facts(read_trajectory(book))
    steps = facts["steps"]
    assert [step["status"] for step in steps] == ["ok", "ok", "ok", "error", "ok"]
    assert [step["place"] for step in steps] == [1, 2, 4, 5, 6], "the text between them is no step"
    changes = [{name: change for name, change, *_ in step["state"]["variables"]} for step in steps]
    assert changes == [
        {"numbers": "new", "same": "new"},
        {"numbers": "changed", "same": "changed"},
        {},
        {},
        {},
    ]
    assert steps[4]["state"]["removed"] == ["same"]
    assert steps[0]["state"]["aliases"] == [["numbers", "same"]]
    assert steps[1]["outputs"][0]["text"] == "3\n"
    assert steps[2]["outputs"][0]["picture"].startswith("data:image/png;base64,iVBOR")
    assert steps[3]["outputs"][-1]["text"].endswith("ZeroDivisionError: division by zero")
    assert steps[3]["outputs"][-1]["text"].count("division by zero") == 1
    assert "\x1b" not in steps[3]["outputs"][-1]["text"]


def test_a_rule_of_the_sandbox_is_named(book: Path) -> None:
    """A cell that a rule of the sandbox stood in the way of says so: it is no failure of the notebook."""
    trajectory = read_trajectory(book)
    steps = [
        replace(step, confined="network") if isinstance(step, Execution) and step.count == 4 else step
        for step in trajectory.steps
    ]
    told = [step["detail"] for step in notebook_facts(replace(trajectory, steps=steps))["steps"]]
    assert [each for each in told if each is not None] == [RULES["network"]]


def test_stored_outputs_beside(book: Path, book_file: Path) -> None:
    """What is stored is compared as the check does it, normalisers named."""
    facts = notebook_facts(read_trajectory(book), read_notebook(book_file))
    found = [step["stored"]["status"] for step in facts["steps"]]
    assert found == ["normalised", "different", "same", "failed", "no_stored_output"]
    assert facts["steps"][0]["stored"]["normalisers"] == ["address"]
    assert facts["steps"][1]["stored"]["outputs"][0]["text"] == "4\n"
    assert ["-", "4"] in [row[:2] for row in facts["steps"][1]["stored"]["diff"]]
    assert facts["report"] == {"status": "failed", "runs": 1}


def test_edits_moves_and_restarts() -> None:
    """Steps that are no executions are steps too; a restart clears the variables, a resumption does not."""
    cells = (Cell(id="a", source="x = 1"), Cell(id="b", source="y"))
    steps = (
        Execution(order=("a", "b"), cell="a", source="x = 1", status=Status.OK),
        Edit(order=("a", "b"), cell="b", source="y = 2"),
        Insertion(order=("a", "b", "c"), cell="c", source="z", position=2),
        Move(order=("c", "a", "b"), cell="c", position=0),
        Deletion(order=("c", "b"), cell="a"),
        Restart(order=("c", "b")),
        Restart(order=("c", "b"), why="resumed"),
    )
    told = notebook_facts(Trajectory(id="n", source="kernel", cells=cells, steps=steps))["steps"]
    kinds = ["execution", "edit", "insertion", "move", "deletion", "restart", "restart"]
    assert [step["kind"] for step in told] == kinds
    assert [step["place"] for step in told] == [1, 2, 3, 1, None, None, None]
    assert (told[1]["was"], told[1]["source"]) == ("y", "y = 2")
    assert [step["clears"] for step in told] == [False] * 5 + [True, False]


def test_text_stands_with_the_code_that_follows() -> None:
    """Cells of text are shown with the next cell of code; after the last one, below it. Each is there once,
    where it stood when the cell ran."""
    kinds = {"m": "markdown", "a": "code", "n": "markdown", "r": "raw", "b": "code", "o": "markdown"}
    cells = tuple(Cell(id=id_, source=id_.upper(), type=kind) for id_, kind in kinds.items())
    order = tuple(kinds)
    moved = ("m", "a", "b", "o", "n", "r")
    steps = (
        Execution(order=order, cell="a", source="A", status=Status.OK),
        Execution(order=order, cell="b", source="B", status=Status.OK),
        Edit(order=order, cell="n", source="new", type="markdown"),
        Move(order=("m", "a", "r", "b", "o", "n"), cell="n", position=5),
        Move(order=moved, cell="r", position=5),
        Execution(order=moved, cell="b", source="B", status=Status.OK),
    )
    told = notebook_facts(Trajectory(id="n", source="kernel", cells=cells, steps=steps))["steps"]
    assert [(step["above"], step["below"]) for step in told] == [
        (["M"], []),
        (["N", "R"], ["O"]),
        ([], []),
        ([], []),
        ([], []),
        ([], ["O", "new", "R"]),
    ]


def test_only_pixels_are_pictures() -> None:
    """HTML, SVG, a picture that is not base64 and one that is very large are named, not shown; long text is cut."""
    shown = [
        {"image/svg+xml": "<svg onload='x'/>", "text/plain": "a"},
        {"text/html": HOSTILE, "text/plain": "b"},
        {"image/png": '" onerror="x', "text/plain": "c"},
        {"image/png": "A" * (IMAGE_CHARS + 1), "text/plain": "d" * (OUTPUT_CHARS + 7)},
    ]
    outputs = tuple(Output(type="display_data", data=data) for data in shown)
    step = Execution(order=("a",), cell="a", source="", status=Status.OK, outputs=outputs)
    trajectory = Trajectory(id="n", source="kernel", cells=(Cell(id="a", source=""),), steps=(step,))
    (told,) = notebook_facts(trajectory)["steps"]
    assert not [output for output in told["outputs"] if "picture" in output]
    others = [output["others"] for output in told["outputs"]]
    assert others == [["image/svg+xml"], ["text/html"], ["image/png"], ["image/png"]]
    assert told["outputs"][3]["more"] == 7
    many = tuple(Output(type="display_data", data={"image/png": "A" * IMAGE_CHARS}) for _ in range(12))
    step = Execution(order=("a",), cell="a", source="", status=Status.OK, outputs=many)
    trajectory = Trajectory(id="n", source="kernel", cells=(Cell(id="a", source=""),), steps=(step,))
    (told,) = notebook_facts(trajectory)["steps"]
    assert ["picture" in output for output in told["outputs"]] == [True] * 10 + [False] * 2


def test_hostile_text_travels_packed() -> None:
    """Nothing of a notebook stands in the page as markup."""
    page = notebook_page(hostile_trajectory())
    assert HOSTILE not in page
    assert "document.title='run'" not in page
    assert page_facts(page)["steps"][0]["source"].startswith(HOSTILE)


def view(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["view", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_the_command(book: Path, book_file: Path, tmp_path: Path) -> None:
    """A folder is listed, a notebook is a table or a page; a file of one needs no name."""
    name = book.name.removesuffix(".trajectory.parquet")
    assert name in view(book.parent)
    assert "numbers.append(3)" in view(book.parent, name)
    assert "normalised address" in view(book.parent, name, "--beside", book_file)
    view(book, "--beside", book_file, "--out", tmp_path / "page.html")
    facts = page_facts((tmp_path / "page.html").read_text())
    assert facts["report"]["status"] == "failed"
    assert json.loads(view(book.parent, "--json"))["notebooks"][0]["steps"] == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "no notebook 'nobody'"),
        (["n", "--serve"], "--serve is only for programs"),
        (["--open"], "give its ID"),
        (["n", "--beside", "nowhere.ipynb"], "nowhere"),
        (["n", "--beside", "OTHER"], "other source in cell"),
    ],
)
def test_what_cannot_be_done_says_why(tmp_path: Path, arguments: list[str], message: str) -> None:
    def made(source: str) -> bytes:
        cell = {"cell_type": "code", "id": "a", "source": source, "metadata": {}, "outputs": []}
        whole = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            "cells": [{**cell, "execution_count": 1}],
        }
        return json.dumps(whole).encode()

    for name in ("n", "m"):
        path = tmp_path / f"{name}.trajectory.parquet"
        write_trajectory(path, parse_notebook(made("x = 1"), name="n.ipynb"))
    (tmp_path / "other.ipynb").write_bytes(made("x = 2"))
    given = [str(tmp_path / "other.ipynb") if argument == "OTHER" else argument for argument in arguments]
    with pytest.raises(DeskcheckError, match=message):
        CliRunner().invoke(app, ["view", str(tmp_path), *given], catch_exceptions=False)


@pytest.mark.parametrize(
    ("value", "traceback", "shown"),
    [
        ("bad", "Traceback\n\x1b[31mValueError\x1b[0m: bad", "Traceback\nValueError: bad"),
        ("", "Traceback\nValueError", "Traceback\nValueError"),
        ("bad", "", "ValueError: bad\n"),
        (
            "bad",
            "Traceback of a kernel that names it first",
            "ValueError: bad\nTraceback of a kernel that names it first",
        ),
    ],
)
def test_the_message_of_an_exception_stands_once(value: str, traceback: str, shown: str) -> None:
    """At the end of its traceback; before it, where that does not have it."""
    output = Output(type="error", name="ValueError", value=value, text=traceback)
    assert error_of(output) == {"text": shown, "more": 0}
    cut = error_of(Output(type="error", name="ValueError", value="bad", text="Trace", length=105))
    assert cut == {"text": "ValueError: bad\nTrace", "more": 100}


def error_of(output: Output) -> dict[str, Any]:
    step = Execution(cell="a", source="1", status=Status.ERROR, outputs=(output,), order=("a",))
    trajectory = Trajectory(id="a", source="replay", cells=(Cell(id="a", source="1"),), steps=(step,))
    (told,) = notebook_facts(trajectory)["steps"][0]["outputs"]
    return {name: told[name] for name in ("text", "more")}
