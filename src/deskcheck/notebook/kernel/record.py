"""Records notebooks: each runs in a fresh kernel, and its trajectory is stored in a file."""

import functools
import hashlib
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError, own_failures
from deskcheck.notebook.kernel.folders import root_of
from deskcheck.notebook.kernel.kernel import NOTHING_AROUND, Surroundings
from deskcheck.notebook.kernel.repeats import undecided
from deskcheck.notebook.kernel.replayer import Reruns, SandboxKernels, replay
from deskcheck.notebook.kernel.servers import Servers
from deskcheck.notebook.settings import PREFIXES, NotebookSettings
from deskcheck.notebook.state.capture import StateLimits
from deskcheck.notebook.trajectory.file import read_trajectory
from deskcheck.notebook.trajectory.git import read_history
from deskcheck.notebook.trajectory.ipynb import notebook_files, read_notebook
from deskcheck.notebook.trajectory.june import read_june
from deskcheck.notebook.trajectory.trajectory import SUFFIX, Ended, Trajectory
from deskcheck.words import counted, counts_text, list_lines

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class NotebooksSummary:
    """How the notebooks and their cells ended, and why some could not run."""

    out: str
    recorded: int = 0
    skipped: int = 0
    """Notebooks whose recordings existed already."""
    by_ending: Counter[str] = field(default_factory=Counter)
    cells: Counter[str] = field(default_factory=Counter)
    not_repeatable: dict[str, str] = field(default_factory=dict)
    """Notebook -> number of cells that differ between runs, and the first difference."""
    problems: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def in_folder(self) -> int:
        return self.recorded + self.skipped

    def lines(self, out: Path) -> Iterator[str]:
        """The summary as text for the user."""
        ends, cells = counts_text(self.by_ending), counts_text(self.cells)
        recorded = counted(self.recorded, "notebook")
        yield f"recorded {recorded} in {out}: {ends or 'none'}; cells: {cells or 'none'}"
        if self.skipped:
            yield f"skipped {self.skipped}, already in the folder"
        yield from list_lines("not repeatable", self.not_repeatable)
        yield from list_lines("notebooks that could not be run", self.problems)
        yield from list_lines("noted", self.notes)

    def to_dict(self) -> dict[str, Any]:
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: dict(value) if isinstance(value, dict) else value for name, value in values.items()}


def record_notebooks(
    sources: Sequence[str],
    out: str | os.PathLike[str],
    settings: NotebookSettings | None = None,
    *,
    workers: int = 1,
    progress: Callable[[str], None] = lambda name: None,
) -> NotebooksSummary:
    """Run the notebooks of some sources and record each in a file below `out`, unless the file exists.

    A notebook or log that fails does not stop the others. After Ctrl-C the next call continues.

    workers: number of notebooks that run at once.

    Raises InputError: a source does not exist. MissingExtra: ipykernel or jupyter_client is not installed.
    SandboxError: the level of confinement is not available.
    """
    settings = settings or NotebookSettings()
    summary = NotebooksSummary(str(out))
    stopping = threading.Event()

    def one(job: "_Job") -> Trajectory:
        path = Path(out, job.name + SUFFIX)
        if str(path.resolve()) == job.origin[0]:
            raise InputError(f"{path}: is the recording itself. Choose another folder with --out.")
        if path.exists():
            summary.skipped += 1
            return read_trajectory(path)
        around = NOTHING_AROUND
        if job.folder is not None:
            around = Surroundings(job.folder, root_of(job.folder, settings.root))
        trajectory = replay(
            job.read(order=settings.order),
            path,
            kernels=SandboxKernels(settings.sandbox, around, servers),
            limits=settings.limits,
            state=StateLimits(),
            reruns=Reruns(
                settings.runs if settings.repeat else 1,
                lambda runs: len(runs) < 2 or undecided([run.steps for run in runs]),
            ),
            interrupted=stopping.is_set,
        )
        summary.recorded += 1
        return trajectory

    jobs = _with_names_of_their_own([job for source in sources for job in _jobs(source)])
    servers = Servers(many=len(jobs) > workers, max_servers=workers * settings.runs)
    with servers, ThreadPoolExecutor(workers) as pool:
        waiting = {pool.submit(one, job): job for job in jobs}
        try:
            for future in as_completed(waiting):
                job = waiting[future]
                try:
                    with own_failures(functools.partial(_failed, summary, job.name)):
                        _count(summary, job.name, future.result())
                except InputError as error:
                    summary.problems[job.name] = str(error)
                progress(job.name)
        except BaseException:
            stopping.set()
            pool.shutdown(cancel_futures=True)
            raise
    return summary


def _failed(summary: NotebooksSummary, name: str, reason: str) -> None:
    summary.problems[name] = reason
    _log.error("%s: %s", name, reason.partition("\n")[0])


def _count(summary: NotebooksSummary, name: str, trajectory: Trajectory) -> None:
    summary.by_ending[trajectory.ended] += 1
    differing, first = 0, ""
    for step in trajectory.executions:
        summary.cells[step.status] += 1
        if step.repeats is False:
            differing += 1
            first = first or f"cell {step.cell}: {step.difference}"
    if differing:
        summary.not_repeatable[name] = f"{differing} cells; {first}"
    if trajectory.ended is Ended.NO_KERNEL:
        summary.problems[name] = trajectory.detail
    if trajectory.notes:
        summary.notes[name] = "; ".join(trajectory.notes)


@dataclass(frozen=True, slots=True)
class _Job:
    """A notebook to be run. name: of its file below the output folder. read: returns its trajectory. origin:
    the file, and which part of it."""

    name: str
    read: Callable[..., Trajectory]
    folder: Path | None
    origin: tuple[str, str]


def _with_names_of_their_own(jobs: Sequence[_Job]) -> list[_Job]:
    """The jobs, each once. Equal names are preceded by their folder's, with a digest of its path."""
    unique = [*{job.origin: job for job in jobs}.values()]
    counts = Counter(job.name for job in unique)
    return [job if counts[job.name] == 1 else replace(job, name=_below_folder(job)) for job in unique]


def _below_folder(job: _Job) -> str:
    folder, part = os.path.dirname(job.origin[0]), job.origin[1]
    digest = hashlib.blake2b(os.fsencode(f"{folder}/{part}"), digest_size=3).hexdigest()
    return f"{os.path.basename(folder)}-{digest}/{job.name}"


def _jobs(source: str) -> Iterator[_Job]:
    prefix = next((prefix for prefix in PREFIXES if source.startswith(prefix)), "")
    path = Path(source.removeprefix(prefix))
    if not path.exists():
        raise InputError(f"{source}: no such file: {path}.")
    file = str(path.resolve())
    if prefix == "june:":
        yield from _june_jobs(path, file)
    elif path.name.endswith(SUFFIX):
        trajectory = read_trajectory(path)
        notebooks = [] if trajectory.path is None else [Path(trajectory.path), path.parent / trajectory.path]
        folder = next((notebook.resolve().parent for notebook in notebooks if notebook.is_file()), None)
        yield _Job(path.name.removesuffix(SUFFIX), lambda order: trajectory, folder, (file, prefix))
    elif prefix == "history:":
        yield _Job(path.stem, lambda order: read_history(path), path.parent, (file, prefix))
    else:
        in_folder = prefix == "notebooks:" and path.is_dir()
        folder = path if in_folder else path.parent
        for notebook in notebook_files(path) if in_folder else [path]:
            name = str(notebook.relative_to(folder).with_suffix(""))
            read = functools.partial(read_notebook, notebook)
            yield _Job(name, read, folder, (str(notebook.resolve()), ""))


def _june_jobs(path: Path, file: str) -> Iterator[_Job]:
    """A job for each notebook of a log. A log that cannot be read is a job that fails."""
    logged: list[Trajectory] = []
    reasons: list[str] = []
    try:
        with own_failures(reasons.append):
            logged += read_june(path)
    except InputError as error:
        reasons.append(str(error))
    if reasons:
        yield _Job(path.stem, functools.partial(_refuse, reasons[0]), None, (file, "june:"))
    for number, trajectory in enumerate(logged):
        read = functools.partial(_as_read, trajectory)
        yield _Job(f"{path.stem}-{number:03d}", read, None, (file, f"june:{number}"))


def _refuse(reason: str, order: str) -> Trajectory:
    raise InputError(reason)


def _as_read(trajectory: Trajectory, order: str) -> Trajectory:
    return trajectory
