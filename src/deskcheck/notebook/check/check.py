"""Whether notebooks reproduce: each is run again in a fresh kernel and compared with its stored outputs.

Equal means what `repeats` says: standard output, each ``text/plain`` in order, class and message of an
exception, character by character; and as many images. Pixels, HTML, standard error, tracebacks and times are
not compared. What differs is looked at through the normalisers, and, where there is a second run, compared
with that: a cell whose fresh runs differ between them cannot be expected to give what is stored.

Other kernels than our own (`CheckSettings.kernel`) run without a sandbox, and what they draw is not known: a
notebook is then always run twice. Not covered: widgets, what needs a network (there is none in the
sandbox)."""

import functools
import hashlib
import json
import logging
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError, RecordingError, own_failures
from deskcheck.files import read_json
from deskcheck.notebook.check.diff import DiffRow, diff
from deskcheck.notebook.check.normalise import NORMALISERS, Normaliser, same_after
from deskcheck.notebook.installed.kernel import NO_GUARANTEES, InstalledKernels, installed_kernels
from deskcheck.notebook.kernel.folders import as_outside, names_what_is_at_home, root_of, time_zone
from deskcheck.notebook.kernel.kernel import NOTHING_AROUND, Surroundings
from deskcheck.notebook.kernel.repeats import Text, note, text_difference, undecided
from deskcheck.notebook.kernel.replayer import Reruns, SandboxKernels, replay
from deskcheck.notebook.kernel.servers import Servers
from deskcheck.notebook.settings import CheckSettings
from deskcheck.notebook.state.names import (
    changed,
    environment,
    modules,
    names_bound,
    names_read,
    written_globals,
)
from deskcheck.notebook.trajectory.ipynb import notebook_files, read_notebook
from deskcheck.notebook.trajectory.markers import Marker, markers_of
from deskcheck.notebook.trajectory.parameters import assignments, with_parameters
from deskcheck.notebook.trajectory.trajectory import (
    SUFFIX,
    Cell,
    Ended,
    Execution,
    Output,
    Status,
    Trajectory,
    shown_outputs,
    storable,
)
from deskcheck.recording.program import Environment

_log = logging.getLogger(__name__)


class CellStatus(StrEnum):
    """What became of a cell: exactly one of these."""

    SAME = "same"
    """It gives what is stored."""
    NORMALISED = "normalised"
    """It gives what is stored after some normalisers, which are named."""
    DIFFERENT = "different"
    """It gives something else, in every fresh run."""
    NOT_REPEATABLE = "not_repeatable"
    """Fresh runs of it differ, or what it shows is chance, such as draws from a random generator for which no
    seed was set: what is stored could not be expected, whether or not a run gave it."""
    CONFINED = "confined"
    """A limit or rule of the sandbox stood in its way, or in that of a cell that it needs: nothing is said
    of the notebook. `CellReport.limit` names it."""
    FAILED = "failed"
    """An exception that is not stored leaves it, or the kernel died in it."""
    TIMED_OUT = "timed_out"
    """It was stopped at a limit."""
    NOT_RUN = "not_run"
    """The notebook's time was up before it, or its tag says so."""
    NO_STORED_OUTPUT = "no_stored_output"
    """It ran, and there is nothing that it could be compared with."""


class NotebookStatus(StrEnum):
    """What became of a notebook: the first of these that is true, in this order."""

    UNREADABLE = "unreadable"
    """The file is no notebook, or a damaged one."""
    NO_KERNEL = "no_kernel"
    """It is not for Python."""
    HARNESS_ERROR = "harness_error"
    """deskcheck itself failed on it, as `detail` says; or, of a job (`deskcheck.notebook.check.job`), it
    ended the process that ran it, three times."""
    TIMED_OUT = "timed_out"
    """A cell was stopped at a limit, or all together took too long."""
    FAILED = "failed"
    """A cell failed."""
    DIFFERENT = "different"
    """All cells ran; one gives something else than is stored."""
    NOT_REPEATABLE = "not_repeatable"
    """... fresh runs of a cell differ."""
    CONFINED = "confined"
    """... a limit or rule of the sandbox stood in the way of a cell, and all others give what is stored."""
    NORMALISED = "normalised"
    """All that is stored is given, by some cells after normalisers."""
    SAME = "same"
    """All that is stored is given."""
    NO_STORED_OUTPUT = "no_stored_output"
    """It ran, and has no outputs that it could be compared with."""


_SUCCESSES = (CellStatus.SAME, CellStatus.NORMALISED, CellStatus.NO_STORED_OUTPUT)
REPRODUCES = (NotebookStatus.SAME, NotebookStatus.NORMALISED, NotebookStatus.NO_STORED_OUTPUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellReport:
    """number: of the cell in the notebook, from 1, all types counted. count: its stored execution count.
    normalisers: after which it is the same. category: of a failure the exception's class, as the study of
    biomedical notebooks counts them (Samuel & Mietchen 2024, doi:10.1093/gigascience/giad113), or how the
    kernel died. missing: the module or file that was not found. limit: what confined it, a name of
    `kernel.refusals.RULES`. follows: number of an earlier cell that did not come to its end and gives what is
    missing here. difference: the first between stored and fresh. unstable: the first between two fresh runs;
    None also where there was one run. note: that it drew without a seed and repeats all the same. allowed:
    why a status that is no success is accepted here."""

    id: str
    number: int
    source: str
    status: CellStatus
    count: int | None = None
    normalisers: tuple[str, ...] = ()
    category: str | None = None
    message: str | None = None
    missing: str | None = None
    limit: str | None = None
    follows: int | None = None
    difference: str | None = None
    unstable: str | None = None
    note: str | None = None
    allowed: str | None = None
    diff: tuple[DiffRow, ...] = ()
    wall_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        row = asdict(self)
        del row["source"]
        diff = [f"{line.side} {line.text}" for line in self.diff]
        return row | {"status": self.status.value, "normalisers": [*self.normalisers], "diff": diff}

    @classmethod
    def _restored(cls, row: dict[str, Any]) -> "CellReport":
        rows = row["diff"]
        diff = (DiffRow(**line | {"changed": line["changed"] and tuple(line["changed"])}) for line in rows)
        lists = {"status": CellStatus(row["status"]), "normalisers": tuple(row["normalisers"])}
        return cls(**row | lists | {"diff": tuple(diff)})


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookReport:
    """detail: why it could not be read or run, or was not run to its end. notes: of its reader. runs: that
    were made of it. seconds: that the cells took in the first."""

    path: str
    status: NotebookStatus
    detail: str = ""
    cells: tuple[CellReport, ...] = ()
    notes: tuple[str, ...] = ()
    runs: int = 0
    seconds: float = 0.0

    @property
    def counts(self) -> Counter[CellStatus]:
        return Counter(cell.status for cell in self.cells)

    @property
    def failure(self) -> CellReport | None:
        """The first cell that failed."""
        return next((cell for cell in self.cells if cell.status is CellStatus.FAILED), None)

    def to_dict(self) -> dict[str, Any]:
        """For readers; `saved` is for `restored`."""
        return {
            "path": self.path,
            "status": self.status.value,
            "detail": self.detail,
            "notes": [*self.notes],
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
            "counts": {status.value: count for status, count in self.counts.items()},
            "cells": [cell.to_dict() for cell in self.cells],
        }

    def saved(self) -> str:
        """All of it as ASCII."""
        return json.dumps(asdict(self))

    @classmethod
    def restored(cls, text: str) -> "NotebookReport":
        """What was `saved`."""
        row = read_json(text, "column report")
        lists = {"cells": tuple(map(CellReport._restored, row["cells"])), "notes": tuple(row["notes"])}
        return cls(**row | lists | {"status": NotebookStatus(row["status"])})


@dataclass(slots=True)
class Report:
    """What became of some notebooks, in the order of their names. normalisers: those that were used.
    environment: where they ran; None if none did. kernel: the installed kernel that they ran in, unconfined;
    None: deskcheck's own."""

    normalisers: tuple[str, ...]
    runs: int
    notebooks: list[NotebookReport] = field(default_factory=list)
    environment: Environment | None = None
    kernel: str | None = None

    @property
    def by_status(self) -> Counter[NotebookStatus]:
        return Counter(notebook.status for notebook in self.notebooks)

    @property
    def cells(self) -> Counter[CellStatus]:
        return sum((notebook.counts for notebook in self.notebooks), Counter())

    @property
    def fired(self) -> Counter[str]:
        """How many cells are the same after each normaliser, with others or alone."""
        return Counter(
            name for notebook in self.notebooks for cell in notebook.cells for name in cell.normalisers
        )

    @property
    def failures(self) -> list[tuple[str, int, int]]:
        """Category of failure, how many notebooks fail with it first, and in how many cells; most first."""
        first = Counter(notebook.failure.category for notebook in self.notebooks if notebook.failure)
        cells = Counter(
            cell.category for notebook in self.notebooks for cell in notebook.cells if cell.category
        )
        order = sorted(cells, key=lambda category: (-first[category], -cells[category], str(category)))
        return [(str(category), first[category], cells[category]) for category in order]

    @property
    def missing_modules(self) -> Counter[str]:
        """In how many notebooks a module was not found."""
        return Counter(
            module
            for notebook in self.notebooks
            for module in {cell.missing for cell in notebook.cells if cell.category == "ModuleNotFoundError"}
            if module is not None
        )

    def statuses(self) -> set[str]:
        """All that occur, of notebooks, and of cells where they are not accepted."""
        cells = (cell for notebook in self.notebooks for cell in notebook.cells if cell.allowed is None)
        return {*(status.value for status in self.by_status), *(cell.status.value for cell in cells)}

    def to_dict(self) -> dict[str, Any]:
        return {
            "normalisers": [*self.normalisers],
            "runs": self.runs,
            "kernel": self.kernel,
            "environment": None if self.environment is None else self.environment.to_dict(),
            "by_status": {status.value: count for status, count in self.by_status.items()},
            "cells": {status.value: count for status, count in self.cells.items()},
            "fired": dict(self.fired),
            "failures": [
                {"category": category, "first_in_notebooks": first, "cells": cells}
                for category, first, cells in self.failures
            ],
            "missing_modules": dict(self.missing_modules),
            "notebooks": [notebook.to_dict() for notebook in self.notebooks],
        }


def check_notebooks(
    paths: Iterable[str | os.PathLike[str]],
    settings: CheckSettings | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int = 1,
    progress: Callable[..., None] = lambda name, done=None, of=None: None,
) -> Report:
    """Run notebooks again, files or all below folders, and compare them with what is stored in them.

    A notebook is run in a copy of its folder, or of the folder that was named. out: folder that keeps the
    trajectories of the runs, and from which the same call goes on; without it they are gone at the end.
    workers: notebooks that run at once. progress: called with the name of each notebook that is done; while
    the only notebook runs, with its name and how many cells are done, of how many.

    Raises:
        InputError: there is no such file or folder, or no notebook in it; `out` is the folder of a job.
        RecordingError: `out` holds the run of another version of a notebook, or cannot be written to.
        MissingExtra: ipykernel or jupyter_client is not installed.
        SandboxError: the level of confinement cannot be had here.
    """
    settings = settings or CheckSettings()
    if out is not None:
        _refuse_a_job(Path(out))
    files = files_of(paths)
    stopping = threading.Event()
    report = new_report(settings)
    kept = None if out is None else Path(out)
    servers = Servers(many=len(files) > workers, most=workers * settings.runs)
    checker = Checker(settings=settings, kept=kept, servers=servers, interrupted=stopping.is_set)

    def one(path: Path, folder: Path) -> NotebookReport:
        cells = functools.partial(progress, f"{path.stem}, cells")
        one_alone = replace(checker, progress=cells) if len(files) == 1 else checker
        found, environment = one_alone.check(path, folder)
        report.environment = report.environment or environment
        return found

    with servers, ThreadPoolExecutor(workers) as pool:
        try:
            jobs = [(path, pool.submit(one, path, folder)) for path, folder in files]
            for path, job in jobs:
                report.notebooks.append(job.result())
                progress(path.stem)
        except BaseException:
            stopping.set()
            pool.shutdown(cancel_futures=True)
            raise
    return report


def _refuse_a_job(out: Path) -> None:
    from deskcheck.jobs.job_folder import Place  # with all that jobs bring

    if Place(out).job.exists():
        raise InputError(
            f"{out}: is the folder of a job: go on with its own command (--shards), or choose another folder."
        )


def normalisers_of(settings: CheckSettings) -> tuple[Normaliser, ...]:
    """Those that are used."""
    return NORMALISERS if settings.normalisers is None else settings.normalisers


def new_report(settings: CheckSettings) -> Report:
    """Of no notebooks yet."""
    return Report(
        tuple(each.name for each in normalisers_of(settings)), settings.runs, kernel=settings.kernel
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Checker:
    """Runs notebooks and compares them. kept: the folder of the runs' trajectories, from which another call
    goes on; None: nothing is kept. servers: as of `Kernel`. progress: as of `replay`."""

    settings: CheckSettings
    kept: Path | None = None
    servers: Servers | None = None
    interrupted: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] = lambda done, of: None

    def check(self, path: Path, folder: Path) -> tuple[NotebookReport, Environment | None]:
        """What becomes of one notebook, and where it ran; None where it did not. folder: that it runs in a
        copy of. A failure of deskcheck itself is the status of this notebook."""
        failures: list[str] = []
        with own_failures(failures.append):
            report, fresh = self.run(path, folder)
            return report, None if fresh is None else fresh.environment
        _log.error("%s: %s", path, failures[0].partition("\n")[0])
        return NotebookReport(path=str(path), status=NotebookStatus.HARNESS_ERROR, detail=failures[0]), None

    def run(self, path: Path, folder: Path) -> tuple[NotebookReport, Trajectory | None]:
        """As `check`, with the first run; None where there was none. A failure of deskcheck itself is
        raised."""
        settings = self.settings
        try:
            stored = read_notebook(path, order=settings.order)
        except InputError as error:
            unreadable = NotebookReport(path=str(path), status=NotebookStatus.UNREADABLE, detail=str(error))
            return unreadable, None
        root = root_of(folder, settings.root)
        around = Surroundings(folder, root, time_zone(), _variables(settings.env))
        with installed_kernels(settings.kernel, around) as installed:
            if settings.parameters and installed is not None and not installed.is_python:
                raise InputError(
                    f"--parameters: are assigned in Python, and the kernel {installed.name!r} is for "
                    f"{installed.language}: leave them out."
                )
            compare = _Comparison(stored, settings, around, installed)
            as_run = with_parameters(stored, settings.parameters)
            fresh = replay(
                as_run,
                None if self.kept is None else self.kept / (_name(path, settings) + SUFFIX),
                kernels=installed or SandboxKernels(settings.sandbox, around, self.servers),
                limits=settings.limits,
                reruns=Reruns(settings.runs, compare.wants_another, compare.forgives),
                interrupted=self.interrupted,
                progress=self.progress,
            )
        cells = {storable(cell.id) for cell in as_run.cells}
        if not {storable(step.cell) for step in fresh.executions} <= cells:
            raise RecordingError(f"{path}: was run before with other cells. {_ANOTHER_FOLDER}")
        report = compare.report(fresh)
        if settings.parameters:
            given = ", ".join(assignments(settings.parameters).splitlines()[1:])
            report = replace(report, notes=(*report.notes, f"ran with other parameters: {given}"))
        return report, fresh


def _variables(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    unset = [name for name in names if name not in os.environ]
    if unset:
        raise InputError(f"--env {unset[0]}: is not set here. Set it, or leave --env {unset[0]} out.")
    return tuple((name, os.environ[name]) for name in names)


_ANOTHER_FOLDER = "Delete that run, or choose another folder with --out."


def compare_with_stored(
    stored: Trajectory, fresh: Trajectory, normalisers: Sequence[Normaliser] = NORMALISERS
) -> NotebookReport:
    """A run of a notebook against what is stored in it. stored: as `ipynb.read_notebook` reads it.

    Raises:
        RecordingError: the run is of another version of the notebook.
    """
    return _Comparison(stored, CheckSettings(normalisers=tuple(normalisers))).report(fresh)


def files_of(paths: Iterable[str | os.PathLike[str]]) -> list[tuple[Path, Path]]:
    """Notebooks, as they are named and in order, each once and with the folder that it runs in a copy of.

    Raises InputError: there is no such file or folder, or no notebook in it.
    """
    files: dict[Path, tuple[Path, Path]] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder.")
        if path.is_dir():
            found = [(file, path) for file in notebook_files(path)]
        else:
            found = [(path, path.parent)]
        for file, folder in found:
            files.setdefault(file.resolve(), (file, folder))
    return [*files.values()]


def _name(path: Path, settings: CheckSettings) -> str:
    """A file's name that no other path gives, nor this one in another kernel, or with other parameters or
    variables of the environment."""
    told = os.fsencode(path.resolve())
    if settings.kernel is not None or settings.parameters:
        told += b"\0" + json.dumps([settings.kernel, dict(settings.parameters)]).encode()
    if settings.env:
        told += b"\0" + json.dumps([os.environ.get(name) for name in settings.env]).encode()
    digest = hashlib.blake2b(told, digest_size=5).hexdigest()
    return f"{path.stem[:80]}-{digest}"


_VARIABLES = ("PATH", "HOME", "TMPDIR", "LANG", "TZ", "PYTHONHASHSEED")
"""Those of the environment that every program has in the sandbox."""
_MESSAGE_CHARS = 500
_IMAGE = re.compile(r"image/\w+")
_KERNEL_ENDS = {Status.DIED: "kernel died", Status.OUT_OF_MEMORY: "out of memory"}
_MODULE = re.compile(r"No module named '([^']+)'")
_FILE = re.compile(r"No such file or directory: '([^']+)'")
_NOT_FOUND = re.compile(r"(?:File )?'?([^\s']*[^\s'.])'? (?:does not exist|not found)\.?")
"""What libraries say that look for a file before they open it."""
_PYTHON_2 = re.compile(
    r"Missing parentheses in call to '(print|exec)'|multiple exception types must be parenthesized"
    r"|leading zeros in decimal integer literals|invalid decimal literal.*\bL\b"
)
"""What the compiler says of statements that Python 2 had."""
_LETTERS = 2
"""Names of files that have no more tell nothing where they stand in a source."""
_USAGE_ERROR = "UsageError: "
_NAME = re.compile(r"name '([^']+)' is not defined")


@dataclass
class _Comparison:
    """One notebook with its stored outputs, against fresh runs of it, made in `around` or `installed`."""

    stored: Trajectory
    settings: CheckSettings
    around: Surroundings = NOTHING_AROUND
    installed: InstalledKernels | None = None

    def __post_init__(self) -> None:
        self.normalisers = normalisers_of(self.settings)
        self.executions = {step.cell: step for step in self.stored.executions}
        self.any_output = any(step.outputs for step in self.stored.executions)

    def wants_another(self, made: Sequence[Trajectory]) -> bool:
        """Whether a further run decides something. A second: a cell gives something else than is stored, or
        drew without a seed, or the kernel does not tell what it draws. A third: a cell drew, and shows the
        same in both, which may be chance."""
        if len(made) == 1:
            worth = (CellStatus.DIFFERENT, CellStatus.FAILED)
            return (
                self.installed is not None
                or any(step.drew for step in made[0].executions)
                or any(cell.status in worth for cell in self._cells(made[0]))
            )
        return undecided([each.steps for each in made], self.forgives)

    def forgives(self, one: Execution, other: Execution) -> bool:
        """Whether two runs of a cell give the same after normalisers."""
        texts = self._shown(one.shown()), self._shown(other.shown())
        return one.status == other.status and same_after(*texts, self.normalisers) is not None

    def _shown(self, outputs: Sequence[Output]) -> Text:
        """What a run showed. Cells run in a copy, which is no difference between them and what is stored."""
        text, root = Text.of(outputs), self.around.root
        return text if root is None else text.with_texts(lambda each: as_outside(each, os.fspath(root)))

    def report(self, fresh: Trajectory) -> NotebookReport:
        cells = tuple(self._cells(fresh))
        return NotebookReport(
            path=self.stored.path or self.stored.id,
            status=_status(fresh.ended, {cell.status for cell in cells if cell.allowed is None}),
            detail=fresh.detail,
            cells=cells,
            notes=(*self.stored.notes, *self._notes()),
            runs=fresh.limits.get("runs", 1),
            seconds=sum(step.wall_s or 0.0 for step in fresh.executions),
        )

    def _notes(self) -> Iterator[str]:
        folder, root = self.around.folder, self.around.root
        if self.installed is not None:
            yield NO_GUARANTEES.format(name=self.installed.name, language=self.installed.language)
        elif folder is not None and root is not None and Path(root) != Path(folder).resolve():
            yield f"could read what is in {root}"

    def _cells(self, fresh: Trajectory) -> Iterator[CellReport]:
        if fresh.ended is Ended.NO_KERNEL:
            return
        again = {step.cell: step for step in fresh.executions}
        updates = updates_after([*again.values()])
        before = _Before()
        ended: int | None = None
        for number, cell in enumerate(self.stored.cells, start=1):
            if cell.type != "code" or not cell.source.strip():
                continue
            ran = again.get(cell.id)
            if ran is not None and storable(ran.source) != storable(cell.source):
                what = f"was run before with another source of cell {number}"
                raise RecordingError(f"{self.stored.path}: {what}. {_ANOTHER_FOLDER}")
            stored = self.executions.get(cell.id)
            if ended is not None and (stored is None or stored.count is None):
                why, facts = f"cell {ended} ended the notebook", _facts(cell, number)
                yield CellReport(status=CellStatus.NOT_RUN, message=why, **facts)
                continue
            found = self._cell(cell, number, stored, ran, before, updates.get(cell.id, ()))
            if ran is not None:
                found = self._strict(replace(found, note=note(ran, fresh.limits.get("runs", 1))))
            before.add(found, None if ran is None or ran.confined == "output" else ran.confined)
            if ended is None and ran is not None and _exits(Text.of(ran.shown())):
                ended = number
            yield found

    def _cell(
        self,
        cell: Cell,
        number: int,
        stored: Execution | None,
        ran: Execution | None,
        before: "_Before",
        updates: Sequence[Output],
    ) -> CellReport:
        """updates: of displays, by later cells: what is stored has them."""
        facts = _facts(cell, number)
        if stored is None or ran is None:
            return CellReport(status=CellStatus.NOT_RUN, **facts)
        facts |= {"count": stored.count, "wall_s": ran.wall_s}
        if ran.repeats is False:
            facts["unstable"] = ran.difference
        if ran.status is Status.TIMED_OUT:
            return CellReport(status=CellStatus.TIMED_OUT, message=ran.detail, **facts)
        if ran.status in _KERNEL_ENDS:
            category = _KERNEL_ENDS[ran.status]
            died = CellReport(status=CellStatus.FAILED, category=category, message=ran.detail, **facts)
            return _confined(died, ran.confined, None)
        seen, now = stored.shown(), shown_outputs((*ran.outputs, *updates))
        one, other = Text.of(seen), self._shown(now)
        marks = markers_of(cell)
        raised = other.error is not None and (one.error is None or one.error[0] != other.error[0])
        if raised and (Marker.RAISES in marks or _exits(other)):
            raised = False
            other = other if one.error is not None else other.without_error()
        elif ran.status is not Status.OK and other.error is None and Marker.RAISES not in marks:
            # A magic that does not exist, a command that fails: the kernel replies with an error and shows
            # none. What an installed kernel gave when the notebook was saved shows none either.
            raised = self.installed is None or not seen or one != other
            told = ran.detail or _usage_error(ran) or "UsageError: the kernel tells no more"
            name, _, message = told.partition(": ")
            other = Text(other.stdout, other.plain, (name, message) if raised else None)
        if raised:
            assert other.error is not None
            failed = CellReport(status=CellStatus.FAILED, **facts, **_failure(other.error, before.unbound))
            limit = ran.confined if ran.confined != "output" else None  # of which no exception comes
            limit = limit or self._withheld(failed, before) or self._at_home(now)
            return _confined(failed, limit, before.confining(failed))
        if not seen and (one == other or stored.count is None or not self.any_output):
            return CellReport(status=CellStatus.NO_STORED_OUTPUT, **facts)
        counts = {what: (count(seen), count(now)) for what, count in _COUNTED.items()}
        uneven = [f"{what}: {a} and {b}" for what, (a, b) in counts.items() if a != b]
        if one != other or uneven:
            facts["difference"] = text_difference(one, other) or uneven[0]
            facts["diff"] = tuple(diff(one, other, counts))
        if facts.get("unstable") is not None:
            allowed = self._allowed(marks, random=True)
            return CellReport(status=CellStatus.NOT_REPEATABLE, allowed=allowed, **facts)
        if "difference" not in facts:
            return CellReport(status=CellStatus.SAME, **facts)
        names = same_after(one, other, self.normalisers)
        if names and not uneven:
            return CellReport(status=CellStatus.NORMALISED, normalisers=names, **facts)
        allowed = self._allowed(marks, random=False)
        different = CellReport(status=CellStatus.DIFFERENT, allowed=allowed, **facts)
        limit = ran.confined or self._withheld(different, before)
        return _confined(different, limit, before.confining(different))

    def _allowed(self, marks: Collection[Marker], *, random: bool) -> str | None:
        """Why a cell may give something else than is stored, or, if `random`, in each run. None: it may
        not."""
        if Marker.IGNORE in marks:
            return "its tag or comment says that its outputs are not compared"
        if self.settings.lax and Marker.CHECK not in marks:
            return "--lax, and it is not marked to be compared"
        if random and Marker.RANDOM in marks:
            return "its tag says that its output is random"
        return "--allow-random" if random and self.settings.allow_random else None

    def _strict(self, cell: CellReport) -> CellReport:
        """With ``--strict-random`` a cell that draws without a seed does not count as repeatable."""
        if not self.settings.strict_random or cell.note is None or cell.status not in _SUCCESSES:
            return cell
        return replace(cell, status=CellStatus.NOT_REPEATABLE)

    def _withheld(self, cell: CellReport, before: "_Before") -> str | None:
        """The rule that kept a variable of the environment from a cell that reads it: itself, or by what
        earlier cells define, as its KeyError tells."""
        if self.installed is not None:
            return None
        given, read = environment(cell.source)
        reads = (read | before.read if cell.category == "KeyError" else read) - given - before.given
        if cell.category == "KeyError" and cell.message is not None:
            reads &= {"$" + cell.message.strip("'")}
        elif cell.category is not None:
            return None
        withheld = {*os.environ} - {*_VARIABLES, *dict(self.around.variables)}
        return "environment" if any(name[1:] in withheld for name in reads) else None

    def _at_home(self, now: Sequence[Output]) -> str | None:
        """The rule that kept a file in the user's home from a cell, as its exception tells."""
        error = Text.of(now).error
        return "home" if self.installed is None and error and names_what_is_at_home(error[1]) else None


def _facts(cell: Cell, number: int) -> dict[str, Any]:
    return {"id": cell.id, "number": number, "source": cell.source}


def _usage_error(ran: Execution) -> str | None:
    """What IPython wrote to standard error of a magic that it could not run; None where it did not."""
    text = "".join(each.text or "" for each in ran.outputs if each.name == "stderr")
    found = text.rfind(_USAGE_ERROR)
    return None if found < 0 else text[found:].strip()


def updates_after(ran: Sequence[Execution]) -> dict[str, list[Output]]:
    """Cell -> the updates, by the cells that ran after it, of displays that it showed."""
    cells: dict[str | None, list[str]] = {}
    """Display -> the cells that showed it."""
    found: dict[str, list[Output]] = {}
    for step in ran:
        for output in step.outputs:
            if output.type == "update_display_data":
                for cell in cells.get(output.display_id, ()):
                    if cell != step.cell:
                        found.setdefault(cell, []).append(output)
            elif output.type == "display_data" and output.display_id is not None:
                cells.setdefault(output.display_id, []).append(step.cell)
    return found


def _exits(text: Text) -> bool:
    """Whether a cell ended its notebook on purpose, as a program that ends well."""
    return text.error is not None and text.error[0] == "SystemExit" and text.error[1] in ("", "0", "None")


def _confined(found: CellReport, limit: str | None, follows: tuple[int, str] | None) -> CellReport:
    """The report of a cell, which says nothing of it where a rule of ours stood in its way. follows: an
    earlier cell that it needs, and the rule that stood in the way of that."""
    if limit is None and follows is None:
        return found
    message = f"{found.category}: {found.message}" if found.category else found.difference
    found = replace(found, status=CellStatus.CONFINED, message=message, category=None, missing=None, diff=())
    if limit is not None:
        return replace(found, limit=limit, follows=None)
    assert follows is not None
    return replace(found, limit=follows[1], follows=follows[0])


class _Before:
    """The cells before one: those that did not come to their end, and what rules of ours kept from them."""

    def __init__(self) -> None:
        self.unbound: dict[str, int] = {}
        """Name -> number of the cell that would have given it something."""
        self._refused: dict[int, tuple[str, str]] = {}
        """Number of a cell that a rule stood in the way of -> its source, the rule."""
        self._touched: dict[str, int] = {}
        """Name -> number of such a cell, which had a hand in what the name has."""
        self.given: set[str] = set()
        self.read: set[str] = set()
        """Variables of the environment that they gave something to, and that they read, as ``$NAME``."""
        self._modules: set[str] = set()
        self._globals: dict[str, set[str]] = {}

    def add(self, cell: CellReport, rule: str | None) -> None:
        """The next of them. rule: that stood in its way, whatever it shows."""
        set_here, read_here = environment(cell.source)
        self.given |= set_here
        self.read |= read_here
        gives = {*names_bound(cell.source)} | set_here
        if cell.status in (CellStatus.FAILED, CellStatus.TIMED_OUT, CellStatus.CONFINED):
            self.unbound |= {name: cell.number for name in gives if name not in self.unbound}
        elif self.unbound:
            for name in gives:
                self.unbound.pop(name, None)
        imports = modules(cell.source)
        self._modules |= imports
        self._globals |= written_globals(cell.source)
        rule = cell.limit or rule
        if rule is not None:
            self._refused[cell.number] = cell.source, rule
        reads = {*names_read(cell.source)} | read_here
        origin = cell.number if rule is not None else self._origin(reads)
        if origin is None:
            for name in gives:
                self._touched.pop(name, None)
            return
        for function in reads & self._globals.keys():
            gives |= self._globals[function]
        for name in (gives - imports) | (changed(cell.source) - self._modules):
            self._touched[name] = origin

    def _origin(self, names: set[str]) -> int | None:
        return next((self._touched[name] for name in sorted(names) if name in self._touched), None)

    def confining(self, cell: CellReport) -> tuple[int, str] | None:
        """A cell that a rule stood in the way of, and that this one needs, with the rule: for a name, or for
        a file or module that its source names too, which it may have fetched."""
        if not self._refused:
            return None
        unknown = _NAME.findall(cell.message or "") if cell.category == "NameError" else []
        if unknown:  # this name ended it, and no other
            number = next((self.unbound[name] for name in (*unknown, "*") if name in self.unbound), None)
            if number not in self._refused:
                number = self._origin({*unknown})
        else:
            number = self._origin({*names_read(cell.source)} | environment(cell.source)[1])
        if number is None and cell.missing is not None:
            whole = os.path.basename(cell.missing.rstrip("/"))
            stem = whole.partition(".")[0]
            wanted = stem if len(stem) > _LETTERS else whole  # `a` stands in many a source
            named = re.compile(rf"\b{re.escape(wanted)}\b") if len(wanted) > _LETTERS else None
            number = next(
                (n for n, (source, _) in self._refused.items() if named is not None and named.search(source)),
                None,
            )
        return None if number is None else (number, self._refused[number][1])


def _failure(error: tuple[str, str], unbound: dict[str, int]) -> dict[str, Any]:
    name, message = error
    missing = _MODULE.search(message) or _FILE.search(message)
    if missing is None and name in ("FileNotFoundError", "OSError"):
        missing = _NOT_FOUND.fullmatch(message)
    undefined = _NAME.search(message) if name == "NameError" else None
    category = name.rpartition(".")[2] or "error"  # a kernel may name none
    return {
        "category": "Python 2" if category == "SyntaxError" and _PYTHON_2.match(message) else category,
        "message": message if len(message) <= _MESSAGE_CHARS else message[: _MESSAGE_CHARS - 1] + "…",
        "missing": missing[1] if missing else None,
        "follows": unbound.get(undefined[1]) if undefined else None,
    }


def _images(outputs: Iterable[Output]) -> int:
    return sum(any(_IMAGE.match(mime) for mime in output.data) for output in outputs)


def _without_text(outputs: Iterable[Output]) -> int:
    return sum(
        bool(output.data) and "text/plain" not in output.data and not _images([output]) for output in outputs
    )


_COUNTED: dict[str, Callable[[Iterable[Output]], int]] = {
    "images": _images,
    "displays without text": _without_text,
}
"""What is shown and not compared, but as many of it must be there."""


def _status(ended: Ended, cells: set[CellStatus]) -> NotebookStatus:
    if ended is Ended.NO_KERNEL:
        return NotebookStatus.NO_KERNEL
    if ended is Ended.TIMED_OUT:
        return NotebookStatus.TIMED_OUT
    found = next((each for each in NotebookStatus if any(cell.value == each.value for cell in cells)), None)
    return found or NotebookStatus.NO_STORED_OUTPUT
