"""Checks of notebooks as a job: what decides what is found, and the work, which checks some notebooks.

A notebook is an item of the job, a shard is one Parquet file with a row for each of some notebooks, and the
report of all is the one that `deskcheck.notebook.check_notebooks` makes. Not: the trajectories of the runs,
which are gone when their shard is whole. What lies around a notebook does not name its shard.
"""

import faulthandler
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deskcheck.errors import InputError
from deskcheck.files import read_json, sha256
from deskcheck.jobs import Item, Job, JobSummary, Progress, Runner, run_job
from deskcheck.jobs.job_folder import Place
from deskcheck.jobs.manifest import Line
from deskcheck.jobs.plan import decided_by
from deskcheck.jobs.tables import Rows, TableWork
from deskcheck.jobs.work import shard_line
from deskcheck.notebook.check.check import (
    Checker,
    NotebookReport,
    NotebookStatus,
    Report,
    files_of,
    new_report,
    normalisers_of,
)
from deskcheck.notebook.check.normalise import NORMALISERS
from deskcheck.notebook.check.sanitise import Replacement, sanitiser
from deskcheck.notebook.kernel.replayer import packages
from deskcheck.notebook.settings import CellOrder, CheckSettings, ReplayLimits
from deskcheck.notebook.trajectory.trajectory import storable
from deskcheck.recording.program import Environment
from deskcheck.sandbox.confinement import Confinement

FORMAT = 1
"""Version of the columns of a shard."""
SIZE = 4
"""Notebooks of a shard: each takes seconds to minutes."""
TABLE = "notebooks"
_SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
        pa.field("cells", pa.int64(), nullable=False),
        pa.field("runs", pa.int64(), nullable=False),
        pa.field("seconds", pa.float64(), nullable=False),
        pa.field("report", pa.string(), nullable=False),
        pa.field("environment", pa.string(), nullable=True),
    ],
    metadata={"deskcheck.notebooks": str(FORMAT)},
)
_NAMED = {each.name: each for each in NORMALISERS}


def check_in_shards(
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: CheckSettings | None = None,
    *,
    runner: Runner,
    size: int = SIZE,
    replace: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> tuple[Report, JobSummary]:
    """The report that `check.check_notebooks` makes, in shards of about `size` notebooks, wherever `runner`
    checks them: what the folder does not have yet, as `run_job` does.

    A notebook that ends the process that runs it three times has the status ``harness_error``.

    Raises:
        InputError: there is no such file or folder, or no notebook in it; the folder holds other shards, and
            not `replace`; another Python or other packages on another machine.
        RecordingError: another job has the folder, or the disk refuses.
        SandboxError: a machine does not give what the level needs.
        ValueError: a normaliser that is none of `NORMALISERS` and no `sanitiser`: it could not be named to
            another process.
    """
    settings = settings or CheckSettings()
    unknown = [
        each.name
        for each in normalisers_of(settings)
        if _NAMED.get(each.name) != each and not isinstance(each.rule, Replacement)
    ]
    if unknown:
        raise ValueError(f"normalisers={unknown}: a job takes those of NORMALISERS and sanitisers alone")
    files = {path.resolve(): (path, folder.resolve()) for path, folder in files_of(paths)}
    told = _told(settings)
    key = _decided_by(told)
    report = new_report(settings)

    def finish(place: Place, lines: Sequence[Line]) -> None:
        for line in lines:
            for found, environment in _read(place.file(TABLE, line["shard"])):
                name, _ = files[Path(found.path)]
                report.notebooks.append(_named(found, str(name)))
                report.environment = report.environment or environment

    job = Job(
        kind="notebooks",
        work=__name__,
        items=(
            Item(str(path), json.dumps([str(path), str(folder), _sha256(path)]))
            for path, (_, folder) in files.items()
        ),
        key=key,
        settings=told,
        task={"settings": told, "decided_by": key},
        tables=(TABLE,),
        commit=TABLE,
        finish=finish,
    )
    done = run_job(job, Path(out), runner=runner, size=size, replace=replace, progress=progress)
    return report, done


def _told(settings: CheckSettings) -> dict[str, Any]:
    replacements = [
        [each.name, each.rule.regex, each.rule.replace]
        for each in normalisers_of(settings)
        if isinstance(each.rule, Replacement)
    ]
    sanitisers = {"sanitisers": replacements} if replacements else {}
    return sanitisers | {
        "limits": asdict(settings.limits),
        "sandbox": settings.sandbox.value,
        "order": settings.order,
        "runs": settings.runs,
        **({} if settings.kernel is None else {"kernel": settings.kernel}),
        **({"parameters": dict(settings.parameters)} if settings.parameters else {}),
        **({"env": list(settings.env)} if settings.env else {}),
        "root": None if settings.root is None else str(settings.root.resolve()),
        "normalisers": [each.name for each in normalisers_of(settings)],
    }


def _settings(told: dict[str, Any]) -> CheckSettings:
    named = _NAMED | {row[0]: sanitiser(*row) for row in told.get("sanitisers", ())}
    return CheckSettings(
        limits=ReplayLimits(**told["limits"]),
        sandbox=Confinement(told["sandbox"]),
        order=CellOrder(told["order"]),
        runs=told["runs"],
        kernel=told.get("kernel"),
        parameters=told.get("parameters", {}),
        env=tuple(told.get("env", ())),
        root=None if told["root"] is None else Path(told["root"]),
        normalisers=tuple(named[name] for name in told["normalisers"]),
    )


def _decided_by(told: dict[str, Any]) -> str:
    """Digest of what, beside the notebooks, decides what is found: settings and versions."""
    return decided_by(settings=told, packages=packages(), format=FORMAT)


def _sha256(path: Path) -> str | None:
    """Of a file; None of one that cannot be read, which its report will say."""
    try:
        return sha256(path)
    except OSError:
        return None


def _named(found: NotebookReport, name: str) -> NotebookReport:
    """The report of a notebook under the name that the user gave, in place of its whole path."""
    detail = found.detail
    if detail.startswith(f"{found.path}: "):
        detail = name + detail.removeprefix(found.path)
    return replace(found, path=name, detail=detail)


# -- the work ----------------------------------------------------------------------------------------


def _rows(task: dict[str, Any], items: Sequence[Any], scratch: Path) -> Rows:
    """Check some notebooks. What an earlier try had run, as `scratch` keeps it, is not run again."""
    for path, folder, digest in items:
        yield _row(Path(path), Path(folder), digest, scratch, task)


def _row(path: Path, folder: Path, digest: str | None, scratch: Path, task: dict[str, Any]) -> dict[str, Any]:
    settings = _settings(task["settings"])
    environment = None
    if task["blame"] is not None:
        status = NotebookStatus.HARNESS_ERROR
        found = NotebookReport(path=str(path), status=status, detail=task["blame"])
    else:
        if not folder.is_dir():
            raise InputError(
                f"{os.uname().nodename}: does not see {folder}: a job needs folders that all machines share."
            )
        limits = settings.limits
        # A kernel is given up after so long; this is for what no limit ends.
        faulthandler.dump_traceback_later(
            settings.runs * (2 * limits.notebook_s + 600) + 600, exit=True, file=2
        )
        try:
            found, environment = Checker(settings=settings, kept=scratch).check(path, folder)
        finally:
            faulthandler.cancel_dump_traceback_later()
        if _sha256(path) != digest:
            raise InputError(f"{path}: was changed while the job ran. Start it again.")
    row = {"path": found.path, "status": found.status.value, "detail": found.detail}
    return {
        # UTF-8 has no lone surrogates; the report has them as they are.
        **{name: storable(text) for name, text in row.items()},
        "cells": len(found.cells),
        "runs": found.runs,
        "seconds": found.seconds,
        "report": found.saved(),
        "environment": None if environment is None else json.dumps(environment.to_dict()),
    }


def _read(path: Path) -> Iterator[tuple[NotebookReport, Environment | None]]:
    for row in pq.read_table(path, columns=["report", "environment"], use_threads=False).to_pylist():
        told = row["environment"]
        yield (
            NotebookReport.restored(row["report"]),
            None if told is None else Environment.from_dict(read_json(told, "column environment")),
        )


def _line(shard: str, path: Path) -> Line:
    columns = ["path", "status", "detail", "cells"]
    rows = pq.read_table(path, columns=columns, use_threads=False).to_pylist()
    outcomes = Counter(row["status"] for row in rows)
    return shard_line(
        shard,
        {TABLE: path},
        outcomes,
        events=sum(row["cells"] for row in rows),
        not_repeatable=outcomes[NotebookStatus.NOT_REPEATABLE],
        problems={r["path"]: r["detail"] for r in rows if r["status"] == NotebookStatus.HARNESS_ERROR},
        finished=path.stat().st_mtime,
    )


TASKS = TableWork(
    table=TABLE,
    schema=_SCHEMA,
    decided_by=lambda task: _decided_by(task["settings"]),
    decides="Python, deskcheck or other packages",
    rows=_rows,
    resumes=True,
    line=_line,
).tasks()
