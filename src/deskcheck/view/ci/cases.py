"""The report of a check of notebooks as test cases: one for each cell, with one of five outcomes."""

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum

from deskcheck.notebook.check.check import CellReport, CellStatus, NotebookReport, NotebookStatus
from deskcheck.view.notebooks import reason, word


class CaseOutcome(StrEnum):
    """What test runners know: JUnit's words, and pytest's."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """The check could not be made, which says nothing of the notebook."""
    ACCEPTED = "xfailed"
    """It does not give what is stored, and was not expected to."""
    SKIPPED = "skipped"


WHOLE = "notebook"
"""Name of the case that stands for a whole notebook, where it has no cells that could be told of."""

_NOT_OURS_TO_JUDGE = {"confined", "no_kernel", "harness_error"}
_SILENT = {"same", "normalised", "no_stored_output"}


def outcome_of(status: str, failing: Set[str]) -> CaseOutcome:
    """The outcome of a status of a cell or notebook. failing: the statuses that are not accepted."""
    if status in failing:
        return CaseOutcome.ERROR if status in _NOT_OURS_TO_JUDGE else CaseOutcome.FAILED
    if status == CellStatus.NOT_RUN:
        return CaseOutcome.SKIPPED
    return CaseOutcome.PASSED if status in _SILENT else CaseOutcome.ACCEPTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """name: ``cell-3``, as cells are numbered in all reports, or `WHOLE`. number: of the cell. message: the
    status and its reason, in a line. details: what differs, as lines of a diff. note: of the cell, whatever
    its outcome. seconds: that the cell took."""

    name: str
    status: str
    outcome: CaseOutcome
    message: str
    number: int | None = None
    details: tuple[str, ...] = ()
    note: str | None = None
    seconds: float = 0.0

    def text(self) -> str:
        """All of it."""
        return "\n".join((self.message, *self.details))


def cases(notebook: NotebookReport, failing: Set[str]) -> tuple[Case, ...]:
    """A case for each cell that could be run, and `WHOLE` where what became of the notebook is in none of
    them."""
    cell_cases = tuple(_of_cell(cell, failing) for cell in notebook.cells)
    without_cells = (NotebookStatus.UNREADABLE, NotebookStatus.NO_KERNEL, NotebookStatus.HARNESS_ERROR)
    late = notebook.status is NotebookStatus.TIMED_OUT and not notebook.counts[CellStatus.TIMED_OUT]
    if notebook.status not in without_cells and not late:
        return cell_cases
    message_text = notebook.detail.removeprefix(f"{notebook.path}: ")
    message = f"{word(notebook.status)}: {message_text}" if message_text else word(notebook.status)
    outcome = outcome_of(notebook.status, failing)
    return (Case(name=WHOLE, status=notebook.status.value, outcome=outcome, message=message), *cell_cases)


def case_name(number: int) -> str:
    """Of a cell."""
    return f"cell-{number}"


def _of_cell(cell: CellReport, failing: Set[str]) -> Case:
    message_text = reason(cell)
    return Case(
        name=case_name(cell.number),
        status=cell.status.value,
        outcome=outcome_of(cell.status, failing if cell.allowed is None else frozenset()),
        message=f"{word(cell.status)}: {message_text}" if message_text else word(cell.status),
        number=cell.number,
        details=tuple(f"{row.side} {row.text}" for row in cell.diff),
        note=cell.note,
        seconds=cell.wall_s or 0.0,
    )
