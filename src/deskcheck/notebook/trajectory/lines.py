"""The line of a file at which the source of each cell begins, for editors and reviews."""

import itertools
import json
import re
from pathlib import Path

from deskcheck.files import read_file, read_json
from deskcheck.notebook.trajectory import percent

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:]|[^\s\[\]{}:,"]+')
"""A token of JSON, except a comma."""


def cell_lines(path: str | Path) -> tuple[int, ...]:
    """Line, from 1, at which the source of each cell begins, in a notebook of nbformat 4 or a script with
    cells. Empty if the file cannot be read as either."""
    if Path(path).suffix == percent.SUFFIX:
        return percent.script_lines(path)
    try:
        content = read_file(path)
        if not all(isinstance(cell, dict) for cell in read_json(content)["cells"]):
            return ()
        text = content.decode(json.detect_encoding(content))
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    starts = _sources(text)
    lines = itertools.accumulate(text.count("\n", *places) for places in itertools.pairwise([0, *starts]))
    return tuple(line + 1 for line in lines)


def _sources(text: str) -> list[int]:
    """Offset of the source of each cell, or of the cell if it has no source."""
    offsets: list[int] = []
    depth, in_cells, awaits = 0, False, ""
    for token, following in itertools.pairwise(_TOKEN.finditer(text)):
        if awaits and token[0] != ":":
            if token[0] != "]":  # a list of no lines
                offsets[-1] = token.start()
            awaits = "line" if awaits == "source" and token[0] == "[" else ""
        if token[0] in ("{", "["):
            depth += 1
            if depth == 3 and in_cells:
                offsets.append(token.start())
        elif token[0] in ("}", "]"):
            depth -= 1
        elif following[0] == ":" and depth == 1:
            in_cells = read_json(token[0]) == "cells"
            offsets = [] if in_cells else offsets
        elif following[0] == ":" and depth == 3 and in_cells and read_json(token[0]) == "source":
            awaits = "source"
    return offsets
