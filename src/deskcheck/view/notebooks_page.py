"""The page of a check of notebooks, built from `web/src/notebooks.tsx`."""

import platform
from datetime import UTC, datetime
from typing import Any

from deskcheck._version import __version__
from deskcheck.notebook.check.check import CellReport, CellStatus, NotebookReport, NotebookStatus, Report
from deskcheck.view.notebook_page import diff_rows
from deskcheck.view.notebooks import below, common_folder, is_quiet, reason, unconfined, verdict, word
from deskcheck.view.page import page_of

_SOURCE_LINES, _LINE_CHARS = 30, 300


def notebooks_page(report: Report) -> str:
    """The page as HTML: a bar of statuses, and each notebook with the differences in its cells."""
    facts = notebooks_facts(report)
    return page_of("notebooks", facts["title"], facts, bundle="document")


def notebooks_facts(report: Report) -> dict[str, Any]:
    """The data of the page, JSON-able."""
    stored = report.by_status[NotebookStatus.NO_STORED_OUTPUT]
    nothing = f"{stored} had no stored outputs to compare with · " if stored else ""
    python = report.environment.python if report.environment else platform.python_version()
    created = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC · deskcheck {__version__} · Python {python}"
    runs = "one fresh run" if report.runs == 1 else f"up to {report.runs} fresh runs"
    where = ", in a sandbox without a network" if report.kernel is None else f". {unconfined(report.kernel)}"
    folder = common_folder(report)
    return report.to_dict() | {
        "title": f"{verdict(report)} notebooks reproduce",
        "facts": f"{nothing}{created} · {runs} of each{where}",
        "folder": folder,
        "words": {status: word(status) for status in (*CellStatus, *NotebookStatus)},
        "notebooks": [_notebook_facts(notebook, folder) for notebook in report.notebooks],
    }


def _notebook_facts(notebook: NotebookReport, folder: str) -> dict[str, Any]:
    return {
        "path": below(notebook.path, folder),
        "status": notebook.status.value,
        "seconds": notebook.seconds,
        "notes": [text for text in (notebook.detail, *notebook.notes) if text],
        "counts": {status.value: count for status, count in notebook.counts.most_common()},
        "cells": list(map(_cell_facts, notebook.cells)),
    }


def _cell_facts(cell: CellReport) -> dict[str, Any]:
    return {
        "number": cell.number,
        "count": cell.count,
        "status": cell.status.value,
        "why": reason(cell),
        "source": _beginning(cell.source),
        "diff": diff_rows(cell),
        "quiet": is_quiet(cell),
    }


def _beginning(source: str) -> str:
    lines = source.splitlines()
    beginning = [
        line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…" for line in lines[:_SOURCE_LINES]
    ]
    if len(lines) > _SOURCE_LINES:
        beginning.append(f"... {len(lines) - _SOURCE_LINES} more lines")
    return "\n".join(beginning)
