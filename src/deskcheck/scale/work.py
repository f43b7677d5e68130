"""The work of a job, as functions from JSON to JSON: whoever calls them, and on whichever machine.

`run_task` records programs of one shard. What goes wrong is of three kinds: a refusal, which ends the job
(the disk is full, the sandbox cannot be had, a program cannot be used); a failure, which is an error of
ours and is tried again; and a death, of which this process says nothing any more.
"""

import atexit
import errno
import faulthandler
import hashlib
import json
import os
import shutil
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deskcheck.recording.errors import InputError, RecordingError, SandboxError
from deskcheck.recording.file import EVENTS_SCHEMA, RECORDINGS_SCHEMA, Writer, _FolderLock, _ShardFile, _sync
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.recording import Ending
from deskcheck.sandbox.recorder import Recorder, RecordSettings
from deskcheck.sandbox.server import ServerLost
from deskcheck.scale.place import TABLES, Place
from deskcheck.scale.plan import decided_by, read_programs

_BUSY_S = 30.0
_ALL = 1 << 60
"""More than there are: one shard takes everything."""
_NAMED = 100
"""Programs that were our failures, of which a line of the manifest tells the details."""


def run_task(task: dict[str, Any]) -> dict[str, Any]:
    """Do a piece of work; return ``{"done": ...}``, ``{"failed": text}`` or ``{"refused": text, "error":
    class}``.

    task: ``do`` is one of `_KINDS`, ``folder`` the job's, ``shard`` a name; the rest depends on what is done.
    """
    try:
        return {"done": _KINDS[task["do"]](task)}
    except (ServerLost, MemoryError):
        return {"failed": _last_line()}
    except (InputError, SandboxError) as error:
        return {"refused": str(error), "error": type(error).__name__}
    except RecordingError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno != errno.ENOENT:
            return {"refused": str(error), "error": "RecordingError"}
        return {"failed": str(error)}
    except Exception:  # whatever it is, the driver is told
        return {"failed": _last_line()}


def _last_line() -> str:
    return traceback.format_exc().strip().splitlines()[-1][:500]


def _record(task: dict[str, Any]) -> dict[str, Any] | None:
    """Record programs FIRST to STOP of a shard. If that is all of it, it is put in its place.

    ``settings``, ``decided_by``; ``fresh``: throw away what an earlier try left; ``patience_s``: longest time
    for one program, after which this process ends itself; ``blame``: do not run it, its recording is that we
    failed, and how. What an earlier try had finished is not done again.
    """
    settings = RecordSettings.from_dict(task["settings"])
    if decided_by(settings) != task["decided_by"]:
        raise InputError(
            f"{os.uname().nodename}: has another Python, deskcheck or environment than the machine that "
            "planned the job. Install the same on all of them."
        )
    place = Place(task["folder"])
    if not place.job.exists():
        node = os.uname().nodename
        raise InputError(
            f"{node}: does not see {place.folder}: a job needs a folder that all machines share."
        )
    first, stop = task["first"], task["stop"]
    scratch = place.work / f"{task['shard']}.{first}-{stop}"
    programs = read_programs(place.plan(task["shard"]), first, stop)
    with place.doing("record a shard"):
        scratch.mkdir(parents=True, exist_ok=True)
        lock = _lock(scratch)
        if task["fresh"] or not _pair(scratch):
            _empty(scratch)
        lock.release()
    with Writer(scratch, shard_recordings=_ALL, shard_events=_ALL) as writer:
        try:
            for program in programs:
                if program.id not in writer.done:
                    _record_one(program, writer, settings, task)
        finally:
            _unwatch()
    with place.doing("put a shard in its place"):
        _sync(scratch)
        if not task["whole"]:
            return None
        for table in reversed(TABLES):  # the recordings file is the commit
            os.replace(scratch / f"{table}-00000.parquet", place.file(table, task["shard"]))
        _sync(place.folder)
        shutil.rmtree(scratch, ignore_errors=True)
    return describe(place, task["shard"])


def _record_one(program: Program, writer: Writer, settings: RecordSettings, task: dict[str, Any]) -> None:
    if task["blame"] is not None:
        with writer.begin(program) as spool:
            ending = Ending(outcome=Outcome.HARNESS_ERROR, detail=task["blame"])
            spool.finish(ending, _recorder(settings).environment(program, {}))
        return
    _watch(task["patience_s"])
    _recorder(settings).record(program, writer)


_watched: list[float] = []
"""When the watchdog was last set."""


def _watch(patience_s: float) -> None:
    """Have this process ended if a program takes longer, or up to a quarter more. Setting the watchdog
    anew for every program would take milliseconds of each: it waits for a thread."""
    now = time.monotonic()
    if not _watched or now - _watched[0] > patience_s / 4:
        faulthandler.dump_traceback_later(1.25 * patience_s, exit=True, file=2)
        _watched[:] = [now]


def _unwatch() -> None:
    faulthandler.cancel_dump_traceback_later()
    _watched.clear()


_recorders: dict[str, Recorder] = {}


def _recorder(settings: RecordSettings) -> Recorder:
    """The recorder of this process, kept for the next shard."""
    key = json.dumps(settings.to_dict(), sort_keys=True)
    if key not in _recorders:
        close_recorders()
        recorder = Recorder(settings)
        recorder.__enter__()
        _recorders[key] = recorder
    return _recorders[key]


@atexit.register
def close_recorders() -> None:
    """End the sandbox of this process."""
    for key in [*_recorders]:
        _recorders.pop(key).__exit__(None, None, None)


def _pair(scratch: Path) -> bool:
    """Whether a shard in it, if there is one, has both its files. Else half was put in its place."""
    return len([*scratch.glob("*-00000.parquet")]) != 1


def _lock(scratch: Path) -> _FolderLock:
    """Wait for a worker of a driver that is gone: it ends soon."""
    end = time.monotonic() + _BUSY_S
    while True:
        try:
            return _FolderLock(scratch)
        except RecordingError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def _empty(scratch: Path) -> None:
    for path in scratch.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != ".lock":
            path.unlink()


def _join(task: dict[str, Any]) -> dict[str, Any]:
    """Make a shard of its parts, each a writer's folder with one, given as ``[first, stop]`` in order."""
    place = Place(task["folder"])
    folders = [place.work / f"{task['shard']}.{first}-{stop}" for first, stop in task["parts"]]
    with place.doing("join the parts of a shard"):
        parts = {table: place.work / f"{task['shard']}.{table}.part" for table in TABLES}
        join([{table: folder / f"{table}-00000.parquet" for table in TABLES} for folder in folders], parts)
        for table in reversed(TABLES):
            os.replace(parts[table], place.file(table, task["shard"]))
        _sync(place.folder)
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    return describe(place, task["shard"])


def join(sources: list[dict[str, Path]], into: dict[str, Path]) -> None:
    """Write several shards as one, row group by row group. Both: the path of each table."""
    first_row = 0
    with (
        _ShardFile(into["events"], "events", EVENTS_SCHEMA) as events,
        _ShardFile(into["recordings"], "recordings", RECORDINGS_SCHEMA) as recordings,
    ):
        for source in sources:
            with pq.ParquetFile(source["recordings"], pre_buffer=False) as file:
                for group in range(file.num_row_groups):
                    rows = file.read_row_group(group, use_threads=False).to_pylist()
                    for row in rows:
                        row["first_row"] += first_row
                    recordings.add(pa.RecordBatch.from_pylist(rows, schema=RECORDINGS_SCHEMA))
            with pq.ParquetFile(source["events"], pre_buffer=False) as file:
                for group in range(file.num_row_groups):
                    for batch in file.read_row_group(group, use_threads=False).to_batches():
                        events.add(batch.cast(EVENTS_SCHEMA))
                first_row += file.metadata.num_rows
    for path in into.values():
        _sync(path)


def _describe(task: dict[str, Any]) -> dict[str, Any]:
    return describe(Place(task["folder"]), task["shard"])


def describe(place: Place, shard: str) -> dict[str, Any]:
    """What the manifest says of a shard: docs/scale.md names the fields."""
    paths = {table: place.file(table, shard) for table in TABLES}
    columns = ["id", "outcome", "detail", "n_events", "repeatable"]
    rows = pq.read_table(
        paths["recordings"], columns=columns, use_threads=False, pre_buffer=False
    ).to_pylist()
    ours = [row for row in rows if row["outcome"] == Outcome.HARNESS_ERROR.value]
    return {
        "shard": shard,
        "programs": len(rows),
        "events": sum(row["n_events"] for row in rows),
        "outcomes": dict(sorted(Counter(row["outcome"] for row in rows).items())),
        "not_repeatable": sum(row["repeatable"] is False for row in rows),
        "problems": {row["id"]: row["detail"] for row in ours[:_NAMED]},
        "bytes": {table: path.stat().st_size for table, path in paths.items()},
        "sha256": {table: sha256(path) for table, path in paths.items()},
        "finished": round(paths["recordings"].stat().st_mtime, 3),
    }


def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_KINDS = {"record": _record, "join": _join, "describe": _describe}


def main() -> None:
    """A worker of the local pool: tasks come on standard input, a line each, and answers go out."""
    with os.fdopen(os.dup(1), "w", encoding="ascii") as answers:
        os.dup2(2, 1)  # nothing else may speak there
        for line in sys.stdin:
            print(json.dumps(run_task(json.loads(line))), file=answers, flush=True)
