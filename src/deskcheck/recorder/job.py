"""Recording as a job: the digest of everything that decides a recording, and the work on one shard."""

import atexit
import functools
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deskcheck.errors import InputError
from deskcheck.files import sync
from deskcheck.jobs.job import JobSummary, Progress, Runner, run_job
from deskcheck.jobs.job_folder import JobFolder, empty, lock_scratch, put
from deskcheck.jobs.manifest import Line
from deskcheck.jobs.plan import SIZE, Item, Job, decided_by, read_items
from deskcheck.jobs.work import check_machine, check_seen, shard_line, unwatch, watch
from deskcheck.recorder.programs import ProgramRecorder
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.recording.schema import FORMAT
from deskcheck.recording.writer import TABLES, Writer, join_shards
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.environments import find, of_interpreter
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.tracer import tracer_class

_FIELDS = tuple(field.name for field in fields(Program))
_IN_ORDER = (*reversed(TABLES),)
"""The tables in the order in which their files are moved into the folder; the last one is the commit."""
_ALL = 1 << 60
"""More than any number of rows, so that one shard takes everything."""
_NAMED = 100
"""Maximum number of failures of deskcheck whose details a line of the manifest contains."""


def record_job(
    programs: Iterable[Program],
    folder: str | Path,
    *,
    runner: Runner,
    settings: RecordSettings | None = None,
    size: int = SIZE,
    replace: bool = False,
    patience_s: float | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> JobSummary:
    """Record programs in shards of about `size`, by `run_job`. Finished shards are not recorded again.

    A program that fails is a row like any other. If a program ends the process that records it three times,
    its row has the outcome ``harness_error``, with the details.

    runner: where the work is done. patience_s: maximum time for all runs of one program, after which the
    process that records it counts as hung.

    Raises:
        InputError: a program or the folder cannot be used, or a machine has another version of Python.
        RecordingError: another job uses the folder, or the disk refuses to write.
        SandboxError: a machine cannot confine programs at this level.
    """
    settings = settings or RecordSettings()
    if patience_s is None:
        # Wall time of a program does not count what it waits for a processor; some thirty runs explain.
        patience_s = max(600.0, 60 * settings.limits.wall_s)
    key = _decided_by(settings)
    job = Job(
        kind="record",
        work=__name__,
        items=(Item(program.id, _line(program)) for program in programs),
        key=key,
        settings=settings.to_dict(),
        task={"settings": settings.to_dict(), "decided_by": key, "patience_s": patience_s},
        tables=TABLES,
        commit="recordings",
    )
    return run_job(job, folder, runner=runner, size=size, replace=replace, progress=progress)


def _decided_by(settings: RecordSettings) -> str:
    """Digest of everything except the programs that decides recordings: settings, tracer, versions."""
    environment = None
    if settings.environment is not None:
        environment = find(settings.environment)
    elif settings.python is not None:
        environment = of_interpreter(settings.python)
    version = {} if settings.python is None or environment is None else {"of": environment.python_version}
    return decided_by(
        settings=settings.to_dict(),
        installed=None if environment is None else environment.installed_sha256,
        tracer=tracer_there(settings),
        format=FORMAT,
        **version,
    )


def tracer_there(settings: RecordSettings) -> str:
    """Name of the tracer that records. For another interpreter its fork server chooses the tracer."""
    if settings.python is None:
        return tracer_class().name
    return _tracer_of(settings.python)


@functools.cache
def _tracer_of(python: str) -> str:
    with Sandbox(Confinement.TRUSTED, workers=1, environment=of_interpreter(python)) as sandbox:
        return sandbox.tracer(None)


def _line(program: Program) -> str:
    try:
        return json.dumps({name: getattr(program, name) for name in _FIELDS}, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"program {program.id!r}: cannot be saved as JSON: {error}") from None


def _make(task: dict[str, Any]) -> Line | None:
    """Record programs FIRST to STOP of a shard. If they are the whole shard, move it into the folder.

    Programs that an earlier try finished are not recorded again.

    Keys of the task: ``settings`` and ``decided_by``. ``fresh``: whether to delete the results of an earlier
    try. ``patience_s``: maximum time for one program, after which this process ends itself. ``blame``: how
    deskcheck failed on the program, which is recorded instead of running it.
    """
    settings = RecordSettings.from_dict(task["settings"])
    check_machine(_decided_by(settings), task, "Python, deskcheck or environment")
    folder = JobFolder(task["folder"])
    check_seen(folder)
    first, stop = task["first"], task["stop"]
    scratch = folder.scratch(task["shard"], first, stop)
    programs = [Program.from_dict(row) for row in read_items(folder.plan(task["shard"]), first, stop)]
    with folder.doing("record a shard"):
        scratch.mkdir(parents=True, exist_ok=True)
        lock = lock_scratch(scratch)
        if task["fresh"] or not _pair(scratch):
            empty(scratch)
        lock.release()
    with Writer(scratch, shard_recordings=_ALL, shard_events=_ALL) as writer:
        try:
            for program in programs:
                if program.id not in writer.done:
                    _record_one(program, writer, settings, task)
        finally:
            unwatch()
    with folder.doing("put a shard in its place"):
        sync(scratch)
    if not task["whole"]:
        return None
    put(folder, task["shard"], {table: scratch / f"{table}-00000.parquet" for table in _IN_ORDER})
    shutil.rmtree(scratch, ignore_errors=True)
    return _describe(task)


def _record_one(program: Program, writer: Writer, settings: RecordSettings, task: dict[str, Any]) -> None:
    if task["blame"] is not None:
        with writer.begin(program) as spool:
            run_result = RunResult(outcome=Outcome.HARNESS_ERROR, detail=task["blame"])
            spool.finish(run_result, _recorder(settings).environment(program, {}))
        return
    watch(task["patience_s"])
    _recorder(settings).record(program, writer)


_recorders = ExitStack()
"""Closes the recorder of this process, which the next shard with the same settings uses again."""
atexit.register(_recorders.close)


@functools.lru_cache(maxsize=1)
def _recorder_of(settings: str) -> ProgramRecorder:
    _recorders.close()
    return _recorders.enter_context(ProgramRecorder(RecordSettings.from_dict(json.loads(settings))))


def _recorder(settings: RecordSettings) -> ProgramRecorder:
    return _recorder_of(json.dumps(settings.to_dict(), sort_keys=True))


def _pair(scratch: Path) -> bool:
    """Whether the folder has both files of a shard or none. With one file, half of it has been moved."""
    return len([*scratch.glob("*-00000.parquet")]) != 1


def _join(task: dict[str, Any]) -> Line:
    """Join the parts of a shard. Each is named by ``[first, stop]`` and in the folder of a writer."""
    job_folder = JobFolder(task["folder"])
    folders = [job_folder.scratch(task["shard"], first, stop) for first, stop in task["parts"]]
    with job_folder.doing("join the parts of a shard"):
        parts = {table: job_folder.work / f"{task['shard']}.{table}.part" for table in TABLES}
        join_shards(
            [{table: folder / f"{table}-00000.parquet" for table in TABLES} for folder in folders], parts
        )
    put(job_folder, task["shard"], {table: parts[table] for table in _IN_ORDER})
    return _describe(task)


def _describe(task: dict[str, Any]) -> Line:
    """The manifest's line about a shard. Its fields are described in docs/guides/jobs.md."""
    folder, shard = JobFolder(task["folder"]), task["shard"]
    paths = {table: folder.file(table, shard) for table in TABLES}
    columns = ["id", "outcome", "detail", "n_events", "repeatable"]
    rows = pq.read_table(
        paths["recordings"], columns=columns, use_threads=False, pre_buffer=False
    ).to_pylist()
    ours = [row for row in rows if row["outcome"] == Outcome.HARNESS_ERROR.value]
    return shard_line(
        shard,
        paths,
        Counter(row["outcome"] for row in rows),
        events=sum(row["n_events"] for row in rows),
        not_repeatable=sum(row["repeatable"] is False for row in rows),
        problems={row["id"]: row["detail"] for row in ours[:_NAMED]},
        finished=paths["recordings"].stat().st_mtime,
    )


TASKS = {"make": _make, "join": _join, "describe": _describe}
