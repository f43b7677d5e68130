"""The driver of a job: submits tasks, repeats those whose process dies, and isolates items that kill it."""

import shutil
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Protocol

from deskcheck.errors import DeskcheckError
from deskcheck.jobs.job_folder import JobFolder
from deskcheck.jobs.manifest import FAILURES, Line, Totals, add_line, is_line, write_manifest
from deskcheck.jobs.plan import SIZE, Job, Planning, Shard
from deskcheck.words import counted, list_lines

TRIES = 3
"""Deaths or failures after which a shard is halved, or a single program is given up."""
_POLL_S = 0.5
_BEFORE_S = 1.0
_SLICE_S = 0.05
"""Seconds for reading items before the driver looks for answers."""
_LOOKED_INTO = 64
_OTHER = "reported on something other than its shard"


class TaskAnswer(NamedTuple):
    """The answer to one task: its result, a refusal or a death."""

    number: int
    """The number that the task was submitted with."""
    result: Any = None
    refused: DeskcheckError | None = None
    """The error that ends the job."""
    death: str | None = None
    """How the process of the task failed or ended."""


class Runner(Protocol):
    """Runs tasks in other processes, each by `work.run_task`."""

    @property
    def room(self) -> int:
        """Number of further tasks that can be submitted now."""

    def submit(self, number: int, task: dict[str, Any]) -> None:
        """Accept a task. Its answer has the same number."""

    def wait(self, timeout_s: float) -> list[TaskAnswer]:
        """The answers that have arrived; an empty list if none arrives in time."""

    def close(self, *, kill: bool) -> None:
        """End all processes. kill: in the middle of tasks."""


class Progress(NamedTuple):
    """The progress of a job."""

    finished: int
    total: int
    """Number of programs that are planned so far."""
    by_outcome: Counter[str]
    rate: float | None
    """Programs a second; None until one is finished."""
    left_s: float | None
    """Seconds left; None until a program is finished and the plan is complete."""
    planning: bool = False
    """Whether the plan is still being made."""

    def __str__(self) -> str:
        time_left = "" if self.left_s is None else f", {duration(self.left_s)} left"
        rate = "" if self.rate is None else f"{self.rate:.3g}/s{time_left}"
        failed = sum(self.by_outcome[kind] for kind in FAILURES)
        planning = f"{self.total} planned " if self.planning else ""
        return planning + rate + (f", {failed} failed" if failed else "")


def duration(seconds: float) -> str:
    """The seconds as hours:minutes:seconds."""
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds_left:02}"


@dataclass(slots=True)
class JobSummary:
    """Counts of a job that ended."""

    recorded: int = 0
    """Programs in shards that this job made."""
    skipped: int = 0
    """Programs in shards that existed before."""
    totals: Totals = field(default_factory=Totals)
    """Sums over the whole folder."""
    changed: list[str] = field(default_factory=list)
    """Files that differed from the manifest; their shards were made again."""
    tried_again: Counter[str] = field(default_factory=Counter)
    """Repeated tasks, by how their process had ended."""
    wall_s: float = 0.0

    @property
    def problems(self) -> dict[str, str]:
        return self.totals.problems

    @property
    def in_folder(self) -> int:
        return self.totals.programs

    def lines(self, out: Path) -> Iterator[str]:
        """Sentences about a job that records."""
        recorded = counted(self.recorded, "program")
        yield f"recorded {recorded} in {out}, which now has {self.totals.text()}"
        yield from self.notes()

    def notes(self) -> Iterator[str]:
        """Sentences about skipped, changed and repeated work, for every kind of job."""
        if self.skipped:
            yield f"skipped {self.skipped}, already in the folder"
        if self.changed:
            yield f"made again, because they differed from the manifest: {', '.join(self.changed)}"
        for how, count in self.tried_again.items():
            yield f"retries: {count}, after a process {how}"
        yield from list_lines("failures of deskcheck", self.problems)

    def to_dict(self) -> dict[str, Any]:
        return {
            "recorded": self.recorded,
            "skipped": self.skipped,
            "changed": self.changed,
            "tried_again": dict(self.tried_again),
            "wall_s": round(self.wall_s, 3),
            **self.totals.to_dict(),
        }


def run_job(
    job: Job,
    folder: str | Path,
    *,
    runner: Runner,
    size: int = SIZE,
    replace: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> JobSummary:
    """Make the missing shards of a job, of about `size` items each.

    A task whose process dies or fails is repeated. After the third time its shard is halved, and so on, until
    one item is identified as the cause; the manifest names it. The same call resumes a job that was stopped.
    SIGTERM ends the job by SystemExit(143).

    replace: delete shards that are not in the plan when the new ones are complete, instead of refusing them.
    progress: called a few times a second.

    Raises:
        InputError: an item or the folder cannot be used, or machines have different versions of Python.
        RecordingError: another job uses the folder, or the disk refuses.
    """
    job_folder = JobFolder(folder)
    began = time.monotonic()
    orderly = False
    lock = None
    planning: Planning | None = None
    try:
        with job_folder.doing("write here"):
            job_folder.folder.mkdir(parents=True, exist_ok=True)
            lock = job_folder.lock()
        with terminable():
            planning = Planning(job, job_folder, size=size, replace=replace)
            driver = _Driver(job, job_folder, planning, runner)
            driver.run(progress)
            driver.finish()
        orderly = True
    finally:
        try:
            runner.close(kill=not orderly)
        finally:
            if planning is not None:
                planning.close()
            if lock is not None:
                lock.release()
    driver.summary.wall_s = time.monotonic() - began
    return driver.summary


@contextmanager
def terminable() -> Iterator[None]:
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
    """A task for a shard, or for some of its items."""

    shard: Shard
    do: str
    """``make``, ``join`` or ``describe``."""
    first: int = 0
    stop: int = 0
    blame: str | None = None
    """Why the only item is given up; it is then recorded as a failure."""
    deaths: list[str] = field(default_factory=list)
    """How the processes of this task ended so far."""

    @property
    def whole(self) -> bool:
        return self.stop - self.first == self.shard.programs


class _Driver:
    def __init__(self, job: Job, job_folder: JobFolder, planning: Planning, runner: Runner) -> None:
        self.job = job
        self.job_folder = job_folder
        self.planning = planning
        self.runner = runner
        self.common = {"work": job.work, "folder": str(job_folder.folder.resolve())}
        self.lines: dict[str, Line] = {}
        self.summary = JobSummary(
            changed=sorted(name for names in planning.changed.values() for name in names)
        )
        self.todo: deque[_Work] = deque()
        """Tasks that come before new shards."""
        self.parts: dict[str, list[tuple[int, int]]] = {}
        """Finished parts of halved shards."""
        self.leftovers: dict[str, list[Path]] = {}
        """Unfinished work of an earlier job that is not resumed yet, by shard."""
        self.running: dict[int, _Work] = {}
        self.number = 0
        self.before = 0
        """Programs that were finished when this job began."""
        self.highest_finished = 0

    def run(self, progress: Callable[[Progress], None]) -> None:
        # A short plan is made before anything runs, so that a mistake in it leaves nothing behind.
        self.planning.go_on(_past(_BEFORE_S))
        begun, reported = time.monotonic(), 0.0
        self._begin()
        while self._give_out() or self.running or not self.planning.is_whole:
            self._plan_on()
            for answer in self.runner.wait(_POLL_S if self.planning.is_whole else 0):
                self._take(self.running.pop(answer.number), answer)
            if time.monotonic() - reported >= _POLL_S or (self.planning.is_whole and not self._left_to_do()):
                reported = time.monotonic()
                progress(self._progress(reported - begun))

    def _plan_on(self) -> None:
        """Plan for a moment, or until an idle runner has work."""
        if self.planning.is_whole:
            return
        waits = self.runner.room > 0
        past = _past(_SLICE_S)
        self.planning.go_on(lambda: past() or (waits and self.planning.ready > 0))

    def _left_to_do(self) -> int:
        return len(self.todo) + len(self.running) + self.planning.ready

    def _begin(self) -> None:
        """Find the unfinished work of an earlier job."""
        if self.job_folder.work.is_dir():
            for path in self.job_folder.work.iterdir():
                self.leftovers.setdefault(path.name.partition(".")[0], []).append(path)
        # Shards that are not in the plan do not count, but the plan is not known yet.
        self.before = finished_inside(self.job_folder)

    def _give_out(self) -> bool:
        """Submit as many tasks as the runner accepts. Return whether more are waiting."""
        while self.runner.room > 0:
            if not self.todo:
                if not self.planning.ready:
                    break
                self._know(self.planning.take())
            if self.todo:
                self._give(self.todo.popleft())
        return self._left_to_do() > len(self.running)

    def _know(self, shard: Shard) -> None:
        """Add the task for a planned shard, if it needs one."""
        if shard.name not in self.planning.complete:
            self._sweep(self.leftovers.pop(shard.name, []), f"{shard.name}.0-{shard.programs}")
            self.todo.append(_Work(shard, "make", 0, shard.programs))
            return
        self.summary.skipped += shard.programs
        name = self.planning.parts.get(shard.name, shard.name)
        line = self.planning.lines.get(name)
        if line is None:
            self.todo.append(_Work(shard, "describe"))
        elif name not in self.lines:
            self.lines[name] = line
            self.summary.totals.add(line)
            self.before += line["programs"]

    def _sweep(self, paths: list[Path], except_name: str = "") -> None:
        """Delete unfinished work of an earlier job that is not resumed."""
        with self.job_folder.doing("delete the files of an earlier job"):
            for path in paths:
                if path.name != except_name:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _done(self) -> int:
        # Unfinished shards are counted only if they are few: the count is for a person who waits.
        inside = finished_inside(self.job_folder) if len(self.running) <= _LOOKED_INTO else 0
        return self.summary.totals.programs + inside

    def _progress(self, took: float) -> Progress:
        # For a moment, a shard that is moved into the folder is not counted at all.
        finished = self.highest_finished = max(self.highest_finished, self._done())
        total, planned = self.planning.programs, self.planning.is_whole
        rate = (finished - self.before) / took if finished > self.before else None
        left_s = None if rate is None or not planned else (total - finished) / rate
        return Progress(finished, total, self.summary.totals.by_outcome, rate, left_s, planning=not planned)

    def _give(self, work: _Work) -> None:
        task: dict[str, Any] = {**self.common, "do": work.do, "shard": work.shard.name}
        if work.do == "make":
            # Reuse the results of an earlier try, unless they may be the cause of the failures.
            fresh = len(work.deaths) >= TRIES - 1 and work.blame is None
            task |= {**self.job.task, "first": work.first, "stop": work.stop, "whole": work.whole}
            task |= {"fresh": fresh, "blame": work.blame}
        elif work.do == "join":
            task["parts"] = sorted(self.parts[work.shard.name])
        if self.number == 0:
            self.job.begin(self.job_folder)
        self.running[self.number] = work
        self.runner.submit(self.number, task)
        self.number += 1

    def _take(self, work: _Work, answer: TaskAnswer) -> None:
        if answer.refused is not None:
            raise answer.refused
        if answer.death is not None:
            self.summary.tried_again[answer.death] += 1
            self._again(work, answer.death)
        elif work.do == "make" and not work.whole:
            finished = self.parts.setdefault(work.shard.name, [])
            finished.append((work.first, work.stop))
            if sum(stop - first for first, stop in finished) == work.shard.programs:
                self.todo.appendleft(_Work(work.shard, "join"))
        elif not is_line(answer.result) or answer.result["shard"] != work.shard.name:
            self.summary.tried_again[_OTHER] += 1
            self._again(work, _OTHER)
        else:
            self._whole(work, answer.result)

    def _again(self, work: _Work, death: str) -> None:
        work.deaths.append(death)
        count = work.stop - work.first
        # A shard that was halved is halved again after one death: only single items get all tries.
        patient = work.whole or count <= 1
        if len(work.deaths) < TRIES and patient:
            self.todo.appendleft(work)
        elif work.do != "make" or work.blame is not None:
            raise DeskcheckError(
                f"{self.job_folder.folder}: shard {work.shard.name} cannot be finished: {death} "
                f"({TRIES} times). Complete shards are kept. Rerun the command to resume."
            )
        elif count > 1:
            scratch = self.job_folder.scratch(work.shard.name, work.first, work.stop)
            shutil.rmtree(scratch, ignore_errors=True)  # if this fails, `finish` deletes it
            middle = work.first + count // 2
            self.todo.appendleft(_Work(work.shard, "make", middle, work.stop))
            self.todo.appendleft(_Work(work.shard, "make", work.first, middle))
        else:
            times = Counter(work.deaths)
            how = "; ".join(f"{text} ({n} times)" for text, n in times.items())
            blame = f"the process that had it ended {TRIES} times: {how}"
            self.todo.appendleft(_Work(work.shard, "make", work.first, work.stop, blame))

    def _whole(self, work: _Work, line: Line) -> None:
        if line["programs"] != work.shard.programs:
            raise DeskcheckError(
                f"{self.job_folder.folder}: shard {work.shard.name} has {line['programs']} of "
                f"{work.shard.programs} planned programs. Move its files away and start again."
            )
        add_line(self.job_folder, line)
        self.lines[work.shard.name] = line
        self.summary.totals.add(line)
        if work.do != "describe":
            self.summary.recorded += work.shard.programs
            self.job_folder.plan(work.shard.name).unlink(missing_ok=True)
        for part in self.parts.pop(work.shard.name, ()):  # not in the join, which may have to be repeated
            shutil.rmtree(self.job_folder.scratch(work.shard.name, *part), ignore_errors=True)

    def finish(self) -> None:
        """Write the final manifest, and delete the files that only the job needed."""
        parts = self.planning.parts
        names = dict.fromkeys(parts.get(shard.name, shard.name) for shard in self.planning.shards)
        lines = [self.lines[name] for name in names]
        write_manifest(self.job_folder, lines)
        self.job.finish(self.job_folder, lines)
        with self.job_folder.doing("delete the files that the job needed"):
            shutil.rmtree(self.job_folder.hidden)
            shards_by_table = self.job_folder.files()
            for table in self.job.tables:  # half of a shard that is in no plan any more
                for name in shards_by_table.get(table, set()) - self.lines.keys():
                    self.job_folder.file(table, name).unlink()


def _past(seconds: float) -> Callable[[], bool]:
    """A function that returns whether the seconds have passed since this call."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def finished_inside(job_folder: JobFolder) -> int:
    """Number of finished programs in unfinished shards."""
    return sum(1 for _ in job_folder.work.glob("*/.spool/*.json"))
