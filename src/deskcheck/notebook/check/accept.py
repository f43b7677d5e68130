"""Stores the fresh outputs of cells in their notebook, like an update of snapshot tests."""

import json
import os
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError
from deskcheck.files import read_file, read_json, write_file
from deskcheck.notebook.check.check import (
    CellReport,
    CellStatus,
    NotebookChecker,
    NotebookReport,
    files_of,
    updates_after,
)
from deskcheck.notebook.kernel.folders import as_outside, root_of
from deskcheck.notebook.settings import CheckSettings
from deskcheck.notebook.trajectory.trajectory import Execution, Output, shown_outputs

_NEW = (CellStatus.DIFFERENT, CellStatus.NO_STORED_OUTPUT)
"""Statuses that are accepted if no cell is named. A cell without stored output must show something."""
_ASKED = (*_NEW, CellStatus.NORMALISED)
"""Statuses that can be accepted."""
_INDENT = re.compile(r"\{\r?\n([ \t]*)\"")
_ESCAPE = re.compile(r"\\u(?!00[0-7])")
"""An escape of a character that is not ASCII: Python's `json.dump` writes them, Jupyter does not."""


@dataclass(slots=True)
class Accepted:
    """The result of accepting a notebook's outputs."""

    report: NotebookReport
    written: list[int] = field(default_factory=list)
    """Numbers of the cells whose outputs are new in the file."""
    left: dict[int, str] = field(default_factory=dict)
    """Numbers of other cells that differ, with their status."""

    def to_dict(self) -> dict[str, Any]:
        return {"written": [*self.written], "left": {**self.left}, "report": self.report.to_dict()}


def accept_outputs(
    path: str | os.PathLike[str],
    settings: CheckSettings | None = None,
    *,
    cells: Collection[int] = (),
    write: bool = True,
) -> Accepted:
    """Run a notebook like `check_notebooks`. Store the outputs that differ from the stored ones and are the
    same in all runs.

    cells: numbers of cells, from 1, counting all types. Empty: all cells with a different or no stored
    output.
    write: whether to change the file.

    Raises InputError: the file is not a notebook of nbformat 4, or changed while it ran; a named cell is
    missing, failed or is not repeatable. The errors of `check_notebooks`.
    """
    settings = settings or CheckSettings()
    ((path, folder),) = files_of([path])
    text = read_file(path)
    notebook = _notebook(text, path)
    report, fresh = NotebookChecker(settings=settings).run(path, folder)
    accepted = Accepted(report)
    if fresh is None or not report.cells:
        raise InputError(f"{path}: {report.status.value}: {report.detail or 'it has no cells to run'}")
    ran = {step.cell: step for step in fresh.executions}
    updates = updates_after([*ran.values()])
    root = root_of(folder, settings.root)
    unknown = {*cells} - {cell.number for cell in report.cells}
    if unknown:
        raise InputError(f"{path}: has no code cell {min(unknown)}.")
    for cell in report.cells:
        step = ran.get(cell.id)
        if not _is_accepted(cell, step, cells, path):
            if cell.status not in (CellStatus.SAME, *_ASKED):
                accepted.left[cell.number] = cell.status.value
            continue
        assert step is not None
        raw = notebook["cells"][cell.number - 1]
        now = shown_outputs((*step.outputs, *updates.get(cell.id, ())))
        raw["outputs"] = [_raw(output, root) for output in now]
        raw["execution_count"] = step.count
        accepted.written.append(cell.number)
    if write and accepted.written:
        if read_file(path) != text:
            raise InputError(f"{path}: was changed while it ran. Nothing was written; run it again.")
        write_file(path, [_written(notebook, text)])
    return accepted


def _notebook(text: bytes, path: Path) -> Any:
    notebook = read_json(text, str(path)) if path.suffix == ".ipynb" else None
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4:
        raise InputError(
            f"{path}: outputs can only be stored in nbformat 4. Save the notebook again in Jupyter."
        )
    return notebook


def _is_accepted(cell: CellReport, step: Execution | None, numbers: Collection[int], path: Path) -> bool:
    if numbers and cell.number not in numbers:
        return False
    if numbers and cell.status is not CellStatus.SAME and cell.status not in _ASKED:
        raise InputError(f"{path}: cell {cell.number} is {cell.status.value}: there is nothing to accept.")
    if step is None or cell.status not in (_ASKED if numbers else _NEW):
        return False
    return cell.status is not CellStatus.NO_STORED_OUTPUT or bool(step.shown())


def _raw(output: Output, root: Path | None) -> dict[str, Any]:
    """An output in nbformat 4. Paths in the copy that cells run in become paths in the folder."""

    def outside(value: Any) -> Any:
        return value if root is None or not isinstance(value, str) else as_outside(value, os.fspath(root))

    def lines(value: Any) -> Any:
        return outside(value).splitlines(keepends=True) if isinstance(value, str) else value

    if output.type == "stream":
        return {"name": output.name, "output_type": "stream", "text": lines(output.text or "")}
    if output.type == "error":
        trace = outside(output.text or "").split("\n")
        value = outside(output.value or "")
        return {"ename": output.name, "evalue": value, "output_type": "error", "traceback": trace}
    data = {
        mime: value if mime.startswith("image/") and mime != "image/svg+xml" else lines(value)
        for mime, value in sorted(output.data.items())
    }
    count = {"execution_count": output.count} if output.type == "execute_result" else {}
    return {"data": data, **count, "metadata": output.metadata, "output_type": output.type}


def _written(notebook: Any, before: bytes) -> str:
    """The notebook as JSON, with the indents, the escapes and the end of the file before."""
    text = before.decode("utf-8", "replace")
    indent = _INDENT.search(text)
    end = "\n" if text.endswith("\n") else ""
    escapes = text.isascii() and _ESCAPE.search(text) is not None
    return json.dumps(notebook, ensure_ascii=escapes, indent=indent[1] if indent else 1) + end
