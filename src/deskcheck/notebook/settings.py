"""What decides how notebooks are run."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from deskcheck.sandbox.confinement import Confinement
from deskcheck.settings import Setting

PREFIXES = ("notebooks:", "june:", "history:")
"""Beginnings of sources, beside ``FILE.ipynb``: a folder or file, a JuNE log, a notebook under git."""

VIEWS = ("none", "names", "used", "changed", "full")
"""``none``: nothing. ``names``: names and types of all variables. ``used``: the variables that a piece of
source depends on. ``changed``: those that the last execution added, rebound or mutated, and the names it
removed. ``full``: all variables. Order: what the last execution changed, then the others, the newest first;
of ``used``, as `state.views.used_names` gives them."""


class CellOrder(StrEnum):
    """In which order the cells of a file are run."""

    TOP = "top"
    """From the top down."""
    COUNT = "count"
    """By their execution count."""


Order = Annotated[
    CellOrder, Setting("Run cells from the 'top' down, or by execution 'count'.", flag="--cell-order")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayLimits:
    """Bounds on a replay. What `notebook_s` cuts off is not in the trajectory, which says so.

    cpu_s: CPU time of one kernel, between two restarts. memory_bytes: of the kernel and all its processes.
    output_chars: kept of one cell's outputs.
    """

    cell_s: Annotated[float, Setting("Seconds that a cell may take.", min=0.1)] = 60.0
    notebook_s: Annotated[float, Setting("Seconds that all cells of a notebook may take.", min=0.1)] = 600.0
    cpu_s: float = 1200.0
    memory_bytes: int = 4 << 30
    output_chars: int = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookSettings:
    """What decides the recording of a notebook.

    runs: in how many fresh kernels it runs, if `repeat` says so; the runs are compared. Else it is one.

    Raises ValueError where `runs` is less than two.
    """

    limits: ReplayLimits = field(default_factory=ReplayLimits)
    order: Order = CellOrder.TOP
    sandbox: Annotated[
        Confinement, Setting("How closely kernels are confined. 'trusted': not at all, for your own code.")
    ] = Confinement.STRICT
    repeat: Annotated[bool, Setting("Run each in another kernel, too. Say where the runs differ.")] = True
    runs: Annotated[int, Setting("Runs of each that are compared.", min=2)] = 2

    def __post_init__(self) -> None:
        if self.runs < 2:
            raise ValueError(
                f"runs={self.runs} must be at least two; for one that is not compared, repeat=False"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """How a notebook is checked. One whose cells give something else than is stored is run up to `runs` times
    in all. normalisers: rules that forgive differences (`deskcheck.notebook.check.normalise`); None: all
    that there are.

    Raises ValueError for less than one run.
    """

    limits: ReplayLimits = field(default_factory=ReplayLimits)
    order: Order = CellOrder.TOP
    sandbox: Annotated[
        Confinement, Setting("How closely notebooks are confined. 'trusted': not at all, for your own code.")
    ] = Confinement.STRICT
    runs: Annotated[
        int, Setting("Fresh runs of a notebook that gives something else than is stored.", min=1)
    ] = 2
    normalisers: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise ValueError(f"runs={self.runs} must be at least one")
