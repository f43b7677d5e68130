"""The page of a notebook's trajectory: its steps, with outputs and variables.

Shown are text and pixel images (PNG, JPEG, GIF). Of HTML, SVG and scripts only the types are shown. Markdown
is shown as source, with the code cell that follows it. With the notebook file, its stored outputs are shown
beside the new ones, in the comparison of `notebook.check`.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from deskcheck._version import __version__
from deskcheck.notebook.check.check import CellReport, NotebookReport, compare_with_stored
from deskcheck.notebook.kernel.refusals import RULES
from deskcheck.notebook.state.state import KernelState, states
from deskcheck.notebook.trajectory.trajectory import (
    Cell,
    Execution,
    Output,
    Restart,
    Step,
    Trajectory,
    advance,
)
from deskcheck.recording import render
from deskcheck.view.notebooks import word
from deskcheck.view.page import page_of, visible

VALUE_CHARS = 400
OUTPUT_CHARS = 20_000
"""Maximum length of one output."""
IMAGE_CHARS, IMAGES_CHARS = 3_000_000, 30_000_000
"""Maximum length of a picture in base64, and of all pictures together."""
PICTURES = ("image/png", "image/jpeg", "image/gif")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")


def notebook_facts(trajectory: Trajectory, stored: Trajectory | None = None) -> dict[str, Any]:
    """The data of the page, JSON-able. stored: the notebook file, with its outputs."""
    report = None if stored is None else compare_with_stored(stored, trajectory)
    environment = trajectory.environment
    return {
        "deskcheck": __version__,
        "id": trajectory.id,
        "source": trajectory.source,
        "path": trajectory.path,
        "python": None if environment is None else environment.python,
        "ended": trajectory.ended.value,
        "detail": trajectory.detail,
        "notes": list(trajectory.notes),
        "report": None if report is None else {"status": report.status.value, "runs": report.runs},
        "texts": [cell.source for cell in trajectory.cells if cell.type != "code"],
        "code": sum(cell.type == "code" for cell in trajectory.cells),
        "steps": list(_steps(trajectory, stored, report)),
    }


def notebook_page(trajectory: Trajectory, stored: Trajectory | None = None) -> str:
    """The page, as HTML."""
    return page_of("notebook", trajectory.id, notebook_facts(trajectory, stored), images="data:")


def trajectories_table(trajectories: Mapping[str, Trajectory]) -> Table:
    """A table with a row for each notebook, by name."""
    table = Table("id", "notebook", "ended", "steps", "executions", show_edge=False, pad_edge=False)
    for name, trajectory in trajectories.items():
        executions = sum(1 for _ in trajectory.executions)
        path = Text(visible(trajectory.path or trajectory.source))
        table.add_row(
            Text(visible(name)), path, trajectory.ended.value, str(len(trajectory.steps)), str(executions)
        )
    return table


def trajectory_table(trajectory: Trajectory, stored: Trajectory | None = None) -> Table:
    """A table of the steps for a terminal, with status and changed variables.

    With the notebook file it also shows whether the outputs are the stored ones."""
    heads = ["step", "what", "count", "status", "source", "variables", *(["stored"] if stored else [])]
    table = Table(*heads, show_edge=False, pad_edge=False)
    report = None if stored is None else compare_with_stored(stored, trajectory)
    compared = {cell.id: cell for cell in report.cells} if report else {}
    all_states = states(trajectory.steps)
    for number, step in enumerate(trajectory.steps):
        source = Text(visible(str(getattr(step, "source", "")).strip().partition("\n")[0][:60]))
        if not isinstance(step, Execution):
            table.add_row(str(number), step.kind, "", "", source)
            continue
        _, state = next(all_states)
        changed = () if state is None else (*state.added, *state.rebound, *state.mutated)
        count = "" if step.count is None else str(step.count)
        row = [str(number), "runs", count, step.status.value, source, Text(visible(", ".join(changed)))]
        if step.cell in compared:
            cell = compared[step.cell]
            row.append(" ".join([word(cell.status), *cell.normalisers]))
        table.add_row(*row)
    return table


def _steps(
    trajectory: Trajectory, stored: Trajectory | None, report: NotebookReport | None
) -> Iterator[dict[str, Any]]:
    cells = {cell.id: cell for cell in trajectory.cells}
    compared = {cell.id: cell for cell in report.cells} if report else {}
    before = {step.cell: step for step in stored.executions} if stored else {}
    all_states = states(trajectory.steps)
    outputs = _Outputs()
    for number, step in enumerate(trajectory.steps):
        was = cells.get(getattr(step, "cell", ""))
        row = _step(number, step)
        row["was"] = None if was is None else was.source
        advance(cells, step)
        row["above"], row["below"] = _prose(cells, step)
        if isinstance(step, Execution):
            _, state = next(all_states)
            row |= _execution(step, state, outputs)
            if (cell_report := compared.get(step.cell)) is not None:
                row["stored"] = _stored(cell_report, before.get(step.cell), outputs)
        yield row


def _prose(cells: Mapping[str, Cell], step: Step) -> tuple[list[str], list[str]]:
    """The text cells between a cell that runs and the code cell before it; after the last code cell, also
    those below it."""
    if not isinstance(step, Execution) or step.cell not in step.order:
        return [], []
    index = step.order.index(step.cell)

    def text(order: Iterable[str]) -> list[str]:
        in_order = (cells[id_] for id_ in order if id_ in cells)
        return [cell.source for cell in itertools.takewhile(lambda cell: cell.type != "code", in_order)]

    after = step.order[index + 1 :]
    last = all(cells[id_].type != "code" for id_ in after if id_ in cells)
    return text(reversed(step.order[:index]))[::-1], text(after) if last else []


def _step(number: int, step: Step) -> dict[str, Any]:
    cell = getattr(step, "cell", None)
    position = step.order.index(cell) + 1 if cell in step.order else None
    return {
        "number": number,
        "kind": step.kind,
        "cell": cell,
        "at": None if step.at is None else f"{datetime.fromtimestamp(step.at, UTC):%Y-%m-%d %H:%M:%S}",
        "place": position,
        "cells": len(step.order),
        "source": getattr(step, "source", None),
        "inferred": getattr(step, "inferred", False),
        "why": step.why if isinstance(step, Restart) else None,
        # After a resumption everything that was there has been made again.
        "clears": isinstance(step, Restart) and step.why != "resumed",
    }


def _execution(step: Execution, state: KernelState | None, outputs: "_Outputs") -> dict[str, Any]:
    return {
        "status": step.status.value,
        "count": step.count,
        "wall_s": step.wall_s,
        "memory": step.memory_after,
        "detail": step.detail or (None if step.confined is None else RULES.get(step.confined, step.confined)),
        "repeats": step.repeats,
        "difference": step.difference,
        "outputs": list(outputs.facts(step.shown())),
        "state": None if state is None else _changes(state),
    }


def _changes(state: KernelState) -> dict[str, Any]:
    """The changes of variables by a cell; the page adds them up."""
    changed = [(name, "new") for name in state.added]
    changed += [(name, "another object") for name in state.rebound]
    changed += [(name, "changed") for name in state.mutated]
    return {
        "variables": [
            [
                name,
                change,
                state.variables[name].type,
                render(state.variables[name].value, max_chars=VALUE_CHARS),
            ]
            for name, change in changed
        ],
        "removed": list(state.removed),
        "aliases": [list(names) for names in state.aliases()],
        "count": state.count,
        "unseen": state.unseen,
    }


class _Outputs:
    """Outputs for the page. Pictures are included up to a total size."""

    def __init__(self) -> None:
        self._chars_left = IMAGES_CHARS

    def facts(self, outputs: Iterable[Output]) -> Iterator[dict[str, Any]]:
        for output in outputs:
            facts: dict[str, Any] = {"type": output.type, "name": output.name}
            if output.type == "stream":
                yield facts | _text(output.text or "", output.length)
            elif output.type == "error":
                yield facts | _error(output)
            else:
                yield facts | self._shown(output)

    def _shown(self, output: Output) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        picture = next((mime for mime in PICTURES if self._fits(output.data.get(mime))), None)
        if picture is not None:
            packed = "".join(output.data[picture].split())
            self._chars_left -= len(packed)
            facts["picture"] = f"data:{picture};base64,{packed}"
        plain = output.data.get("text/plain")
        others = sorted(mime for mime in output.data if mime not in ("text/plain", picture))
        return facts | _text(plain if isinstance(plain, str) else "", output.length) | {"others": others}

    def _fits(self, value: object) -> bool:
        room = min(IMAGE_CHARS, self._chars_left)
        return isinstance(value, str) and 0 < len(value) <= room and _BASE64.fullmatch(value) is not None


_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def _plain(traceback: str) -> str:
    """A traceback without its colours."""
    return _COLOURS.sub("", traceback)


def _error(output: Output) -> dict[str, Any]:
    """The traceback. If it does not end with class and message, these are put before it."""
    traceback = _plain(output.text or "")
    message = f"{output.name}: {output.value}" if output.value else output.name or ""
    beyond = 0 if output.length is None else max(0, output.length - len(output.text or ""))
    if beyond or not traceback.rstrip().endswith(message):
        traceback = f"{message}\n{traceback}"
    return _text(traceback, len(traceback) + beyond)


def _text(text: str, length: int | None) -> dict[str, Any]:
    """The beginning of a text, and the number of missing characters."""
    beginning = text[:OUTPUT_CHARS]
    return {"text": beginning, "more": max(length or 0, len(text)) - len(beginning)}


def _stored(cell_report: CellReport, before: Execution | None, outputs: "_Outputs") -> dict[str, Any]:
    stored_outputs: Sequence[Output] = () if before is None else before.shown()
    return {
        "status": cell_report.status.value,
        "normalisers": list(cell_report.normalisers),
        "difference": cell_report.difference,
        "unstable": cell_report.unstable,
        "category": cell_report.category,
        "outputs": list(outputs.facts(stored_outputs)),
        "diff": diff_rows(cell_report),
    }


def diff_rows(cell: CellReport) -> list[list[Any]]:
    """The differences in a cell, for a page: side, text, and the range in the line that differs."""
    return [[row.side, row.text, *(row.changed or (None, None))] for row in cell.diff]
