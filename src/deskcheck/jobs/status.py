"""How far a job is, read from its folder: the job need not run, and does not notice."""

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
    """How far a job is, or a `record` without a plan."""

    kind: str
    totals: Totals
    """Sums over the shards that are whole."""
    inside: int
    """Programs that are finished and in no whole shard yet."""
    driver: str | None
    """The process that writes there, as far as this machine can tell."""
    programs: int = 0
    """Programs in the plan."""
    shards: int = 0
    planned: bool | None = None
    """Whether the plan is whole; None without a plan."""
    rate: float | None = None
    """Programs a second since the last start, if known."""
    left_s: float | None = None

    @property
    def whole(self) -> bool | None:
        return None if self.planned is None else self.planned and self.totals.programs == self.programs

    def lines(self, folder: Path) -> Iterator[str]:
        """Sentences for a person."""
        if self.planned is None:
            yield f"{folder}: recorded are {self.totals.text()}"
            if self.inside:
                yield f"{self.inside} more are finished; they can be read when `record` next ends here"
            if self.driver is not None:
                yield f"written by {self.driver}"
                return
            yield "nobody writes here. How many programs there are to be is not known without --shards:"
            yield "if `record` was stopped, the same command goes on from there and does only the rest."
            return
        items, _ = WORDS.get(self.kind, WORDS["record"])
        so_far = "" if self.planned else " so far"
        planned = f"{self.programs} {items} in {self.shards} shards are planned{so_far}"
        yield f"{folder}: {planned}; whole are {self.totals.text(self.kind)}"
        if self.inside:
            yield f"{self.inside} more are finished in shards that are not"
        if self.driver is not None:
            rate = "" if self.rate is None else f": {self.rate:.3g} {items}/s"
            time_left = "" if self.left_s is None else f", {duration(self.left_s)} left"
            yield f"driven by {self.driver}{rate}{time_left}"
        elif not self.whole:
            yield "nobody drives it: start its command again"

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
    """How far the job of a folder is, or a `record` without a plan.

    Raises RecordingError where nothing was begun, or a shard is damaged.
    """
    place = JobFolder(folder)
    unplanned = None if place.job.exists() else _status_without_plan(place)
    if unplanned is not None:
        return unplanned
    plan = read_plan(place)
    lines = read_manifest(place)
    names = {shard.name for shard in plan.shards}
    totals = Totals.of(line for line in lines.values() if {line["shard"], *_parts(line)} & names)
    driver = _driver(place)
    rate = left_s = None
    if driver is not None:
        new = sum(line["programs"] for line in lines.values() if line["finished"] >= plan.started)
        rate = new / max(time.time() - plan.started, 1e-3) or None
        if rate is not None and plan.whole:
            left_s = (plan.programs - totals.programs) / rate
    return JobStatus(
        kind=plan.kind,
        totals=totals,
        inside=finished_inside(place),
        driver=driver,
        programs=plan.programs,
        shards=len(plan.shards),
        planned=plan.whole,
        rate=rate,
        left_s=left_s,
    )


def _status_without_plan(place: JobFolder) -> JobStatus | None:
    """None where nothing was recorded."""
    numbered = any(name.isdigit() for name in place.files().get("recordings", ()))
    waiting = len([*(place.folder / SPOOL_NAME).glob("*.json")])
    totals = Totals()
    if numbered:
        recordings = Recordings(place.folder)
        totals = _totals_of(recordings)
        waiting = len(recordings.waiting)
    elif not waiting:
        return None
    return JobStatus(kind="record", totals=totals, inside=waiting, driver=_driver(place))


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


def _parts(line: Line) -> list[str]:
    return [name for name, _ in line.get("of", ())]


def _driver(place: JobFolder) -> str | None:
    """Who holds the lock. Asking does not take it, but in the process that has it would let go of it: a lock
    of `lockf` ends when any descriptor of its file is closed."""
    if FolderLock.held_here(place.folder):
        return f"process {os.getpid()} on {os.uname().nodename}"
    with place.doing("see who has the lock"):
        try:
            descriptor = open_plain(place.folder / ".lock", os.O_RDWR)
        except FileNotFoundError:
            return None
        with open(descriptor, "r+b") as file:
            request = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            lock = fcntl.fcntl(file, fcntl.F_GETLK, request)
            if struct.unpack(_FLOCK, lock)[0] == fcntl.F_UNLCK:
                return None
            return lock_holder(file.read(200))


def failures(folder: str | Path, most: int = 10) -> dict[str, dict[str, str]]:
    """Of each outcome in `FAILURES`, some programs with what is known of them. Reads the shards of
    recordings; of another job the manifest knows the failures that were ours."""
    by_outcome: dict[str, dict[str, str]] = {}
    place = JobFolder(folder)
    if place.job.exists() and read_plan(place).kind != "record":
        problems = Totals.of(read_manifest(place).values()).problems
        return {"harness_error": dict([*problems.items()][:most])} if problems else {}
    for shard in sorted(place.files().get("recordings", ())):
        columns = ["id", "outcome", "detail"]
        path = place.file("recordings", shard)
        table = pq.read_table(path, columns=columns, filters=[("outcome", "in", FAILURES)])
        for row in table.to_pylist():
            programs = by_outcome.setdefault(row["outcome"], {})
            if len(programs) < most:
                programs[row["id"]] = row["detail"]
    return {kind: by_outcome[kind] for kind in FAILURES if kind in by_outcome}


def changed(folder: str | Path) -> list[str]:
    """Files that are not what the manifest says, or are gone, by name. Reads every byte."""
    return sorted(name for names in changed_files(JobFolder(folder)).values() for name in names)
