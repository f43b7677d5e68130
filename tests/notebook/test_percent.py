"""Python scripts with ``# %%`` cells: read as jupytext's own command reads them, and checked by name."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.errors import InputError, MissingExtra
from deskcheck.notebook.trajectory.ipynb import read_notebook
from deskcheck.notebook.trajectory.lines import cell_lines
from deskcheck.notebook.trajectory.percent import is_script, read_script
from tests.notebook.books import checked

SCRIPT = '''\
#!/usr/bin/env python
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---
# %% [markdown]
# # A title
# and é text

# %% tags=["parameters"]
x = 1
# !echo magic

# %% a title of a cell
y = """
# %%
"""
print(x)


# %%
# %% [raw]
# raw
# %% tags=["raises-exception"]
1 / 0
'''
MARIMO = "import marimo\n\napp = marimo.App()\n\n@app.cell\ndef _():\n    x = 1\n    return (x,)\n"
LIGHT = "# ---\n# jupyter:\n#   jupytext:\n#     text_representation:\n#       format_name: light\n# ---\n# +\n1\n# %%\n"
needs_jupytext = pytest.mark.skipif(
    find_spec("jupytext") is None,
    reason="would have proved that scripts with cells are read as notebooks",
)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "note.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


@needs_jupytext
@pytest.mark.slow
def test_as_jupytext_converts_it(script: Path) -> None:
    """Cells, tags and kernel are those of the notebook that `jupytext --to ipynb` writes; so is each reading."""
    converted = script.with_suffix(".ipynb")
    command = [sys.executable, "-m", "jupytext", "--to", "ipynb", str(script), "-o", str(converted)]
    subprocess.run(command, check=True, capture_output=True)
    ours, theirs = read_notebook(script), read_notebook(converted)
    assert [(c.source, c.type, c.tags) for c in ours.cells] == [
        (c.source, c.type, c.tags) for c in theirs.cells
    ]
    assert (ours.kernel, ours.language, ours.notes) == (theirs.kernel, theirs.language, theirs.notes)
    assert "!echo magic" in ours.cells[-5].source
    assert read_notebook(script) == ours


@needs_jupytext
def test_the_lines_of_the_cells(script: Path) -> None:
    """A cell is at the line at which its source stands in the script; one in a string is none."""
    lines = SCRIPT.splitlines()
    cells = read_notebook(script).cells
    found = cell_lines(script)
    assert len(found) == len(cells)
    for cell, line in zip(cells, found, strict=True):
        first = cell.source.partition("\n")[0]
        if first:
            assert lines[line - 1] in (first, f"# {first}")
    code = [line for cell, line in zip(cells, found, strict=True) if cell.type == "code" and cell.source]
    assert code[-3:] == [lines.index("x = 1") + 1, lines.index('y = """') + 1, lines.index("1 / 0") + 1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"x = 1\n", "without '# %%' cells, not a notebook. To record it as a program: deskcheck record"),
        (MARIMO.encode(), "a notebook of marimo, .* marimo export ipynb .* -o note.ipynb"),
        (LIGHT.encode(), "Jupytext's format 'light', .* jupytext --to ipynb"),
        (b"# %%\n\xff\n", "cannot be read as Python: "),
        (b"# coding: no-such\n# %%\n1\n", "cannot be read as Python: unknown encoding: no-such"),
        (None, "cannot be read: No such file"),
    ],
)
def test_what_is_no_such_script(text: bytes | None, told: str, tmp_path: Path) -> None:
    """It is said what the file is, and what to do."""
    path = tmp_path / "note.py"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(InputError, match=rf"note\.py: .*{told}"):
        read_script(path)


def test_without_jupytext(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jupytext", None)
    with pytest.raises(
        MissingExtra, match=r"needs the package jupytext.* pip install 'deskcheck\[notebook\]'"
    ):
        read_notebook(script)


def test_what_is_a_script(tmp_path: Path) -> None:
    for name, text, expected in (
        ("a.py", SCRIPT, True),
        ("b.py", "#%%\n1\n", True),
        ("c.py", MARIMO, True),
        ("d.py", "import marimo\nprint('# %%')\n", False),
        ("e.txt", "# %%\n", False),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert is_script(path) == expected, name


@needs_jupytext
@pytest.mark.level("strict")
@pytest.mark.slow
def test_a_check_by_name(script: Path) -> None:
    """Cells run as those of a notebook without outputs; a folder brings no scripts."""
    found = checked(script, runs=1)
    assert [(cell.number, cell.status.value) for cell in found.cells if cell.source] == [
        (len(read_notebook(script).cells) - 4, "no_stored_output"),
        (len(read_notebook(script).cells) - 3, "no_stored_output"),
        (len(read_notebook(script).cells), "no_stored_output"),
    ]
    ran = CliRunner().invoke(app, ["notebooks", "check", str(script.parent)])
    assert "has no .ipynb files" in str(ran.exception)
    out = script.parent / "out"
    ran = CliRunner().invoke(app, ["record", f"notebooks:{script}", "--out", str(out), "--json"])
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["recorded"] == 1
