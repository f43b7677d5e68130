"""The git history of a notebook as a trajectory."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import InputError
from deskcheck.notebook.trajectory.git import read_history
from tests.notebook.books import book, code
from tests.notebook.valid import check

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None, reason="no git: would have proved that histories are read"
)


def git(folder: Path, *arguments: str) -> None:
    who = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, env={**os.environ, **who}
    )


def commit(folder: Path, *cells: tuple[Any, ...], name: str = "n.ipynb", ids: bool = True) -> None:
    made = [code(source, count=count, **({"id": id_} if ids else {})) for id_, source, count in cells]
    (folder / name).write_text(json.dumps(book(*made)))
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x", "--allow-empty")


@pytest.mark.parametrize("ids", [True, False])
def test_every_commit_is_a_step(tmp_path: Path, ids: bool) -> None:
    """Insertions, edits, moves and deletions, and what was run in between by its count; through a rename too."""
    git(tmp_path, "init", "-q")
    commit(tmp_path, ("p", "import json", 1), ("q", "total = sum([1, 2])", 2), ids=ids)
    commit(
        tmp_path,
        ("p", "import json", 1),
        ("q", "total = sum([1, 2, 3])", 3),
        ("r", "print(total)", None),
        ids=ids,
    )
    git(tmp_path, "mv", "n.ipynb", "late.ipynb")
    git(tmp_path, "commit", "-qm", "rename")
    (tmp_path / "late.ipynb").write_text("{")
    git(tmp_path, "commit", "-qam", "broken")
    commit(tmp_path, ("q", "total = sum([1, 2, 3])", 1), ("r", "print(total)", 2), name="late.ipynb", ids=ids)
    found = read_history(tmp_path / "late.ipynb")
    check(found.cells, found.steps)
    kinds = [step.kind for step in found.steps]
    assert kinds[:4] == ["insertion", "insertion", "execution", "execution"]
    assert kinds[4:7] == ["insertion", "edit", "execution"]
    assert kinds[7:] == ["deletion", "restart", "execution", "execution"]
    assert [e.source for e in found.executions][2:] == ["total = sum([1, 2, 3])"] * 2 + ["print(total)"]
    assert len({step.cell for step in found.executions}) == 3
    assert "is left out" in found.notes[0]


def test_no_history_is_an_error(tmp_path: Path) -> None:
    """Outside a repository, and for a file that no commit has."""
    with pytest.raises(InputError, match="git"):
        read_history(tmp_path / "n.ipynb")
    git(tmp_path, "init", "-q")
    commit(tmp_path, ("p", "1", 1))
    with pytest.raises(InputError, match="no commit"):
        read_history(tmp_path / "other.ipynb")
