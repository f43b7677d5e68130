"""Parameters of notebooks, beside what papermill makes of the same."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.notebook.check.check import check_notebooks
from deskcheck.notebook.check.job import _as_json, _from_json
from deskcheck.notebook.settings import CheckSettings
from deskcheck.notebook.trajectory.ipynb import read_notebook
from deskcheck.notebook.trajectory.parameters import parameter, with_parameters
from tests.notebook.books import cell, printed, save

SPEC = {"name": "python3", "language": "python", "display_name": "Python 3"}
VALUES = {
    "a=1": 1,
    "a=-2.5": -2.5,
    "a=1e3": 1000.0,
    "a=True": True,
    "a=None": None,
    "a=it's \\\"=": "it's \\\"=",
    "a=": "",
    "a=0x10": "0x10",
    "é=1_0": 10,
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_values(text: str, value: object) -> None:
    name, found = parameter(text)
    assert (name, type(found), found) == (text.partition("=")[0], type(value), value)


@pytest.mark.parametrize("text", ["a", "1a=2", "class=1", "a b=1", "=1", "a;import os=1"])
def test_names(text: str) -> None:
    with pytest.raises(ValueError, match="NAME=VALUE"):
        parameter(text)


@pytest.mark.parametrize(
    "tags", [((), (), ()), ((), ("parameters",), ()), ((), ("parameters",), ("injected-parameters",))]
)
def test_where_papermill_puts_it(tags: tuple[tuple[str, ...], ...], tmp_path: Path) -> None:
    """The cells that run, in their order, are those of the notebook that papermill writes."""
    papermill = pytest.importorskip(
        "papermill.parameterize", reason="would have proved that parameters go where papermill puts them"
    )
    from papermill.iorw import load_notebook_node

    sources = [cell(f"c{n}", tags=each) for n, each in enumerate(tags)]
    path = save(tmp_path / "a.ipynb", *sources, kernelspec=SPEC)
    given = {"a": 1, "b": "x'\n", "c": None, "d": 2.5, "e": True, "f": float("inf")}
    made = papermill.parameterize_notebook(load_notebook_node(str(path)), given)
    ours = with_parameters(read_notebook(path), given)
    theirs = [each.source for each in made.cells if each.cell_type == "code"]
    assert [_values(step.source) for step in ours.executions] == [_values(source) for source in theirs]


def _values(source: str) -> object:
    """What a cell of assignments assigns; another cell as it is."""
    if not source.startswith("# Parameters"):
        return source
    names: dict[str, object] = {}
    exec(source, names)
    names.pop("__builtins__")
    return names


@pytest.mark.level("strict")
def test_a_check_with_parameters(tmp_path: Path) -> None:
    """Numbers of cells stay, cells that need the value differ, kept runs are kept apart."""
    pytest.importorskip("ipykernel", reason="would have proved that parameters are assigned")
    path = save(
        tmp_path / "a.ipynb",
        cell("x = 1", tags=("parameters",)),
        cell("print(x)", printed("1\n")),
        cell("print('y')", printed("y\n")),
    )
    out = tmp_path / "out"
    (plain,) = check_notebooks([path], CheckSettings(runs=1), out=out).notebooks
    assert [(each.number, each.status.value) for each in plain.cells][1:] == [(3, "same"), (4, "same")]
    settings = CheckSettings(runs=1, parameters={"x": "a b"})
    (found,) = check_notebooks([path], settings, out=out).notebooks
    assert [(each.number, each.status.value) for each in found.cells][1:] == [(3, "different"), (4, "same")]
    assert found.notes[-1] == "ran with other parameters: x = 'a b'"
    assert _from_json(json.loads(json.dumps(_as_json(settings)))).parameters == {"x": "a b"}
    ran = CliRunner().invoke(app, ["notebooks", "check", str(path), "--runs", "1", "-p", "x=1", "-p", "z=2"])
    assert ran.exit_code == 0, ran.output
    ran = CliRunner().invoke(app, ["notebooks", "check", str(path), "-p", "x"])
    assert ran.exit_code == 2
    assert "NAME=VALUE" in re.sub(r"\s+", " ", ran.output)
