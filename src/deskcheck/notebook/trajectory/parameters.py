"""Parameters of a notebook, as in papermill. A cell that assigns them replaces the cell with the tag
``injected-parameters``, else runs after the cell with the tag ``parameters``, else before all others."""

import keyword
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from deskcheck.notebook.trajectory.trajectory import Cell, Execution, Status, Trajectory

TAG, INJECTED = "parameters", "injected-parameters"


def parameter(text: str) -> tuple[str, Any]:
    """Name and value of ``NAME=VALUE``, read like papermill's command: True, False, None, an integer, a
    float, else text. Raises ValueError."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError("give NAME=VALUE, and a name that Python allows")
    words = {"True": True, "False": False, "None": None}
    if value in words:
        return name, words[value]
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def assignments(parameters: Mapping[str, Any]) -> str:
    """The source of the inserted cell."""
    return "\n".join(["# Parameters", *(f"{name} = {_literal(value)}" for name, value in parameters.items())])


def _literal(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


def with_parameters(notebook: Trajectory, parameters: Mapping[str, Any]) -> Trajectory:
    """The notebook with the cell that assigns the parameters."""
    if not parameters:
        return notebook
    cells = list(notebook.cells)
    old = next((cell for cell in cells if INJECTED in cell.tags), None)
    tagged = next((cell for cell in cells if TAG in cell.tags), None)
    before = old or tagged
    new = Cell(id=_unused(cells), source=assignments(parameters), tags=(INJECTED,))
    cells.insert(0 if before is None else cells.index(before) + 1, new)
    order = tuple(cell.id for cell in cells)
    ran = Execution(cell=new.id, source=new.source, status=Status.UNKNOWN, order=order)
    steps = [replace(step, order=order) for step in notebook.executions]
    position = next((n + 1 for n, step in enumerate(steps) if before and step.cell == before.id), 0)
    steps.insert(position, ran)
    if old is not None:
        steps = [step for step in steps if step.cell != old.id]
    return replace(notebook, cells=tuple(cells), steps=tuple(steps))


def _unused(cells: list[Cell]) -> str:
    cell_id = INJECTED
    while any(cell.id == cell_id for cell in cells):
        cell_id += "-"
    return cell_id
