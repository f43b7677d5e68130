"""What decides how notebooks are run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from deskcheck.notebook.trajectory.parameters import parameter
from deskcheck.sandbox.confinement import Confinement
from deskcheck.settings import Setting, parse_size

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
Root = Annotated[
    Path | None,
    Setting(
        "Folder around the notebooks that they can read. Default: the top of their git repository.",
        metavar="FOLDER",
        parse=Path,
    ),
]

CELL_S = 60.0
"""Seconds that a cell may take where neither the caller nor the notebook says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayLimits:
    """Bounds on a replay. What `notebook_s` cuts off is not in the trajectory, which says so.

    cell_s: a notebook's own limit (``execution.timeout`` of its metadata) can lower it, never raise it; None:
    the notebook's own limit, else `CELL_S`.
    cpu_s: CPU time of one kernel, between two restarts. memory_bytes: of the kernel and all its processes;
    None: three quarters of what the machine has. disk_bytes: what a notebook may write, in all at `strict`,
    where it is kept in memory, and in each file at `standard`; None: a quarter of the machine's memory, and
    no bound at `trusted`. output_chars: kept of one cell's outputs.
    """

    cell_s: Annotated[
        float | None,
        Setting(
            "Seconds that a cell may take. Less where the notebook's metadata say so. Default: what they "
            "say, else 60.",
            min=0.1,
        ),
    ] = None
    notebook_s: Annotated[float, Setting("Seconds that all cells of a notebook may take.", min=0.1)] = 600.0
    cpu_s: Annotated[float, Setting("CPU time that a kernel may use.", flag="--kernel-cpu-s", min=1)] = 1200.0
    memory_bytes: Annotated[
        int | None,
        Setting(
            "Memory that a kernel may fill, as 12G. Default: three quarters of the machine's.",
            flag="--memory",
            metavar="SIZE",
            parse=parse_size,
        ),
    ] = None
    disk_bytes: Annotated[
        int | None,
        Setting(
            "What a notebook may write, as 2G. Default: a quarter of the machine's memory.",
            flag="--disk",
            metavar="SIZE",
            parse=parse_size,
        ),
    ] = None
    open_files: Annotated[int, Setting("Files that a kernel may have open at once.", min=64)] = 1024
    processes: Annotated[int, Setting("Processes and threads that a kernel may have.", min=16)] = 1024
    output_chars: Annotated[int, Setting("Characters of a cell's outputs that are kept.", min=1)] = 1 << 20

    def of_cells(self, wanted: float | None) -> float:
        """Seconds that a cell may take in a notebook that wants `wanted` for each."""
        limits = [limit for limit in (self.cell_s, wanted) if limit is not None]
        return min(limits, default=CELL_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookSettings:
    """What decides the recording of a notebook.

    root: what notebooks can read beside their folder is what lies below it; None: the top of the git
    repository that the folder lies in, or the folder alone. runs: in how many fresh kernels it runs at most,
    if `repeat` says so: in two, and in further ones while a cell that drew few numbers without a seed shows
    the same in all. Else it is one.

    Raises ValueError where `runs` is less than two.
    """

    limits: ReplayLimits = field(default_factory=ReplayLimits)
    order: Order = CellOrder.TOP
    sandbox: Annotated[
        Confinement, Setting("How closely kernels are confined. 'trusted': not at all, for your own code.")
    ] = Confinement.STRICT
    root: Root = None
    repeat: Annotated[bool, Setting("Run each in another kernel, too. Say where the runs differ.")] = True
    runs: Annotated[
        int,
        Setting("Runs of each that are compared, at most: two, and more for draws without a seed.", min=2),
    ] = 3

    def __post_init__(self) -> None:
        if self.runs < 2:
            raise ValueError(
                f"runs={self.runs} must be at least two; for one that is not compared, repeat=False"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """How a notebook is checked. It is run up to `runs` times: a second time if a cell gives something else
    than is stored or draws without a seed, and further times while a cell that drew few numbers shows the
    same in all. root: as of `NotebookSettings`. kernel: an installed kernel
    (`deskcheck.notebook.installed`), in which neither `sandbox` nor limits on memory, disk, processes and
    CPU time hold; None: deskcheck's own, of this Python. parameters: values that a cell of ours assigns
    (`trajectory.parameters`): None, bool, int, float or str. env: names of variables of this process's
    environment that cells have, too. normalisers: rules that forgive differences
    (`deskcheck.notebook.check.normalise`); None: all that there are. allow_random: cells that are not
    repeatable are accepted. lax: any output is accepted of cells that are not marked to be compared.
    strict_random: those that draw without a seed are not repeatable.

    Raises ValueError for less than one run.
    """

    limits: ReplayLimits = field(default_factory=ReplayLimits)
    order: Order = CellOrder.TOP
    sandbox: Annotated[
        Confinement, Setting("How closely notebooks are confined. 'trusted': not at all, for your own code.")
    ] = Confinement.STRICT
    runs: Annotated[
        int,
        Setting("Fresh runs, at most, of a notebook whose cells differ or draw without a seed.", min=1),
    ] = 3
    allow_random: Annotated[bool, Setting("Accept cells whose fresh runs differ.")] = False
    lax: Annotated[
        bool, Setting("Accept any output, unless the cell is marked NBVAL_CHECK_OUTPUT; it must not fail.")
    ] = False
    strict_random: Annotated[
        bool, Setting("Report cells that draw without a seed as not repeatable, even if the runs agree.")
    ] = False
    root: Root = None
    kernel: Annotated[
        str | None,
        Setting(
            "Run cells in this kernel that is installed for Jupyter, of any language. Without the sandbox: "
            "only for code that you trust.",
            metavar="NAME",
        ),
    ] = None
    parameters: Annotated[
        Mapping[str, Any],
        Setting(
            "Assign this after the cell with the tag 'parameters', as papermill does. May be given again.",
            flag="--parameters",
            short="-p",
            metavar="NAME=VALUE",
            parse=parameter,
        ),
    ] = field(default_factory=dict)
    env: Annotated[
        tuple[str, ...],
        Setting("Give cells this variable of your environment. May be given again.", metavar="NAME"),
    ] = ()
    normalisers: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise ValueError(f"runs={self.runs} must be at least one")
