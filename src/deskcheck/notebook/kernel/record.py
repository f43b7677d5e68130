"""Records notebooks: each is run in a fresh kernel, and its trajectory goes to a file."""

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
class Summary:
    """What became of the notebooks: how they and their cells ended, and why some could not be run."""

    out: str
    recorded: int = 0
    skipped: int = 0
    """Those that were there already."""
    by_ending: Counter[str] = field(default_factory=Counter)
    cells: Counter[str] = field(default_factory=Counter)
    not_repeatable: dict[str, str] = field(default_factory=dict)
    """How many cells gave something else in a further run, and where the first of them did."""
    problems: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def in_folder(self) -> int:
        return self.recorded + self.skipped

    def lines(self, out: Path) -> Iterator[str]:
        """What a person is told."""
        ends, cells = counts_text(self.by_ending), counts_text(self.cells)
        recorded = counted(self.recorded, "notebook")
        yield f"recorded {recorded} in {out}: {ends or 'none'}; cells: {cells or 'none'}"
        if self.skipped:
            yield f"{self.skipped} were there already"
        yield from list_lines("not repeatable", self.not_repeatable)
        yield from list_lines("notebooks that could not be run", self.problems)
        yield from list_lines("noted", self.notes)

    def to_dict(self) -> dict[str, Any]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: dict(value) if isinstance(value, dict) else value for name, value in values.items()}


def record_notebooks(
    sources: Sequence[str],
    out: str | os.PathLike[str],
    settings: NotebookSettings | None = None,
    *,
    state: StateLimits | None = None,
    workers: int = 1,
    progress: Callable[[str], None] = lambda name: None,
) -> Summary:
    """Run the notebooks of some sources and record each in a file below `out`; those there are left alone.

    state: bounds on what is seen of variables. workers: notebooks that run at once. A notebook or log that
    cannot be read, or that deskcheck itself fails on, is a problem of its own; the others continue. Ctrl-C
    leaves what is under way to the next call, which goes on from there.

    Raises:
        InputError: a source names nothing.
        MissingExtra: ipykernel or jupyter_client is not installed.
        SandboxError: the level of confinement cannot be had here.
    """
    settings = settings or NotebookSettings()
    summary = Summary(str(out))
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
        found = replay(
            job.read(settings.order),
            path,
            kernels=SandboxKernels(settings.sandbox, around, servers),
            limits=settings.limits,
            state=state or StateLimits(),
            reruns=Reruns(
                settings.runs if settings.repeat else 1,
                lambda made: len(made) < 2 or undecided([each.steps for each in made]),
            ),
            interrupted=stopping.is_set,
        )
        summary.recorded += 1
        return found

    jobs = _with_names_of_their_own([job for source in sources for job in _jobs(source)])
    servers = Servers(many=len(jobs) > workers, most=workers * settings.runs)
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


def _failed(summary: Summary, name: str, why: str) -> None:
    summary.problems[name] = why
    _log.error("%s: %s", name, why.partition("\n")[0])


def _count(summary: Summary, name: str, found: Trajectory) -> None:
    summary.by_ending[found.ended] += 1
    differing, first = 0, ""
    for step in found.executions:
        summary.cells[step.status] += 1
        if step.repeats is False:
            differing += 1
            first = first or f"cell {step.cell}: {step.difference}"
    if differing:
        summary.not_repeatable[name] = f"{differing} cells; {first}"
    if found.ended is Ended.NO_KERNEL:
        summary.problems[name] = found.detail
    if found.notes:
        summary.notes[name] = "; ".join(found.notes)


@dataclass(frozen=True, slots=True)
class _Job:
    """A notebook to be run. name: of its file below the folder for all. read: gives it. origin: the file, and
    what of it."""

    name: str
    read: Callable[[str], Trajectory]
    folder: Path | None
    origin: tuple[str, str]


def _with_names_of_their_own(jobs: Sequence[_Job]) -> list[_Job]:
    """The jobs, each once. Those of other files with the same name have that of their folder before it, with
    a digest that tells two folders of one name apart."""
    unique = [*{job.origin: job for job in jobs}.values()]
    counts = Counter(job.name for job in unique)
    return [job if counts[job.name] == 1 else replace(job, name=_below_folder(job)) for job in unique]


def _below_folder(job: _Job) -> str:
    folder, part = os.path.dirname(job.origin[0]), job.origin[1]
    digest = hashlib.blake2b(os.fsencode(f"{folder}/{part}"), digest_size=3).hexdigest()
    return f"{os.path.basename(folder)}-{digest}/{job.name}"


def _refused(why: str, order: str) -> Trajectory:
    raise InputError(why)


def _jobs(source: str) -> Iterator[_Job]:
    prefix = next((prefix for prefix in PREFIXES if source.startswith(prefix)), "")
    path = Path(source.removeprefix(prefix))
    if not path.exists():
        raise InputError(f"{source}: there is no {path}.")
    if prefix == "june:":
        logged: list[Trajectory] = []
        why: list[str] = []
        try:
            with own_failures(why.append):
                logged += read_june(path)
        except InputError as error:
            why.append(str(error))
        if why:  # a problem of this log, which the others do not have
            yield _Job(path.stem, functools.partial(_refused, why[0]), None, (str(path.resolve()), prefix))
        for number, found in enumerate(logged):
            name, origin = f"{path.stem}-{number:03d}", (str(path.resolve()), f"{prefix}{number}")
            yield _Job(name, lambda order, found=found: found, None, origin)  # type: ignore[misc]
    elif path.name.endswith(SUFFIX):
        found = read_trajectory(path)
        notebooks = [] if found.path is None else [Path(found.path), path.parent / found.path]
        folder = next((each.resolve().parent for each in notebooks if each.is_file()), None)
        name, origin = path.name.removesuffix(SUFFIX), (str(path.resolve()), prefix)
        yield _Job(name, lambda order: found, folder, origin)
    elif prefix == "history:":
        origin = (str(path.resolve()), prefix)
        yield _Job(path.stem, lambda order: read_history(path), path.parent, origin)
    elif prefix == "notebooks:" and path.is_dir():
        for each in notebook_files(path):
            name = str(each.relative_to(path).with_suffix(""))
            origin = (str(each.resolve()), "")
            yield _Job(name, lambda order, each=each: read_notebook(each, order=order), path, origin)  # type: ignore[misc]
    else:
        origin = (str(path.resolve()), "")
        yield _Job(path.stem, lambda order: read_notebook(path, order=order), path.parent, origin)
