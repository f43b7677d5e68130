"""Runs every execution of a trajectory or notebook again, in fresh kernels, and records it.

After a kernel died, the trajectory has a restart, and the next cells run in a new kernel without the old
variables.
"""

import functools
import os
import re
import site
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from deskcheck.notebook.kernel.cell import CellRunner
from deskcheck.notebook.kernel.kernel import NOTHING_AROUND, Kernel, Surroundings
from deskcheck.notebook.kernel.repeats import marked
from deskcheck.notebook.kernel.servers import Servers
from deskcheck.notebook.settings import ReplayLimits
from deskcheck.notebook.trajectory.markers import is_own, skipped_cells
from deskcheck.notebook.trajectory.trajectory import Ended, Execution, Restart, Step, Trajectory
from deskcheck.notebook.trajectory.unkept import UnkeptWriter
from deskcheck.recording.program import Environment
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits, machine_memory_bytes

if TYPE_CHECKING:
    from deskcheck.notebook.state.capture import StateLimits
    from deskcheck.notebook.trajectory.file import TrajectoryWriter

_NO_BOUND = 1 << 62
_LIVE = ("kernel", "jupyter")
"""Sources of trajectories that were recorded while a user worked."""


@dataclass(frozen=True, slots=True)
class Reruns:
    """How often a trajectory runs, each time in a fresh kernel.

    runs: maximum number of runs, each with the next hash seed and all limits. The first is recorded, and says
    of each execution whether it repeats in the others.
    again: called with all runs so far; whether to make another.
    forgives: as in `repeats.marked`.

    Raises ValueError for less than one run.
    """

    runs: int = 1
    again: Callable[[Sequence[Trajectory]], bool] = lambda runs: True
    forgives: Callable[[Execution, Execution], bool] = lambda first, second: False

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise ValueError(f"runs={self.runs} must be at least 1")


ONCE = Reruns()


class Kernels(Protocol):
    """Starts the kernels of a replay."""

    @property
    def confinement(self) -> Confinement | None:
        """The level of confinement. None if the kernels are not confined."""

    @property
    def around(self) -> Surroundings:
        """The files and variables that cells find."""

    def refuses(self, trajectory: Trajectory) -> str | None:
        """Why a notebook cannot run in these kernels. None if it can."""

    def start(
        self, hash_seed: int, inside: str, limits: ReplayLimits, state: "StateLimits | None"
    ) -> CellRunner:
        """The kernel of a run. inside: path of the notebook below its folder. state: bounds on the recorded
        variables."""


@dataclass(frozen=True, slots=True)
class SandboxKernels:
    """deskcheck's own kernels, in the sandbox. servers: as in `Kernel`."""

    confinement: Confinement = Confinement.STRICT
    around: Surroundings = NOTHING_AROUND
    servers: Servers | None = None

    def refuses(self, trajectory: Trajectory) -> str | None:
        """Why a notebook cannot run in these kernels: it is for another language."""
        return refusal_of(trajectory)

    def start(self, hash_seed: int, inside: str, limits: ReplayLimits, state: "StateLimits | None") -> Kernel:
        """A kernel for a run, with the bounds that `limits` says."""
        return Kernel(
            confinement=self.confinement,
            limits=kernel_limits(limits, self.confinement),
            disk_bytes=disk_bytes(limits),
            around=self.around,
            inside=inside,
            state=state,
            hash_seed=hash_seed,
            servers=self.servers,
        )


IN_SANDBOX = SandboxKernels()


def replay(
    trajectory: Trajectory,
    path: str | os.PathLike[str] | None,
    *,
    kernels: Kernels = IN_SANDBOX,
    limits: ReplayLimits | None = None,
    state: "StateLimits | None" = None,
    reruns: Reruns = ONCE,
    interrupted: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] = lambda finished, total: None,
) -> Trajectory:
    """Run every execution of a trajectory again. Records all steps in the file `path`, or in memory (None).

    If the file exists, its trajectory is returned. If a replay was interrupted, the same call continues it:
    it first repeats the executions since the last restart without recording them.

    kernels: start the kernels. A notebook below their folder runs at the same path there.
    state: None: variables are not recorded.
    interrupted: checked while cells run. If it returns true, the replay stops.
    progress: called with the number of finished steps of a run and their total.

    Raises MissingExtra, InputError, RecordingError, SandboxError.
    """
    path = None if path is None else Path(path)
    limits = limits or ReplayLimits()
    notebook_cell_s = trajectory.limits.get("cell_s") if trajectory.source == "ipynb" else None
    limits = replace(limits, cell_s=limits.of_cells(notebook_cell_s))
    once = _Runs(trajectory, kernels, limits, interrupted, progress).recorded
    if reruns.runs == 1:
        return once(path, state=state, hash_seed=0)
    parts = [path and path.with_name(f"{path.name}.run{number}") for number in range(1, reruns.runs + 1)]
    recorded = None if path is None else _kept(path)
    if recorded is None:
        runs = [once(parts[0], state=state, hash_seed=0)]
        first = runs[0]
        if first.ended is not Ended.NO_KERNEL:
            for number, part in enumerate(parts[1:], start=1):
                if not reruns.again(runs):
                    break
                runs.append(once(part, state=None, hash_seed=number))
        head = replace(first, steps=(), limits=first.limits | {"runs": len(runs)})
        steps: Iterable[Step] = first.steps
        if len(runs) > 1:
            steps = marked(first.steps, [run.steps for run in runs[1:]], reruns.forgives)
        with _writer(path, head) as writer:
            for number, step in enumerate(steps):
                if number >= writer.resumed:
                    writer.write(step)
            recorded = writer.finish(first.ended, first.detail)
    for part in parts:
        if part is not None:
            part.unlink(missing_ok=True)
    return recorded


def _kept(path: Path) -> Trajectory | None:
    """The trajectory in a file. None if the file does not exist."""
    if not path.exists():
        return None
    from deskcheck.notebook.trajectory.file import read_trajectory  # with all that Parquet brings

    return read_trajectory(path)


def _writer(path: Path | None, head: Trajectory) -> "UnkeptWriter | TrajectoryWriter":
    if path is None:
        return UnkeptWriter(head)
    from deskcheck.notebook.trajectory.file import TrajectoryWriter

    return TrajectoryWriter(path, head)


def kernel_limits(limits: ReplayLimits, confinement: Confinement) -> Limits:
    """Bounds on a kernel's process. At `strict` its file system is bounded instead of files; at `trusted`
    only if the caller sets a bound."""
    bounded = confinement is Confinement.STANDARD or limits.disk_bytes is not None
    return Limits(
        cpu_s=limits.cpu_s,
        wall_s=2 * limits.notebook_s + 600,
        memory_bytes=limits.memory_bytes or 3 * machine_memory_bytes() // 4,
        output_bytes=8 << 20,
        file_bytes=disk_bytes(limits) if bounded else _NO_BOUND,
        open_files=limits.open_files,
        processes=limits.processes,
    )


def disk_bytes(limits: ReplayLimits) -> int:
    """Bytes that a notebook may write."""
    return limits.disk_bytes or machine_memory_bytes() // 4


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs a trajectory. limits: include the time of each cell."""

    trajectory: Trajectory
    kernels: Kernels
    limits: ReplayLimits
    interrupted: Callable[[], bool]
    progress: Callable[[int, int], None]

    def recorded(self, path: Path | None, *, state: "StateLimits | None", hash_seed: int) -> Trajectory:
        """One run, recorded in a file. If the file exists, its trajectory is returned."""
        recorded = None if path is None else _kept(path)
        if recorded is not None:
            return recorded
        confinement = self.kernels.confinement
        more_limits = {"state": None if state is None else asdict(state), "hash_seed": hash_seed}
        head = replace(
            self.trajectory,
            source="replay",
            steps=(),
            limits=asdict(self.limits) | more_limits,
            confinement=None if confinement is None else confinement.value,
            environment=None,
        )
        with _writer(path, head) as writer:
            refusal = self.kernels.refuses(self.trajectory)
            if refusal is not None:
                return writer.finish(Ended.NO_KERNEL, refusal)
            inside = inside_of(self.trajectory, self.kernels.around.folder)
            with self.kernels.start(hash_seed, inside, self.limits, state) as kernel:
                return _Run(self, writer, kernel).run(hash_seed)


class _Run:
    """One run of a trajectory in one kernel."""

    def __init__(self, runs: _Runs, writer: "UnkeptWriter | TrajectoryWriter", kernel: CellRunner) -> None:
        self.runs = runs
        self.trajectory = runs.trajectory
        self.writer = writer
        self.kernel = kernel
        self.cell_s = runs.limits.of_cells(None)
        self.stopped = False
        self.until = time.monotonic() + runs.limits.notebook_s

    def interrupted(self) -> bool:
        """Whether the caller has stopped the replay. The interrupted cell is not recorded."""
        self.stopped = self.stopped or self.runs.interrupted()
        return self.stopped

    def run(self, hash_seed: int) -> Trajectory:
        environment = Environment.here(tracer="none", hash_seed=hash_seed, packages=packages())
        order = tuple(cell.id for cell in self.trajectory.cells)
        skipped = skipped_cells(self.trajectory.cells)
        live = self.trajectory.source in _LIVE
        steps_to_skip = self._resume(order) if self.writer.resumed else 0
        for number, step in enumerate(self.trajectory.steps):
            order = step.order
            self.runs.progress(number, len(self.trajectory.steps))
            if isinstance(step, Execution) and (not step.source.strip() or step.cell in skipped):
                continue  # no front end runs an empty cell
            if live and isinstance(step, Execution) and is_own(step.source):
                continue  # it began or ended the recording
            if steps_to_skip:
                steps_to_skip -= 1
                continue
            if isinstance(step, Restart):
                self.kernel.restart()
            if not isinstance(step, Execution):
                self.writer.write(step)
                continue
            seconds_left = self.until - time.monotonic()
            if seconds_left <= 0:
                detail = f"more than {self.runs.limits.notebook_s:g} s for the notebook"
                return self.writer.finish(Ended.TIMED_OUT, detail, environment)
            ran = self.kernel.run(
                step.source,
                cell_s=min(self.cell_s, seconds_left),
                output_chars=self.runs.limits.output_chars,
                cell_id=step.cell,
                interrupted=self.interrupted,
            )
            if self.interrupted():
                # The caller stopped this cell: it runs again when the replay continues.
                raise KeyboardInterrupt
            self.writer.write(replace(ran, order=order))
            if not self.kernel.alive:
                self.kernel.restart()
                self.writer.write(Restart(why="died", order=order, at=time.time()))
        return self.writer.finish(Ended.WHOLE, "", environment)

    def _resume(self, order: tuple[str, ...]) -> int:
        """Bring the kernel to the state where the recording stopped. Returns the number of finished steps."""
        finished = again = 0
        sources: list[str] = []
        died = False
        for step in self.writer.steps():
            order = step.order
            if isinstance(step, Restart):
                if step.why != "resumed":
                    sources = []
                finished += step.why == "asked"
                died = False
                continue
            finished += 1
            if isinstance(step, Execution):
                sources.append(step.source)
                died = step.status in ("died", "out_of_memory")
        if died:  # the recorder was stopped before it wrote the restart
            sources = []
            self.writer.write(Restart(why="died", order=order, at=time.time()))
        for source in sources:
            self.kernel.run(source, cell_s=self.cell_s)
            again += 1
        self.writer.write(Restart(why="resumed", again=again, order=order, at=time.time()))
        return finished


def refusal_of(trajectory: Trajectory) -> str | None:
    """Why deskcheck's own kernel cannot run a notebook; None if it can."""
    language = trajectory.language
    if language is None or language.lower() in ("python", "ipython"):
        return None
    named = trajectory.kernel or "NAME"
    return (
        f"the notebook is for {language} (kernel {trajectory.kernel!r}), and deskcheck's own kernel is for "
        f"Python. If you trust it: `deskcheck notebooks check --kernel {named}` runs it in the kernel of "
        "that name that is installed for Jupyter, without the sandbox"
    )


def inside_of(trajectory: Trajectory, folder: str | os.PathLike[str] | None) -> str:
    """The path of the notebook's folder below `folder`."""
    if folder is None or trajectory.path is None:
        return "."
    try:
        return str(Path(trajectory.path).resolve().parent.relative_to(Path(folder).resolve()))
    except ValueError:
        return "."


def packages(*, fresh: bool = True) -> dict[str, str]:
    """Distributions that a kernel can import, with their versions. A kernel is a fresh interpreter, without
    PYTHONPATH. fresh=False: those that this process can import."""
    return dict(_packages(fresh))


@functools.cache
def _packages(fresh: bool) -> list[tuple[str, str]]:
    sites = {*site.getsitepackages()}  # and no home folder with more of them
    path = [folder for folder in sys.path if not fresh or folder in sites]
    headers = map(_headers, metadata.distributions(path=path))
    return sorted({header["Name"]: header["Version"] for header in headers if len(header) == 2}.items())


_HEADER = re.compile(r"^(Name|Version):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


def _headers(package: metadata.Distribution) -> dict[str, str]:
    """Name and version as the metadata have them. To parse all fields and the description, as importlib does,
    takes ten times as long: a tenth of the time of a small notebook."""
    text = package.read_text("METADATA") or package.read_text("PKG-INFO") or ""
    return dict(_HEADER.findall(text.partition("\n\n")[0])[::-1])  # the first of equal ones, like importlib
