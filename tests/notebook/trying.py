"""Notebooks made of a few cells, and places in them to try others at."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from deskcheck.notebook.trajectory.ipynb import parse_notebook
from deskcheck.notebook.trajectory.trajectory import Trajectory
from deskcheck.notebook.trial.trial import TrialPlace, Trials


def notebook(*sources: str, name: str = "n.ipynb") -> Trajectory:
    cells = [
        {"cell_type": "code", "id": f"c{n}", "source": s, "metadata": {}, "outputs": [], "execution_count": n}
        for n, s in enumerate(sources, 1)
    ]
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    return parse_notebook(text.encode(), name=name)


@contextlib.contextmanager
def tried(*sources: str, at: int, **more: Any) -> Iterator[TrialPlace]:
    with Trials(notebook(*sources), **more) as trials:
        yield trials.at(at)
