"""The report of a check of notebooks as test cases: one for each cell, with one of five outcomes."""

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum

from deskcheck.notebook.check.check import CellReport, CellStatus, NotebookReport, NotebookStatus
from deskcheck.view.notebooks import reason, word


class CaseOutcome(StrEnum):
    """The outcomes that test runners know, in the words of JUnit and pytest."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """The check could not be made. The notebook may be right or wrong."""
    ACCEPTED = "xfailed"
    """The outputs differ from the stored ones, as expected."""
    SKIPPED = "skipped"


WHOLE = "notebook"
"""Name of the case for a whole notebook without results of cells."""

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
    """A test case: a cell, or a whole notebook."""

    name: str
    """``cell-3``, with the number of the cell in all reports, or `WHOLE`."""
    status: str
    outcome: CaseOutcome
    message: str
    """The status and its reason, in a line."""
    number: int | None = None
    """Number of the cell."""
    details: tuple[str, ...] = ()
    """Differences, as lines of a diff."""
    note: str | None = None
    """Note on the cell, with any outcome."""
    seconds: float = 0.0
    """Wall time of the cell."""

    def text(self) -> str:
        """The message and the details."""
        return "\n".join((self.message, *self.details))


def cases(notebook: NotebookReport, failing: Set[str]) -> tuple[Case, ...]:
    """A case for each cell that could be run, and `WHOLE` if no cell shows the outcome of the notebook."""
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
    """The name of a cell's case."""
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
