"""The git history of a notebook as a trajectory: each commit is a step.

A commit shows which cells changed since the one before, not in which order. A cell whose execution count or
outputs differ from the commit before counts as run since then, in the order of the counts.
"""

import itertools
import subprocess
from dataclasses import replace
from pathlib import Path

from deskcheck.errors import InputError
from deskcheck.notebook.trajectory.changes import changes, matched
from deskcheck.notebook.trajectory.ipynb import parse_notebook
from deskcheck.notebook.trajectory.trajectory import Cell, Execution, Restart, Step, Trajectory

_GIT_S = 120.0


def read_history(path: str | Path) -> Trajectory:
    """The commits of a notebook, oldest first, including those before it was renamed. Notes name the versions
    that cannot be read.

    Raises InputError: git is not installed, or has no commit of the file.
    """
    path = Path(path).absolute()
    listed = _git(path.parent, "log", "--follow", "--name-only", "--format=%x00%H %ct", "--", path.name)
    steps: list[Step] = []
    notes: list[str] = []
    before: Trajectory | None = None
    cells: tuple[Cell, ...] = ()
    numbers = itertools.count()
    # Not by --reverse, which stops at a rename where --follow is given.
    for entry in reversed(listed.decode("utf-8", "surrogateescape").split("\0")[1:]):
        head, _, name = entry.strip("\n").partition("\n")
        commit, seconds = head.split()
        name = name.strip('"\n')  # quoted where git must
        committed_at = float(seconds)
        try:
            text = _git(path.parent, "show", f"{commit}:{name}")
            version = parse_notebook(text, name=f"{path.name} at {commit[:10]}")
        except InputError as error:
            notes.append(f"commit {commit[:10]} is left out: {error}")
            continue
        if _own_ids(version, cells):
            now = tuple(version.cells)
        else:
            now = tuple(matched(cells, version.cells, (f"cell-{n}" for n in numbers)))
        ids = dict(zip((cell.id for cell in version.cells), (cell.id for cell in now), strict=True))
        steps += changes(cells, now, committed_at)
        steps += _ran(before, replace(version, cells=now), ids, committed_at)
        cells = now
        before = replace(version, cells=now, steps=tuple(_renamed(version, ids)))
    if before is None:
        raise InputError(f"{path}: no commit has a notebook with this path.")
    return Trajectory(
        id=str(path),
        source="git",
        path=str(path),
        cells=(),
        steps=tuple(steps),
        kernel=before.kernel,
        language=before.language,
        notes=tuple(notes),
    )


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        ran = subprocess.run(
            ["git", "-c", "core.quotePath=false", *arguments],
            cwd=folder,
            capture_output=True,
            timeout=_GIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{folder}: git cannot read the history: {error}.") from error
    if ran.returncode:
        message = ran.stderr.decode("utf-8", "replace").strip()
        raise InputError(f"{folder}: git says: {message}")
    return ran.stdout


def _own_ids(version: Trajectory, before: tuple[Cell, ...]) -> bool:
    """Whether the file has ids of cells (nbformat 4.5), and had them in the version before."""
    ids = {cell.id for cell in version.cells}
    shared = not before or bool(ids & {cell.id for cell in before})
    return shared and not any(id_.startswith("cell-") for id_ in ids)


def _renamed(version: Trajectory, ids: dict[str, str]) -> list[Execution]:
    order = tuple(ids.values())
    return [replace(execution, cell=ids[execution.cell], order=order) for execution in version.executions]


def _ran(
    before: Trajectory | None, version: Trajectory, ids: dict[str, str], committed_at: float
) -> list[Step]:
    """The executions between two versions: those with a new count, by count. A count that starts again means
    a restart."""
    old = {execution.cell: execution for execution in before.executions} if before is not None else {}
    now = sorted(
        (execution for execution in _renamed(version, ids) if execution.count is not None),
        key=lambda execution: execution.count or 0,
    )
    new = [
        execution
        for execution in now
        if execution.cell not in old
        or (execution.count, execution.outputs, execution.source)
        != (old[execution.cell].count, old[execution.cell].outputs, old[execution.cell].source)
    ]
    highest = max((execution.count or 0 for execution in old.values()), default=0)
    steps: list[Step] = []
    if new and highest and (new[0].count or 0) <= highest:
        steps.append(Restart(order=new[0].order, at=committed_at))
    return steps + [replace(execution, at=committed_at) for execution in new]
