"""Replays trajectories and runs notebooks: every execution again, in a fresh kernel, recorded.

Each cell gets its status and the rest goes on: after a kernel that died comes a restart that the trajectory
shows, and the following cells run in the new kernel, without the variables of the old one. Only Python.
"""

import functools
import os
import site
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from deskcheck.notebook.kernel.cell import CellLimits, CellRunner
from deskcheck.notebook.kernel.kernel import NOTHING_AROUND, Kernel, Surroundings
from deskcheck.notebook.kernel.repeats import marked
from deskcheck.notebook.kernel.servers import Servers
from deskcheck.notebook.settings import ReplayLimits
from deskcheck.notebook.trajectory.markers import Marker, is_own, markers_of
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
"""Sources of trajectories that were recorded while somebody worked."""


@dataclass(frozen=True, slots=True)
class Reruns:
    """How often a trajectory is run, in fresh kernels.

    runs: each under the next hash seed and under all limits; the first is recorded, and with two or more each
    of its executions says whether it repeats (`repeats`). again: asked after each run, with all so far,
    whether another is to be made. forgives: as of `repeats.marked`.

    Raises ValueError for less than one run.
    """

    runs: int = 1
    again: Callable[[Sequence[Trajectory]], bool] = lambda made: True
    forgives: Callable[[Execution, Execution], bool] = lambda one, other: False

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise ValueError(f"runs={self.runs} must be at least one")


ONCE = Reruns()


class Kernels(Protocol):
    """Where the kernels of a replay come from. confinement: None: they have none. around: what the cells find
    around them."""

    @property
    def confinement(self) -> Confinement | None: ...
    @property
    def around(self) -> Surroundings: ...
    def refuses(self, trajectory: Trajectory) -> str | None:
        """Why a notebook cannot run in them; None if it can."""

    def start(
        self, hash_seed: int, inside: str, limits: ReplayLimits, state: "StateLimits | None"
    ) -> CellRunner:
        """The kernel of a run, for a notebook at the path `inside` below its folder. state: what is recorded
        of variables, by kernels that know them."""


@dataclass(frozen=True, slots=True)
class SandboxKernels:
    """deskcheck's own kernels, in the sandbox. servers: as of `Kernel`."""

    confinement: Confinement = Confinement.STRICT
    around: Surroundings = NOTHING_AROUND
    servers: Servers | None = None

    def refuses(self, trajectory: Trajectory) -> str | None:
        """Why a notebook cannot run in them: it is for another language."""
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
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Trajectory:
    """Run every execution of a trajectory again and record it, with all other steps, in the file `path`;
    with None, in memory alone.

    kernels: in which the cells run; where the notebook lies below their folder, it runs in its own place
    there. state: None records no variables. interrupted: asked while cells run; once it says so the replay
    stops, and the same call goes on from there: the executions since the last restart are run again first,
    unrecorded, for their variables. A trajectory that is there already is read and given back. progress:
    called with how many steps of a run are done, and of how many.

    Raises:
        MissingExtra, InputError, RecordingError, SandboxError.
    """
    path = None if path is None else Path(path)
    limits = limits or ReplayLimits()
    wanted = trajectory.limits.get("cell_s") if trajectory.source == "ipynb" else None
    limits = replace(limits, cell_s=limits.of_cells(wanted))
    once = _Runs(trajectory, kernels, limits, interrupted, progress).recorded
    if reruns.runs == 1:
        return once(path, state=state, hash_seed=0)
    parts = [path and path.with_name(f"{path.name}.run{number}") for number in range(1, reruns.runs + 1)]
    found = None if path is None else _kept(path)
    if found is None:
        made = [once(parts[0], state=state, hash_seed=0)]
        first = made[0]
        if first.ended is not Ended.NO_KERNEL:
            for number, part in enumerate(parts[1:], start=1):
                if not reruns.again(made):
                    break
                made.append(once(part, state=None, hash_seed=number))
        head = replace(first, steps=(), limits=first.limits | {"runs": len(made)})
        steps: Iterable[Step] = first.steps
        if len(made) > 1:
            steps = marked(first.steps, [other.steps for other in made[1:]], reruns.forgives)
        with _writer(path, head) as writer:
            for number, step in enumerate(steps):
                if number >= writer.resumed:
                    writer.write(step)
            found = writer.finish(first.ended, first.detail)
    for part in parts:
        if part is not None:
            part.unlink(missing_ok=True)
    return found


def _kept(path: Path) -> Trajectory | None:
    """The trajectory in a file; None where there is none."""
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
    """Bounds on a kernel's process. At `strict` its file system is bounded, and no file needs to be; at
    `trusted` none is unless the caller says so."""
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
    """What a notebook may write."""
    return limits.disk_bytes or machine_memory_bytes() // 4


@dataclass(frozen=True, slots=True)
class _Runs:
    """How a trajectory is run. limits: with the time that each of its cells may take."""

    trajectory: Trajectory
    kernels: Kernels
    limits: ReplayLimits
    interrupted: Callable[[], bool]
    progress: Callable[[int, int], None]

    def recorded(self, path: Path | None, *, state: "StateLimits | None", hash_seed: int) -> Trajectory:
        """One run, in a file of its own; what that has already is read."""
        found = None if path is None else _kept(path)
        if found is not None:
            return found
        confinement = self.kernels.confinement
        told = {"state": None if state is None else asdict(state), "hash_seed": hash_seed}
        head = replace(
            self.trajectory,
            source="replay",
            steps=(),
            limits=asdict(self.limits) | told,
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
        self.cell_limits = CellLimits(
            cell_s=runs.limits.of_cells(None), output_chars=runs.limits.output_chars
        )
        self.stopped = False
        self.until = time.monotonic() + runs.limits.notebook_s

    def interrupted(self) -> bool:
        """Whether the caller has ever said so: the cell that was stopped then is not recorded."""
        self.stopped = self.stopped or self.runs.interrupted()
        return self.stopped

    def run(self, hash_seed: int) -> Trajectory:
        environment = Environment.here(tracer="none", hash_seed=hash_seed, packages=packages())
        order = tuple(cell.id for cell in self.trajectory.cells)
        skipped = {cell.id for cell in self.trajectory.cells if Marker.SKIP in markers_of(cell)}
        live = self.trajectory.source in _LIVE
        done = self._resume(order) if self.writer.resumed else 0
        for number, step in enumerate(self.trajectory.steps):
            order = step.order
            self.runs.progress(number, len(self.trajectory.steps))
            if isinstance(step, Execution) and (not step.source.strip() or step.cell in skipped):
                continue  # no front end runs an empty cell
            if live and isinstance(step, Execution) and is_own(step.source):
                continue  # it began or ended the recording
            if done:
                done -= 1
                continue
            if isinstance(step, Restart):
                self.kernel.restart()
            if not isinstance(step, Execution):
                self.writer.write(step)
                continue
            left = self.until - time.monotonic()
            if left <= 0:
                detail = f"more than {self.runs.limits.notebook_s:g} s for the notebook"
                return self.writer.finish(Ended.TIMED_OUT, detail, environment)
            ran = self.kernel.run(
                step.source,
                limits=self.cell_limits,
                cell_id=step.cell,
                interrupted=self.interrupted,
                within_s=left,
            )
            if self.interrupted():
                # The cell was stopped by us: it is run again when the replay goes on.
                raise KeyboardInterrupt
            self.writer.write(replace(ran, order=order))
            if not self.kernel.alive:
                self.kernel.restart()
                self.writer.write(Restart(why="died", order=order, at=time.time()))
        return self.writer.finish(Ended.WHOLE, "", environment)

    def _resume(self, order: tuple[str, ...]) -> int:
        """Bring the kernel to where the recording stopped; return how many steps of the trajectory are
        done."""
        done = again = 0
        sources: list[str] = []
        died = False
        for step in self.writer.steps():
            order = step.order
            if isinstance(step, Restart):
                if step.why != "resumed":
                    sources = []
                done += step.why == "asked"
                died = False
                continue
            done += 1
            if isinstance(step, Execution):
                sources.append(step.source)
                died = step.status in ("died", "out_of_memory")
        if died:  # the recorder was stopped before it wrote the restart
            sources = []
            self.writer.write(Restart(why="died", order=order, at=time.time()))
        for source in sources:
            self.kernel.run(source, limits=self.cell_limits)
            again += 1
        self.writer.write(Restart(why="resumed", again=again, order=order, at=time.time()))
        return done


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
    """Where in the folder the notebook lies."""
    if folder is None or trajectory.path is None:
        return "."
    try:
        return str(Path(trajectory.path).resolve().parent.relative_to(Path(folder).resolve()))
    except ValueError:
        return "."


def packages(*, fresh: bool = True) -> dict[str, str]:
    """Every distribution that a kernel can import, with its version. A kernel is a fresh interpreter: what is
    on the path of this process alone (PYTHONPATH, Ray's own libraries) it has not. fresh=False: that this
    process can import."""
    return dict(_packages(fresh))


@functools.cache
def _packages(fresh: bool) -> list[tuple[str, str]]:
    sites = {*site.getsitepackages()}  # and no home folder with more of them
    path = [each for each in sys.path if not fresh or each in sites]
    found = ((each.metadata["Name"], each.version) for each in metadata.distributions(path=path))
    return sorted({name: version for name, version in found if name}.items())
