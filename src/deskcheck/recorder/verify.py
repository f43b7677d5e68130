"""Some recordings recorded again by the reference tracer, and compared event for event.

The reference is what defines a trace, and slow; the native tracer is what records. That the two
agree is tested on many programs; this tells of a user's own.

Not compared: what the reference itself recorded, calls that were recorded inside a project's tests,
programs that do not repeat, and programs whose threads take turns as the machine has it.

Who made a folder decides what its programs do, and what it says of how they ran. So they run at
`strict`, unless the caller says otherwise. A limit that a recording names counts up to `_MOST`. What is
none is left out and counted.
"""

import functools
import math
import platform
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain, islice
from typing import IO, Any, TypeVar

from deskcheck.errors import InputError, RecordingError, SandboxError
from deskcheck.files import read_json
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

REFERENCE = "reference"
_STOPPED = (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_LIMIT)
"""Where a limit ended a run under one tracer, it did so at another event under the other."""
_ENDING = ("outcome", "exception", "result", "stdout", "exit_status")
T = TypeVar("T")
U = TypeVar("U")


@dataclass(slots=True)
class ReferenceAgreement:
    """What came of it. recordings: in the folder. drawn: recorded again. compared: of those, how
    many could be compared; partly: of these, how many as far as a limit let both runs go. events:
    that were compared, up to the first that differs. different: recording id -> where the two first
    differ. left_out: why others, of the folder or of those drawn, could not be compared -> how
    many.
    """

    recordings: int
    seed: int
    drawn: int = 0
    compared: int = 0
    partly: int = 0
    events: int = 0
    different: dict[str, TraceDifference] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        different = {name: asdict(where) for name, where in self.different.items()}
        return told | {"different": different, "left_out": dict(self.left_out)}


def against_reference(
    recordings: Recordings,
    *,
    share: float = 1.0,
    most: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    workers: int = 1,
    confinement: Confinement | None = None,
    progress: Callable[[str], None] = lambda id_: None,
) -> ReferenceAgreement:
    """Record a share of these again by the reference tracer, and compare.

    share: of those that can be compared, at least one, and no more than `most`; drawn by `seed`,
    the same for the same folder. seconds: after these, no further one begins. Each runs as it was
    recorded: the same program, limits, sandbox, environment, hash seed. confinement: of all;
    without it, only those that were recorded at `strict`
    run, at `strict`. progress: told the id of each that is done.

    A difference counts where the reference, asked again, tells the same; else the program does not
    repeat.

    Raises:
        ValueError: share is not more than 0 and at most 1.
        SandboxError: the level of confinement cannot be had here.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share={share} must be more than 0 and at most 1")
    found = ReferenceAgreement(len(recordings), seed)
    fit = list(_fit(recordings, found.left_out, confinement))
    count = min(len(fit), max(1, round(share * len(fit))), len(fit) if most is None else most)
    drawn = random.Random(seed).sample(range(len(fit)), count)
    if seconds is None:
        drawn.sort()
    ends = math.inf if seconds is None else time.monotonic() + seconds
    stopping = threading.Event()

    def coming() -> Iterator[tuple[str, int]]:
        for number in drawn:
            if time.monotonic() >= ends:
                return
            found.drawn += 1
            yield fit[number]

    with _Place(workers, confinement, stopping.is_set) as place, ThreadPoolExecutor(workers) as pool:
        # A few at a time: each holds the events of its recording.
        one = functools.partial(_compare, place, recordings)
        try:
            for compared in _in_threads(pool, one, coming(), 2 * workers):
                _count(found, compared)
                progress(compared.id)
        except BaseException:
            stopping.set()
            raise
    if spent := count - found.drawn:
        found.left_out[_SPENT] = spent
    if not_drawn := len(fit) - count:
        found.left_out[_NOT_DRAWN] = not_drawn
    return found


def compare_folder(
    recordings: Recordings,
    *,
    seconds: float = 10.0,
    seed: int = 0,
    workers: int = 1,
    confinement: Confinement | None = None,
    progress: Callable[[str], None] = lambda id_: None,
) -> ReferenceAgreement:
    """As `against_reference`: of a folder of up to `FEW` recordings all, of a larger one as many as can be
    compared in these seconds. Where none can be compared here at all, they are left out and counted."""
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
    """Shard and row of those that can be compared; why not of the others."""
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
            left_out["our own machinery failed"] += 1
        elif tracer == REFERENCE:
            left_out["recorded by the reference"] += 1
        elif "python" in extra and "test" not in extra:
            left_out["recorded with another interpreter"] += 1
        elif "test" in extra:
            left_out["recorded inside a test"] += 1
        elif repeatable is False and not (difference or "").startswith(UNTRACED):
            left_out["not repeatable"] += 1
        elif threads > 1 and not turns:
            left_out["threads that take turns as the machine has it"] += 1
        elif confinement is None and sandbox != Confinement.STRICT:
            left_out[_LESS.format(sandbox if sandbox in _LEVELS else "unknown")] += 1
        else:
            yield shard, row


_LEVELS = [level.value for level in Confinement]
_LESS = "recorded at the level {}: --sandbox says at which they may run, if you trust who made them"
_NO_WORD = "what it says of its run cannot be used"
_DAMAGED = "damaged: `runs check` without --against says where"


def _in_threads(
    pool: ThreadPoolExecutor, one: Callable[[U], T], items: Iterable[U], at_once: int
) -> Iterator[T]:
    pending: set[Future[T]] = set()
    while True:
        pending |= {pool.submit(one, item) for item in islice(items, at_once - len(pending))}
        if not pending:
            return
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()


class _Place:
    """Sandboxes for recordings of different settings, each made when it is first wanted. Threads
    share it."""

    def __init__(self, workers: int, confinement: Confinement | None, cancelled: Callable[[], bool]) -> None:
        self.workers = workers
        self.level = confinement or Confinement.STRICT
        self.cancelled = cancelled
        self._stack = ExitStack()
        self._guard = threading.Lock()
        self._made: dict[tuple[bool, bool], Sandbox] = {}

    def __enter__(self) -> "_Place":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def sandbox(self, recording: Recording, again: bool = False) -> Sandbox:
        """again: not the one of a first run, whose forks share addresses and the name of their
        folder."""
        key = bool(recording.environment.fixed.get("addresses")), again
        with self._guard:
            if key not in self._made:
                determinism = Determinism(addresses=key[0] or None)
                sandbox = Sandbox(self.level, workers=1 if again else self.workers, determinism=determinism)
                self._made[key] = self._stack.enter_context(sandbox)
            return self._made[key]

    def run(self, recording: Recording, spool: IO[bytes], *, again: bool = False) -> RunResult:
        """Run a program as it was run, under the reference. Its blocks of events go to the file."""
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
    """How a recording says that its program ran."""

    limits: Limits
    trace_limits: TraceLimits
    granularity: Granularity
    hash_seed: int
    determinism: Determinism

    @classmethod
    def of(cls, recording: Recording) -> "_How":
        """Raises ValueError where that is none. Limits are no more than `_MOST`."""
        environment, program = recording.environment, recording.program
        # Files of before these were kept have been recorded with the usual ones, as far as we know.
        limits = _as(Limits(), environment.run_limits)
        most = replace(_MOST, memory_bytes=max(Limits().memory_bytes, machine_memory_bytes() // 2))
        bounded = {
            each.name: min(getattr(limits, each.name), getattr(most, each.name)) for each in fields(Limits)
        }
        seed = environment.hash_seed or 0
        if type(seed) is not int or not 0 <= seed < 1 << 32:
            raise ValueError(f"hash_seed is {seed!r:.40}")
        for name in ("environment", "file"):
            if not isinstance(program.extra.get(name, ""), str | None):
                raise ValueError(f"{name} is no text")
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
"""What a recording can ask for; of memory half of the machine's."""


def _as(usual: T, given: Any) -> T:
    """The dataclass with what it knows of these; a later version may have written more. Raises ValueError
    where something is not of the type that it is by itself, or is less than nothing."""
    if type(given) is not dict:
        raise ValueError(f"it is {given!r:.40}")
    found = {}
    for each in fields(usual):  # type: ignore[arg-type]
        if each.name in given:
            found[each.name] = value = given[each.name]
            if not _fits(value, getattr(usual, each.name)):
                raise ValueError(f"{each.name} is {value!r:.40}")
    return replace(usual, **found)  # type: ignore[type-var]


def _fits(value: Any, usual: Any) -> bool:
    if isinstance(usual, tuple):
        return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    if value is None or isinstance(value, bool):
        return usual is None
    if isinstance(usual, int):
        return isinstance(value, int) and 0 <= value < 1 << 62
    return isinstance(value, int | float) and 0 <= value < 1e15


@dataclass(frozen=True, slots=True)
class _Compared:
    """left_out: why it could not be compared. partly: only as far as a limit let both runs go."""

    id: str
    events: int = 0
    partly: bool = False
    difference: TraceDifference | None = None
    left_out: str | None = None


def _count(found: ReferenceAgreement, one: _Compared) -> None:
    if one.left_out is not None:
        found.left_out[one.left_out] += 1
        return
    found.compared += 1
    found.partly += one.partly
    found.events += one.events
    if one.difference is not None:
        found.different[one.id] = one.difference


def _compare(place: _Place, recordings: Recordings, at: tuple[str, int]) -> _Compared:
    try:
        recording = recordings.at(*at)
        _How.of(recording)
        wrong = _wrong_row(recording)
    except (RecordingError, ValueError) as error:
        why = _DAMAGED if isinstance(error, RecordingError) else _NO_WORD
        return _Compared(f"row {at[1]} of {at[0]}", left_out=why)
    if wrong is not None:
        return _Compared(recording.id, wrong.event, difference=wrong)
    try:
        built = place.sandbox(recording).environment(recording.program)
    except InputError:  # the environment that it names is not built here
        return _Compared(recording.id, left_out=f"the environment {recording.environment.name} is not here")
    python = platform.python_version() if built is None else built.python_version
    if python != recording.environment.python:
        return _Compared(recording.id, left_out=f"recorded with Python {recording.environment.python}")
    if built is not None and built.installed_sha256 != recording.environment.installed_sha256:
        return _Compared(recording.id, left_out=f"the environment {built.name} has changed")
    with tempfile.TemporaryFile() as spool:
        run_result = place.run(recording, spool)
        if run_result.outcome is Outcome.HARNESS_ERROR:
            return _Compared(recording.id, left_out=f"our own machinery failed: {run_result.detail}")
        if run_result.sources != recording.run_result.sources:
            return _Compared(recording.id, left_out="its files have changed")
        if run_result.packages != recording.run_result.packages:
            return _Compared(recording.id, left_out="other versions of packages are installed")
        partly = _partly(recording.run_result, run_result)
        difference, events = _difference(recording, run_result, spool, partly)
        if partly and not events:
            why = "a limit ended one of the runs before its first event"
            return _Compared(recording.id, left_out=why)
        if difference is not None and _is_masked(recording):
            return _Compared(recording.id, left_out="secrets were taken out of it")
        if difference is not None and not _repeats(place, recording, run_result, spool):
            return _Compared(recording.id, left_out="not repeatable")
    return _Compared(recording.id, events, partly, difference)


def _is_masked(recording: Recording) -> bool:
    """Whether something in it was masked."""
    columns = ("locals", "stack", "globals", "objects", "caller", "value", "output")
    result = recording.run_result
    texts = chain(
        (result.result, result.stdout, result.stderr, result.detail),
        (getattr(row, column) for trace in recording.traces for row in trace.rows for column in columns),
    )
    return any(MASKED in text or '"cut":"masked"' in text for text in texts if text)


def _wrong_row(recording: Recording) -> TraceDifference | None:
    """The first row that no tracer writes. Raises RecordingError where one cannot be read."""
    checker = Checker()
    for trace in recording.traces:
        for number, row in enumerate(trace.rows):
            try:
                checker.row(row)
            except (ValueError, OverflowError) as error:
                return TraceDifference(number, "row", "one that a tracer writes", str(error)[:300])
    return None


def _repeats(place: _Place, recording: Recording, run_result: RunResult, spool: IO[bytes]) -> bool:
    """Whether the reference, asked again, tells the same as it did."""
    with tempfile.TemporaryFile() as second:
        again = place.run(recording, second, again=True)
        partly = _partly(run_result, again)
        threads = range(len(recording.traces))
        pairs = ((_Thread(spool, number), _Thread(second, number)) for number in threads)
        if any(first_difference(one, other, may_end=partly) for one, other in pairs):
            return False
        return partly or all(getattr(run_result, name) == getattr(again, name) for name in _ENDING)


def _partly(one: RunResult, other: RunResult) -> bool:
    return one.cut != other.cut or one.outcome in _STOPPED or other.outcome in _STOPPED


class _Thread:
    """The events of one thread in a file of blocks, again and again."""

    def __init__(self, spool: IO[bytes], thread: int | None) -> None:
        self.spool = spool
        self.thread = thread

    def __iter__(self) -> Iterator[Row]:
        found = chain.from_iterable(map(rows, saved(self.spool)))
        return found if self.thread is None else (row for row in found if row.thread == self.thread)


def _difference(
    recording: Recording, run_result: RunResult, spool: IO[bytes], partly: bool
) -> tuple[TraceDifference | None, int]:
    """Where the two first differ, and how many events of the recording were compared."""
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
        one, other = getattr(run_result, name), getattr(recording.run_result, name)
        if one != other:
            return TraceDifference(events, name, str(one)[:300], str(other)[:300]), events
    return None, events
