"""Notebook files, and scripts with cells (`percent`), as trajectories.

nbformat: https://nbformat.readthedocs.io/en/latest/format_description.html. The package nbformat converts
versions before 4. A file has the sources and outputs from when it was saved, not earlier ones.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError, MissingExtra
from deskcheck.files import NotJSON, read_file, read_json
from deskcheck.notebook.trajectory import percent
from deskcheck.notebook.trajectory.trajectory import Cell, Execution, Output, Status, Trajectory

ORDERS = ("top", "count")
_LONGEST_S = 366 * 86400
"""Seconds from which a notebook's limit on a cell is ignored."""
_COUNTS = 1 << 53
"""Bound below which execution counts are accepted."""
MOST_SOURCE_CHARS = 2_000_000
"""Maximum size of a code cell. A kernel sends the source back, in a message of up to 8 MB."""
LEFT_OUT = (".ipynb_checkpoints", ".git", "node_modules")
"""Folders whose notebooks are left out."""


def notebook_files(folder: Path) -> list[Path]:
    """The notebooks below a folder, by name. Raises InputError: it has none."""
    files = [
        file
        for file in sorted(folder.rglob("*.ipynb"))
        if not {*LEFT_OUT} & {*file.relative_to(folder).parts} and not file.is_dir()
    ]
    if not files:
        raise InputError(f"{folder}: has no .ipynb files.")
    return files


def read_notebook(path: str | Path, *, order: str = "top") -> Trajectory:
    """A notebook, or a script ``.py`` with ``# %%`` cells, as a trajectory of executions.

    order: ``top``: all code cells from the top down. ``count``: those with an execution count, by count.

    Raises InputError: the file is not a notebook, or is incomplete. MissingExtra: nbformat or jupytext is not
    installed, and the file needs it.
    """
    if Path(path).suffix == percent.SUFFIX:
        return _trajectory(percent.read_script(path), [], str(path), order)
    try:
        text = read_file(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    return parse_notebook(text, name=str(path), order=order)


def parse_notebook(text: bytes, *, name: str, order: str = "top") -> Trajectory:
    """The trajectory that `read_notebook` returns, from the file's bytes."""
    notebook, notes = _notebook(text, name)
    return _trajectory(notebook, notes, name, order)


def _trajectory(notebook: dict[str, Any], notes: list[str], name: str, order: str) -> Trajectory:
    """The trajectory of a notebook in nbformat 4. notes: remarks of its reader."""
    if order not in ORDERS:
        raise InputError(f"order={order!r} must be one of {', '.join(ORDERS)}.")
    raw = notebook.get("cells")
    if not isinstance(raw, list):
        raise InputError(f"{name}: has no list of cells: it is not a notebook.")
    metadata = _object(notebook.get("metadata"))
    spec = _object(metadata.get("kernelspec"))
    language = _text(spec.get("language"), name, "kernelspec.language") or _text(
        _object(metadata.get("language_info")).get("name"), name, "language_info.name"
    )
    if not spec:
        notes.append("no kernelspec: read as Python")
    execution_metadata = _object(metadata.get("execution"))  # of nbmake and Jupyter Book
    cells, executions = _cells(raw, name, notes, may_raise=execution_metadata.get("allow_errors") is True)
    limits = {}
    timeout = execution_metadata.get("timeout")
    if isinstance(timeout, int | float) and timeout is not True and 0 < timeout < _LONGEST_S:
        limits["cell_s"] = timeout
    elif timeout is not None:
        notes.append(f"execution.timeout {timeout!r:.40} of the metadata is not a number of seconds: ignored")
    if order == "count":
        executions = [execution for execution in executions if execution.count is not None]
        counts = [execution.count for execution in executions]
        executions.sort(key=lambda execution: execution.count or 0)
        if len({*counts}) < len(counts):
            notes.append(
                "execution counts repeat, so the cells are from several runs: cells with equal counts keep "
                "their order in the file"
            )
    return Trajectory(
        id=name,
        source="ipynb",
        path=name,
        cells=cells,
        steps=tuple(executions),
        kernel=_text(spec.get("name"), name, "kernelspec.name"),
        language=language,
        limits=limits,
        notes=tuple(notes),
    )


def _notebook(text: bytes, name: str) -> tuple[dict[str, Any], list[str]]:
    try:
        notebook = read_json(text, name)
    except NotJSON as error:
        if error.cut:
            raise InputError(f"{name}: is cut off after {len(text)} bytes: {error.reason}.") from None
        raise
    if not isinstance(notebook, dict) or type(notebook.get("nbformat")) is not int:
        raise InputError(f"{name}: is JSON, but not a notebook: it has no number 'nbformat'.")
    version = notebook["nbformat"]
    if version == 4:
        return notebook, []
    if version not in (1, 2, 3):
        raise InputError(f"{name}: nbformat {version!r:.40} is unknown. deskcheck reads 1 to 4.")
    try:
        from nbformat import convert, reader
    except ImportError as error:
        raise MissingExtra("nbformat", "notebook", f"{name}: reading nbformat {version}") from error
    try:
        converted: dict[str, Any] = convert(reader.reads(text.decode()), 4)
    except Exception as error:  # nbformat asserts, and looks up what a file may lack
        raise InputError(f"{name}: cannot be converted from nbformat {version}: {error!r}.") from error
    for cell in converted["cells"]:
        cell.pop("id", None)  # which nbformat draws anew each time
    return read_json(json.dumps(converted), name), [f"converted from nbformat {version}"]


def _text(value: Any, name: str, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name}: {what} of the metadata is not text. Save the notebook again in Jupyter.")
    return value


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def joined(text: Any) -> str:
    """A multi-line string of nbformat: text, or a list of its lines. Raises TypeError."""
    return text if isinstance(text, str) else "".join(text)


def _cells(
    raw: Iterable[Any], name: str, notes: list[str], *, may_raise: bool
) -> tuple[tuple[Cell, ...], list[Execution]]:
    cells: list[Cell] = []
    ran: list[tuple[Cell, Status, int | None, tuple[Output, ...]]] = []
    taken = {cell["id"] for cell in raw if isinstance(cell, dict) and isinstance(cell.get("id"), str)}
    used: set[str] = set()
    for number, cell in enumerate(raw):
        try:
            kind, source = cell["cell_type"], joined(cell["source"])
            cell_id = cell.get("id")
            if not isinstance(cell_id, str) or cell_id in used:  # before nbformat 4.5 cells had none
                cell_id = f"cell-{number}"
                while cell_id in taken or cell_id in used:
                    cell_id += "-"
            used.add(cell_id)
            outputs = tuple(map(_output, cell.get("outputs", ()))) if kind == "code" else ()
            tags = tuple(map(str, _object(cell.get("metadata")).get("tags") or ()))
            tags += ("raises-exception",) if may_raise and kind == "code" else ()
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{name}: cell {number} is not in nbformat 4: {error!r}.") from error
        if kind == "code" and len(source) > MOST_SOURCE_CHARS:
            raise InputError(
                f"{name}: cell {number}: its source has {len(source):,} characters, more than "
                f"{MOST_SOURCE_CHARS:,}. Move the data into a file that the cell reads."
            )
        if kind not in ("code", "markdown", "raw"):
            notes.append(f"cell {number} is of the unknown type {kind!r}: kept as it is, not run")
        read_cell = Cell(id=cell_id, source=source, type=str(kind), tags=tags)
        cells.append(read_cell)
        if kind == "code":
            count = cell.get("execution_count")
            count = count if type(count) is int and abs(count) < _COUNTS else None
            ran.append((read_cell, _status(count, outputs), count, outputs))
    order = tuple(cell.id for cell in cells)
    executions = [
        Execution(cell=c.id, source=c.source, status=status, count=count, outputs=outputs, order=order)
        for c, status, count, outputs in ran
    ]
    return tuple(cells), executions


def _status(count: int | None, outputs: tuple[Output, ...]) -> Status:
    error = next((output for output in outputs if output.type == "error"), None)
    if error is not None:
        return Status.of_error(error.name)
    return Status.UNKNOWN if count is None else Status.OK


def _output(raw: Any) -> Output:
    kind = raw["output_type"]
    if kind == "stream":
        return Output(type=kind, name=str(raw.get("name", "stdout")), text=joined(raw.get("text", "")))
    if kind == "error":
        text = "\n".join(map(str, raw.get("traceback", ())))
        return Output(type=kind, name=str(raw.get("ename")), value=str(raw.get("evalue")), text=text)
    data = {mime: _mime(mime, value) for mime, value in _object(raw.get("data")).items()}
    count = raw.get("execution_count")
    count = count if type(count) is int and abs(count) < _COUNTS else None
    return Output(type=str(kind), data=data, metadata=_object(raw.get("metadata")), count=count)


def _mime(mime: str, value: Any) -> Any:
    """The data of one MIME type: JSON unchanged, other data as text."""
    if isinstance(value, list) and not mime.endswith("json") and all(isinstance(line, str) for line in value):
        return "".join(value)
    if not isinstance(value, str) and mime.startswith(("text/", "image/")):
        raise TypeError(f"{mime} is not a text")
    return value
