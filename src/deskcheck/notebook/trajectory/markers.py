"""Tags and comments by which authors mark cells for the tools that run them.

The words are those of nbclient, nbmake and Jupyter Book (tags) and of nbval (tags and comments). The tag
``random-output`` is deskcheck's.
"""

from collections.abc import Iterable
from enum import StrEnum

from deskcheck.notebook.trajectory.trajectory import Cell


class Marker(StrEnum):
    """A mark that authors give a cell."""

    SKIP = "skip"
    """The cell does not run."""
    RAISES = "raises"
    """The cell may raise an exception."""
    IGNORE = "ignore"
    """Its output may differ from the stored one."""
    CHECK = "check"
    """Its output is compared even with ``--lax``."""
    RANDOM = "random"
    """Its output may differ between runs."""


_WORDS = {
    "SKIP_EXECUTION": Marker.SKIP,
    "NBVAL_SKIP": Marker.SKIP,
    "RAISES_EXCEPTION": Marker.RAISES,
    "NBVAL_RAISES_EXCEPTION": Marker.RAISES,
    "NBVAL_IGNORE_OUTPUT": Marker.IGNORE,
    "PYTEST_VALIDATE_IGNORE_OUTPUT": Marker.IGNORE,
    "NBVAL_CHECK_OUTPUT": Marker.CHECK,
    "RANDOM_OUTPUT": Marker.RANDOM,
}
_COMMENTS = frozenset(word for word in _WORDS if word.startswith(("NBVAL", "PYTEST")))


def markers_of(cell: Cell) -> frozenset[Marker]:
    """All markers of a cell, from its tags and comments."""
    words = {tag.upper().replace("-", "_") for tag in cell.tags}
    if "NBVAL" in cell.source or "PYTEST_VALIDATE" in cell.source:
        lines = (line.strip() for line in cell.source.splitlines())
        words |= {line.lstrip("#").strip() for line in lines if line.startswith("#")} & _COMMENTS
    return frozenset(_WORDS[word] for word in words if word in _WORDS)


def skipped_cells(cells: Iterable[Cell]) -> set[str]:
    """Ids of the cells that do not run."""
    return {cell.id for cell in cells if Marker.SKIP in markers_of(cell)}


_OWN = ("%deskcheck", "%load_ext deskcheck", "import deskcheck", "deskcheck.context(")


def is_own(source: str) -> bool:
    """Whether a cell only controls the recording or shows the state: it is not part of the work."""
    if source.lstrip().startswith("%%deskcheck"):
        return True
    lines = [line.strip() for line in source.splitlines()]
    code = [line for line in lines if line and not line.startswith("#")]
    return bool(code) and all(line.startswith(_OWN) for line in code)
