"""Settings of how notebooks run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from deskcheck.notebook.trajectory.parameters import parameter
from deskcheck.sandbox.confinement import Confinement
from deskcheck.settings import Setting, parse_size

PREFIXES = ("notebooks:", "june:", "history:")
"""Prefixes of sources: a folder or file, a JuNE log, a notebook under git."""

VIEWS = ("none", "names", "used", "changed", "full")
"""``none``: nothing. ``names``: names and types of all variables. ``used``: the variables that a piece of
source depends on. ``changed``: those that the last execution added, rebound or mutated, and the names it
removed. ``full``: all variables. Order: changed by the last execution, then the newest first; ``used``: as in
`state.views.used_names`."""

PAST_VIEWS = ("time", "memory", "history")
"""Further views of questions, about the cells that were executed before. ``time``: the seconds that each
took. ``memory``: the memory of the kernel after each. ``history``: the variables that each added, rebound or
mutated, with their values after it."""


class CellOrder(StrEnum):
    """In which order the cells of a file are run."""

    TOP = "top"
    """From the top down."""
    COUNT = "count"
    """By their execution count."""


Order = Annotated[
    CellOrder, Setting("Run cells from the 'top' down, or by execution 'count'.", flag="--cell-order")
]
Root = Annotated[
    Path | None,
    Setting(
        "Folder above the notebooks whose files they can read. Default: the top of their git repository.",
        metavar="FOLDER",
        parse=Path,
    ),
]

CELL_S = 60.0
"""Seconds that a cell may take if neither the caller nor the notebook says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayLimits:
    """Bounds on a replay. Cells after `notebook_s` are missing in the trajectory, which says so.

    cell_s: None: the notebook's ``execution.timeout``, else `CELL_S`. The notebook can only lower a number.
    cpu_s: bound on one kernel, between two restarts.
    memory_bytes: bound on the kernel and its processes together.
    disk_bytes: at `strict`, bound on all files together, which are in memory; at `standard`, on each file; at
    `trusted`, no bound.
    """

    cell_s: Annotated[
        float | None,
        Setting(
            "Seconds that a cell may take. The notebook's metadata can lower it. Default: the time in the "
            "metadata, else 60.",
            min=0.1,
        ),
    ] = None
    notebook_s: Annotated[float, Setting("Seconds that all cells of a notebook may take.", min=0.1)] = 600.0
    cpu_s: Annotated[float, Setting("CPU time that a kernel may use.", flag="--kernel-cpu-s", min=1)] = 1200.0
    memory_bytes: Annotated[
        int | None,
        Setting(
            "Memory that a kernel may fill, such as 12G. Default: three quarters of the machine's.",
            flag="--memory",
            metavar="SIZE",
            parse=parse_size,
        ),
    ] = None
    disk_bytes: Annotated[
        int | None,
        Setting(
            "Space for the files of a notebook, such as 2G. Default: a quarter of the machine's memory.",
            flag="--disk",
            metavar="SIZE",
            parse=parse_size,
        ),
    ] = None
    open_files: Annotated[int, Setting("Files that a kernel may have open at once.", min=64)] = 1024
    processes: Annotated[int, Setting("Processes and threads that a kernel may have.", min=16)] = 1024
    output_chars: Annotated[int, Setting("Characters of a cell's outputs that are kept.", min=1)] = 1 << 20

    def of_cells(self, notebook_s: float | None) -> float:
        """Seconds that a cell may take in a notebook that asks for `notebook_s`."""
        limits = [limit for limit in (self.cell_s, notebook_s) if limit is not None]
        return min(limits, default=CELL_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookSettings:
    """How a notebook is recorded.

    root: the folder below which notebooks can read files. None: the git repository of their folder, else
    their folder.
    runs: maximum number of fresh kernels if `repeat` is true. Two, and more while a cell that drew few
    numbers without a seed shows the same in all.

    Raises ValueError if `runs` is less than two.
    """

    limits: ReplayLimits = field(default_factory=ReplayLimits)
    order: Order = CellOrder.TOP
    sandbox: Annotated[
        Confinement, Setting("Confinement of kernels. 'trusted': none, for your own code.")
    ] = Confinement.STRICT
    root: Root = None
    repeat: Annotated[bool, Setting("Run each notebook again in a fresh kernel, and report differences.")] = (
        True
    )
    runs: Annotated[
        int,
        Setting("Maximum number of runs to compare: two, and more for draws without a seed.", min=2),
    ] = 3

    def __post_init__(self) -> None:
        if self.runs < 2:
            raise ValueError(f"runs={self.runs} must be at least 2; for a single run set repeat=False")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """How a notebook is checked.

    runs: maximum number of runs. A second one follows if a cell differs or draws without a seed, more while a
    cell that drew few numbers shows the same in all.
    kernel: an installed kernel (`deskcheck.notebook.installed`). `sandbox` and the limits on memory, disk,
    processes and CPU time do not apply to it.
    parameters: name -> None, bool, int, float or str.
    env: names of variables of this process's environment that cells get.
    normalisers: rules that forgive differences. None: all.

    Raises ValueError for less than one run.
    """

    limits: ReplayLimits = field(default_factory=ReplayLimits)
    order: Order = CellOrder.TOP
    sandbox: Annotated[
        Confinement, Setting("Confinement of notebooks. 'trusted': none, for your own code.")
    ] = Confinement.STRICT
    runs: Annotated[
        int,
        Setting("Maximum number of fresh runs if cells differ or draw without a seed.", min=1),
    ] = 3
    allow_random: Annotated[bool, Setting("Accept cells whose fresh runs differ.")] = False
    lax: Annotated[
        bool,
        Setting("Accept any output of a cell that does not fail, unless it is marked NBVAL_CHECK_OUTPUT."),
    ] = False
    strict_random: Annotated[
        bool, Setting("Report cells that draw without a seed as not repeatable, even if the runs agree.")
    ] = False
    root: Root = None
    kernel: Annotated[
        str | None,
        Setting(
            "Run cells in this kernel that is installed for Jupyter, in any language. It runs without the "
            "sandbox: only for code that you trust.",
            metavar="NAME",
        ),
    ] = None
    parameters: Annotated[
        Mapping[str, Any],
        Setting(
            "Assign this after the cell with the tag 'parameters', like papermill. May be given again.",
            flag="--parameters",
            short="-p",
            metavar="NAME=VALUE",
            parse=parameter,
        ),
    ] = field(default_factory=dict)
    env: Annotated[
        tuple[str, ...],
        Setting("Pass this variable of your environment to cells. May be given again.", metavar="NAME"),
    ] = ()
    normalisers: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise ValueError(f"runs={self.runs} must be at least 1")
