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
from deskcheck.jobs.manifest import Line, changed_files, manifest_lines, read_manifest, whole_of_part
from deskcheck.recording.schema import COMPACTING_NAME

SIZE = 500
"""Items of a shard. For programs this is ten seconds to a minute of work, so that a lost shard costs little
and files are not too small."""
_NAME_CHARS = 32


class Item(NamedTuple):
    """A unit of work, such as a program to record. A shard has some hundred items."""

    id: str
    line: str
    """JSON with everything that the work needs."""
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
    """Digest of everything except the item that decides the item's result."""
    settings: dict[str, Any]
    """Settings for people who read job.json."""
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

    def complete(self, job_folder: JobFolder, lines: dict[str, Line]) -> set[str]:
        """Complete shards of the folder. A larger shard counts as those that it was made from."""
        complete_names = {*lines} if self.commit is None else job_folder.files().get(self.commit, set())
        parts = whole_of_part(lines)
        return (complete_names - {*parts.values()}) | parts.keys()


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard of a plan."""

    name: str
    """Digest of its items and the job's key."""
    programs: int
    """Number of its items."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan in the form in which it is stored."""

    kind: str
    settings: dict[str, Any]
    shards: tuple[Shard, ...]
    started: float
    """Seconds since 1970."""
    is_whole: bool = True
    """Whether no more shards will come."""

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

    Raises InputError if two items have the same id.
    """
    smallest = max(1, size // 2)
    group: list[Item] = []
    ids = KeySet()
    for item in items:
        number = key_of(item.id)
        if not ids.add(number):
            raise InputError(f"two items have the id {item.id!r}. Give each a different id.")
        group.append(item)
        if len(group) >= 2 * size or (len(group) >= smallest and number % (size - smallest + 1) == 0):
            yield group
            group = []
        else:
            yield None
    if group:
        yield group


class Planning:
    """A plan in the making: `go_on` reads items, `take` returns shards that may start.

    Shards may start as long as the plan agrees with the one stored in the folder. From the first difference
    on they wait until the plan is complete. Then existing shards that are not in the plan are refused, or
    moved away with `replace`. A shard with a file that differs from the manifest is made again, so all files
    are read first. Only one shard is in memory at a time.

    Raises InputError, also from `go_on`, if the folder has other files, two items have the same id, there is
    no item, or existing shards are not in the plan. Shards that were started before remain.
    """

    def __init__(self, job: Job, job_folder: JobFolder, *, size: int = SIZE, replace: bool = False) -> None:
        if size < 1:
            raise InputError(f"--shards {size} must be at least 1.")
        self.job = job
        self.job_folder = job_folder
        self.is_whole = False
        self.programs = 0
        """Number of planned items."""
        self.shards: list[Shard] = []
        self._replace = replace
        self._ready: deque[Shard] = deque()
        self._waiting: list[Shard] = []
        self._started = False
        self._written: list[Path] = []
        self._file: IO[str] | None = None
        self._groups = in_shards(job.items, size)
        _put_back(job_folder)
        self.changed = changed_files(job_folder)
        """Files that differ from the manifest, by shard."""
        self.lines = {
            name: line for name, line in read_manifest(job_folder).items() if name not in self.changed
        }
        self.parts = whole_of_part(self.lines)
        self.complete = job.complete(job_folder, self.lines) - self.changed.keys()
        """Shards that were complete at the start."""
        self._before = self._earlier()
        self._same = True
        with job_folder.doing("write the plan"):
            job_folder.plans.mkdir(parents=True, exist_ok=True)

    @property
    def ready(self) -> int:
        """Number of shards that may start."""
        return len(self._ready)

    def go_on(self, until: Callable[[], bool]) -> None:
        """Read items until the plan is complete, or `until` returns true after one of them."""
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
        if not self._started:
            self._begin()
        return self._ready.popleft()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _earlier(self) -> Plan:
        """The plan of the folder that this one has to agree with."""
        job_folder = self.job_folder
        if (job_folder.folder / COMPACTING_NAME).exists():
            raise InputError(
                f"{job_folder.folder}: `deskcheck runs compact` was stopped here. Rerun that command first: "
                "it resumes."
            )
        if any(len(name) < _NAME_CHARS for names in job_folder.files().values() for name in names):
            raise InputError(
                f"{job_folder.folder}: has files that were made without --shards. Choose another folder."
            )
        if job_folder.job.exists():
            plan: Plan | None
            try:
                plan = read_plan(job_folder)
            except RecordingError:  # damaged: it does not tell about the existing shards
                plan = None
            if plan is not None and plan.kind != self.job.kind:
                raise InputError(
                    f"{job_folder.folder}: has a job of another kind: {plan.kind}, not {self.job.kind}. "
                    "Choose another folder."
                )
            if plan is not None and self.complete:
                return plan
        # Without complete shards any plan will do; complete shards of an unknown plan have to be compared.
        return Plan(self.job.kind, self.job.settings, (), time.time(), is_whole=bool(self.complete))

    def _add(self, group: list[Item]) -> None:
        decides = [item.line if item.decides is None else item.decides for item in group]
        shard = Shard(digest("\n".join([self.job.key, *decides]))[:_NAME_CHARS], len(group))
        if shard.name not in self.complete:
            path = self.job_folder.plan(shard.name)
            if not self._started and not path.exists():
                self._written.append(path)
            with self.job_folder.doing("write the plan"):  # rewritten each time, so it need not be synced
                write_whole(path, "\n".join(item.line for item in group) + "\n", sync=False)
        before, position = self._before, len(self.shards)
        earlier = before.shards[position] if position < len(before.shards) else None
        self._same = self._same and (not before.is_whole if earlier is None else earlier == shard)
        if self._same and self._started and earlier is None:
            self._note([shard])
        self.shards.append(shard)
        self.programs += shard.programs
        (self._ready if self._same else self._waiting).append(shard)

    def _begin(self) -> None:
        """Store the plan so far, before the first shard starts: a call that resumes needs it."""
        self._started = True
        if self.is_whole:
            return
        before = replace(self._before, started=time.time())
        with self.job_folder.doing("write the plan"):
            if not before.is_whole:
                write_planned(self.job_folder, before.shards)
            write_plan(self.job_folder, before)
        self._note([*self._ready][len(before.shards) :])

    def _note(self, shards: list[Shard]) -> None:
        with self.job_folder.doing("write the plan"):
            if self._file is None:
                self._file = open(self.job_folder.planned, "a", encoding="ascii")  # noqa: SIM115 (`close` does)
            self._file.write("".join(map(_planned_line, shards)))
            self._file.flush()

    def _end(self) -> None:
        if not self.shards:
            raise InputError(f"{self.job_folder.folder}: the job has no programs to record.")
        planned_names = {shard.name for shard in self.shards}
        foreign = (self.complete | self._changed_too_much(planned_names)) - planned_names
        if foreign & self.parts.keys():
            raise InputError(
                f"{self.job_folder.folder}: its shards were joined (`deskcheck runs compact`), and "
                f"{len(foreign & self.parts.keys())} of them are not in this plan. Choose another folder."
            )
        _make_room(self.job, self.job_folder, foreign, self._replace)
        self.is_whole = True
        self.close()
        with self.job_folder.doing("write the plan"):
            write_plan(self.job_folder, self.plan)
            self.job_folder.planned.unlink(missing_ok=True)
            for path in self.job_folder.plans.iterdir():
                if path.stem not in planned_names:
                    path.unlink()
        self._ready.extend(self._waiting)
        self._waiting = []

    def _changed_too_much(self, planned_names: set[str]) -> set[str]:
        """Changed shards that are neither in this plan nor made from its shards: they must not be deleted."""
        parts = {
            name: {part for part, _ in line.get("of", ())}
            for name, line in manifest_lines(self.job_folder).items()
        }
        present = set().union(*self.job_folder.files().values())
        return {
            name
            for name in self.changed
            if name in present and not (parts[name] and parts[name] <= planned_names)
        }

    @property
    def plan(self) -> Plan:
        return Plan(self.job.kind, self.job.settings, tuple(self.shards), time.time(), self.is_whole)

    def _forget(self) -> None:
        """Restore the folder after a plan that failed before its first shard."""
        self.close()
        if self._started:
            return
        try:
            for path in self._written:
                path.unlink()
            self.job_folder.plans.rmdir()
            self.job_folder.hidden.rmdir()
        except (
            OSError
        ):  # the folder has another job's plan, or the disk refuses; the next plan deletes the files
            pass


def write_plan(job_folder: JobFolder, plan: Plan) -> None:
    values = {
        "format": 1,
        "kind": plan.kind,
        "settings": plan.settings,
        "deskcheck": __version__,
        "started": plan.started,
        "whole": plan.is_whole,
        "shards": [[shard.name, shard.programs] for shard in plan.shards] if plan.is_whole else [],
    }
    write_whole(job_folder.job, json.dumps(values) + "\n")


def read_plan(job_folder: JobFolder) -> Plan:
    """The stored plan of a folder. Raises RecordingError if no job was started there."""
    try:
        values = read_json(read_file(job_folder.job))
        return _as_plan(values, None if values.get("whole", True) else _planned(job_folder))
    except (FileNotFoundError, NotADirectoryError):
        raise RecordingError(
            f"{job_folder.folder}: no job was started here. Start one with "
            "`deskcheck record ... --shards N --out FOLDER`.",
            str(job_folder.folder),
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordingError(
            f"{job_folder.job}: damaged: {error}. Rerun the job to write it again.", str(job_folder.job)
        ) from error


def _as_plan(values: dict[str, Any], shards: list[list[Any]] | None) -> Plan:
    """The plan in a job.json. shards: those of an incomplete plan, which are stored apart.

    Raises ValueError, KeyError, TypeError or AttributeError if it is damaged."""
    kinds = {"kind": (str,), "settings": (dict,), "started": (int, float), "whole": (bool,)}
    for name, types in kinds.items():
        if name in values and type(values[name]) not in types:
            raise ValueError(f"{name} is {values[name]!r:.80}")
    named = tuple(Shard(name, count) for name, count in (values["shards"] if shards is None else shards))
    return Plan(
        values.get("kind", "record"), values["settings"], named, values["started"], values.get("whole", True)
    )


def write_planned(job_folder: JobFolder, shards: Iterable[Shard]) -> None:
    """Store the shards of an incomplete plan."""
    write_whole(job_folder.planned, "".join(map(_planned_line, shards)))


def _planned_line(shard: Shard) -> str:
    return json.dumps([shard.name, shard.programs]) + "\n"


def _planned(job_folder: JobFolder) -> list[list[Any]]:
    """Shards of an incomplete plan. A last line that was cut off is left out: its shard was not started."""
    if not job_folder.planned.exists():
        return []
    lines = read_text(job_folder.planned).splitlines(keepends=True)
    return [read_json(line) for line in lines if line.endswith("\n")]


def read_items(path: Path, first: int, stop: int) -> list[Any]:
    """Some of the items of a shard, in order."""
    with open_file(path) as file:
        return [read_json(line, str(path)) for number, line in enumerate(file) if first <= number < stop]


def _put_back(job_folder: JobFolder) -> None:
    """Restore the shards that a stopped job was replacing."""
    if job_folder.replaced.is_dir():
        with job_folder.doing("put replaced shards back"):
            for path in sorted(job_folder.replaced.iterdir()):  # events before recordings, the commit
                os.replace(path, job_folder.folder / path.name)


def _make_room(job: Job, job_folder: JobFolder, foreign: set[str], allowed: bool) -> None:
    """Move shards away that are not in the plan; they are deleted when the job is complete."""
    if not foreign:
        return
    if not allowed:
        raise InputError(
            f"{job_folder.folder}: has {len(foreign)} shards that are not in this plan: their programs, "
            "settings or versions differ. Choose another folder, or use --replace to delete them when the "
            "new shards are complete."
        )
    with job_folder.doing("move replaced shards"):
        job_folder.replaced.mkdir(parents=True, exist_ok=True)
        for name in foreign:
            for table in sorted(job.tables, key=lambda table: table != job.commit):  # the commit first
                path = job_folder.file(table, name)
                if path.exists():
                    os.replace(path, job_folder.replaced / path.name)
