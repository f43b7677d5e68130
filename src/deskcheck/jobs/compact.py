"""Small shards of a job joined into larger ones, in the same folder.

A larger shard names the shards that it was made from. Its line in the manifest is written first. As soon as
its recordings file has its name, readers use the larger shard, and the smaller ones are deleted. So at any
moment a reader finds every recording once. The plan does not change, so the job's command finds all its
shards.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deskcheck.errors import InputError
from deskcheck.files import read_json, sync
from deskcheck.jobs.job_folder import JobFolder
from deskcheck.jobs.manifest import Line, Totals, add_line, read_manifest, whole_of_part, write_manifest
from deskcheck.jobs.plan import Plan, digest, read_plan
from deskcheck.jobs.work import file_facts
from deskcheck.recording.schema import COMPACTING_NAME, OF_KEY
from deskcheck.recording.writer import TABLES, join_shards

SIZE = 5000
"""Programs of a larger shard, unless the caller chooses another number."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of `compact`."""

    before: int
    """Number of shards before."""
    after: int
    """Number of shards after."""
    totals: Totals

    def to_dict(self) -> dict[str, Any]:
        return {"before": self.before, "after": self.after, **self.totals.to_dict()}


def compact(
    folder: str | Path,
    *,
    size: int = SIZE,
    progress: Callable[[int, int], None] = lambda finished, total: None,
) -> Compacted:
    """Join neighbouring shards until each has `size` programs or more. The same call resumes after a stop.

    progress: called with the number of finished programs and the number of all programs.

    Raises:
        InputError: the folder has no recording job, or an incomplete one.
        RecordingError: the job is running, or the disk refuses.
    """
    if size < 1:
        raise InputError(f"a shard of {size} programs: it must be at least 1.")
    job_folder = JobFolder(folder)
    plan = read_plan(job_folder)
    if plan.kind != "record":
        raise InputError(
            f"{job_folder.folder}: has a job of another kind ({plan.kind}). Only shards of recordings can be "
            "joined. Start the other job with larger --shards."
        )
    with job_folder.doing("join shards"):
        lock = job_folder.lock()
    try:
        return _compact(job_folder, plan, size, progress)
    finally:
        lock.release()


def _compact(job_folder: JobFolder, plan: Plan, size: int, progress: Callable[[int, int], None]) -> Compacted:
    lines = read_manifest(job_folder)
    parts = whole_of_part(lines)
    names = list(dict.fromkeys(parts.get(shard.name, shard.name) for shard in plan.shards))
    if not plan.is_whole or job_folder.plans.exists() or not {*names} <= lines.keys():
        raise InputError(f"{job_folder.folder}: the job is not complete. Rerun its command first.")
    marker = job_folder.folder / COMPACTING_NAME
    scratch = job_folder.hidden / "compact"
    in_order = [lines[name] for name in names]
    finished, after = 0, []
    with job_folder.doing("join shards"):
        marker.touch()
        sync(job_folder.folder)
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        for line in in_order:
            _delete_parts(job_folder, line)
        for group in _groups(in_order, size):
            after.append(_together(job_folder, scratch, group) if len(group) > 1 else group[0])
            finished += after[-1]["programs"]
            progress(finished, plan.programs)
    write_manifest(job_folder, after)
    with job_folder.doing("delete files that are not needed any more"):
        shutil.rmtree(job_folder.hidden)
        for name in job_folder.files().get("events", set()) - {line["shard"] for line in after}:
            job_folder.file("events", name).unlink()  # half of a shard, from a call that was stopped
        marker.unlink()
    return Compacted(len(names), len(after), Totals.of(after))


def _groups(lines: list[Line], size: int) -> Iterator[list[Line]]:
    group: list[Line] = []
    for line in lines:
        group.append(line)
        if sum(member["programs"] for member in group) >= size:
            yield group
            group = []
    if group:
        yield group


def _together(job_folder: JobFolder, scratch: Path, group: list[Line]) -> Line:
    """Make one shard of several. The order of these steps makes it safe to stop at any moment."""
    leaves = [leaf for line in group for leaf in line.get("of", [[line["shard"], line["programs"]]])]
    name = digest("\n".join(leaf for leaf, _ in leaves))[:32]
    paths = {table: scratch / f"{table}.parquet" for table in TABLES}
    sources = [{table: job_folder.file(table, line["shard"]) for table in TABLES} for line in group]
    join_shards(sources, paths, {OF_KEY: json.dumps(_begins(job_folder, group))})
    line = _sum(name, leaves, group, paths)
    add_line(job_folder, line)
    sync(job_folder.manifest)
    for table in reversed(TABLES):  # the recordings file is the commit
        os.replace(paths[table], job_folder.file(table, name))
    sync(job_folder.folder)
    for member in group:
        _delete(job_folder, member["shard"])
    return line


def _parts(metadata: Mapping[bytes, bytes]) -> dict[str, list[int]]:
    """The shards that a file was made from, each with its first recording and event."""
    parts: dict[str, list[int]] = read_json(metadata.get(OF_KEY.encode(), b"{}"), OF_KEY)
    return parts


def _begins(job_folder: JobFolder, group: list[Line]) -> dict[str, list[int]]:
    """Shard -> its first recording and event in the larger shard, also for the shards that it was made
    from."""
    begins: dict[str, list[int]] = {}
    programs = accumulate((line["programs"] for line in group), initial=0)
    events = accumulate((line["events"] for line in group), initial=0)
    for line, first_program, first_event in zip(group, programs, events, strict=False):
        begins[line["shard"]] = [first_program, first_event]
        metadata = pq.read_metadata(job_folder.file("recordings", line["shard"])).metadata or {}
        for name, (program, event) in _parts(metadata).items():
            begins[name] = [first_program + program, first_event + event]
    return begins


def _sum(name: str, leaves: list[list[Any]], group: list[Line], paths: dict[str, Path]) -> Line:
    totals = Totals.of(group)
    return {
        "shard": name,
        "of": leaves,
        "programs": totals.programs,
        "events": totals.events,
        "outcomes": dict(sorted(totals.by_outcome.items())),
        "not_repeatable": totals.not_repeatable,
        "problems": totals.problems,
        **file_facts(paths),
        "finished": max(line["finished"] for line in group),
    }


def _delete_parts(job_folder: JobFolder, line: Line) -> None:
    """Delete the parts of a larger shard that a stopped call did not delete."""
    if "of" in line:
        metadata = pq.read_metadata(job_folder.file("recordings", line["shard"])).metadata or {}
        for name in _parts(metadata):
            _delete(job_folder, name)


def _delete(job_folder: JobFolder, name: str) -> None:
    for table in TABLES:  # the commit first
        job_folder.file(table, name).unlink(missing_ok=True)
