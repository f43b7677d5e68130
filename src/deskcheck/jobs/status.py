"""How far a job is, read from its folder: the job need not run, and does not notice."""

import fcntl
import os
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deskcheck.files import FolderLock, lock_holder, open_plain
from deskcheck.jobs.job import finished_inside
from deskcheck.jobs.job_folder import Place
from deskcheck.jobs.manifest import FAILURES, Line, Totals, changed_files, read_manifest
from deskcheck.jobs.plan import read_plan
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.reader import Recordings
from deskcheck.recording.schema import SPOOL_NAME

_FLOCK = "hhqqi4x"


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job as its folder shows it.

    kind: of the job. programs, shards: in the plan; planned: no more will come. totals: over the shards that
    are whole. inside: programs finished in shards that are not. driver: process that drives it, as far as
    this machine can tell; None if there is none. rate: programs a second since the last start; left_s:
    seconds to the end at that rate. None where not known.
    """

    kind: str
    programs: int
    shards: int
    planned: bool
    totals: Totals
    inside: int
    driver: str | None
    rate: float | None
    left_s: float | None

    @property
    def whole(self) -> bool:
        return self.planned and self.totals.programs == self.programs

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "planned": {"programs": self.programs, "shards": self.shards, "whole": self.planned},
            "whole": self.whole,
            **self.totals.to_dict(),
            "inside": self.inside,
            "driver": self.driver,
            "rate": self.rate,
            "left_s": self.left_s,
        }


def status(folder: str | Path) -> JobStatus:
    """How far the job of a folder is. Raises RecordingError where none was begun."""
    place = Place(folder)
    plan = read_plan(place)
    lines = read_manifest(place)
    names = {shard.name for shard in plan.shards}
    totals = Totals.of(line for line in lines.values() if {line["shard"], *_parts(line)} & names)
    inside = finished_inside(place)
    driver = _driver(place)
    rate = left = None
    if driver is not None:
        new = sum(line["programs"] for line in lines.values() if line["finished"] >= plan.started)
        rate = new / max(time.time() - plan.started, 1e-3) or None
        if rate is not None and plan.whole:
            left = (plan.programs - totals.programs) / rate
    return JobStatus(
        plan.kind, plan.programs, len(plan.shards), plan.whole, totals, inside, driver, rate, left
    )


@dataclass(frozen=True, slots=True)
class PlainStatus:
    """A folder that `record` writes without a plan. totals: over its shards. waiting: recordings that are
    finished and in no shard yet. writer: process that writes there, as far as this machine can tell; None if
    there is none. How many programs are still to come stands nowhere.
    """

    totals: Totals
    waiting: int
    writer: str | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "record",
            "planned": None,
            "whole": None,
            **self.totals.to_dict(),
            "inside": self.waiting,
            "driver": self.writer,
            "rate": None,
            "left_s": None,
        }


def plain_status(folder: str | Path) -> PlainStatus | None:
    """How far a plain `record` is in a folder; None where that of a job is, or nothing is.

    Raises RecordingError where a shard is damaged."""
    place = Place(folder)
    numbered = {name for name in place.files().get("recordings", ()) if name.isdigit()}
    spooled = len([*(place.folder / SPOOL_NAME).glob("*.json")])
    if place.job.exists() or not (numbered or spooled):
        return None
    if not numbered:
        return PlainStatus(Totals(), spooled, _driver(place))
    recordings = Recordings(folder)
    totals = Totals(shards=len(recordings.paths), programs=len(recordings))
    columns = ("id", "outcome", "detail", "n_events", "repeatable")
    for _, _, id_, outcome, detail, events, repeatable in recordings.columns(*columns):
        totals.events += events
        totals.by_outcome[outcome] += 1
        totals.not_repeatable += repeatable is False
        if outcome == Outcome.HARNESS_ERROR:
            totals.problems[id_] = detail
    totals.size_bytes = sum(path.stat().st_size for files in recordings.paths for path in files.values())
    return PlainStatus(totals, len(recordings.waiting), _driver(place))


def _parts(line: Line) -> list[str]:
    return [name for name, _ in line.get("of", ())]


def _driver(place: Place) -> str | None:
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
            asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            found = fcntl.fcntl(file, fcntl.F_GETLK, asked)
            if struct.unpack(_FLOCK, found)[0] == fcntl.F_UNLCK:
                return None
            return lock_holder(file.read(200))


def failures(folder: str | Path, most: int = 10) -> dict[str, dict[str, str]]:
    """Of each outcome in `FAILURES`, some programs with what is known of them. Reads the shards of
    recordings; of another job the manifest knows the failures that were ours."""
    found: dict[str, dict[str, str]] = {}
    place = Place(folder)
    if place.job.exists() and read_plan(place).kind != "record":
        problems = Totals.of(read_manifest(place).values()).problems
        return {"harness_error": dict([*problems.items()][:most])} if problems else {}
    for shard in sorted(place.files().get("recordings", ())):
        columns = ["id", "outcome", "detail"]
        path = place.file("recordings", shard)
        table = pq.read_table(path, columns=columns, filters=[("outcome", "in", FAILURES)])
        for row in table.to_pylist():
            programs = found.setdefault(row["outcome"], {})
            if len(programs) < most:
                programs[row["id"]] = row["detail"]
    return {kind: found[kind] for kind in FAILURES if kind in found}


def changed(folder: str | Path) -> list[str]:
    """Files that are not what the manifest says, or are gone, by name. Reads every byte."""
    return sorted(name for names in changed_files(Place(folder)).values() for name in names)
