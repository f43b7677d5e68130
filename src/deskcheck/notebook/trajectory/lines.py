"""At which line of its file the source of each cell stands: for editors and reviews, which show files."""

import itertools
import json
import re
from pathlib import Path

from deskcheck.files import read_file, read_json
from deskcheck.notebook.trajectory import percent

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:]|[^\s\[\]{}:,"]+')
"""Of a text that is JSON; without commas."""


def cell_lines(path: str | Path) -> tuple[int, ...]:
    """Line, from 1, of the first line of source of each cell of a notebook of nbformat 4, or of a script with
    cells; cells of all types.

    Empty where the file is another's: cut off, of an older format, or not there.
    """
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
    """Where the source of each cell of a notebook begins; where the cell does, if it has none."""
    found: list[int] = []
    depth, in_cells, awaits = 0, False, ""
    for token, following in itertools.pairwise(_TOKEN.finditer(text)):
        if awaits and token[0] != ":":
            if token[0] != "]":  # a list of no lines
                found[-1] = token.start()
            awaits = "line" if awaits == "source" and token[0] == "[" else ""
        if token[0] in ("{", "["):
            depth += 1
            if depth == 3 and in_cells:
                found.append(token.start())
        elif token[0] in ("}", "]"):
            depth -= 1
        elif following[0] == ":" and depth == 1:
            in_cells = read_json(token[0]) == "cells"
            found = [] if in_cells else found
        elif following[0] == ":" and depth == 3 and in_cells and read_json(token[0]) == "source":
            awaits = "source"
    return found
