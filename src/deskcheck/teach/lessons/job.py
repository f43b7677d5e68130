"""Makes lessons as a job in shards.

All runs of a program are one item of the job (`census`), and the rows are those of `lessons.build`, in other
files. The lessons of one program are never divided among machines.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deskcheck._version import __version__
from deskcheck.files import read_file, read_json, sync
from deskcheck.jobs import Job, JobSummary, Progress, Runner, run_job
from deskcheck.jobs.job_folder import JobFolder, write_whole
from deskcheck.jobs.manifest import Line
from deskcheck.jobs.plan import SIZE, digest, read_items
from deskcheck.jobs.work import check_seen, file_facts
from deskcheck.recording import InputError, RecordingError
from deskcheck.recording.reader import Recordings, read_groups
from deskcheck.sources.near import HeldOut
from deskcheck.teach.lessons import mixing
from deskcheck.teach.lessons.census import Place, PlacedRecordings, make_lessons
from deskcheck.teach.lessons.choice import SPLITS
from deskcheck.teach.lessons.lessons import (
    FORMAT,
    read_all,
    refuse_nothing,
    state_head,
    write_state,
)
from deskcheck.teach.lessons.making import schema_of
from deskcheck.teach.lessons.settings import LessonSettings, LessonSummary
from deskcheck.teach.lessons.shards import STATE_NAME, LessonShard, file_writer
from deskcheck.teach.lessons.tokens import AnyTokenizer, open_tokenizer

_HELD_OUT = "held_out.jsonl"
_ENDED = "ended the process that made its lessons"


def build_in_shards(
    runs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: LessonSettings | None = None,
    *,
    runner: Runner,
    size: int = SIZE,
    replace: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
    note: Callable[[str], None] = lambda text: None,
) -> tuple[LessonSummary, JobSummary]:
    """Makes the lessons of `lessons.build` in shards of about `size` programs, on the machines of `runner`.

    Shards that the folder has already are not made again (see `run_job`).

    Raises:
        InputError: no lesson would remain; the folder contains other lessons and `replace` is False.
        RecordingError: recordings cannot be read, or the folder cannot be written.
    """
    settings = settings or LessonSettings()
    tokenizer, held_out, census = read_all(runs, settings, note)
    head = state_head(settings, census.sha256, held_out.sha256)
    summary = LessonSummary()

    def begin(job_folder: JobFolder) -> None:
        (job_folder.folder / STATE_NAME).unlink(missing_ok=True)
        texts = "".join(json.dumps(text) + "\n" for text in held_out.texts)
        write_whole(job_folder.hidden / _HELD_OUT, texts)

    def finish(job_folder: JobFolder, lines: Sequence[Line]) -> None:
        for line in lines:
            summary.add(LessonSummary(**line["summary"]))
        write_state(job_folder.folder, head, summary)

    task = {
        "runs": [str(folder.folder.resolve()) for folder in census.folders],
        "settings": asdict(settings),
        "held_out": held_out.sha256,
        "deskcheck": __version__,
    }
    key = {
        "settings": asdict(settings),
        "held_out": held_out.sha256,
        "deskcheck": __version__,
        "format": FORMAT,
    }
    job = Job(
        kind="lessons",
        work=__name__,
        items=census.items(),
        key=digest(json.dumps(key, sort_keys=True)),
        settings=asdict(settings),
        task=task,
        tables=SPLITS,
        begin=begin,
        finish=finish,
    )
    job_summary = run_job(job, Path(out), runner=runner, size=size, replace=replace, progress=progress)
    refuse_nothing(summary, settings)
    mixing.add_mixed(Path(out), settings, tokenizer, summary, note)
    return summary, job_summary


# -- the work ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _tokenizer(name: str) -> AnyTokenizer:
    return open_tokenizer(name)


@lru_cache(maxsize=1)
def _held_out(path: Path, sha256: str) -> HeldOut:
    """The held-out programs, as the driver wrote them. sha256: their digest."""
    held_out = HeldOut(read_items(path, 0, 1 << 60))
    if held_out.sha256 != sha256:
        raise InputError(f"{path}: was changed while the job ran. Start the job again.")
    return held_out


def _make(task: dict[str, Any]) -> Line | None:
    """Make the lessons of items FIRST to STOP of a shard. A shard that is complete is moved to its place."""
    if task["deskcheck"] != __version__:
        raise InputError(
            f"{os.uname().nodename}: has deskcheck {__version__}; the machine that planned the job has "
            f"{task['deskcheck']}. Install the same version on all of them."
        )
    job_folder = JobFolder(task["folder"])
    check_seen(job_folder, map(Path, task["runs"]), "folders")
    first, stop = task["first"], task["stop"]
    items = read_items(job_folder.plan(task["shard"]), first, stop)
    scratch = job_folder.scratch(task["shard"], first, stop)
    with job_folder.doing("make a shard"):
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
    if task["blame"] is None:
        try:
            summary = _lessons(task, items, scratch)
        except RecordingError as error:
            if isinstance(error.__cause__, OSError):
                raise
            raise InputError(
                str(error)
            ) from error  # damaged: no program is to blame, and trying again does not help
    else:
        summary = LessonSummary(recordings=sum(map(len, items)))
        summary.leave_out("recordings", _ENDED, summary.recordings)
    problems = {} if task["blame"] is None else {_named(task, items[0][0]): task["blame"]}
    report = {"programs": len(items), "problems": problems, "summary": summary.to_dict()}
    with job_folder.doing("move a shard to its place"):
        write_whole(scratch / "told.json", json.dumps(report))
        if not task["whole"]:
            return None
        line = _put(job_folder, task["shard"], [scratch])
        shutil.rmtree(scratch, ignore_errors=True)
        return line


def _lessons(task: dict[str, Any], items: list[Any], scratch: Path) -> LessonSummary:
    settings = LessonSettings(**{name: _tuple(value) for name, value in task["settings"].items()})
    tokenizer = _tokenizer(settings.tokenizer)
    held_out = _held_out(JobFolder(task["folder"]).hidden / _HELD_OUT, task["held_out"])
    recordings = PlacedRecordings(task["runs"], (place for item in items for place in item))
    shard = LessonShard(scratch, task["shard"], schema_of(settings, tokenizer))
    return make_lessons(recordings, shard, settings, tokenizer, held_out)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _named(task: dict[str, Any], where: Place) -> str:
    """The id of a recording; its place if it cannot be read."""
    folder, shard, row = where
    columns = Recordings(task["runs"][folder], shards={shard}).columns("id")
    return next(id_ for _, at, id_ in columns if at == row)


def _join(task: dict[str, Any]) -> Line:
    """Make a shard from its parts, which are given as ``[first, stop]`` in order."""
    job_folder = JobFolder(task["folder"])
    with job_folder.doing("join the parts of a shard"):
        parts = [job_folder.scratch(task["shard"], first, stop) for first, stop in task["parts"]]
        return _put(job_folder, task["shard"], parts)


def _put(job_folder: JobFolder, name: str, parts: list[Path]) -> Line:
    """Join the parts of a shard, and move its files to their places."""
    paths: dict[str, Path] = {}
    for split in SPLITS:
        sources = [path for part in parts for path in part.glob(f"{split}-*.parquet")]
        if not sources:
            continue
        paths[split] = job_folder.file(split, name)
        if len(parts) > 1:  # they stay, should this be stopped and begun again
            sources = [_joined(sources, job_folder.work / f"{name}.{split}")]
        sync(sources[0])
        os.replace(sources[0], paths[split])
    sync(job_folder.folder)
    reports = [read_json(read_file(part / "told.json"), str(part / "told.json")) for part in parts]
    summary = LessonSummary()
    for report in reports:
        summary.add(LessonSummary(**report["summary"]))
    left_out = summary.left_out.get("recordings", {})
    return {
        "shard": name,
        "programs": sum(report["programs"] for report in reports),
        "events": summary.events,
        "outcomes": {"taken": summary.recordings - sum(left_out.values()), **left_out},
        "not_repeatable": left_out.get("not repeatable", 0),
        "problems": {id_: how for report in reports for id_, how in report["problems"].items()},
        **file_facts(paths),
        "finished": round(time.time(), 3),
        "summary": summary.to_dict(),
    }


def _joined(sources: list[Path], into: Path) -> Path:
    """Joins several files, row group by row group."""
    with file_writer(into, pq.read_schema(sources[0])) as writer:
        for source in sources:
            for group in read_groups(source):
                writer.write_table(group)
    return into


TASKS = {"make": _make, "join": _join}
