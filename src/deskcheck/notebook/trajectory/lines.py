"""At which line of its file the source of each cell stands: for editors and reviews, which show files."""

import json
from collections.abc import Iterator
from pathlib import Path

from deskcheck.files import read_file
from deskcheck.notebook.trajectory import percent

_WHITE = " \t\n\r"
_DECODER = json.JSONDecoder()


def cell_lines(path: str | Path) -> tuple[int, ...]:
    """Line, from 1, of the first line of source of each cell of a notebook of nbformat 4, or of a script with
    cells; cells of all types.

    Empty where the file is another's: cut off, of an older format, or not there.
    """
    if Path(path).suffix == percent.SUFFIX:
        return percent.script_lines(path)
    try:
        content = read_file(path)
        text = content.decode(json.detect_encoding(content))
        cells = [start for key, start in _members(text, _past(text, 0)) if key == "cells"]
        if not cells or text[cells[-1]] != "[":
            return ()
        sources = [_source(text, start) for start in _items(text, cells[-1])]
    except (OSError, ValueError, IndexError, RecursionError):
        return ()
    lines, line, before = [], 1, 0
    for start in sources:
        line += text.count("\n", before, start)
        lines.append(line)
        before = start
    return tuple(lines)


def _source(text: str, cell: int) -> int:
    """Where the source of a cell begins; where the cell does, if it has none."""
    found = cell
    for key, start in _members(text, cell):
        if key == "source":
            found = start
            if text[start] == "[":
                found = next(_items(text, start), start)
    return found


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Key, and where its value begins, of each member of the object that begins at `start`."""
    if text[start] != "{":
        raise ValueError(f"no object at {start}")
    at = _past(text, start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _past(text, _past(text, at) + 1)  # behind the colon
        yield key, at
        at = _next(text, at)


def _items(text: str, start: int) -> Iterator[int]:
    """Where each item of the array that begins at `start` begins."""
    at = _past(text, start + 1)
    while text[at] != "]":
        yield at
        at = _next(text, at)


def _next(text: str, at: int) -> int:
    """Behind the value at `at`, and the comma that may follow."""
    at = _past(text, _DECODER.raw_decode(text, at)[1])
    return _past(text, at + 1) if text[at] == "," else at


def _past(text: str, at: int) -> int:
    """The first place from `at` on that is not white space."""
    while text[at] in _WHITE:
        at += 1
    return at
