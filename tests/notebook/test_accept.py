"""`notebooks accept` stores what cells give now, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.errors import InputError
from deskcheck.notebook.check.accept import accept_outputs
from tests.notebook.books import cell, checked, printed, save, shown, statuses

pytest.importorskip("ipykernel", reason="would have proved that fresh outputs are stored")

CELLS = (
    cell("import random, os\nprint('é', 1)", printed("é 2\n")),
    cell("1 + 1", shown("2")),
    cell("random.random()", shown("0.5")),
    cell("{}['k']", shown("1")),
    cell("7", count=None),
    cell("from IPython.display import HTML; HTML('<b>x\\ny</b>')", shown("another")),
    cell("try:\n    1 / 0\nfinally:\n    print(os.getcwd())", tags=("raises-exception",)),
)


def outputs(path: Path) -> list[Any]:
    return [each.get("outputs") for each in json.loads(path.read_text())["cells"][1:]]


def test_what_is_stored(tmp_path: Path) -> None:
    """What is different, or was not stored; not what fails, differs between runs, or is the same. The next
    check gives the same; nothing else of the file is another."""
    path = save(tmp_path / "a.ipynb", *CELLS)
    before = json.loads(path.read_text())
    found = accept_outputs(path)
    assert (found.written, found.left) == ([2, 6, 7, 8], {4: "not_repeatable", 5: "failed"})
    after = json.loads(path.read_text())
    same = [number for number in range(8) if after["cells"][number] == before["cells"][number]]
    assert same == [0, 2, 3, 4]
    assert after["cells"][1]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["é 1\n"]}]
    assert outputs(path)[5][0]["data"]["text/html"] == ["<b>x\n", "y</b>"]
    assert [*outputs(path)[5][0]] == sorted(outputs(path)[5][0])  # the order in which Jupyter saves
    assert outputs(path)[6][0]["text"] == [f"{tmp_path.resolve()}\n"]
    assert outputs(path)[6][1]["ename"] == "ZeroDivisionError"
    for each in (before, after):
        each["cells"] = []
    assert before == after
    pytest.importorskip("nbformat").validate(json.loads(path.read_text()))
    assert statuses(checked(path).cells) == [
        *("same", "same", "not_repeatable", "failed", "same", "same", "same"),
    ]


def test_one_cell_and_the_form_of_the_file(tmp_path: Path) -> None:
    """With ``--cell`` that alone; indents, escapes and the end of the file stay."""
    cells = cell("print(1)", printed("2\n")), cell("print(2)", printed("3\n")), cell("'é'", shown("'é'"))
    path = save(tmp_path / "a.ipynb", *cells)
    text = json.dumps(json.loads(path.read_text()), indent="\t") + "\n"
    path.write_text(text)
    runner = CliRunner()
    done = runner.invoke(app, ["notebooks", "accept", str(path), "--dry-run"])
    assert (done.exit_code, path.read_text()) == (0, text)
    assert "outputs of cells 2, 3 would be stored" in done.output
    done = runner.invoke(app, ["notebooks", "accept", str(path), "--cell", "3"])
    assert done.exit_code == 0
    assert "+ 2" in done.output
    assert f"outputs of cells 3 are stored in {path}" in done.output.replace("\n", " ")
    wanted = json.loads(text)
    wanted["cells"][2] |= {
        "outputs": [{"name": "stdout", "output_type": "stream", "text": ["2\n"]}],
        "execution_count": 2,
    }
    assert json.loads(path.read_text()) == wanted
    assert path.read_text() == json.dumps(wanted, indent="\t") + "\n"


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([4], "cell 4 is not_repeatable"),
        ([5], "cell 5 is failed"),
        ([1], "no code cell 1"),
        ([99], "no code cell 99"),
    ],
)
def test_what_cannot_be_accepted(tmp_path: Path, cells: list[int], why: str) -> None:
    path = save(tmp_path / "a.ipynb", *CELLS)
    before = path.read_bytes()
    with pytest.raises(InputError, match=why):
        accept_outputs(path, cells=cells)
    assert path.read_bytes() == before


def test_marks_of_nbval_lax(tmp_path: Path) -> None:
    """Only marked cells are compared; all must run."""
    path = save(
        tmp_path / "a.ipynb",
        cell("print(1)", printed("2\n")),
        cell("# NBVAL_CHECK_OUTPUT\nprint(1)", printed("2\n")),
        cell("1 / 0"),
    )
    runner = CliRunner()
    for options, accepted in (((), [False] * 3), (("--lax",), [True, False, False])):
        done = runner.invoke(app, ["notebooks", "check", str(path), "--json", "-", *options])
        (notebook,) = json.loads(done.output)["notebooks"]
        assert [each["status"] for each in notebook["cells"]] == ["different", "different", "failed"]
        assert [each["allowed"] is not None for each in notebook["cells"]] == accepted
