"""What a job has to do: programs in shards, each named after all that decides what is recorded."""

import hashlib
import json
import os
import platform
import sys
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deskcheck import __version__
from deskcheck.recording.errors import InputError, RecordingError
from deskcheck.recording.file import FORMAT
from deskcheck.recording.program import Program
from deskcheck.sandbox.environments import find
from deskcheck.sandbox.recorder import RecordSettings
from deskcheck.scale.place import TABLES, Place, write_whole
from deskcheck.tracer import tracer_class

SIZE = 500
"""Programs of a shard: ten seconds to a minute of work, so that a lost one costs little and a file is not
small."""
_FIELDS = tuple(field.name for field in fields(Program))


@dataclass(frozen=True, slots=True)
class Shard:
    """name: 32 hexadecimal digits, over the programs and `decided_by`. programs: how many."""

    name: str
    programs: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A job: what decides its recordings, and its shards in order. started: of the last start, since 1970."""

    settings: dict[str, Any]
    shards: tuple[Shard, ...]
    started: float

    @property
    def programs(self) -> int:
        return sum(shard.programs for shard in self.shards)


def decided_by(settings: RecordSettings) -> str:
    """Digest of what, beside the programs, decides recordings: settings, interpreter, tracer, versions."""
    environment = None if settings.environment is None else find(settings.environment)
    return _digest(
        json.dumps(
            {
                "settings": settings.to_dict(),
                "installed": None if environment is None else environment.installed_sha256,
                "python": platform.python_version(),
                "implementation": sys.implementation.name,
                "tracer": tracer_class().name,
                "deskcheck": __version__,
                "format": FORMAT,
            },
            sort_keys=True,
        )
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _line(program: Program) -> str:
    try:
        return json.dumps({name: getattr(program, name) for name in _FIELDS}, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"program {program.id!r}: cannot be saved as JSON: {error}") from None


def in_shards(programs: Iterable[Program], size: int) -> Iterator[tuple[list[str], list[int]]]:
    """Programs in groups of half to twice `size`, as JSON texts, with a 64-bit digest of each id.

    Where a group ends is decided by the id of its last program: one that is added or taken away changes the
    group that it is in and leaves those after it as they are.
    """
    least = max(1, size // 2)
    lines: list[str] = []
    digests: list[int] = []
    for program in programs:
        digest = int.from_bytes(
            hashlib.blake2b(program.id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
        )
        lines.append(_line(program))
        digests.append(digest)
        if len(lines) >= 2 * size or (len(lines) >= least and digest % (size - least + 1) == 0):
            yield lines, digests
            lines, digests = [], []
    if lines:
        yield lines, digests


def make_plan(
    programs: Iterable[Program],
    place: Place,
    settings: RecordSettings,
    *,
    size: int = SIZE,
    replace: bool = False,
    progress: Callable[[int], None] = lambda planned: None,
) -> Plan:
    """Put programs into shards and write down those that have to be recorded. One shard is in memory at a
    time.

    progress: told after each shard how many programs are planned.

    Raises:
        InputError: two programs have one id; there is none; the folder has shards that this plan does
            not have, and `replace` does not say that they may go.
    """
    if size < 1:
        raise InputError(f"a shard of {size} programs: it must be at least one.")
    key = decided_by(settings)
    with place.doing("write the plan"):
        place.plans.mkdir(parents=True, exist_ok=True)
    _put_back(place)
    there = place.shards()
    shards: list[Shard] = []
    ids = array("Q")
    written: list[Path] = []
    planned = 0
    try:
        for lines, digests in in_shards(programs, size):
            name = _digest("\n".join([key, *lines]))[:32]
            ids.extend(digests)
            shards.append(Shard(name, len(lines)))
            if name not in there:
                path = place.plan(name)
                if not path.exists():
                    written.append(path)
                with place.doing("write the plan"):  # anew each time, so that it need not be synced
                    write_whole(path, "\n".join(lines) + "\n", sync=False)
            planned += len(lines)
            progress(planned)
        if not shards:
            raise InputError(f"{place.folder}: there is no program to record.")
        _refuse_twins(place, shards, ids)
        _make_room(place, there - {shard.name for shard in shards}, replace)
    except BaseException:
        _forget(place, written)
        raise
    plan = Plan(settings.to_dict(), tuple(shards), time.time())
    with place.doing("write the plan"):
        write_plan(place, plan)
        wanted = {shard.name for shard in shards} - there
        for path in place.plans.iterdir():
            if path.stem not in wanted:
                path.unlink()
    return plan


def write_plan(place: Place, plan: Plan) -> None:
    told = {
        "format": 1,
        "settings": plan.settings,
        "deskcheck": __version__,
        "started": plan.started,
        "shards": [[shard.name, shard.programs] for shard in plan.shards],
    }
    write_whole(place.job, json.dumps(told) + "\n")


def read_plan(place: Place) -> Plan:
    """The plan of a folder. Raises RecordingError where there is none."""
    try:
        told = json.loads(place.job.read_bytes())
        shards = tuple(Shard(name, count) for name, count in told["shards"])
        return Plan(told["settings"], shards, told["started"])
    except (FileNotFoundError, NotADirectoryError):
        raise RecordingError(
            f"{place.folder}: no job was begun here: `deskcheck record ... --shards N --out FOLDER` "
            "begins one.",
            str(place.folder),
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise RecordingError(
            f"{place.job}: damaged: {error}. Start the job again: it is written anew.", str(place.job)
        ) from error


def read_programs(path: Path, first: int, stop: int) -> list[Program]:
    """Some of the programs of a shard, in order."""
    with open(path, encoding="ascii") as file:
        lines = [line for number, line in enumerate(file) if first <= number < stop]
    return [Program.from_dict(json.loads(line)) for line in lines]


def _refuse_twins(place: Place, shards: list[Shard], ids: "array[int]") -> None:
    """Eight bytes for each program say whether two have one id; the id is looked up only then."""
    column = pa.Array.from_buffers(pa.uint64(), len(ids), [None, pa.py_buffer(ids)])
    column = column.take(
        pc.array_sort_indices(column)
    )  # a set of them would be the most that the driver holds
    if not pc.any(pc.equal(column[1:], column[:-1])).as_py():
        return
    counts = Counter(ids)
    number = next(number for number, digest in enumerate(ids) if counts[digest] > 1)
    for shard in shards:
        if number < shard.programs:
            path = place.plan(shard.name)
            named = (
                repr(read_programs(path, number, number + 1)[0].id) if path.exists() else "of one before it"
            )
            raise InputError(f"two programs have the id {named}; give each its own")
        number -= shard.programs


def _forget(place: Place, written: list[Path]) -> None:
    """Leave the folder as a plan that came to nothing found it."""
    try:
        for path in written:
            path.unlink()
        place.plans.rmdir()
        place.hidden.rmdir()
    except OSError:  # another job's plan is there; or the disk refuses, and the next plan deletes them
        pass


def _put_back(place: Place) -> None:
    """Undo what a job did that was stopped while it replaced shards: whether they go is asked again."""
    if place.replaced.is_dir():
        with place.doing("put replaced shards back"):
            for path in sorted(place.replaced.iterdir()):  # events before recordings, the commit
                os.replace(path, place.folder / path.name)


def _make_room(place: Place, foreign: set[str], replace: bool) -> None:
    """Move shards out of the way that the plan does not have; they are deleted when the job is whole."""
    if not foreign:
        return
    if any(len(name) < 32 for name in foreign):
        raise InputError(
            f"{place.folder}: holds recordings that were made without --shards. Choose another folder."
        )
    if not replace:
        raise InputError(
            f"{place.folder}: holds {len(foreign)} shards that this plan does not have: their programs, "
            "limits or versions are others. Choose another folder; or let them go when those in their place "
            "are whole: --replace."
        )
    with place.doing("move replaced shards"):
        place.replaced.mkdir(parents=True, exist_ok=True)
        for name in foreign:
            for table in TABLES:  # the commit first
                path = place.file(table, name)
                if path.exists():
                    os.replace(path, place.replaced / path.name)
