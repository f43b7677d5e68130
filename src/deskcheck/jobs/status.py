"""The progress of a job, read from its folder, while the job runs or afterwards. The job is not affected."""

import fcntl
import os
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deskcheck.files import FolderLock, lock_holder, open_plain
from deskcheck.jobs.job import duration, finished_inside
from deskcheck.jobs.job_folder import JobFolder
from deskcheck.jobs.manifest import FAILURES, WORDS, Line, Totals, changed_files, read_manifest
from deskcheck.jobs.plan import read_plan
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.reader import Recordings
from deskcheck.recording.schema import SPOOL_NAME

_FLOCK = "hhqqi4x"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """The progress of a job, or of a `record` without a plan."""

    kind: str
    totals: Totals
    """Sums over the complete shards."""
    inside: int
    """Number of finished programs in incomplete shards."""
    driver: str | None
    """The process that writes to the folder: ``process 71 on HOST``. None if this machine sees none."""
    programs: int = 0
    """Programs in the plan."""
    shards: int = 0
    planned: bool | None = None
    """Whether all programs have been planned; None for a `record` without a plan."""
    rate: float | None = None
    """Programs a second since the last start, if known."""
    left_s: float | None = None

    @property
    def whole(self) -> bool | None:  # whether all shards are complete; None without a plan
        return None if self.planned is None else self.planned and self.totals.programs == self.programs

    def lines(self, folder: Path) -> Iterator[str]:
        """Sentences for a person."""
        if self.planned is None:
            yield f"{folder}: recorded {self.totals.text()}"
            if self.inside:
                yield f"{self.inside} more are finished, and readable once `record` has ended here"
            if self.driver is not None:
                yield f"written by {self.driver}"
                return
            yield "no process is writing here. Without --shards the number of programs is not known."
            yield "If `record` was stopped, rerun the command to record the remaining programs."
            return
        items, _ = WORDS.get(self.kind, WORDS["record"])
        so_far = "" if self.planned else " so far"
        planned = f"{self.programs} {items} in {self.shards} shards are planned{so_far}"
        yield f"{folder}: {planned}; complete: {self.totals.text(self.kind)}"
        if self.inside:
            yield f"{self.inside} more are finished in incomplete shards"
        if self.driver is not None:
            rate = "" if self.rate is None else f": {self.rate:.3g} {items}/s"
            time_left = "" if self.left_s is None else f", {duration(self.left_s)} left"
            yield f"driven by {self.driver}{rate}{time_left}"
        elif not self.whole:
            yield "the job is not running: rerun its command to resume"

    def to_dict(self) -> dict[str, Any]:
        plan = {"programs": self.programs, "shards": self.shards, "whole": self.planned}
        return {
            "kind": self.kind,
            "planned": None if self.planned is None else plan,
            "whole": self.whole,
            **self.totals.to_dict(),
            "inside": self.inside,
            "driver": self.driver,
            "rate": self.rate,
            "left_s": self.left_s,
        }


def status(folder: str | Path) -> JobStatus:
    """The progress of the job in a folder, or of a `record` without a plan.

    Raises RecordingError if nothing was started there, or a shard is damaged.
    """
    job_folder = JobFolder(folder)
    unplanned = None if job_folder.job.exists() else _status_without_plan(job_folder)
    if unplanned is not None:
        return unplanned
    plan = read_plan(job_folder)
    lines = read_manifest(job_folder)
    names = {shard.name for shard in plan.shards}
    totals = Totals.of(line for line in lines.values() if {line["shard"], *_parts(line)} & names)
    driver = _driver(job_folder)
    rate = left_s = None
    if driver is not None:
        new = sum(line["programs"] for line in lines.values() if line["finished"] >= plan.started)
        rate = new / max(time.time() - plan.started, 1e-3) or None
        if rate is not None and plan.is_whole:
            left_s = (plan.programs - totals.programs) / rate
    return JobStatus(
        kind=plan.kind,
        totals=totals,
        inside=finished_inside(job_folder),
        driver=driver,
        programs=plan.programs,
        shards=len(plan.shards),
        planned=plan.is_whole,
        rate=rate,
        left_s=left_s,
    )


def _status_without_plan(job_folder: JobFolder) -> JobStatus | None:
    """The progress of a `record` without a plan; None if the folder has no such recordings."""
    numbered = any(name.isdigit() for name in job_folder.files().get("recordings", ()))
    waiting = len([*(job_folder.folder / SPOOL_NAME).glob("*.json")])
    totals = Totals()
    if numbered:
        recordings = Recordings(job_folder.folder)
        totals = _totals_of(recordings)
        waiting = len(recordings.waiting)
    elif not waiting:
        return None
    return JobStatus(kind="record", totals=totals, inside=waiting, driver=_driver(job_folder))


def _totals_of(recordings: Recordings) -> Totals:
    totals = Totals(shards=len(recordings.paths), programs=len(recordings))
    columns = ("id", "outcome", "detail", "n_events", "repeatable")
    for _, _, id_, outcome, detail, events, repeatable in recordings.columns(*columns):
        totals.events += events
        totals.by_outcome[outcome] += 1
        totals.not_repeatable += repeatable is False
        if outcome == Outcome.HARNESS_ERROR:
            totals.problems[id_] = detail
    totals.size_bytes = sum(path.stat().st_size for files in recordings.paths for path in files.values())
    return totals


def _parts(line: Line) -> list[str]:  # the shards that `runs compact` merged into this shard
    return [name for name, _ in line.get("of", ())]


def _driver(job_folder: JobFolder) -> str | None:
    """The process that has the folder's lock.

    A `lockf` lock ends when its process closes any descriptor of the file. So the file is not opened if this
    process has the lock. Opening it does not affect the lock of another process.
    """
    if FolderLock.held_here(job_folder.folder):
        return f"process {os.getpid()} on {os.uname().nodename}"
    with job_folder.doing("see who has the lock"):
        try:
            descriptor = open_plain(job_folder.folder / ".lock", os.O_RDWR)
        except FileNotFoundError:
            return None
        with open(descriptor, "r+b") as file:
            request = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            lock = fcntl.fcntl(file, fcntl.F_GETLK, request)
            if struct.unpack(_FLOCK, lock)[0] == fcntl.F_UNLCK:
                return None
            return lock_holder(file.read(200))


def failures(folder: str | Path, limit: int = 10) -> dict[str, dict[str, str]]:
    """Failures: ``{"timed_out": {"f-1": "CPU time"}, ...}``: outcome -> up to `limit` program ids -> detail.

    Reads the shards of recordings. For jobs of other kinds, only deskcheck's own failures are known, from the
    manifest.
    """
    by_outcome: dict[str, dict[str, str]] = {}
    job_folder = JobFolder(folder)
    if job_folder.job.exists() and read_plan(job_folder).kind != "record":
        problems = Totals.of(read_manifest(job_folder).values()).problems
        return {"harness_error": dict([*problems.items()][:limit])} if problems else {}
    for shard in sorted(job_folder.files().get("recordings", ())):
        columns = ["id", "outcome", "detail"]
        path = job_folder.file("recordings", shard)
        table = pq.read_table(path, columns=columns, filters=[("outcome", "in", FAILURES)])
        for row in table.to_pylist():
            programs = by_outcome.setdefault(row["outcome"], {})
            if len(programs) < limit:
                programs[row["id"]] = row["detail"]
    return {kind: by_outcome[kind] for kind in FAILURES if kind in by_outcome}


def changed(folder: str | Path) -> list[str]:
    """Names of files that are missing or differ from the manifest. Reads every byte."""
    return sorted(name for names in changed_files(JobFolder(folder)).values() for name in names)
