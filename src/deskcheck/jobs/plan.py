"""The plan of a job: items in shards, each named after everything that decides its content.

The plan is made while the job runs. `Planning` reads a few items at a time; a shard may start once its items
are known, unless the folder has another plan.
"""

import hashlib
import json
import os
import platform
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from deskcheck._version import __version__
from deskcheck.errors import InputError, RecordingError
from deskcheck.files import open_file, read_file, read_json, read_text
from deskcheck.jobs.job_folder import JobFolder, write_whole
from deskcheck.jobs.key_set import KeySet, key_of
from deskcheck.jobs.manifest import Line, changed_files, claims, parts_of, read_manifest
from deskcheck.recording.schema import COMPACTING_NAME

SIZE = 500
"""Items of a shard. For programs this is ten seconds to a minute of work: a lost shard costs little, and its
file is not small."""
_NAME_CHARS = 32


class Item(NamedTuple):
    """A unit of work, such as a program to record. A shard has some hundred."""

    id: str
    line: str
    """Everything that the work needs, as JSON."""
    decides: str | None = None
    """The text that the name of the shard depends on, if it is not the line."""


def _nothing(*_: object) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Job:
    """The work of a job, and its items."""

    kind: str
    """A word for job.json."""
    work: str
    """The module whose `TASKS` do the work (`deskcheck.jobs.work`)."""
    items: Iterable[Item]
    key: str
    """Digest of everything beside an item that decides its result."""
    settings: dict[str, Any]
    """For people who read job.json."""
    task: dict[str, Any]
    """Arguments of every task."""
    tables: tuple[str, ...]
    """Tables that a shard may have files of."""
    commit: str | None = None
    """The table whose file completes a shard; without it the manifest does."""
    begin: Callable[[JobFolder], None] = _nothing
    """Called before the first task."""
    finish: Callable[[JobFolder, Sequence[Line]], None] = _nothing
    """Called when all shards are complete, with the lines of the manifest in order."""

    def there(self, place: JobFolder, lines: dict[str, Line]) -> set[str]:
        """Complete shards of the folder; a larger shard counts as those that it was made of."""
        complete = {*lines} if self.commit is None else place.files().get(self.commit, set())
        parts = parts_of(lines)
        return (complete - {*parts.values()}) | parts.keys()


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard of a plan. Its name is a digest of its items and the job's key, `programs` their number."""

    name: str
    programs: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as it is stored. whole: no more shards will come. started: seconds since 1970."""

    kind: str
    settings: dict[str, Any]
    shards: tuple[Shard, ...]
    started: float
    whole: bool = True

    @property
    def programs(self) -> int:
        return sum(shard.programs for shard in self.shards)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def decided_by(**what: Any) -> str:
    """A `Job.key`: digest of these JSON values, the interpreter and the version of deskcheck."""
    return digest(
        json.dumps(
            {
                **what,
                "python": platform.python_version(),
                "implementation": sys.implementation.name,
                "deskcheck": __version__,
            },
            sort_keys=True,
        )
    )


def in_shards(items: Iterable[Item], size: int) -> Iterator[list[Item] | None]:
    """Items in groups of half to twice `size`; None after an item that does not end a group.

    The id of an item decides whether a group ends there. So adding or removing an item changes only its own
    group.

    Raises InputError where two items have one id.
    """
    smallest = max(1, size // 2)
    group: list[Item] = []
    ids = KeySet()
    for item in items:
        number = key_of(item.id)
        if not ids.add(number):
            raise InputError(f"there are two with the id {item.id!r}; give each its own")
        group.append(item)
        if len(group) >= 2 * size or (len(group) >= smallest and number % (size - smallest + 1) == 0):
            yield group
            group = []
        else:
            yield None
    if group:
        yield group


class Planning:
    """A plan that is being made: `go_on` reads items, `take` returns shards that may start.

    Shards may start as long as the plan that the folder has is the same. From the first difference on they
    wait until the plan is whole. Then shards that are not in it are refused, or moved away with `replace`.
    A shard with a file that differs from the manifest is made again, so every byte is read first. One shard
    is in memory at a time.

    Raises InputError, also by `go_on`: other things in the folder, two items with one id, no item, or shards
    that are not in the plan. Shards that started by then stay.
    """

    def __init__(self, job: Job, place: JobFolder, *, size: int = SIZE, replace: bool = False) -> None:
        if size < 1:
            raise InputError(f"a shard of {size}: it must be at least one.")
        self.job = job
        self.place = place
        self.whole = False
        self.programs = 0
        """Number of planned items."""
        self.shards: list[Shard] = []
        self._replace = replace
        self._ready: deque[Shard] = deque()
        self._held: list[Shard] = []
        self._given = False
        self._written: list[Path] = []
        self._file: IO[str] | None = None
        self._groups = in_shards(job.items, size)
        _put_back(place)
        self.changed = changed_files(place)
        """Files that differ from the manifest, by shard."""
        self.lines = {name: line for name, line in read_manifest(place).items() if name not in self.changed}
        self.parts = parts_of(self.lines)
        self.there = job.there(place, self.lines) - self.changed.keys()
        """Shards that were complete at the start."""
        self._before = self._earlier()
        self._same = True
        with place.doing("write the plan"):
            place.plans.mkdir(parents=True, exist_ok=True)

    @property
    def ready(self) -> int:
        """Number of shards that may start."""
        return len(self._ready)

    def go_on(self, until: Callable[[], bool]) -> None:
        """Read items until the plan is whole, or `until` returns true after one of them."""
        try:
            for group in self._groups:
                if group is not None:
                    self._add(group)
                if until():
                    return
            self._end()
        except BaseException:
            self._forget()
            raise

    def take(self) -> Shard:
        """The next shard that may start."""
        if not self._given:
            self._begin()
        return self._ready.popleft()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _earlier(self) -> Plan:
        """The plan of the folder that this one has to agree with."""
        place = self.place
        if (place.folder / COMPACTING_NAME).exists():
            raise InputError(
                f"{place.folder}: `deskcheck runs compact` was stopped here. Let it come to its end first: "
                "the same command goes on."
            )
        if any(len(name) < _NAME_CHARS for names in place.files().values() for name in names):
            raise InputError(
                f"{place.folder}: holds files that were made without --shards. Choose another folder."
            )
        if place.job.exists():
            plan: Plan | None
            try:
                plan = read_plan(place)
            except RecordingError:  # damaged: it says nothing of what is there
                plan = None
            if plan is not None and plan.kind != self.job.kind:
                raise InputError(
                    f"{place.folder}: holds a job of another kind: {plan.kind}, not {self.job.kind}. Choose "
                    "another folder."
                )
            if plan is not None and self.there:
                return plan
        # Nothing binds a job of which nothing is there; what is there of an unknown plan has to be compared.
        return Plan(self.job.kind, self.job.settings, (), time.time(), whole=bool(self.there))

    def _add(self, group: list[Item]) -> None:
        decides = [item.line if item.decides is None else item.decides for item in group]
        shard = Shard(digest("\n".join([self.job.key, *decides]))[:_NAME_CHARS], len(group))
        if shard.name not in self.there:
            path = self.place.plan(shard.name)
            if not self._given and not path.exists():
                self._written.append(path)
            with self.place.doing("write the plan"):  # anew each time, so that it need not be synced
                write_whole(path, "\n".join(item.line for item in group) + "\n", sync=False)
        before, at = self._before, len(self.shards)
        earlier = before.shards[at] if at < len(before.shards) else None
        self._same = self._same and (not before.whole if earlier is None else earlier == shard)
        if self._same and self._given and earlier is None:
            self._note([shard])
        self.shards.append(shard)
        self.programs += shard.programs
        (self._ready if self._same else self._held).append(shard)

    def _begin(self) -> None:
        """Store what is planned before the first shard starts: the next call has to know."""
        self._given = True
        if self.whole:
            return
        before = replace(self._before, started=time.time())
        with self.place.doing("write the plan"):
            if not before.whole:
                write_planned(self.place, before.shards)
            write_plan(self.place, before)
        self._note([*self._ready][len(before.shards) :])

    def _note(self, shards: list[Shard]) -> None:
        with self.place.doing("write the plan"):
            if self._file is None:
                self._file = open(self.place.planned, "a", encoding="ascii")  # noqa: SIM115 (`close` does)
            self._file.write("".join(map(_planned_line, shards)))
            self._file.flush()

    def _end(self) -> None:
        if not self.shards:
            raise InputError(f"{self.place.folder}: there is no program to record.")
        planned_names = {shard.name for shard in self.shards}
        foreign = (self.there | self._changed_too_much(planned_names)) - planned_names
        if foreign & self.parts.keys():
            raise InputError(
                f"{self.place.folder}: its shards were put together (`deskcheck runs compact`), and "
                f"{len(foreign & self.parts.keys())} of them this plan does not have. Choose another folder."
            )
        _make_room(self.job, self.place, foreign, self._replace)
        self.whole = True
        self.close()
        with self.place.doing("write the plan"):
            write_plan(self.place, self.plan)
            self.place.planned.unlink(missing_ok=True)
            for path in self.place.plans.iterdir():
                if path.stem not in planned_names:
                    path.unlink()
        self._ready.extend(self._held)
        self._held = []

    def _changed_too_much(self, planned_names: set[str]) -> set[str]:
        """Changed shards that are neither in this plan nor made of its shards: not ours to delete."""
        of = {name: {part for part, _ in line.get("of", ())} for name, line in claims(self.place).items()}
        present = set().union(*self.place.files().values())
        return {
            name for name in self.changed if name in present and not (of[name] and of[name] <= planned_names)
        }

    @property
    def plan(self) -> Plan:
        return Plan(self.job.kind, self.job.settings, tuple(self.shards), time.time(), self.whole)

    def _forget(self) -> None:
        """Restore the folder after a plan that failed before its first shard."""
        self.close()
        if self._given:
            return
        try:
            for path in self._written:
                path.unlink()
            self.place.plans.rmdir()
            self.place.hidden.rmdir()
        except OSError:  # another job's plan is there; or the disk refuses, and the next plan deletes them
            pass


def write_plan(place: JobFolder, plan: Plan) -> None:
    values = {
        "format": 1,
        "kind": plan.kind,
        "settings": plan.settings,
        "deskcheck": __version__,
        "started": plan.started,
        "whole": plan.whole,
        "shards": [[shard.name, shard.programs] for shard in plan.shards] if plan.whole else [],
    }
    write_whole(place.job, json.dumps(values) + "\n")


def read_plan(place: JobFolder) -> Plan:
    """The stored plan of a folder. Raises RecordingError where no job was begun."""
    try:
        values = read_json(read_file(place.job))
        return _as_plan(values, None if values.get("whole", True) else _planned(place))
    except (FileNotFoundError, NotADirectoryError):
        raise RecordingError(
            f"{place.folder}: no job was begun here: `deskcheck record ... --shards N --out FOLDER` "
            "begins one.",
            str(place.folder),
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordingError(
            f"{place.job}: damaged: {error}. Start the job again: it is written anew.", str(place.job)
        ) from error


def _as_plan(values: dict[str, Any], shards: list[list[Any]] | None) -> Plan:
    """The plan in a job.json. shards: those of a plan that is not whole.

    Raises ValueError, KeyError, TypeError or AttributeError where it is damaged."""
    kinds = {"kind": (str,), "settings": (dict,), "started": (int, float), "whole": (bool,)}
    for name, types in kinds.items():
        if name in values and type(values[name]) not in types:
            raise ValueError(f"{name} is {values[name]!r:.80}")
    named = tuple(Shard(name, count) for name, count in (values["shards"] if shards is None else shards))
    return Plan(
        values.get("kind", "record"), values["settings"], named, values["started"], values.get("whole", True)
    )


def write_planned(place: JobFolder, shards: Iterable[Shard]) -> None:
    """Store the shards of a plan that is not whole."""
    write_whole(place.planned, "".join(map(_planned_line, shards)))


def _planned_line(shard: Shard) -> str:
    return json.dumps([shard.name, shard.programs]) + "\n"


def _planned(place: JobFolder) -> list[list[Any]]:
    """Shards of a plan that is not whole. The shard of a last line that was cut off was not started."""
    if not place.planned.exists():
        return []
    lines = read_text(place.planned).splitlines(keepends=True)
    return [read_json(line) for line in lines if line.endswith("\n")]


def read_items(path: Path, first: int, stop: int) -> list[Any]:
    """Some of the items of a shard, in order."""
    with open_file(path) as file:
        return [read_json(line, str(path)) for number, line in enumerate(file) if first <= number < stop]


def _put_back(place: JobFolder) -> None:
    """Restore the shards that a stopped job was replacing."""
    if place.replaced.is_dir():
        with place.doing("put replaced shards back"):
            for path in sorted(place.replaced.iterdir()):  # events before recordings, the commit
                os.replace(path, place.folder / path.name)


def _make_room(job: Job, place: JobFolder, foreign: set[str], allowed: bool) -> None:
    """Move shards away that are not in the plan; they are deleted when the job is complete."""
    if not foreign:
        return
    if not allowed:
        raise InputError(
            f"{place.folder}: holds {len(foreign)} shards that this plan does not have: what is in them, "
            "settings or versions are others. Choose another folder; or let them go when those in their "
            "place are whole: --replace."
        )
    with place.doing("move replaced shards"):
        place.replaced.mkdir(parents=True, exist_ok=True)
        for name in foreign:
            for table in sorted(job.tables, key=lambda table: table != job.commit):  # the commit first
                path = place.file(table, name)
                if path.exists():
                    os.replace(path, place.replaced / path.name)
