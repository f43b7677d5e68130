"""What must be true of the steps of any trajectory."""

from collections.abc import Iterable

from deskcheck.errors import InputError
from deskcheck.notebook.trajectory.trajectory import Cell, Execution, Insertion, Step, advance, moved


def check(cells: Iterable[Cell], steps: Iterable[Step]) -> None:
    """Refuse steps that cannot have followed each other. Raises InputError, naming the first."""
    known = {cell.id: cell for cell in cells}
    order = tuple(known)
    for number, step in enumerate(steps):
        cell = getattr(step, "cell", None)
        missing = cell is not None and cell not in known
        if missing != isinstance(step, Insertion) and cell is not None:
            raise InputError(
                f"step {number}, {step.kind}: cell {cell!r} is {'not there' if missing else 'there already'}"
            )
        advance(known, step)
        expected = moved(order, step)
        if step.order is not expected and step.order != expected:
            raise InputError(f"step {number}, {step.kind}: the order is {step.order}, not {expected}")
        if isinstance(step, Execution) and known[step.cell].source != step.source:
            raise InputError(
                f"step {number}: cell {step.cell!r} ran another source than it had: an edit is missing"
            )
        order = expected
