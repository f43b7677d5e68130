"""The report of a check of notebooks, in the terminal."""

import os
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from deskcheck.notebook.check.check import (
    REPRODUCES,
    CellReport,
    CellStatus,
    NotebookReport,
    NotebookStatus,
    Report,
)
from deskcheck.notebook.kernel.refusals import RULES

STYLES = {
    "same": "green",
    "normalised": "green",
    "no_stored_output": "dim",
    "different": "yellow",
    "not_repeatable": "magenta",
    "confined": "cyan",
    "failed": "red",
    "timed_out": "red",
    "not_run": "dim",
    "unreadable": "red",
    "no_kernel": "red",
    "harness_error": "red",
}
WORDS = {
    "no_stored_output": "nothing stored",
    "no_kernel": "no kernel",
    "harness_error": "deskcheck failed",
    "not_repeatable": "not repeatable",
    "timed_out": "timed out",
    "not_run": "not run",
}
_DIFF_STYLES = {"-": "red", "+": "green", "@": "dim", " ": ""}


def word(status: str) -> str:
    """The display text of a status."""
    return WORDS.get(status, status)


def notebooks_table(report: Report, *, details: bool) -> RenderableType:
    """A row for each notebook with counts of its cells by status; reasons of failures; applied normalisers.

    details: whether to add each cell that differs, with the differences.
    """
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("status", no_wrap=True)
    folder = common_folder(report)
    table.add_column(f"notebook in {_from_here(folder)}", overflow="fold", min_width=30)
    statuses = [status for status in CellStatus if report.cells[status]]
    for status in statuses:
        table.add_column(word(status).replace(" ", "\n"), justify="right")
    table.add_column("s", justify="right")
    for notebook in report.notebooks:
        numbers = [str(notebook.counts[status] or "") for status in statuses]
        table.add_row(
            _status(notebook.status), below(notebook.path, folder), *numbers, f"{notebook.seconds:.1f}"
        )
    parts: list[RenderableType] = [table]
    if report.kernel is not None:
        parts.append(Text(f"\n{unconfined(report.kernel)}", style="bold"))
    if details:
        parts += [part for notebook in report.notebooks for part in _cells(notebook)]
    else:
        parts += [
            Text(line if n.path in (line := n.detail.partition("\n")[0]) else f"{n.path}: {line}")
            for n in report.notebooks
            if n.detail
        ]
    parts += list(_why(report))
    return Group(*parts)


def unconfined(kernel: str) -> str:
    """The warning in a report about an installed kernel."""
    return (
        f"Cells ran in the installed kernel {kernel!r}, without a sandbox. deskcheck cannot see random draws "
        "there, so two runs may agree by chance."
    )


def common_folder(report: Report) -> str:
    """The common folder of all notebooks."""
    return os.path.commonpath([os.path.dirname(os.path.abspath(n.path)) for n in report.notebooks])


def _from_here(folder: str) -> str:
    """The path of the folder relative to the current folder, if that is above it."""
    short = os.path.relpath(folder)
    return folder if short.split(os.sep)[0] == os.pardir else short


def below(path: str, folder: str) -> str:
    return os.path.relpath(os.path.abspath(path), folder)


def _status(status: str) -> Text:
    return Text(word(status), style=STYLES[status])


def _cells(notebook: NotebookReport) -> Iterator[RenderableType]:
    yield Text(f"\n{notebook.path}", style="bold")
    if notebook.detail:
        yield Text(f"  {notebook.detail.removeprefix(notebook.path + ': ')}")
    for cell in notebook.cells:
        if is_quiet(cell):
            continue
        yield Text.assemble(f"  cell {cell.number}: ", _status(cell.status), f"  {reason(cell)}")
        if cell.status is not CellStatus.NORMALISED:
            for row in cell.diff:
                yield Text(f"      {row.side} {row.text}", style=_DIFF_STYLES[row.side])


def is_quiet(cell: CellReport) -> bool:
    """Whether a report needs only the status of the cell."""
    return cell.status in (CellStatus.SAME, CellStatus.NO_STORED_OUTPUT) and cell.note is None


def reason(cell: CellReport) -> str:
    """The reason of a cell's status, the reason why it is accepted, and a note, in a line."""
    accepted = cell.allowed and f"accepted: {cell.allowed}"
    return "; ".join(part for part in (_reason(cell), accepted, cell.note) if part)


def _reason(cell: CellReport) -> str:
    unstable = f"two fresh runs: {cell.unstable}" if cell.unstable else ""
    if cell.status is CellStatus.NORMALISED:
        return ", ".join(cell.normalisers)
    if cell.limit is not None:
        follows = f" in cell {cell.follows}, which it needs" if cell.follows else ""
        return f"{cell.limit}{follows}: {RULES[cell.limit]} ({cell.message})"
    if cell.category is not None:
        follows = f" (cell {cell.follows} defines it, and did not finish)" if cell.follows else ""
        return f"{cell.category}: {cell.message}{follows}" + (f" ({unstable})" if unstable else "")
    if cell.status is CellStatus.NOT_REPEATABLE:
        return unstable
    return cell.message or cell.difference or ""


def _why(report: Report) -> Iterator[Text]:
    if report.failures:
        yield Text("\nreasons of failures (notebooks where it is the first, cells)", style="bold")
        for category, first, cells in report.failures:
            yield Text(f"{first:5d} {cells:5d}  {category}")
    if report.missing_modules:
        modules = ", ".join(f"{name} ({count})" for name, count in report.missing_modules.most_common(20))
        yield Text(f"missing modules (notebooks): {modules}")
    if report.fired:
        yield Text("\nequal after normalisers (cells)", style="bold")
        for name, count in report.fired.most_common():
            yield Text(f"{count:5d}  {name}")
    by_status = ", ".join(f"{count} {word(status)}" for status, count in report.by_status.most_common())
    stored = report.by_status[NotebookStatus.NO_STORED_OUTPUT]
    nothing = f"; {stored} had nothing to compare" if stored else ""
    yield Text(f"\n{verdict(report)} notebooks reproduce{nothing} ({by_status})", style="bold")


def verdict(report: Report) -> str:
    """The number of notebooks that reproduce their stored outputs, of those that have any."""
    stored = report.by_status[NotebookStatus.NO_STORED_OUTPUT]
    well = sum(report.by_status[status] for status in REPRODUCES) - stored
    return f"{well} of {len(report.notebooks) - stored}"
