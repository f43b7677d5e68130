"""The driver of a job: gives out the work, tries again what dies, and finds the program that kills.

It knows nothing of where the work is done: that is the runner's. It keeps the plan and a line for each whole
shard, and gives out no more than the runner has room for.
"""

import shutil
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Protocol

from deskcheck.recording.errors import DeskcheckError
from deskcheck.recording.program import Program
from deskcheck.sandbox.recorder import RecordSettings
from deskcheck.scale.manifest import Totals, add_line, read_manifest, write_manifest
from deskcheck.scale.place import Place
from deskcheck.scale.plan import SIZE, Plan, Shard, decided_by, make_plan

TRIES = 3
"""Deaths or failures after which a shard is halved, and of a program alone after which it is given up."""
_POLL_S = 0.5
_LOOKED_INTO = 64


class Answer(NamedTuple):
    """What became of a task. One of: done, what it gives; refused, why the job cannot go on; death, how the
    process that had it ended, or failed."""

    number: int
    done: Any = None
    refused: DeskcheckError | None = None
    death: str | None = None


class Runner(Protocol):
    """Where tasks are done: each by `work.run_task`, in another process."""

    @property
    def room(self) -> int:
        """How many tasks it takes now."""

    def submit(self, number: int, task: dict[str, Any]) -> None:
        """Take a task, under a number that its answer has too."""

    def wait(self, timeout_s: float) -> list[Answer]:
        """Answers that have come; an empty list if none does in time."""

    def close(self, *, kill: bool) -> None:
        """End all that was started. kill: at once, in the middle of tasks."""


class Progress(NamedTuple):
    """How far a job is: programs in whole shards and finished in others, of how many; by kind what is whole;
    programs a second and seconds to the end, None until something is finished. planning: still counting."""

    done: int
    of: int
    by_outcome: Counter[str]
    rate: float | None
    left_s: float | None
    planning: bool = False


@dataclass(slots=True)
class JobSummary:
    """What a job did. recorded: programs of shards that it made. skipped: of shards that were there.
    totals: all that the folder holds. tried_again: how often work was given out again, by how it had
    ended."""

    recorded: int = 0
    skipped: int = 0
    totals: Totals = field(default_factory=Totals)
    tried_again: Counter[str] = field(default_factory=Counter)
    wall_s: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "recorded": self.recorded,
            "skipped": self.skipped,
            "tried_again": dict(self.tried_again),
            "wall_s": round(self.wall_s, 3),
            **self.totals.to_dict(),
        }


def record_job(
    programs: Iterable[Program],
    folder: str | Path,
    *,
    runner: Runner,
    settings: RecordSettings | None = None,
    size: int = SIZE,
    replace: bool = False,
    patience_s: float | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> JobSummary:
    """Record programs in shards of about `size`, those that the folder does not have yet, wherever
    `runner` does it.

    A program's failure is a row. Work whose process dies or fails is tried again; a shard to which that
    happens three times is halved, and so on, until the program that does it stands alone: its row has the
    outcome ``harness_error`` and says how. Started again after any end, the same call does only what is
    missing.

    replace: shards that the folder has and this plan has not are deleted when the new ones are whole;
    otherwise they are refused. patience_s: longest time for one program, all its runs together, before the
    process that records it counts as hung. progress: called a few times a second.

    SIGTERM ends the job as an interrupt does, by SystemExit(143).

    Raises:
        InputError: a program or the folder cannot be used; another Python on another machine.
        RecordingError: another job has the folder, or the disk refuses.
        SandboxError: a machine does not give what the level needs.
    """
    settings = settings or RecordSettings()
    place = Place(folder)
    began = time.monotonic()
    orderly = False
    lock = None
    try:
        with place.doing("write recordings here"):
            place.folder.mkdir(parents=True, exist_ok=True)
            lock = place.lock()
        with _terminable():
            plan = make_plan(
                programs,
                place,
                settings,
                size=size,
                replace=replace,
                progress=lambda n: progress(Progress(n, 0, Counter(), None, None, planning=True)),
            )
            if patience_s is None:
                # Wall time of a program does not count what it waits for a processor; some thirty runs
                # explain.
                patience_s = max(600.0, 60 * settings.limits.wall_s)
            driver = _Driver(place, plan, settings, runner, patience_s)
            driver.run(progress)
            driver.finish()
        orderly = True
    finally:
        try:
            runner.close(kill=not orderly)
        finally:
            if lock is not None:
                lock.release()
    driver.summary.wall_s = time.monotonic() - began
    return driver.summary


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM, which batch schedulers send, ends the block as an interrupt would."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass(slots=True)
class _Work:
    """A task that was or is to be given out, and how it ended so far."""

    shard: Shard
    do: str
    first: int = 0
    stop: int = 0
    blame: str | None = None
    deaths: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        return self.stop - self.first == self.shard.programs


class _Driver:
    def __init__(
        self, place: Place, plan: Plan, settings: RecordSettings, runner: Runner, patience_s: float
    ) -> None:
        self.place = place
        self.plan = plan
        self.runner = runner
        self.common = {
            "folder": str(place.folder.resolve()),
            "settings": settings.to_dict(),
            "decided_by": decided_by(settings),
            "patience_s": patience_s,
        }
        self.lines = read_manifest(place)
        there = place.shards()
        self.summary = JobSummary()
        self.todo: deque[_Work] = deque()
        self.parts: dict[str, list[tuple[int, int]]] = {}
        """Of shards that were halved: the parts that are done."""
        for shard in plan.shards:
            if shard.name not in there:
                self.lines.pop(shard.name, None)
                self.todo.append(_Work(shard, "record", 0, shard.programs))
            elif shard.name not in self.lines:
                self.todo.append(_Work(shard, "describe"))
            if shard.name in there:
                self.summary.skipped += shard.programs
        wanted = {shard.name for shard in plan.shards}
        self.lines = {name: line for name, line in self.lines.items() if name in wanted}
        for line in self.lines.values():
            self.summary.totals.add(line)
        write_manifest(place, plan, self.lines)
        self._sweep({f"{work.shard.name}.0-{work.stop}" for work in self.todo})
        self.given: dict[int, _Work] = {}
        self.number = 0
        self.shown = 0

    def _sweep(self, kept: set[str]) -> None:
        """Delete what an earlier job left unfinished and nobody goes on from."""
        with self.place.doing("delete what an earlier job left"):
            self.place.work.mkdir(parents=True, exist_ok=True)
            for path in self.place.work.iterdir():
                if path.name not in kept:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def run(self, progress: Callable[[Progress], None]) -> None:
        begun = time.monotonic()
        before = self._done()
        told = 0.0
        while self.todo or self.given:
            while self.todo and self.runner.room > 0:
                self._give(self.todo.popleft())
            for answer in self.runner.wait(_POLL_S):
                self._take(self.given.pop(answer.number), answer)
            if time.monotonic() - told >= _POLL_S or not (self.todo or self.given):
                told = time.monotonic()
                progress(self._progress(before, told - begun))

    def _done(self) -> int:
        # Looking into shards in work is for a person who waits for the first: not with thousands of them.
        inside = finished_inside(self.place) if len(self.given) <= _LOOKED_INTO else 0
        return self.summary.totals.programs + inside

    def _progress(self, before: int, took: float) -> Progress:
        # A shard that is being put in its place is counted nowhere for a moment.
        done = self.shown = max(self.shown, self._done())
        rate = (done - before) / took if done > before else None
        left = None if rate is None else (self.plan.programs - done) / rate
        return Progress(done, self.plan.programs, self.summary.totals.by_outcome, rate, left)

    def _give(self, work: _Work) -> None:
        task: dict[str, Any] = {"do": work.do, "folder": self.common["folder"], "shard": work.shard.name}
        if work.do == "record":
            # What an earlier try finished is kept, unless that may be what is wrong.
            fresh = len(work.deaths) >= TRIES - 1 and work.blame is None
            task |= {**self.common, "first": work.first, "stop": work.stop, "whole": work.whole}
            task |= {"fresh": fresh, "blame": work.blame}
        elif work.do == "join":
            task["parts"] = sorted(self.parts[work.shard.name])
        self.given[self.number] = work
        self.runner.submit(self.number, task)
        self.number += 1

    def _take(self, work: _Work, answer: Answer) -> None:
        if answer.refused is not None:
            raise answer.refused
        if answer.death is not None:
            self.summary.tried_again[answer.death] += 1
            self._again(work, answer.death)
        elif work.do == "record" and not work.whole:
            done = self.parts.setdefault(work.shard.name, [])
            done.append((work.first, work.stop))
            if sum(stop - first for first, stop in done) == work.shard.programs:
                self.todo.appendleft(_Work(work.shard, "join"))
        else:
            self._whole(work, answer.done)

    def _again(self, work: _Work, death: str) -> None:
        work.deaths.append(death)
        count = work.stop - work.first
        # Of a shard that was halved, once is enough to halve again: only a program alone is accused.
        patient = work.whole or count <= 1
        if len(work.deaths) < TRIES and patient:
            self.todo.appendleft(work)
        elif work.do != "record" or work.blame is not None:
            raise DeskcheckError(
                f"{self.place.folder}: shard {work.shard.name} cannot be finished: {death} ({TRIES} times). "
                "What is whole is kept; the same command goes on from there."
            )
        elif count > 1:
            self._throw_away(work)
            middle = work.first + count // 2
            self.todo.appendleft(_Work(work.shard, "record", middle, work.stop))
            self.todo.appendleft(_Work(work.shard, "record", work.first, middle))
        else:
            times = Counter(work.deaths)
            how = "; ".join(f"{text} ({n} times)" for text, n in times.items())
            blame = f"the process that recorded it ended {TRIES} times: {how}"
            self.todo.appendleft(_Work(work.shard, "record", work.first, work.stop, blame=blame))

    def _throw_away(self, work: _Work) -> None:
        scratch = self.place.work / f"{work.shard.name}.{work.first}-{work.stop}"
        shutil.rmtree(scratch, ignore_errors=True)  # what cannot be deleted is when the job ends

    def _whole(self, work: _Work, line: dict[str, Any]) -> None:
        if line["programs"] != work.shard.programs:
            raise DeskcheckError(
                f"{self.place.folder}: shard {work.shard.name} holds {line['programs']} of "
                f"{work.shard.programs} programs. Move its two files away and start again."
            )
        add_line(self.place, line)
        self.lines[work.shard.name] = line
        self.summary.totals.add(line)
        if work.do != "describe":
            self.summary.recorded += work.shard.programs
            self.place.plan(work.shard.name).unlink(missing_ok=True)

    def finish(self) -> None:
        """Leave what a reader needs, and nothing else."""
        write_manifest(self.place, self.plan, self.lines)
        with self.place.doing("delete what the job needed"):
            shutil.rmtree(self.place.hidden)
            for name in self.place.events() - self.lines.keys():
                self.place.file("events", name).unlink()  # half of a shard that no plan has any more


def finished_inside(place: Place) -> int:
    """Programs that are finished in shards that are not."""
    return sum(1 for _ in place.work.glob("*/.spool/*.json"))
