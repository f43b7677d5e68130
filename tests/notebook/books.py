"""Notebooks of nbformat 4, as data and as files, and what a check says of one."""

import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from deskcheck.notebook.check.check import CellReport, NotebookReport, check_notebooks
from deskcheck.notebook.settings import CheckSettings, ReplayLimits


def code(source: Any, *outputs: dict[str, Any], count: int | None = None, **more: Any) -> dict[str, Any]:
    """A code cell. more: further entries, such as an id."""
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [*outputs]}
    return cell | {"execution_count": count} | more


def book(*cells: dict[str, Any], minor: int = 5, **more: Any) -> dict[str, Any]:
    """A notebook. more: further entries, such as metadata."""
    return {"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": [*cells]} | more


def printed(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def shown(text: str, **more: str) -> dict[str, Any]:
    return {
        "output_type": "execute_result",
        "execution_count": 1,
        "metadata": {},
        "data": {"text/plain": text} | more,
    }


def raised(name: str, value: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": ["old"]}


def cell(
    source: str, *outputs: dict[str, Any], count: int | None = 1, tags: tuple[str, ...] = ()
) -> dict[str, Any]:
    return code(source, *outputs, count=count, metadata={"tags": [*tags]})


def save(path: Path, *cells: dict[str, Any], **metadata: Any) -> Path:
    text = {"cell_type": "markdown", "source": "# text", "metadata": {}}
    path.write_text(json.dumps(book(text, *cells, minor=4, metadata=metadata)))
    return path


def checked(path: Path, **settings: Any) -> NotebookReport:
    """The report of one notebook. settings: of the check, and the limits of its runs."""
    names = {field.name for field in fields(ReplayLimits)} & settings.keys()
    bounds = ReplayLimits(**{name: settings.pop(name) for name in names})
    (report,) = check_notebooks([path], CheckSettings(**settings, limits=bounds)).notebooks
    return report


def statuses(cells: Iterable[CellReport]) -> list[str]:
    return [cell.status.value for cell in cells]


def limits(cells: Iterable[CellReport]) -> list[str | None]:
    """Which limit of the sandbox each cell met."""
    return [cell.limit for cell in cells]
