"""The git history of a notebook as a trajectory: every commit is a step in its development.

Between two commits the cells that changed are known, not in which order. A cell whose execution count or
outputs are others than in the commit before is taken to have been run since, in the order of the counts."""

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
    """The commits of a notebook, oldest first, through its renames. Versions that are no notebook are left
    out and noted.

    Raises InputError: git is not there, or knows nothing of the file.
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
        at = float(seconds)
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
        steps += changes(cells, now, at)
        steps += _ran(before, replace(version, cells=now), ids, at)
        cells = now
        before = replace(version, cells=now, steps=tuple(_renamed(version, ids)))
    if before is None:
        raise InputError(f"{path}: no commit has a notebook of that name.")
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
        raise InputError(f"{folder}: git cannot be asked for the history: {error}.") from error
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").strip()
        raise InputError(f"{folder}: git says: {said}")
    return ran.stdout


def _own_ids(version: Trajectory, before: tuple[Cell, ...]) -> bool:
    """Whether ids tell which cell is which: they stand in the file (nbformat 4.5), and did before."""
    ids = {cell.id for cell in version.cells}
    shared = not before or bool(ids & {cell.id for cell in before})
    return shared and not any(id_.startswith("cell-") for id_ in ids)


def _renamed(version: Trajectory, ids: dict[str, str]) -> list[Execution]:
    order = tuple(ids.values())
    return [replace(one, cell=ids[one.cell], order=order) for one in version.executions]


def _ran(before: Trajectory | None, version: Trajectory, ids: dict[str, str], at: float) -> list[Step]:
    """What was run between two versions: executions with a count that is new, by their counts. Counts that
    begin anew show a restart."""
    old = {one.cell: one for one in before.executions} if before is not None else {}
    now = sorted(
        (one for one in _renamed(version, ids) if one.count is not None), key=lambda one: one.count or 0
    )
    new = [
        one
        for one in now
        if one.cell not in old
        or (one.count, one.outputs, one.source)
        != (old[one.cell].count, old[one.cell].outputs, old[one.cell].source)
    ]
    highest = max((one.count or 0 for one in old.values()), default=0)
    steps: list[Step] = []
    if new and highest and (new[0].count or 0) <= highest:
        steps.append(Restart(order=new[0].order, at=at))
    return steps + [replace(one, at=at) for one in new]
