"""Checks of notebooks as a job: a notebook is an item, a shard is one Parquet file with a row for each
notebook.

The trajectories of the runs are deleted with their shard's scratch folder. The files around a notebook do not
name its shard.
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
from deskcheck.jobs.job_folder import JobFolder
from deskcheck.jobs.manifest import Line
from deskcheck.jobs.plan import decided_by
from deskcheck.jobs.tables import Rows, TableWork
from deskcheck.jobs.work import shard_line
from deskcheck.notebook.check.check import (
    NotebookChecker,
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
_NAMED = {rule.name: rule for rule in NORMALISERS}


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
    """The report of `check.check_notebooks`, made in shards of about `size` notebooks by `runner`.

    Continues an earlier job in the folder, like `run_job`. A notebook that ends its process three times is a
    ``harness_error``.

    Raises InputError: a file or folder is missing, or has no notebook; the folder has other shards and
    `replace` is false; machines differ in Python or packages. RecordingError: another job uses the folder, or
    the disk fails. SandboxError: a machine cannot confine at this level. ValueError: a normaliser is neither
    in `NORMALISERS` nor made by `sanitiser`.
    """
    settings = settings or CheckSettings()
    unknown = [
        rule.name
        for rule in normalisers_of(settings)
        if _NAMED.get(rule.name) != rule and not isinstance(rule.rule, Replacement)
    ]
    if unknown:
        raise ValueError(f"normalisers={unknown}: a job takes only those of NORMALISERS and sanitisers")
    files = {path.resolve(): (path, folder.resolve()) for path, folder in files_of(paths)}
    values = _as_json(settings)
    key = _decided_by(values)
    report = new_report(settings)

    def finish(folder: JobFolder, lines: Sequence[Line]) -> None:
        for line in lines:
            for notebook_report, environment in _read(folder.file(TABLE, line["shard"])):
                name, _ = files[Path(notebook_report.path)]
                report.notebooks.append(_named(notebook_report, str(name)))
                report.environment = report.environment or environment

    job = Job(
        kind="notebooks",
        work=__name__,
        items=(
            Item(str(path), json.dumps([str(path), str(folder), _sha256(path)]))
            for path, (_, folder) in files.items()
        ),
        key=key,
        settings=values,
        task={"settings": values, "decided_by": key},
        tables=(TABLE,),
        commit=TABLE,
        finish=finish,
    )
    summary = run_job(job, Path(out), runner=runner, size=size, replace=replace, progress=progress)
    return report, summary


def _as_json(settings: CheckSettings) -> dict[str, Any]:
    rules = normalisers_of(settings)
    replacements = [
        [rule.name, rule.rule.regex, rule.rule.replace]
        for rule in rules
        if isinstance(rule.rule, Replacement)
    ]
    return asdict(replace(settings, normalisers=None)) | {
        "root": None if settings.root is None else str(settings.root.resolve()),
        "normalisers": [rule.name for rule in rules],
        "sanitisers": replacements,
    }


def _from_json(values: dict[str, Any]) -> CheckSettings:
    rules = _NAMED | {row[0]: sanitiser(*row) for row in values["sanitisers"]}
    return CheckSettings(
        **{name: value for name, value in values.items() if name != "sanitisers"}
        | {
            "limits": ReplayLimits(**values["limits"]),
            "sandbox": Confinement(values["sandbox"]),
            "order": CellOrder(values["order"]),
            "env": tuple(values["env"]),
            "root": None if values["root"] is None else Path(values["root"]),
            "normalisers": tuple(rules[name] for name in values["normalisers"]),
        }
    )


def _decided_by(values: dict[str, Any]) -> str:
    """Digest of the settings and versions that decide the results, in addition to the notebooks."""
    return decided_by(settings=values, packages=packages(), format=FORMAT)


def _sha256(path: Path) -> str | None:
    """The digest of a file. None if it cannot be read, which its report will say."""
    try:
        return sha256(path)
    except OSError:
        return None


def _named(report: NotebookReport, name: str) -> NotebookReport:
    """The report of a notebook under the name that the user gave, in place of its whole path."""
    detail = report.detail
    if detail.startswith(f"{report.path}: "):
        detail = name + detail.removeprefix(report.path)
    return replace(report, path=name, detail=detail)


# -- the work ----------------------------------------------------------------------------------------


def _rows(task: dict[str, Any], items: Sequence[Any], scratch: Path) -> Rows:
    """Check some notebooks. Runs that an earlier try left in `scratch` are not repeated."""
    for path, folder, digest in items:
        yield _row(Path(path), Path(folder), digest, scratch, task)


def _row(path: Path, folder: Path, digest: str | None, scratch: Path, task: dict[str, Any]) -> dict[str, Any]:
    settings = _from_json(task["settings"])
    environment = None
    if task["blame"] is not None:
        status = NotebookStatus.HARNESS_ERROR
        report = NotebookReport(path=str(path), status=status, detail=task["blame"])
    else:
        if not folder.is_dir():
            raise InputError(
                f"{os.uname().nodename}: cannot see {folder}: a job needs folders that all machines share."
            )
        limits = settings.limits
        # A kernel is given up after so long; this is for what no limit ends.
        faulthandler.dump_traceback_later(
            settings.runs * (2 * limits.notebook_s + 600) + 600, exit=True, file=2
        )
        try:
            report, environment = NotebookChecker(settings=settings, runs_folder=scratch).check(path, folder)
        finally:
            faulthandler.cancel_dump_traceback_later()
        if _sha256(path) != digest:
            raise InputError(f"{path}: was changed while the job ran. Start the job again.")
    row = {"path": report.path, "status": report.status.value, "detail": report.detail}
    return {
        # UTF-8 has no lone surrogates, but the report keeps them.
        **{name: storable(text) for name, text in row.items()},
        "cells": len(report.cells),
        "runs": report.runs,
        "seconds": report.seconds,
        "report": report.saved(),
        "environment": None if environment is None else json.dumps(environment.to_dict()),
    }


def _read(path: Path) -> Iterator[tuple[NotebookReport, Environment | None]]:
    for row in pq.read_table(path, columns=["report", "environment"], use_threads=False).to_pylist():
        environment = row["environment"]
        yield (
            NotebookReport.restored(row["report"]),
            None
            if environment is None
            else Environment.from_dict(read_json(environment, "column environment")),
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
