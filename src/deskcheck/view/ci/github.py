"""The report of a check of notebooks for GitHub Actions: annotations in the files, and a summary of the job.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands

The contents and names of notebooks are not trusted. Annotations escape them. The summary escapes all
characters that may have a meaning in Markdown or HTML. All other output is printed between ``stop-commands``
and its token.
"""

import html
import os
import re
import secrets
from collections.abc import Callable, Iterator, Set
from pathlib import Path

from deskcheck.notebook.check.check import CellStatus, NotebookReport, Report
from deskcheck.terminal import visible
from deskcheck.view.ci.cases import Case, CaseOutcome, cases, outcome_of
from deskcheck.view.notebooks import unconfined, verdict, word

_MESSAGE_CHARS = 4000
SUMMARY_BYTES = 1_000_000
"""GitHub drops a summary of more than 1 MiB."""
_ICONS = {
    CaseOutcome.PASSED: "✅",
    CaseOutcome.FAILED: "❌",
    CaseOutcome.ERROR: "❗",
    CaseOutcome.ACCEPTED: "☑️",
    CaseOutcome.SKIPPED: "⏭️",
}


class StoppedCommands:
    """Two lines between which a runner ignores commands in the output. The token cannot be guessed."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(16)

    def begin(self) -> str:
        return f"::stop-commands::{self._token}"

    def end(self) -> str:
        return f"::{self._token}::"


def annotations(
    report: Report,
    failing: Set[str],
    *,
    workspace: Path,
    lines_of: Callable[[str], tuple[int, ...]],
) -> Iterator[str]:
    """Workflow commands: errors for results that are not accepted, warnings for others that differ.

    workspace: folder of the checkout, to which names of files are relative. lines_of: function like
    `cell_lines`, from a notebook to the lines of its cells.
    """
    for notebook in report.notebooks:
        lines = lines_of(notebook.path)
        for case in cases(notebook, failing):
            level = _level(case)
            if level is None:
                continue
            line = lines[case.number - 1] if case.number is not None and case.number <= len(lines) else 1
            title = f"{word(case.status)}: {Path(notebook.path).name}, {case.name}"
            properties = {"file": _from(workspace, notebook.path), "line": str(line), "title": title}
            parameters = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
            yield f"::{level} {parameters}::{_data(_cut(case.text()))}"


def _level(case: Case) -> str | None:
    if case.outcome in (CaseOutcome.FAILED, CaseOutcome.ERROR):
        return "error"
    return "warning" if case.outcome is CaseOutcome.ACCEPTED else None


def _cut(text: str) -> str:
    return text if len(text) <= _MESSAGE_CHARS else f"{text[:_MESSAGE_CHARS]}\n... and more"


def _from(workspace: Path, path: str) -> str:
    full_path, folder = os.path.abspath(path), os.path.abspath(workspace)
    return os.path.relpath(full_path, folder) if full_path.startswith(folder.rstrip("/") + "/") else full_path


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(report: Report, failing: Set[str]) -> str:
    """Markdown with a table of the notebooks and the differences in each, up to `SUMMARY_BYTES`."""
    statuses = [status for status in CellStatus if report.cells[status]]
    head = ["", "notebook", "status", *map(word, statuses), "s"]
    parts = [
        f"### Notebooks: {verdict(report)} reproduce\n\n",
        f"| {' | '.join(head)} |\n",
        f"| {' | '.join(['---'] * 3 + ['---:'] * (len(statuses) + 1))} |\n",
    ]
    parts += [_row(notebook, statuses, failing) for notebook in report.notebooks]
    parts.append("\n")
    if report.kernel is not None:
        parts.append(f"{_plain(unconfined(report.kernel))}\n\n")
    for notebook in report.notebooks:
        reported = [case for case in cases(notebook, failing) if _level(case) is not None]
        if reported:
            parts += [_details(notebook.path, reported), "\n"]
    return "".join(_bounded(parts))


def _row(notebook: NotebookReport, statuses: list[CellStatus], failing: Set[str]) -> str:
    worst = outcome_of(notebook.status, failing)
    numbers = [str(notebook.counts[status] or "") for status in statuses]
    cells = [_ICONS[worst], _plain(notebook.path), word(notebook.status), *numbers, f"{notebook.seconds:.1f}"]
    return f"| {' | '.join(cells)} |\n"


def _details(path: str, reported: list[Case]) -> str:
    text = visible("\n\n".join(f"{case.name}: {case.text()}" for case in reported))
    return f"<details><summary>{_plain(path)}</summary>\n\n<pre>\n{html.escape(text)}\n</pre>\n\n</details>\n"


def _plain(text: str) -> str:
    """The text escaped for Markdown and HTML, on one line."""
    line = visible(text).replace("\n", "\\n")
    return re.sub(r"[^\w ]|_", lambda match: f"&#{ord(match[0])};", line)


def _bounded(parts: list[str]) -> Iterator[str]:
    left_bytes = SUMMARY_BYTES - 200
    for number, part in enumerate(parts):
        left_bytes -= len(part.encode("utf-8", "replace"))
        if left_bytes < 0:
            yield f"\n{len(parts) - number} parts are left out for lack of space. The log has all.\n"
            return
        yield part
