"""What a job has to do: items in shards, each named after all that decides what comes of it.

A plan is made while the job runs: a shard may be given out as soon as its items are known. `Planning` reads
the items a little at a time, and holds shards back where an earlier plan of the folder says others.
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
from deskcheck.jobs.job_folder import Place, write_whole
from deskcheck.jobs.key_set import KeySet, key_of
from deskcheck.jobs.manifest import Line, changed_files, claims, parts_of, read_manifest
from deskcheck.recording.schema import COMPACTING_NAME

SIZE = 500
"""Items of a shard: of programs to record ten seconds to a minute of work, so that a lost one costs little
and a file is not small."""
_NAME_CHARS = 32


class Item(NamedTuple):
    """One thing to be done, that a shard holds some hundred of: a program to record, say.

    line: JSON text that tells all about it to whoever does it. decides: what the name of its shard depends
    on, where that is not the line.
    """

    id: str
    line: str
    decides: str | None = None


def _nothing(*_: object) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a job does, and of what.

    kind: a word for it, which job.json keeps. work: name of the module that does it: its `TASKS` are
    functions from JSON to JSON (`deskcheck.jobs.work`). key: digest of all that decides what comes of an
    item, beside the item. settings: for job.json, to be read. task: what every task is told. tables: that a
    shard may have files of; commit: the one whose file says that the shard is whole; None where only the
    manifest says so. begin: called before anything is given out. finish: called when all is whole, with the
    lines of the manifest in order.
    """

    kind: str
    work: str
    items: Iterable[Item]
    key: str
    settings: dict[str, Any]
    task: dict[str, Any]
    tables: tuple[str, ...]
    commit: str | None = None
    begin: Callable[[Place], None] = _nothing
    finish: Callable[[Place, Sequence[Line]], None] = _nothing

    def there(self, place: Place, lines: dict[str, Line]) -> set[str]:
        """Shards of the folder that are whole; lines: of the manifest. In place of larger ones that were made
        of several, those."""
        whole = {*lines} if self.commit is None else place.files().get(self.commit, set())
        parts = parts_of(lines)
        return (whole - {*parts.values()}) | parts.keys()


@dataclass(frozen=True, slots=True)
class Shard:
    """name: 32 hexadecimal digits, over the items and the job's key. programs: how many items."""

    name: str
    programs: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A job as its folder has it. settings: what decides its results. whole: no more shards will come.
    started: of the last start, seconds since 1970."""

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
    """Digest of what, beside the items, decides what comes of them (`Job.key`): what is named, JSON values;
    the interpreter; and the version of deskcheck."""
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
    """Items in groups of half to twice `size`; None after an item that ends no group.

    Where a group ends is decided by the id of its last item: one that is added or taken away changes the
    group that it is in and leaves those after it as they are.

    Raises InputError where two items have one id.
    """
    least = max(1, size // 2)
    group: list[Item] = []
    seen = KeySet()
    for item in items:
        number = key_of(item.id)
        if not seen.add(number):
            raise InputError(f"there are two with the id {item.id!r}; give each its own")
        group.append(item)
        if len(group) >= 2 * size or (len(group) >= least and number % (size - least + 1) == 0):
            yield group
            group = []
        else:
            yield None
    if group:
        yield group


class Planning:
    """The plan of a job in the making: `go_on` reads items, `take` gives shards that may be given out.

    A shard of which a file is not what the manifest says is none that the folder holds: it is made again. So
    every byte that is there is read first.

    They may at once where the folder holds none yet, and as long as the plan that it holds says the same,
    shard by shard; what an earlier start had not planned any more comes after that. From the first shard that
    differs on all are held back until the plan is whole: then what the folder has too much is refused, or
    moved out of the way. One shard is in memory at a time.

    Raises InputError, by `go_on` too: a folder of other things; two items of one id; no item at all; shards
    that this plan does not have, where `replace` does not say that they may go. What was given out by then
    stays.
    """

    def __init__(self, job: Job, place: Place, *, size: int = SIZE, replace: bool = False) -> None:
        if size < 1:
            raise InputError(f"a shard of {size}: it must be at least one.")
        self.job = job
        self.place = place
        self.whole = False
        self.programs = 0
        """How many are planned."""
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
        """Files of shards that are not what the manifest says, by shard."""
        self.lines = {name: line for name, line in read_manifest(place).items() if name not in self.changed}
        self.parts = parts_of(self.lines)
        self.there = job.there(place, self.lines) - self.changed.keys()
        """Shards that were whole at the start."""
        self._before = self._earlier()
        self._same = True
        with place.doing("write the plan"):
            place.plans.mkdir(parents=True, exist_ok=True)

    @property
    def ready(self) -> int:
        """How many shards `take` has to give."""
        return len(self._ready)

    def go_on(self, until: Callable[[], bool]) -> None:
        """Read items until the plan is whole, or `until` says so after one of them."""
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
        """The next shard to be given out."""
        if not self._given:
            self._begin()
        return self._ready.popleft()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _earlier(self) -> Plan:
        """The plan that the folder has, as far as it binds this one."""
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
        known = before.shards[at] if at < len(before.shards) else None
        self._same = self._same and (not before.whole if known is None else known == shard)
        if self._same and self._given and known is None:
            self._note([shard])
        self.shards.append(shard)
        self.programs += shard.programs
        (self._ready if self._same else self._held).append(shard)

    def _begin(self) -> None:
        """Write down, before anything is given out, what is planned: a start after this one has to know."""
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
        wanted = {shard.name for shard in self.shards}
        foreign = (self.there | self._changed_too_much(wanted)) - wanted
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
                if path.stem not in wanted:
                    path.unlink()
        self._ready.extend(self._held)
        self._held = []

    def _changed_too_much(self, wanted: set[str]) -> set[str]:
        """Shards that are there, changed, not of this plan nor made of its shards: not ours to delete."""
        of = {name: {part for part, _ in line.get("of", ())} for name, line in claims(self.place).items()}
        there = set().union(*self.place.files().values())
        return {name for name in self.changed if name in there and not (of[name] and of[name] <= wanted)}

    @property
    def plan(self) -> Plan:
        return Plan(self.job.kind, self.job.settings, tuple(self.shards), time.time(), self.whole)

    def _forget(self) -> None:
        """Leave the folder as a plan that came to nothing found it."""
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


def write_plan(place: Place, plan: Plan) -> None:
    told = {
        "format": 1,
        "kind": plan.kind,
        "settings": plan.settings,
        "deskcheck": __version__,
        "started": plan.started,
        "whole": plan.whole,
        "shards": [[shard.name, shard.programs] for shard in plan.shards] if plan.whole else [],
    }
    write_whole(place.job, json.dumps(told) + "\n")


def read_plan(place: Place) -> Plan:
    """The plan of a folder, as far as it is made. Raises RecordingError where there is none."""
    try:
        told = read_json(read_file(place.job))
        return _as_plan(told, None if told.get("whole", True) else _planned(place))
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


def _as_plan(told: dict[str, Any], shards: list[list[Any]] | None) -> Plan:
    """What a job.json says. shards: those of a plan that is not whole. What it lacks, or is not, is a
    ValueError, KeyError, TypeError or AttributeError."""
    kinds = {"kind": (str,), "settings": (dict,), "started": (int, float), "whole": (bool,)}
    for name, types in kinds.items():
        if name in told and type(told[name]) not in types:
            raise ValueError(f"{name} is {told[name]!r:.80}")
    named = tuple(Shard(name, count) for name, count in (told["shards"] if shards is None else shards))
    return Plan(told.get("kind", "record"), told["settings"], named, told["started"], told.get("whole", True))


def write_planned(place: Place, shards: Iterable[Shard]) -> None:
    """Write down the shards of a plan that is not whole yet."""
    write_whole(place.planned, "".join(map(_planned_line, shards)))


def _planned_line(shard: Shard) -> str:
    return json.dumps([shard.name, shard.programs]) + "\n"


def _planned(place: Place) -> list[list[Any]]:
    """Shards of a plan that is not whole. A last line that was cut off was not given out."""
    if not place.planned.exists():
        return []
    lines = read_text(place.planned).splitlines(keepends=True)
    return [read_json(line) for line in lines if line.endswith("\n")]


def read_items(path: Path, first: int, stop: int) -> list[Any]:
    """Some of the items of a shard, in order."""
    with open_file(path) as file:
        return [read_json(line, str(path)) for number, line in enumerate(file) if first <= number < stop]


def _put_back(place: Place) -> None:
    """Undo what a job did that was stopped while it replaced shards: whether they go is asked again."""
    if place.replaced.is_dir():
        with place.doing("put replaced shards back"):
            for path in sorted(place.replaced.iterdir()):  # events before recordings, the commit
                os.replace(path, place.folder / path.name)


def _make_room(job: Job, place: Place, foreign: set[str], allowed: bool) -> None:
    """Move shards out of the way that the plan does not have; they are deleted when the job is whole."""
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
