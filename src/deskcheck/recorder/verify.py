"""Repeats recordings with the reference tracer, which defines a trace, and compares event by event.

Not compared are recordings by the reference itself, calls that were recorded inside a project's tests,
programs that do not repeat, and programs whose thread switches are not fixed.

The author of a folder decides what its programs do, and with which settings they claim to have run. So they
run at `strict` unless the caller chooses another level, and limits of a recording are capped at `_MOST`.
Recordings with unusable limits are left out and counted.
"""

import functools
import math
import platform
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain
from typing import IO, Any, TypeVar

from deskcheck.errors import InputError, RecordingError, SandboxError
from deskcheck.files import read_json
from deskcheck.jobs.threads import in_threads
from deskcheck.recording.block import rows, save, saved
from deskcheck.recording.comparison.tracers import TraceDifference, first_difference
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.reader import Recordings
from deskcheck.recording.recording import UNTRACED, Recording, RunResult
from deskcheck.recording.rules import Checker
from deskcheck.recording.secrets import MASKED
from deskcheck.recording.trace import Row
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.limits import Limits, machine_memory_bytes
from deskcheck.sandbox.process import Tracing
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.tracer.limits import Granularity, TraceLimits
from deskcheck.words import list_lines

REFERENCE = "reference"
_STOPPED = (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_LIMIT)
"""Outcomes of limits, which end a run at different events under the two tracers."""
_ENDING = ("outcome", "exception", "result", "stdout", "exit_status")
T = TypeVar("T")


@dataclass(slots=True)
class ReferenceAgreement:
    """Counts of recordings that were compared with the reference tracer."""

    recordings: int
    """Recordings in the folder."""
    seed: int
    drawn: int = 0
    """Programs that were run again."""
    compared: int = 0
    partly: int = 0
    """Compared only up to where a limit ended one of the runs."""
    events: int = 0
    """Compared events, up to the first difference of each recording."""
    different: dict[str, TraceDifference] = field(default_factory=dict)
    """Recording id -> the first difference."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason -> recordings that could not be compared."""

    def lines(self) -> Iterator[str]:
        """Sentences for a person."""
        partly = f", of these {self.partly} only up to a limit" if self.partly else ""
        result = f"{len(self.different)} differ" if self.different else "all are equal"
        yield (
            f"recorded again by the reference tracer: {self.drawn} of {self.recordings} recordings, drawn "
            f"with seed {self.seed}; compared: {self.compared}{partly}"
            + (f", {self.events} events: {result}" if self.compared else "")
        )
        different = {name: str(where) for name, where in self.different.items()}
        yield from list_lines("first difference of each", different)
        for reason, count in self.left_out.items():
            yield f"not compared: {count}, {reason}"

    def to_dict(self) -> dict[str, Any]:
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        different = {name: asdict(where) for name, where in self.different.items()}
        return values | {"different": different, "left_out": dict(self.left_out)}


def against_reference(
    recordings: Recordings,
    *,
    share: float = 1.0,
    max_count: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    workers: int = 1,
    confinement: Confinement | None = None,
    progress: Callable[[str], None] = lambda id_: None,
) -> ReferenceAgreement:
    """Repeat a share of the recordings with the reference tracer, and compare.

    Each run has the program, limits, environment and hash seed of its recording. If it differs, the reference
    tracer runs again. If its two runs differ, the program does not repeat.

    share: share of the recordings that can be compared: at least one, up to `max_count`, drawn by `seed`.
    seconds: time after which no further program starts. confinement: level for all programs; without it, only
    recordings made at `strict` are run, at `strict`. progress: called with the id of each recording.

    Raises:
        ValueError: share is not above 0 and up to 1.
        SandboxError: the level of confinement is not available here.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share={share} must be above 0 and up to 1")
    agreement = ReferenceAgreement(len(recordings), seed)
    fit = list(_fit(recordings, agreement.left_out, confinement))
    count = min(len(fit), max(1, round(share * len(fit))), len(fit) if max_count is None else max_count)
    drawn = random.Random(seed).sample(range(len(fit)), count)
    if seconds is None:
        drawn.sort()
    ends = math.inf if seconds is None else time.monotonic() + seconds
    stopping = threading.Event()

    def coming() -> Iterator[tuple[str, int]]:
        for number in drawn:
            if time.monotonic() >= ends:
                return
            agreement.drawn += 1
            yield fit[number]

    with _Place(workers, confinement, stopping.is_set) as sandboxes, ThreadPoolExecutor(workers) as pool:
        # A few at a time: each holds the events of its recording.
        compare_one = functools.partial(_compare, sandboxes, recordings)
        try:
            for _, future in in_threads(pool, compare_one, coming(), 2 * workers):
                compared = future.result()
                _count(agreement, compared)
                progress(compared.id)
        except BaseException:
            stopping.set()
            raise
    if spent := count - agreement.drawn:
        agreement.left_out[_SPENT] = spent
    if not_drawn := len(fit) - count:
        agreement.left_out[_NOT_DRAWN] = not_drawn
    return agreement


def compare_folder(
    recordings: Recordings,
    *,
    seconds: float = 10.0,
    seed: int = 0,
    workers: int = 1,
    confinement: Confinement | None = None,
    progress: Callable[[str], None] = lambda id_: None,
) -> ReferenceAgreement:
    """Compare all of up to `FEW` recordings by `against_reference`; of more, as many as the time allows.

    If this machine cannot compare any, all are left out and counted.
    """
    try:
        return against_reference(
            recordings,
            seconds=None if len(recordings) <= FEW else seconds,
            seed=seed,
            workers=workers,
            confinement=confinement,
            progress=progress,
        )
    except (SandboxError, RecordingError) as error:
        return ReferenceAgreement(len(recordings), seed, left_out=Counter({str(error): len(recordings)}))


FEW = 200
_SPENT = "the time for the comparison was spent"
_NOT_DRAWN = "not drawn"


def _fit(
    recordings: Recordings, left_out: Counter[str], confinement: Confinement | None
) -> Iterator[tuple[str, int]]:
    """Shard and row of each recording that can be compared. Counts the reasons for the others."""
    columns = ("outcome", "repeatable", "difference", "threads", "extra", "environment")
    for shard, row, outcome, repeatable, difference, threads, *texts in recordings.columns(*columns):
        try:
            extra, environment = (dict(read_json(text)) for text in texts)
            tracer, sandbox = environment["tracer"], environment.get("sandbox") or Confinement.STRICT
            turns = environment.get("fixed", {}).get("turns")
        except (ValueError, KeyError, TypeError, AttributeError):
            left_out[_NO_WORD] += 1
            continue
        if outcome == Outcome.HARNESS_ERROR:
            left_out["deskcheck failed"] += 1
        elif tracer == REFERENCE:
            left_out["recorded by the reference"] += 1
        elif "python" in extra and "test" not in extra:
            left_out["recorded with another interpreter"] += 1
        elif "test" in extra:
            left_out["recorded inside a test"] += 1
        elif repeatable is False and not (difference or "").startswith(UNTRACED):
            left_out["not repeatable"] += 1
        elif threads > 1 and not turns:
            left_out["threads in an order that the machine decides"] += 1
        elif confinement is None and sandbox != Confinement.STRICT:
            left_out[_LESS.format(sandbox if sandbox in _LEVELS else "unknown")] += 1
        else:
            yield shard, row


_LEVELS = [level.value for level in Confinement]
_LESS = "recorded at the level {}: if you trust their authors, choose the level with --sandbox"
_NO_WORD = "the settings of its run cannot be used"
_DAMAGED = "damaged: `runs check` without --against shows where"


class _Place:
    """Sandboxes for recordings with different settings, made on first use. Threads share it."""

    def __init__(self, workers: int, confinement: Confinement | None, cancelled: Callable[[], bool]) -> None:
        self.workers = workers
        self.level = confinement or Confinement.STRICT
        self.cancelled = cancelled
        self._stack = ExitStack()
        self._guard = threading.Lock()
        self._sandboxes: dict[tuple[bool, bool], Sandbox] = {}

    def __enter__(self) -> "_Place":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def sandbox(self, recording: Recording, again: bool = False) -> Sandbox:
        """The sandbox for a recording.

        again: a different one than for the first run, whose forks share addresses and the name of a folder.
        """
        key = bool(recording.environment.fixed.get("addresses")), again
        with self._guard:
            if key not in self._sandboxes:
                determinism = Determinism(addresses=key[0] or None)
                sandbox = Sandbox(self.level, workers=1 if again else self.workers, determinism=determinism)
                self._sandboxes[key] = self._stack.enter_context(sandbox)
            return self._sandboxes[key]

    def run(self, recording: Recording, spool: IO[bytes], *, again: bool = False) -> RunResult:
        """Run a recorded program under the reference, with its settings. Writes the events to a file."""
        how = _How.of(recording)
        return self.sandbox(recording, again).run_one(
            recording.program,
            limits=how.limits,
            tracing=Tracing(
                functools.partial(save, stream=spool), how.trace_limits, how.granularity, REFERENCE
            ),
            hash_seed=how.hash_seed,
            determinism=how.determinism,
            cancelled=self.cancelled,
        )


@dataclass(frozen=True, slots=True)
class _How:
    """The settings of a recorded run."""

    limits: Limits
    trace_limits: TraceLimits
    granularity: Granularity
    hash_seed: int
    determinism: Determinism

    @classmethod
    def of(cls, recording: Recording) -> "_How":
        """The settings in a recording, with limits up to `_MOST`. Raises ValueError for unusable settings."""
        environment, program = recording.environment, recording.program
        if {"last", "from"} & environment.limits.keys():
            raise ValueError("only a part of its events was kept")
        # Old files do not have the limits. They were probably recorded with the defaults.
        limits = _as(Limits(), environment.run_limits)
        highest = replace(_MOST, memory_bytes=max(Limits().memory_bytes, machine_memory_bytes() // 2))
        bounded = {
            limit.name: min(getattr(limits, limit.name), getattr(highest, limit.name))
            for limit in fields(Limits)
        }
        seed = environment.hash_seed or 0
        if type(seed) is not int or not 0 <= seed < 1 << 32:
            raise ValueError(f"hash_seed is {seed!r:.40}")
        for name in ("environment", "file", "run", "stdin", "stdin_encoding"):
            if not isinstance(program.extra.get(name, ""), str | None):
                raise ValueError(f"{name} is not text")
        arguments = program.extra.get("argv", [])
        if type(arguments) is not list or not all(isinstance(argument, str) for argument in arguments):
            raise ValueError("argv is not a list of texts")
        return cls(
            Limits(**bounded),
            _as(TraceLimits(), environment.trace_limits or environment.limits),
            Granularity(environment.granularity),
            seed,
            _as(Determinism(), environment.fixed),
        )


_MOST = Limits(
    cpu_s=600.0,
    wall_s=1800.0,
    output_bytes=64 << 20,
    file_bytes=1 << 30,
    open_files=4096,
    processes=4096,
)
"""The highest limits that a recording can set. For memory it is half of the machine's."""


def _as(usual: T, values: Any) -> T:
    """The dataclass with these values. Values of unknown fields, from later versions, are ignored.

    Raises ValueError for a value of another type, or below zero.
    """
    if type(values) is not dict:
        raise ValueError(f"it is {values!r:.40}")
    changes = {}
    for known_field in fields(usual):  # type: ignore[arg-type]
        if known_field.name in values:
            changes[known_field.name] = value = values[known_field.name]
            if not _fits(value, getattr(usual, known_field.name)):
                raise ValueError(f"{known_field.name} is {value!r:.40}")
    return replace(usual, **changes)  # type: ignore[type-var]


def _fits(value: Any, usual: Any) -> bool:
    if isinstance(usual, tuple):
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    if value is None or isinstance(value, bool):
        return usual is None
    if isinstance(usual, int):
        return isinstance(value, int) and 0 <= value < 1 << 62
    return isinstance(value, int | float) and 0 <= value < 1e15


@dataclass(frozen=True, slots=True)
class _Compared:
    """The comparison of a recording, or the reason why it was left out."""

    id: str
    events: int = 0
    partly: bool = False
    difference: TraceDifference | None = None
    left_out: str | None = None


def _count(agreement: ReferenceAgreement, compared: _Compared) -> None:
    if compared.left_out is not None:
        agreement.left_out[compared.left_out] += 1
        return
    agreement.compared += 1
    agreement.partly += compared.partly
    agreement.events += compared.events
    if compared.difference is not None:
        agreement.different[compared.id] = compared.difference


def _compare(sandboxes: _Place, recordings: Recordings, row: tuple[str, int]) -> _Compared:
    try:
        recording = recordings.at(*row)
        _How.of(recording)
        wrong = _wrong_row(recording)
    except (RecordingError, ValueError) as error:
        reason = _DAMAGED if isinstance(error, RecordingError) else _NO_WORD
        return _Compared(f"row {row[1]} of {row[0]}", left_out=reason)
    if wrong is not None:
        return _Compared(recording.id, wrong.event, difference=wrong)
    try:
        built = sandboxes.sandbox(recording).environment(recording.program)
    except InputError:  # the environment that it names is not built here
        return _Compared(recording.id, left_out=f"the environment {recording.environment.name} is not here")
    python = platform.python_version() if built is None else built.python_version
    if python != recording.environment.python:
        return _Compared(recording.id, left_out=f"recorded with Python {recording.environment.python}")
    if built is not None and built.installed_sha256 != recording.environment.installed_sha256:
        return _Compared(recording.id, left_out=f"the environment {built.name} has changed")
    with tempfile.TemporaryFile() as spool:
        run_result = sandboxes.run(recording, spool)
        if run_result.outcome is Outcome.HARNESS_ERROR:
            return _Compared(recording.id, left_out=f"deskcheck failed: {run_result.detail}")
        if run_result.sources != recording.run_result.sources:
            return _Compared(recording.id, left_out="its files have changed")
        if run_result.packages != recording.run_result.packages:
            return _Compared(recording.id, left_out="other package versions are installed")
        partly = _partly(recording.run_result, run_result)
        difference, events = _difference(recording, run_result, spool, partly)
        if partly and not events:
            reason = "a limit ended one of the runs before its first event"
            return _Compared(recording.id, left_out=reason)
        if difference is not None and _is_masked(recording):
            return _Compared(recording.id, left_out="its secrets were masked")
        if difference is not None and not _repeats(sandboxes, recording, run_result, spool):
            return _Compared(recording.id, left_out="not repeatable")
    return _Compared(recording.id, events, partly, difference)


def _is_masked(recording: Recording) -> bool:
    """Whether a part of the recording was masked."""
    columns = ("locals", "stack", "globals", "objects", "caller", "value", "output")
    result = recording.run_result
    texts = chain(
        (result.result, result.stdout, result.stderr, result.detail),
        (getattr(row, column) for trace in recording.traces for row in trace.rows for column in columns),
    )
    return any(MASKED in text or '"cut":"masked"' in text for text in texts if text)


def _wrong_row(recording: Recording) -> TraceDifference | None:
    """The first row that a tracer cannot have written. Raises RecordingError if a row cannot be read."""
    checker = Checker()
    for trace in recording.traces:
        for number, row in enumerate(trace.rows):
            try:
                checker.row(row)
            except (ValueError, OverflowError) as error:
                return TraceDifference(number, "row", "a valid row", str(error)[:300])
    return None


def _repeats(sandboxes: _Place, recording: Recording, run_result: RunResult, spool: IO[bytes]) -> bool:
    """Whether another run under the reference is the same."""
    with tempfile.TemporaryFile() as second:
        again = sandboxes.run(recording, second, again=True)
        partly = _partly(run_result, again)
        threads = range(len(recording.traces))
        pairs = ((_Thread(spool, number), _Thread(second, number)) for number in threads)
        if any(first_difference(before, after, may_end=partly) for before, after in pairs):
            return False
        return partly or all(getattr(run_result, name) == getattr(again, name) for name in _ENDING)


def _partly(before: RunResult, after: RunResult) -> bool:
    return before.cut != after.cut or before.outcome in _STOPPED or after.outcome in _STOPPED


class _Thread:
    """The events of one thread in a file of blocks; each iteration reads the file."""

    def __init__(self, spool: IO[bytes], thread: int | None) -> None:
        self.spool = spool
        self.thread = thread

    def __iter__(self) -> Iterator[Row]:
        events = chain.from_iterable(map(rows, saved(self.spool)))
        return events if self.thread is None else (row for row in events if row.thread == self.thread)


def _difference(
    recording: Recording, run_result: RunResult, spool: IO[bytes], partly: bool
) -> tuple[TraceDifference | None, int]:
    """The first difference, and the number of compared events."""
    events = 0
    for trace in recording.traces:
        thread = trace.thread if len(recording.traces) > 1 else None
        again = _Thread(spool, thread)
        where = first_difference(again, trace.rows, may_end=partly)
        if where is not None:
            return where, events + min(where.event + 1, len(trace))
        events += min(len(trace), sum(1 for _ in again)) if partly else len(trace)
    if partly:
        return None, events
    for name in _ENDING:
        again_value, recorded_value = getattr(run_result, name), getattr(recording.run_result, name)
        if again_value != recorded_value:
            return TraceDifference(events, name, str(again_value)[:300], str(recorded_value)[:300]), events
    return None, events
