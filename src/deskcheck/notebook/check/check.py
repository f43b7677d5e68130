"""Whether notebooks reproduce: each runs again in a fresh kernel and is compared with its stored outputs.

`repeats` defines equality; the number of images must be equal, too. Normalisers may forgive a difference. A
second run may explain it: a cell whose fresh runs differ cannot be expected to give the stored output.
Installed kernels (`CheckSettings.kernel`) run without a sandbox and always twice, as deskcheck cannot see
their random draws. Not covered: widgets.
"""

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
from deskcheck.notebook.state.names import cell_names, environment
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
    """The result of a cell: exactly one of these. docs/guides/notebooks.md defines them."""

    SAME = "same"
    NORMALISED = "normalised"
    DIFFERENT = "different"
    NOT_REPEATABLE = "not_repeatable"
    CONFINED = "confined"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    NOT_RUN = "not_run"
    NO_STORED_OUTPUT = "no_stored_output"


class NotebookStatus(StrEnum):
    """The result of a notebook: the first of these that is true, in this order."""

    UNREADABLE = "unreadable"
    NO_KERNEL = "no_kernel"
    HARNESS_ERROR = "harness_error"
    TIMED_OUT = "timed_out"
    FAILED = "failed"
    DIFFERENT = "different"
    NOT_REPEATABLE = "not_repeatable"
    CONFINED = "confined"
    NORMALISED = "normalised"
    SAME = "same"
    NO_STORED_OUTPUT = "no_stored_output"


_SUCCESSES = (CellStatus.SAME, CellStatus.NORMALISED, CellStatus.NO_STORED_OUTPUT)
REPRODUCES = (NotebookStatus.SAME, NotebookStatus.NORMALISED, NotebookStatus.NO_STORED_OUTPUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellReport:
    """The result of one cell."""

    id: str
    number: int
    """Its position from 1, counting cells of all types."""
    source: str
    status: CellStatus
    count: int | None = None
    """The stored execution count."""
    normalisers: tuple[str, ...] = ()
    category: str | None = None
    """The exception's class (as in Samuel & Mietchen 2024, doi:10.1093/gigascience/giad113), or how the
    kernel died."""
    message: str | None = None
    missing: str | None = None
    """The module or file that was not found."""
    limit: str | None = None
    """The rule of the sandbox that refused something: a key of `kernel.refusals.RULES`."""
    follows: int | None = None
    """Number of an earlier cell that did not finish and would have provided the missing name or file."""
    difference: str | None = None
    """The first difference between the stored and the fresh output."""
    unstable: str | None = None
    """The first difference between two fresh runs."""
    note: str | None = None
    """A remark that the cell draws without a seed, although it repeats."""
    allowed: str | None = None
    """Why a status other than success is accepted."""
    diff: tuple[DiffRow, ...] = ()
    wall_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        diff = [f"{line.side} {line.text}" for line in self.diff]
        row = asdict(self) | {"normalisers": [*self.normalisers], "diff": diff}
        del row["source"]
        return row

    @classmethod
    def _restored(cls, row: dict[str, Any]) -> "CellReport":
        rows = row["diff"]
        diff = (DiffRow(**line | {"changed": line["changed"] and tuple(line["changed"])}) for line in rows)
        lists = {"status": CellStatus(row["status"]), "normalisers": tuple(row["normalisers"])}
        return cls(**row | lists | {"diff": tuple(diff)})


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookReport:
    """The result of one notebook."""

    path: str
    status: NotebookStatus
    detail: str = ""
    """Why it was not read or not run to its end."""
    cells: tuple[CellReport, ...] = ()
    notes: tuple[str, ...] = ()
    """Remarks of the reader and of the run."""
    runs: int = 0
    seconds: float = 0.0
    """Time that the cells took in the first run."""

    @property
    def counts(self) -> Counter[CellStatus]:
        return Counter(cell.status for cell in self.cells)

    @property
    def failure(self) -> CellReport | None:
        """The first cell that failed."""
        return next((cell for cell in self.cells if cell.status is CellStatus.FAILED), None)

    def to_dict(self) -> dict[str, Any]:
        """The report for other programs. Use `saved` for a text that `restored` can read."""
        return {
            "path": self.path,
            "status": self.status,
            "detail": self.detail,
            "notes": [*self.notes],
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
            "counts": dict(self.counts),
            "cells": [cell.to_dict() for cell in self.cells],
        }

    def saved(self) -> str:
        """The whole report as ASCII text."""
        return json.dumps(asdict(self))

    @classmethod
    def restored(cls, text: str) -> "NotebookReport":
        """The report from the text that `saved` returned."""
        row = read_json(text, "column report")
        lists = {"cells": tuple(map(CellReport._restored, row["cells"])), "notes": tuple(row["notes"])}
        return cls(**row | lists | {"status": NotebookStatus(row["status"])})


@dataclass(slots=True)
class Report:
    """The results of several notebooks, by name."""

    normalisers: tuple[str, ...]
    """Names of the rules that were used."""
    runs: int
    notebooks: list[NotebookReport] = field(default_factory=list)
    environment: Environment | None = None
    """Where they ran. None if no notebook ran."""
    kernel: str | None = None
    """The installed kernel that they ran in."""

    def _all_cells(self) -> Iterator[CellReport]:
        return (cell for notebook in self.notebooks for cell in notebook.cells)

    @property
    def by_status(self) -> Counter[NotebookStatus]:
        return Counter(notebook.status for notebook in self.notebooks)

    @property
    def cells(self) -> Counter[CellStatus]:
        return sum((notebook.counts for notebook in self.notebooks), Counter())

    @property
    def fired(self) -> Counter[str]:
        """Number of cells that each normaliser made the same, with others or by itself."""
        return Counter(name for cell in self._all_cells() for name in cell.normalisers)

    @property
    def failures(self) -> list[tuple[str, int, int]]:
        """Category of failure, number of notebooks that fail with it first, and number of cells; most
        frequent first."""
        first = Counter(notebook.failure.category for notebook in self.notebooks if notebook.failure)
        cells = Counter(cell.category for cell in self._all_cells() if cell.category)
        order = sorted(cells, key=lambda category: (-first[category], -cells[category], str(category)))
        return [(str(category), first[category], cells[category]) for category in order]

    @property
    def missing_modules(self) -> Counter[str]:
        """Module that was not found -> number of notebooks."""
        return Counter(
            module
            for notebook in self.notebooks
            for module in {cell.missing for cell in notebook.cells if cell.category == "ModuleNotFoundError"}
            if module is not None
        )

    def statuses(self) -> set[str]:
        """All statuses of notebooks, and of cells that are not accepted."""
        return {*self.by_status, *(cell.status for cell in self._all_cells() if cell.allowed is None)}

    def to_dict(self) -> dict[str, Any]:
        return {
            "normalisers": [*self.normalisers],
            "runs": self.runs,
            "kernel": self.kernel,
            "environment": None if self.environment is None else self.environment.to_dict(),
            "by_status": dict(self.by_status),
            "cells": dict(self.cells),
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
    progress: Callable[..., None] = lambda name, finished=None, total=None: None,
) -> Report:
    """Run notebooks and compare them with their stored outputs. A folder stands for all notebooks below it.

    A notebook runs in a copy of its folder, or of the folder in `paths`.

    out: folder for the trajectories of the runs. The same call continues from them.
    workers: number of notebooks that run at once.
    progress: called with the name of each finished notebook; for a single notebook with its name, the number
    of finished cells and their total.

    Raises InputError: a file or folder is missing, or has no notebook; `out` is the folder of a job.
    RecordingError: `out` has the run of another version of a notebook. MissingExtra: ipykernel or
    jupyter_client is not installed. SandboxError: the level of confinement is not available.
    """
    settings = settings or CheckSettings()
    if out is not None:
        _refuse_a_job(Path(out))
    files = files_of(paths)
    stopping = threading.Event()
    report = new_report(settings)
    runs_folder = None if out is None else Path(out)
    servers = Servers(many=len(files) > workers, max_servers=workers * settings.runs)
    checker = NotebookChecker(
        settings=settings, runs_folder=runs_folder, servers=servers, interrupted=stopping.is_set
    )

    def one(path: Path, folder: Path) -> NotebookReport:
        cells = functools.partial(progress, f"{path.stem}, cells")
        one_alone = replace(checker, progress=cells) if len(files) == 1 else checker
        notebook_report, environment = one_alone.check(path, folder)
        report.environment = report.environment or environment
        return notebook_report

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
    from deskcheck.jobs.job_folder import JobFolder  # with all that jobs bring

    if JobFolder(out).job.exists():
        raise InputError(
            f"{out}: is the folder of a job. Continue it with --shards, or choose another folder."
        )


def normalisers_of(settings: CheckSettings) -> tuple[Normaliser, ...]:
    """The normalisers that the settings select."""
    return NORMALISERS if settings.normalisers is None else settings.normalisers


def new_report(settings: CheckSettings) -> Report:
    """A report without notebooks."""
    rules = tuple(rule.name for rule in normalisers_of(settings))
    return Report(rules, settings.runs, kernel=settings.kernel)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookChecker:
    """Runs notebooks and compares them with their stored outputs."""

    settings: CheckSettings
    runs_folder: Path | None = None
    """Folder for the trajectories of the runs, from which another call continues."""
    servers: Servers | None = None
    """As in `Kernel`."""
    interrupted: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] = lambda finished, total: None
    """As in `replay`."""

    def check(self, path: Path, folder: Path) -> tuple[NotebookReport, Environment | None]:
        """The report of one notebook, and where it ran. folder: the folder that is copied for it.

        A failure of deskcheck itself becomes the status of this notebook."""
        failures: list[str] = []
        with own_failures(failures.append):
            report, fresh = self.run(path, folder)
            return report, None if fresh is None else fresh.environment
        _log.error("%s: %s", path, failures[0].partition("\n")[0])
        return NotebookReport(path=str(path), status=NotebookStatus.HARNESS_ERROR, detail=failures[0]), None

    def run(self, path: Path, folder: Path) -> tuple[NotebookReport, Trajectory | None]:
        """The report and the first run. Raises failures of deskcheck itself."""
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
                    f"--parameters are assigned in Python, but the kernel {installed.name!r} is for "
                    f"{installed.language}. Leave them out."
                )
            compare = _Comparison(stored, settings, around, installed)
            as_run = with_parameters(stored, settings.parameters)
            fresh = replay(
                as_run,
                None if self.runs_folder is None else self.runs_folder / (_name(path, settings) + SUFFIX),
                kernels=installed or SandboxKernels(settings.sandbox, around, self.servers),
                limits=settings.limits,
                reruns=Reruns(settings.runs, compare.wants_another, compare.forgives),
                interrupted=self.interrupted,
                progress=self.progress,
            )
        cells = {storable(cell.id) for cell in as_run.cells}
        if not {storable(step.cell) for step in fresh.executions} <= cells:
            raise RecordingError(f"{path}: was run before with different cells. {_ANOTHER_FOLDER}")
        report = compare.report(fresh)
        if settings.parameters:
            values = ", ".join(assignments(settings.parameters).splitlines()[1:])
            report = replace(report, notes=(*report.notes, f"ran with other parameters: {values}"))
        return report, fresh


def _variables(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    unset = [name for name in names if name not in os.environ]
    if unset:
        raise InputError(f"--env {unset[0]}: is not set here. Set it, or leave --env {unset[0]} out.")
    return tuple((name, os.environ[name]) for name in names)


_ANOTHER_FOLDER = "Delete that run, or choose another folder with --out."


def compare_with_stored(stored: Trajectory, fresh: Trajectory) -> NotebookReport:
    """Compare a run of a notebook with its stored outputs. Raises RecordingError: the run is of a different
    version of the notebook."""
    return _Comparison(stored, CheckSettings(normalisers=NORMALISERS)).report(fresh)


def files_of(paths: Iterable[str | os.PathLike[str]]) -> list[tuple[Path, Path]]:
    """Notebooks in order, each once, with the folder that is copied for it.

    Raises InputError: a file or folder is missing, or has no notebook."""
    files: dict[Path, tuple[Path, Path]] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder.")
        folder, notebooks = (path, notebook_files(path)) if path.is_dir() else (path.parent, [path])
        for file in notebooks:
            files.setdefault(file.resolve(), (file, folder))
    return [*files.values()]


def _name(path: Path, settings: CheckSettings) -> str:
    """A file name that is different for each path, kernel, parameters and variables of the environment."""
    identity = os.fsencode(path.resolve())
    if settings.kernel is not None or settings.parameters:
        identity += b"\0" + json.dumps([settings.kernel, dict(settings.parameters)]).encode()
    if settings.env:
        identity += b"\0" + json.dumps([os.environ.get(name) for name in settings.env]).encode()
    digest = hashlib.blake2b(identity, digest_size=5).hexdigest()
    return f"{path.stem[:80]}-{digest}"


_VARIABLES = ("PATH", "HOME", "TMPDIR", "LANG", "TZ", "PYTHONHASHSEED")
"""Variables of the environment that every program has in the sandbox."""
_MESSAGE_CHARS = 500
_IMAGE = re.compile(r"image/\w+")
_KERNEL_ENDS = {Status.DIED: "kernel died", Status.OUT_OF_MEMORY: "out of memory"}
_MODULE = re.compile(r"No module named '([^']+)'")
_FILE = re.compile(r"No such file or directory: '([^']+)'")
_NOT_FOUND = re.compile(r"(?:File )?'?([^\s']*[^\s'.])'? (?:does not exist|not found)\.?")
"""Messages of libraries that look for a file before they open it."""
_PYTHON_2 = re.compile(
    r"Missing parentheses in call to '(print|exec)'|multiple exception types must be parenthesized"
    r"|leading zeros in decimal integer literals|invalid decimal literal.*\bL\b"
)
"""Messages of the compiler about statements of Python 2."""
_LETTERS = 2
"""Maximum length of file names that are too short to search in a source."""
_USAGE_ERROR = "UsageError: "
_NAME = re.compile(r"name '([^']+)' is not defined")


@dataclass
class _Comparison:
    """One notebook with its stored outputs, compared with fresh runs in `around` or `installed`."""

    stored: Trajectory
    settings: CheckSettings
    around: Surroundings = NOTHING_AROUND
    installed: InstalledKernels | None = None

    def __post_init__(self) -> None:
        self.normalisers = normalisers_of(self.settings)
        self.executions = {step.cell: step for step in self.stored.executions}
        self.any_output = any(step.outputs for step in self.stored.executions)

    def wants_another(self, runs: Sequence[Trajectory]) -> bool:
        """Whether another run would decide something.

        A second run does if a cell differs or drew without a seed, or if the kernel does not say whether it
        drew. A third does if a cell that drew shows the same in both runs, which may be chance.
        """
        if len(runs) == 1:
            worth = (CellStatus.DIFFERENT, CellStatus.FAILED)
            return (
                self.installed is not None
                or any(step.drew for step in runs[0].executions)
                or any(cell.status in worth for cell in self._cells(runs[0]))
            )
        return undecided([run.steps for run in runs], self.forgives)

    def forgives(self, first: Execution, second: Execution) -> bool:
        """Whether two runs of a cell are the same after normalisers."""
        texts = self._shown(first.shown()), self._shown(second.shown())
        return first.status == second.status and same_after(*texts, self.normalisers) is not None

    def _shown(self, outputs: Sequence[Output]) -> Text:
        """The text of a run, with paths of the copy as paths of the original folder."""
        text, root = Text.of(outputs), self.around.root
        return text if root is None else text.with_texts(lambda part: as_outside(part, os.fspath(root)))

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
            yield f"could read files in {root}"

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
                what = f"was run before with other source in cell {number}"
                raise RecordingError(f"{self.stored.path}: {what}. {_ANOTHER_FOLDER}")
            stored = self.executions.get(cell.id)
            if ended is not None and (stored is None or stored.count is None):
                reason, facts = f"cell {ended} ended the notebook", _facts(cell, number)
                yield CellReport(status=CellStatus.NOT_RUN, message=reason, **facts)
                continue
            cell_report = self._cell(cell, number, stored, ran, before, updates.get(cell.id, ()))
            if ran is not None:
                noted = replace(cell_report, note=note(ran, fresh.limits.get("runs", 1)))
                cell_report = self._strict(noted, markers_of(cell))
            before.add(cell_report, None if ran is None or ran.confined == "output" else ran.confined)
            if ended is None and ran is not None and _exits(Text.of(ran.shown())):
                ended = number
            yield cell_report

    def _cell(
        self,
        cell: Cell,
        number: int,
        stored: Execution | None,
        ran: Execution | None,
        before: "_Before",
        updates: Sequence[Output],
    ) -> CellReport:
        """The result of one cell. updates: messages of later cells that update its displays."""
        facts = _facts(cell, number)
        if stored is None or ran is None:
            return CellReport(status=CellStatus.NOT_RUN, **facts)
        facts |= {"count": stored.count, "wall_s": ran.wall_s}
        if ran.repeats is False:
            facts["unstable"] = ran.difference
        if ran.status is Status.TIMED_OUT:
            return CellReport(status=CellStatus.TIMED_OUT, message=ran.detail, **facts)
        if ran.status in _KERNEL_ENDS:
            facts |= {"category": _KERNEL_ENDS[ran.status], "message": ran.detail}
            return _confined(CellReport(status=CellStatus.FAILED, **facts), ran.confined, None)
        outputs = shown_outputs((*ran.outputs, *updates))
        text, error = self._text_and_failure(cell, stored, ran, outputs)
        if error is not None:
            facts |= _failure(error, before.unbound)
            failed = CellReport(status=CellStatus.FAILED, **facts)
            limit = ran.confined if ran.confined != "output" else None  # which raises no exception
            limit = limit or self._withheld(failed, before) or self._at_home(outputs)
            return _confined(failed, limit, before.confining(failed))
        compared = self._compared(stored, outputs, text, markers_of(cell), facts)
        if compared.status is not CellStatus.DIFFERENT:
            return compared
        limit = ran.confined or self._withheld(compared, before)
        return _confined(compared, limit, before.confining(compared))

    def _text_and_failure(
        self, cell: Cell, stored: Execution, ran: Execution, outputs: Sequence[Output]
    ) -> tuple[Text, tuple[str, str] | None]:
        """The fresh text, and the exception that is a failure, if there is one."""
        expected, text = Text.of(stored.shown()), self._shown(outputs)
        may_raise = Marker.RAISES in markers_of(cell)
        if text.error is not None and (expected.error is None or expected.error[0] != text.error[0]):
            if not may_raise and not _exits(text):
                return text, text.error
            return text if expected.error is not None else text.without_error(), None
        # A magic that does not exist, a command that fails: the kernel replies with an error and shows none.
        # What an installed kernel gave when the notebook was saved shows none either.
        only_replied = ran.status is not Status.OK and text.error is None and not may_raise
        if only_replied and (self.installed is None or not stored.shown() or expected != text):
            usage = ran.detail or _usage_error(ran) or "UsageError: the kernel sent no message"
            name, _, message = usage.partition(": ")
            return text, (name, message)
        return text, None

    def _compared(
        self,
        stored: Execution,
        outputs: Sequence[Output],
        text: Text,
        marks: Collection[Marker],
        facts: dict[str, Any],
    ) -> CellReport:
        """The result of a cell that did not fail."""
        expected, expected_outputs = Text.of(stored.shown()), stored.shown()
        if not expected_outputs and (expected == text or stored.count is None or not self.any_output):
            return CellReport(status=CellStatus.NO_STORED_OUTPUT, **facts)
        counts = {what: (count(expected_outputs), count(outputs)) for what, count in _COUNTED.items()}
        uneven = [f"{what}: {a} and {b}" for what, (a, b) in counts.items() if a != b]
        if expected != text or uneven:
            facts["difference"] = text_difference(expected, text) or uneven[0]
            facts["diff"] = tuple(diff(expected, text, counts))
        if facts.get("unstable") is not None:
            allowed = self._allowed(marks, random=True)
            return CellReport(status=CellStatus.NOT_REPEATABLE, allowed=allowed, **facts)
        if "difference" not in facts:
            return CellReport(status=CellStatus.SAME, **facts)
        names = same_after(expected, text, self.normalisers)
        if names and not uneven:
            return CellReport(status=CellStatus.NORMALISED, normalisers=names, **facts)
        allowed = self._allowed(marks, random=False)
        return CellReport(status=CellStatus.DIFFERENT, allowed=allowed, **facts)

    def _allowed(self, marks: Collection[Marker], *, random: bool) -> str | None:
        """Why a cell may differ from the stored output or, if `random`, between runs. None: it may not."""
        if Marker.IGNORE in marks:
            return "its tag or comment says that its outputs are not compared"
        if self.settings.lax and Marker.CHECK not in marks:
            return "--lax, and it is not marked for comparison"
        if random and Marker.RANDOM in marks:
            return "its tag says that its output is random"
        return "--allow-random" if random and self.settings.allow_random else None

    def _strict(self, cell: CellReport, marks: Collection[Marker]) -> CellReport:
        """With ``--strict-random`` a cell that draws without a seed is not repeatable."""
        if not self.settings.strict_random or cell.note is None or cell.status not in _SUCCESSES:
            return cell
        return replace(cell, status=CellStatus.NOT_REPEATABLE, allowed=self._allowed(marks, random=True))

    def _withheld(self, cell: CellReport, before: "_Before") -> str | None:
        """The rule that withheld a variable of the environment from a cell that reads it, itself or through
        definitions of earlier cells, as its KeyError says."""
        if self.installed is not None:
            return None
        sets, reads = environment(cell.source)
        reads = (reads | before.reads if cell.category == "KeyError" else reads) - sets - before.sets
        if cell.category == "KeyError" and cell.message is not None:
            reads &= {"$" + cell.message.strip("'")}
        elif cell.category is not None:
            return None
        withheld = {*os.environ} - {*_VARIABLES, *dict(self.around.variables)}
        return "environment" if any(name[1:] in withheld for name in reads) else None

    def _at_home(self, now: Sequence[Output]) -> str | None:
        """The rule that withheld a file of the user's home from a cell, as its exception says."""
        error = Text.of(now).error
        return "home" if self.installed is None and error and names_what_is_at_home(error[1]) else None


def _facts(cell: Cell, number: int) -> dict[str, Any]:
    return {"id": cell.id, "number": number, "source": cell.source}


def _usage_error(ran: Execution) -> str | None:
    """IPython's message about a magic that it could not run, from standard error."""
    text = "".join(output.text or "" for output in ran.outputs if output.name == "stderr")
    start = text.rfind(_USAGE_ERROR)
    return None if start < 0 else text[start:].strip()


def updates_after(ran: Sequence[Execution]) -> dict[str, list[Output]]:
    """Cell -> updates of its displays by the cells that ran after it."""
    cells: dict[str | None, list[str]] = {}
    """Display -> the cells that showed it."""
    updates: dict[str, list[Output]] = {}
    for step in ran:
        for output in step.outputs:
            if output.type == "update_display_data":
                for cell in cells.get(output.display_id, ()):
                    if cell != step.cell:
                        updates.setdefault(cell, []).append(output)
            elif output.type == "display_data" and output.display_id is not None:
                cells.setdefault(output.display_id, []).append(step.cell)
    return updates


def _exits(text: Text) -> bool:
    """Whether a cell ended its notebook on purpose and without an error."""
    return text.error is not None and text.error[0] == "SystemExit" and text.error[1] in ("", "0", "None")


def _confined(report: CellReport, limit: str | None, follows: tuple[int, str] | None) -> CellReport:
    """The report of a cell that a rule of the sandbox stopped. follows: an earlier cell that it needs, and
    the rule that stopped that."""
    if limit is None and follows is None:
        return report
    number, limit = (None, limit) if follows is None or limit is not None else follows
    message = f"{report.category}: {report.message}" if report.category else report.difference
    status = CellStatus.CONFINED
    facts: dict[str, Any] = {"message": message, "category": None, "missing": None, "diff": ()}
    return replace(report, status=status, limit=limit, follows=number, **facts)


class _Before:
    """The earlier cells that did not finish, and the rules of the sandbox that stopped them."""

    def __init__(self) -> None:
        self.unbound: dict[str, int] = {}
        """Name -> number of the cell that would have bound it."""
        self._refused: dict[int, tuple[str, str]] = {}
        """Number of a cell that a rule stopped -> its source, the rule."""
        self._touched: dict[str, int] = {}
        """Name -> number of a stopped cell that may have changed the name's value."""
        self.sets: set[str] = set()
        self.reads: set[str] = set()
        """Variables of the environment that the cells read, as ``$NAME``; `sets` has those that they set."""
        self._imported: set[str] = set()
        self._globals: dict[str, frozenset[str]] = {}

    def add(self, cell: CellReport, rule: str | None) -> None:
        """Add the next cell. rule: the rule that stopped it, whatever its output."""
        names = cell_names(cell.source)
        sets, reads = environment(cell.source)
        self.sets |= sets
        self.reads |= reads
        bound = {*names.bound} | sets
        if cell.status in (CellStatus.FAILED, CellStatus.TIMED_OUT, CellStatus.CONFINED):
            self.unbound = dict.fromkeys(bound, cell.number) | self.unbound
        else:
            self.unbound = {name: number for name, number in self.unbound.items() if name not in bound}
        self._imported |= names.imported
        self._globals |= names.written_globals
        rule = cell.limit or rule
        if rule is not None:
            self._refused[cell.number] = cell.source, rule
        reads |= {*names.read}
        origin = cell.number if rule is not None else self._origin(reads)
        for name in bound if origin is None else ():
            self._touched.pop(name, None)
        if origin is not None:
            written = {name for function in reads & self._globals.keys() for name in self._globals[function]}
            touched = ((bound | written) - names.imported) | (names.changed - self._imported)
            self._touched |= dict.fromkeys(touched, origin)

    def _origin(self, names: set[str]) -> int | None:
        return next((self._touched[name] for name in sorted(names) if name in self._touched), None)

    def confining(self, cell: CellReport) -> tuple[int, str] | None:
        """A stopped cell that this one needs, with the rule. It needs the cell for a name, or for a file or
        module that both sources contain."""
        if not self._refused:
            return None
        unknown = _NAME.findall(cell.message or "") if cell.category == "NameError" else []
        if unknown:  # this name ended it, and no other
            number = next((self.unbound[name] for name in (*unknown, "*") if name in self.unbound), None)
            if number not in self._refused:
                number = self._origin({*unknown})
        else:
            number = self._origin({*cell_names(cell.source).read} | environment(cell.source)[1])
        if number is None and cell.missing is not None:
            file_name = os.path.basename(cell.missing.rstrip("/"))
            stem = file_name.partition(".")[0]
            word = stem if len(stem) > _LETTERS else file_name  # `a` is in many sources
            named = re.compile(rf"\b{re.escape(word)}\b" if len(word) > _LETTERS else r"(?!)")
            sources = ((number, source) for number, (source, _) in self._refused.items())
            number = next((n for n, source in sources if named.search(source)), None)
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
"""Outputs whose content is not compared, only their number."""


def _status(ended: Ended, cells: set[CellStatus]) -> NotebookStatus:
    if ended is Ended.NO_KERNEL:
        return NotebookStatus.NO_KERNEL
    if ended is Ended.TIMED_OUT:
        return NotebookStatus.TIMED_OUT
    statuses = (status for status in NotebookStatus if status.value in cells)
    return next(statuses, NotebookStatus.NO_STORED_OUTPUT)
