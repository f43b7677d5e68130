"""Python scripts with cells at lines ``# %%``, as in Jupytext, VS Code and Spyder, read by the package
jupytext: https://jupytext.readthedocs.io/en/latest/formats-scripts.html

Other formats of Jupytext, and notebooks of marimo, are refused with the command that converts them.
"""

import io
import re
import tokenize
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError, MissingExtra
from deskcheck.files import read_file

SUFFIX = ".py"
_MARKER = re.compile(r"^# ?%%", re.MULTILINE)
_FORMAT = re.compile(r"^# +format_name: *(\w+) *$", re.MULTILINE)
_READ = ("percent", "hydrogen")
"""Jupytext's formats with ``# %%`` cells. In the second, magics are not comments."""
_MARIMO = re.compile(r"^(?:import marimo\b|from marimo import)", re.MULTILINE)
_MARIMO_CELL = re.compile(r"^@app\.(?:cell|function|class_definition)\b", re.MULTILINE)


def is_script(path: str | Path) -> bool:
    """Whether a file is a Python script with cells, or one of marimo."""
    if Path(path).suffix != SUFFIX:
        return False
    try:
        text = _text(Path(path))
    except InputError:
        return False
    return bool(_MARKER.search(text)) or _is_marimo(text)


def read_script(path: str | Path) -> dict[str, Any]:
    """The notebook of a script, in the form of nbformat 4.

    Raises InputError: it cannot be read, or has no such cells. MissingExtra: jupytext is not installed.
    """
    text = _text(Path(path))
    if _is_marimo(text):
        into = Path(path).with_suffix(".ipynb").name
        raise InputError(
            f"{path}: is a notebook of marimo, whose cells run in the order of their variables. Export it "
            f"and use the result: marimo export ipynb {path} -o {into}"
        )
    named = _FORMAT.search(text)
    format_ = named[1] if named else _READ[0]
    if format_ not in _READ:
        raise InputError(
            f"{path}: is a script in Jupytext's format {format_!r}, but only '# %%' cells can be read. "
            f"Convert it and use the result: jupytext --to ipynb {path}"
        )
    if not _MARKER.search(text):
        raise InputError(
            f"{path}: is a Python file without '# %%' cells, not a notebook. To record it as a program: "
            f"deskcheck record {path}"
        )
    try:
        import jupytext
    except ImportError as error:
        raise MissingExtra("jupytext", "notebook", f"{path}: reading a script as a notebook") from error
    try:
        notebook: dict[str, Any] = jupytext.reads(text, fmt=f"py:{format_}")
    except Exception as error:  # of whatever class: from its reader, YAML's or nbformat's
        raise InputError(f"{path}: jupytext cannot read it: {error!r}.") from error
    for cell in notebook["cells"]:
        cell.pop("id", None)  # which is drawn anew each time
    return notebook


def script_lines(path: str | Path) -> tuple[int, ...]:
    """Line, from 1, of the first line of source of each cell. Empty if the script cannot be read."""
    try:
        cells = read_script(path)["cells"]
        lines = _text(Path(path)).splitlines()
    except (InputError, MissingExtra):
        return ()
    numbers, next_line = [], 0
    for cell in cells:
        source = cell["source"].splitlines() or [""]
        first = source[0]
        line = next(
            (n for n in range(next_line, len(lines)) if lines[n] in (first, f"# {first}", f"#{first}")),
            next_line,
        )
        numbers.append(line + 1)
        next_line = line + (len(source) if cell["source"] else 0)
    return tuple(numbers)


def _is_marimo(text: str) -> bool:
    return bool(_MARIMO.search(text) and _MARIMO_CELL.search(text))


def _text(path: Path) -> str:
    try:
        content = read_file(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as Python: {error}.") from error
