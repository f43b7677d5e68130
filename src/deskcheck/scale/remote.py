"""A job's folder, mirrored to and from a remote one: whole shards only, as often as one likes.

A shard is there when the manifest there has its line, and the line is written after its files. Every file is
compared with what its line says before it is sent, while it is, and before one that was fetched gets its
name. There, job.json lists the shards of a plan that is not whole as well, since no `.job` is.

One push at a time to one place: a store has no locks, and the manifest there is written as a whole.
"""

import hashlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from deskcheck.errors import DeskcheckError, InputError, RecordingError
from deskcheck.files import read_file, read_json, sha256, sync
from deskcheck.recording.schema import COMPACTING_NAME
from deskcheck.scale.job import terminable
from deskcheck.scale.manifest import (
    Line,
    add_line,
    lines_text,
    manifest_text,
    outermost,
    parse_lines,
    parts_of,
    read_manifest,
    write_manifest,
)
from deskcheck.scale.place import Place, write_whole
from deskcheck.scale.plan import Plan, as_plan, read_plan, write_planned
from deskcheck.scale.store import CHUNK_BYTES, Store

COPIES = 4
"""Shards copied at a time."""
_MANIFEST_S = 5.0
"""How much of a push is lost at most, where writing the manifest does not take long itself."""
_JOB, _MANIFEST = "job.json", "manifest.jsonl"
_BESIDE = ("lessons.json",)
"""What jobs write into their folder when they are whole, for readers."""
_NAMED = 5

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """What was copied. shards, size_bytes: copied now; there: shards that were there already. changed: files
    at the end of the way that were not what the manifest says, by name; those were copied anew. planned:
    shards of the job, as far as it is planned; whole: all of them are planned, and there now."""

    shards: int
    size_bytes: int
    there: int
    changed: list[str] = field(default_factory=list)
    planned: int
    whole: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


Tell = Callable[[int, int], None]


def _nothing(done: int, of: int) -> None:
    pass


def push(folder: str | Path, uri: str, *, verify: bool = False, progress: Tell = _nothing) -> Mirrored:
    """Copy to a remote folder what of a job is whole and is not there yet. The job may run meanwhile.

    verify: read what is there, and copy again what is not as the manifest there says. progress: told how many
    shards were copied, of how many.

    Raises:
        InputError: the URI can be none; another job is there.
        RecordingError: no job is here; files of it are not what its manifest says (all others are copied
            first, and nothing of those shards is); the store refuses, or does not answer.
    """
    with terminable():
        return _Push(Place(folder), Store(uri)).run(verify, progress)


def pull(uri: str, folder: str | Path, *, verify: bool = False, progress: Tell = _nothing) -> Mirrored:
    """Copy from a remote folder what of a job is there and is not here yet. Then all reads the folder as if
    the job had run here, and the job's own command goes on.

    verify: read what is here, and copy again what is not as the manifest here says. progress: told how many
    shards were copied, of how many.

    Raises:
        InputError: the URI can be none; another job is here, or files of none.
        RecordingError: no job is there; a job runs here; files there are not what the manifest there says
            (all others are copied first); the store refuses, or does not answer.
    """
    with terminable():
        return _Pull(Store(uri), Place(folder)).run(verify, progress)


class _Push:
    def __init__(self, place: Place, store: Store) -> None:
        self.place = place
        self.store = store
        self.stop = threading.Event()

    def run(self, verify: bool, progress: Tell) -> Mirrored:
        place, store = self.place, self.store
        beside = _beside(place)  # before the manifest: what speaks of all shards is not newer than they are
        told, plan = _read_here(place)
        leaves = _names_of(plan)
        here = outermost({line["shard"]: line for line in parse_lines(manifest_text(place))})
        here = {name: line for name, line in here.items() if _leaves(line) <= leaves}
        there = _Remote(store)
        way_out = "Push to a folder of its own."
        if not plan.whole:
            way_out += " If it is this job, which is not planned to its end yet: push later."
        planned = _plan_after(plan, there.plan, there.lines.values(), at=store.shown, way_out=way_out)
        lost = {line["shard"]: wrong for line in there.lines.values() if (wrong := there.wrong(line))}
        if verify:
            lost |= self._changed([line for name, line in there.lines.items() if name not in lost])
        self.lines = {name: line for name, line in there.lines.items() if name not in lost}
        self.order = {shard.name: number for number, shard in enumerate(planned.shards)}
        outer = outermost(self.lines)
        inner = {name: line for name, line in self.lines.items() if name not in outer}
        missing = _missing(here, outer, store.shown)
        if lost:
            self._write_manifest()
        if planned is plan and there.told != told:
            if there.plan is None or _names_of(there.plan) != leaves:
                for name in there.sizes.keys() & {*_BESIDE}:  # it speaks of a smaller job
                    store.delete(name)
            store.write(_JOB, [_text(told)])
        refused = self._send_all([line for line, _ in missing], progress)
        for line, parts in missing:
            inner |= {name: self.lines[name] for name in parts if line["shard"] in self.lines}
        self._delete(inner)
        held = _all_leaves(self.lines.values())
        gone = [
            f"{name} is not what the manifest said"
            for shard, names in lost.items()
            if not _leaves(there.lines[shard]) <= held
            for name in names
        ]
        whole = planned.whole and _names_of(planned) <= held
        if whole and planned is plan:
            for name, content in beside.items():
                if content == _beside(place).get(name):
                    store.write(name, [content])
        if refused:
            raise RecordingError(
                f"{place.folder}: {_listed(refused)}. Nothing of their shards was copied; all else that is "
                f"whole is in {store.shown}. Move them away and start the job's own command again: it makes "
                "them anew.",
                str(place.folder),
            )
        if gone:
            raise RecordingError(
                f"{store.shown}: {_listed(gone)}, and {place.folder} does not have their shards. They do "
                "not count there any more; push from a folder that has them.",
                store.shown,
            )
        return Mirrored(
            shards=len(missing),
            size_bytes=sum(_size(line) for line, _ in missing),
            there=len(here) - len(missing),
            changed=sorted(name for names in lost.values() for name in names),
            planned=len(planned.shards),
            whole=whole,
        )

    def _changed(self, lines: list[Line]) -> dict[str, list[str]]:
        """Shards of which what is there is not what the line says, with the files that differ. Reads every
        byte."""
        found: dict[str, list[str]] = {}

        def read(line: Line) -> list[str]:
            expected = {_name(table, line): digest for table, digest in line["sha256"].items()}
            return [
                name
                for name, digest in expected.items()
                if _hash(_stoppable(self.store.chunks(name), self.stop)) != digest
            ]

        def take(line: Line, wrong: list[str]) -> None:
            if wrong:
                found[line["shard"]] = wrong

        _in_parallel(read, lines, take, self.stop)
        return found

    def _send_all(self, lines: list[Line], progress: Tell) -> list[str]:
        """Copy shards, and keep the manifest there. What is wrong with those that were not."""
        refused: list[str] = []
        done, written, took = 0, time.monotonic(), 0.0
        unsaved = False

        def take(line: Line, why_not: list[str]) -> None:
            nonlocal done, written, took, unsaved
            refused.extend(why_not)
            if not why_not:
                done += 1
                self.lines[line["shard"]] = line
                unsaved = True
            if unsaved and time.monotonic() - written > max(_MANIFEST_S, 10 * took):
                began = time.monotonic()
                self._write_manifest()
                written = time.monotonic()
                took, unsaved = written - began, False
            progress(done, len(lines))

        try:
            _in_parallel(self._send, lines, take, self.stop)
        except BaseException:
            if unsaved:
                try:
                    self._write_manifest()
                except RecordingError:  # what happened first is what to report
                    pass
            raise
        if unsaved:
            self._write_manifest()
        return refused

    def _send(self, line: Line) -> list[str]:
        """Copy the files of a shard, the commit last. What is wrong with them, if anything: then none is
        copied."""
        why_not = [why for table in line["bytes"] if (why := self._why_not(line, table))]
        if why_not:
            return why_not
        for table in reversed(line["bytes"]):
            name = _name(table, line)
            digest = hashlib.sha256()
            self.store.write(name, self._read(self.place.file(table, line["shard"]), digest))
            if digest.hexdigest() != line["sha256"][table]:
                self.store.delete(name)
                return [f"{name} was changed while it was copied"]
        return []

    def _why_not(self, line: Line, table: str) -> str | None:
        path = self.place.file(table, line["shard"])
        with self.place.doing(f"read {path.name}"):
            try:
                same = path.stat().st_size == line["bytes"][table] and sha256(path) == line["sha256"][table]
            except FileNotFoundError:
                return f"{path.name} is gone"
        return None if same else f"{path.name} is not what the manifest says"

    def _read(self, path: Path, digest: Any) -> Iterator[bytes]:
        with self.place.doing(f"read {path.name}"), open(path, "rb") as file:
            for chunk in _stoppable(iter(lambda: file.read(CHUNK_BYTES), b""), self.stop):
                digest.update(chunk)
                yield chunk

    def _delete(self, inner: dict[str, Line]) -> None:
        """Let shards go that are part of larger ones there. Their lines go last: they tell what is to go."""
        for name, line in inner.items():
            for table in line["bytes"]:  # the commit first
                self.store.delete(_name(table, line))
            self.lines.pop(name)
        if inner:
            self._write_manifest()

    def _write_manifest(self) -> None:
        """In the order of the plan."""
        in_order = sorted(
            self.lines.values(), key=lambda line: min(self.order.get(leaf, 0) for leaf in _leaves(line))
        )
        self.store.write(_MANIFEST, [lines_text(in_order).encode("ascii")])


class _Pull:
    def __init__(self, store: Store, place: Place) -> None:
        self.place = place
        self.store = store
        self.stop = threading.Event()
        self.scratch = place.hidden / "pull"

    def run(self, verify: bool, progress: Tell) -> Mirrored:
        place, store = self.place, self.store
        there = _Remote(store)
        if there.told is None or there.plan is None:
            raise RecordingError(
                f"{store.shown}: holds no job: `deskcheck runs push FOLDER {store.shown}` brings one there.",
                store.shown,
            )
        self.sizes = there.sizes
        with place.doing("write here"):
            place.folder.mkdir(parents=True, exist_ok=True)
            lock = place.lock()
        try:
            return self._run(there, there.told, there.plan, verify, progress)
        finally:
            with place.doing("delete what is not needed any more"):
                shutil.rmtree(self.scratch, ignore_errors=True)
                if place.hidden.is_dir() and not any(place.hidden.iterdir()):
                    place.hidden.rmdir()
                lock.release()

    def _run(
        self, there: "_Remote", told: dict[str, Any], plan: Plan, verify: bool, progress: Tell
    ) -> Mirrored:
        place, store = self.place, self.store
        mine = self._plan_here()
        here = read_manifest(place)
        planned = _plan_after(
            plan, mine, here.values(), at=str(place.folder), way_out="Pull into a folder of its own."
        )
        wrong = [path for line in here.values() for path in self._wrong(line)] if verify else []
        bad = {path.name for path in wrong}
        here = {name: line for name, line in here.items() if not bad & {*_names(line)}}
        lines = outermost({name: line for name, line in there.lines.items() if not there.wrong(line)})
        inside = _all_leaves(lines.values())
        lines |= {name: line for name, line in there.lines.items() if not _leaves(line) <= inside}
        lines = {name: line for name, line in lines.items() if _leaves(line) <= _names_of(plan)}
        missing = _missing(lines, here, str(place.folder))
        for line, parts in missing:
            if parts:
                raise InputError(
                    f"{place.folder}: has some of the shards that were put together (`deskcheck runs "
                    f"compact`) in {_name('recordings', line)} of {store.shown}. "
                    "Pull into a folder of its own."
                )
        with place.doing("write the plan"):
            if mine is None or _names_of(mine) != _names_of(planned):
                for name in _BESIDE:
                    (place.folder / name).unlink(missing_ok=True)
            if planned is plan:
                _write_job(place, told, plan)
            shutil.rmtree(self.scratch, ignore_errors=True)
            self.scratch.mkdir(parents=True)
        refused = self._fetch_all([line for line, _ in missing], progress)
        whole = self._finish(planned)
        if refused:
            raise RecordingError(
                f"{store.shown}: {_listed(refused)}. They were not taken; all else is in {place.folder}. "
                "Push them again with --verify from a folder that has them, or start the job's own command "
                "here: it makes them anew.",
                store.shown,
            )
        return Mirrored(
            shards=len(missing),
            size_bytes=sum(_size(line) for line, _ in missing),
            there=len(lines) - len(missing),
            changed=sorted(bad),
            planned=len(planned.shards),
            whole=whole,
        )

    def _plan_here(self) -> Plan | None:
        place = self.place
        _refuse_compacting(place)
        if place.replaced.is_dir():
            raise InputError(
                f"{place.folder}: a job with --replace was stopped here. Let it come to its end first: the "
                "same command goes on."
            )
        if place.job.exists():
            return read_plan(place)
        if place.files():
            raise InputError(f"{place.folder}: holds files that are no job's. Pull into a folder of its own.")
        return None

    def _wrong(self, line: Line) -> list[Path]:
        paths = [(self.place.file(table, line["shard"]), line["sha256"][table]) for table in line["bytes"]]
        with self.place.doing("read what is here"):
            return [path for path, expected in paths if sha256(path) != expected]

    def _fetch_all(self, lines: list[Line], progress: Tell) -> list[str]:
        """Copy shards, and keep the manifest. What is wrong with those that were not."""
        refused: list[str] = []
        done = 0

        def take(line: Line, why_not: list[str]) -> None:
            nonlocal done
            refused.extend(why_not)
            if not why_not:
                self._put(line)
                done += 1
            progress(done, len(lines))

        _in_parallel(self._fetch, lines, take, self.stop)
        return refused

    def _fetch(self, line: Line) -> list[str]:
        """Copy the files of a shard beside their places. What is wrong with them, if anything."""
        why_not = []
        for table, size in line["bytes"].items():
            part = self.scratch / _name(table, line)
            if part.name not in self.sizes:
                why_not.append(f"{part.name} is gone")
                continue
            digest = hashlib.sha256()
            if self.sizes[part.name] == size:
                with self.place.doing(f"write {part.name}"), open(part, "wb") as file:
                    for chunk in _stoppable(self.store.chunks(part.name), self.stop):
                        digest.update(chunk)
                        file.write(chunk)
                    file.flush()
                    os.fsync(file.fileno())
            if digest.hexdigest() != line["sha256"][table]:
                why_not.append(f"{part.name} is not what the manifest says")
        return why_not

    def _put(self, line: Line) -> None:
        """Give the files of a shard their names. Whatever of it is here goes first, its commit before all: a
        pair of two tries would pass for a whole shard."""
        shard = line["shard"]
        with self.place.doing("put a shard in its place"):
            for table in line["bytes"]:
                self.place.file(table, shard).unlink(missing_ok=True)
            for table in reversed(line["bytes"]):
                os.replace(self.scratch / _name(table, line), self.place.file(table, shard))
            sync(self.place.folder)
            for name in _leaves(line):
                self.place.plan(name).unlink(missing_ok=True)
                for path in self.place.work.glob(f"{name}.*"):
                    shutil.rmtree(path, ignore_errors=True)
        add_line(self.place, line)

    def _finish(self, planned: Plan) -> bool:
        """Leave what a job that is whole leaves. Whether it is."""
        place = self.place
        lines = read_manifest(place)
        parts = parts_of(lines)
        names = list(dict.fromkeys(parts.get(shard.name, shard.name) for shard in planned.shards))
        whole = planned.whole and {*names} <= lines.keys()
        if whole:
            for name in self.sizes.keys() & {*_BESIDE}:
                content = self.store.read(name)
                with place.doing(f"write {name}"):
                    write_whole(place.folder / name, content.decode("ascii", "replace"))
            write_manifest(place, [lines[name] for name in names])
            with place.doing("delete what is not needed any more"):
                shutil.rmtree(place.hidden)
        return whole


class _Remote:
    """What a remote folder says of itself. told: its job.json, None where there is none. lines: of its
    manifest, those of shards inside larger ones, too."""

    def __init__(self, store: Store) -> None:
        sizes = self.sizes = store.sizes()
        self.told: dict[str, Any] | None = None
        self.plan: Plan | None = None
        if _JOB in sizes:
            try:
                told = read_json(store.read(_JOB))
                self.told, self.plan = told, as_plan(told)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise RecordingError(
                    f"{store.shown}: job.json there is damaged: {error!r}. Delete it there and push again.",
                    store.shown,
                ) from error
        elif any(name.endswith(".parquet") for name in sizes):
            raise InputError(
                f"{store.shown}: holds Parquet files, but no job.json: another's. Choose another place."
            )
        text = store.read(_MANIFEST).decode("ascii", "replace") if _MANIFEST in sizes else ""
        self.lines = {line["shard"]: line for line in parse_lines(text)}

    def wrong(self, line: Line) -> list[str]:
        """Files of a shard that are gone or of another size."""
        sizes = {_name(table, line): size for table, size in line["bytes"].items()}
        return [name for name, size in sizes.items() if self.sizes.get(name) != size]


# -- plans and lines ---------------------------------------------------------------------------------


def _beside(place: Place) -> dict[str, bytes]:
    with place.doing("read what is beside the shards"):
        return {name: read_file(path) for name in _BESIDE if (path := place.folder / name).exists()}


def _read_here(place: Place) -> tuple[dict[str, Any], Plan]:
    """The plan of a folder, and its job.json with all shards in it, also while a job goes on planning."""
    _refuse_compacting(place)
    while True:
        plan = read_plan(place)
        with place.doing("read the plan"):
            told = read_json(read_file(place.job))
        if told.get("whole", True) == plan.whole and (plan.whole or place.planned.exists()):
            return {**told, "shards": [[shard.name, shard.programs] for shard in plan.shards]}, plan


def _refuse_compacting(place: Place) -> None:
    if (place.folder / COMPACTING_NAME).exists():
        raise InputError(
            f"{place.folder}: its shards are being put together (`deskcheck runs compact`). Let that come to "
            "its end first: where it was stopped the same command goes on."
        )


def _write_job(place: Place, told: dict[str, Any], plan: Plan) -> None:
    if plan.whole:
        write_whole(place.job, json.dumps(told) + "\n")
        place.planned.unlink(missing_ok=True)
        return
    place.hidden.mkdir(exist_ok=True)
    write_planned(place, plan.shards)
    write_whole(place.job, json.dumps({**told, "shards": []}) + "\n")


def _text(told: dict[str, Any]) -> bytes:
    return (json.dumps(told) + "\n").encode("ascii")


def _plan_after(source: Plan, target: Plan | None, there: Iterable[Line], *, at: str, way_out: str) -> Plan:
    """The plan that the target has when it is a mirror: that of the source, or its own where that is more of
    the same job. there: lines of its shards. Raises InputError where it has another job."""
    if target is None:
        return source
    if target.kind != source.kind:
        raise InputError(f"{at}: holds a job of another kind: {target.kind}, not {source.kind}. {way_out}")
    ours, theirs = _names_of(source), _names_of(target)
    foreign = (theirs | _all_leaves(there)) - ours
    if not foreign:
        return source
    if not source.whole and ours <= theirs:
        return target
    raise InputError(f"{at}: holds another job: it has {len(foreign)} shards that this one lacks. {way_out}")


def _missing(source: dict[str, Line], target: dict[str, Line], at: str) -> list[tuple[Line, set[str]]]:
    """Lines of the source of which the target lacks something, each with those of the target that it is to
    take the place of: parts of it."""
    holder = {leaf: name for name, line in target.items() for leaf in _leaves(line)}
    found = []
    for line in source.values():
        leaves = _leaves(line)
        over = {holder[leaf] for leaf in leaves if leaf in holder}
        if leaves <= holder.keys():
            continue
        if any(not _leaves(target[name]) <= leaves for name in over):
            raise InputError(
                f"{at}: its shards were put together (`deskcheck runs compact`), but others than in the "
                "folder they come from. Choose a folder of its own."
            )
        found.append((line, over))
    return found


def _names_of(plan: Plan) -> set[str]:
    return {shard.name for shard in plan.shards}


def _leaves(line: Line) -> set[str]:
    """The shards of the plan that a line speaks of."""
    return {name for name, _ in line["of"]} if "of" in line else {line["shard"]}


def _all_leaves(lines: Iterable[Line]) -> set[str]:
    return {leaf for line in lines for leaf in _leaves(line)}


def _name(table: str, line: Line) -> str:
    return f"{table}-{line['shard']}.parquet"


def _names(line: Line) -> list[str]:
    return [_name(table, line) for table in line["bytes"]]


def _size(line: Line) -> int:
    return int(sum(line["bytes"].values()))


def _listed(found: list[str]) -> str:
    found = sorted(found)
    more = f", and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more


# -- copies ------------------------------------------------------------------------------------------


class _Stopped(DeskcheckError):
    """Another copy failed, or the user has had enough."""


def _stoppable(chunks: Iterable[bytes], stop: threading.Event) -> Iterator[bytes]:
    for chunk in chunks:
        if stop.is_set():
            raise _Stopped
        yield chunk


def _hash(chunks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def _in_parallel(
    work: Callable[[Line], _T], lines: list[Line], take: Callable[[Line, _T], None], stop: threading.Event
) -> None:
    """Call `work` for each line, several at a time, and in this thread `take` with what it gives. The first
    error, or an interrupt, ends the others between two chunks."""
    todo = iter(lines)
    running: dict[Future[_T], Line] = {}
    with ThreadPoolExecutor(COPIES) as pool:
        try:
            while True:
                for line in todo:
                    running[pool.submit(work, line)] = line
                    if len(running) >= 2 * COPIES:
                        break
                if not running:
                    return
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    take(running.pop(future), future.result())
        except BaseException:
            stop.set()
            for future in running:
                future.cancel()
            raise
