"""Notebooks made of a few cells, and places in them to try others at."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from deskcheck.notebook.trajectory.ipynb import parse_notebook
from deskcheck.notebook.trajectory.trajectory import Trajectory
from deskcheck.notebook.trial.trial import TrialPlace, Trials
from tests.notebook.books import book, code


def notebook(*sources: str, name: str = "n.ipynb") -> Trajectory:
    cells = [code(source, count=n, id=f"c{n}") for n, source in enumerate(sources, 1)]
    return parse_notebook(json.dumps(book(*cells)).encode(), name=name)


@contextlib.contextmanager
def tried(*sources: str, at: int, **more: Any) -> Iterator[TrialPlace]:
    with Trials(notebook(*sources), **more) as trials:
        yield trials.at(at)
