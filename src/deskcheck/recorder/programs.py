"""Records many programs into a folder: in parallel, resumable, each checked for repeatability."""

import copy
import functools
import logging
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from deskcheck.errors import InputError
from deskcheck.recorder.masking import mask_around, masked, masked_text
from deskcheck.recorder.repeats import Cause, causes, in_words
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.comparison.runs import difference, save, saved
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Program
from deskcheck.recording.recording import RunResult
from deskcheck.recording.secrets import EnvironmentMask
from deskcheck.recording.writer import Writer
from deskcheck.sandbox.environments import of_interpreter
from deskcheck.sandbox.process import Sink, Tracing
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.tracer import tracer_class

_log = logging.getLogger(__name__)
SLOW = (
    "the tracer's C core is not built for this Python: the reference tracer records, which tells the same "
    "and takes about a hundred times as long. With a C compiler, installing deskcheck again builds it."
)
"""What a user of the reference tracer is told."""
SLOW_THERE = (
    "the tracer's C core is not built for that Python: the reference tracer records, which tells the same "
    "and takes about a hundred times as long. Where deskcheck is installed from a wheel of that Python's "
    "version, or built in its source folder with that version, there is one."
)
"""The same, of another interpreter."""
HASH_SEEDS = (0, 1)
"""PYTHONHASHSEED of the run that is kept, and of the one that it is compared with."""


@dataclass(slots=True)
class RecordSummary:
    """What `record_programs` did.

    recorded: new recordings. skipped: programs that the folder already held. by_outcome: how many of the new
    recordings ended how. not_repeatable: program id -> where two runs differ. causes: of how many of those
    what was found to be a cause (`repeats.Cause`). refused: program id -> what the sandbox refused it.
    problems: program id -> how our own machinery failed on it.
    """

    recorded: int = 0
    skipped: int = 0
    by_outcome: Counter[str] = field(default_factory=Counter)
    not_repeatable: dict[str, str] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)
    refused: dict[str, dict[str, int]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        told = {each.name: copy.copy(getattr(self, each.name)) for each in fields(self)}
        return told | {"by_outcome": dict(self.by_outcome), "causes": dict(self.causes)}


class Recorded(NamedTuple):
    """How a recording came out. where: the first difference between two runs; why: its causes."""

    run_result: RunResult
    where: str | None
    why: dict[Cause, str]


class ProgramRecorder:
    """A sandbox that records programs, each into the writer that it is given. Threads may share it.

        with Recorder(settings) as recorder, Writer(folder) as writer:
            recorder.record(program, writer)

    workers: programs that are recorded at once. explain: whether causes are looked for where two runs differ.
    """

    def __init__(self, settings: RecordSettings, *, workers: int = 1, explain: bool = True) -> None:
        self.settings, self.explain = settings, explain
        python = settings.python
        self._masks: dict[str | None, EnvironmentMask | None] = {}
        self.masked: set[str] = set()
        """Names of the variables whose values were taken out."""
        self._stopping = threading.Event()
        self._place = Sandbox(
            settings.sandbox,
            workers=workers,
            limits=settings.limits,
            determinism=settings.determinism,
            environment=settings.environment if python is None else of_interpreter(python),
        )

    def __enter__(self) -> Self:
        self._place.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._place.close()

    @property
    def tracer(self) -> str:
        """Name of the tracer that records programs which name no environment of their own."""
        return self._place.tracer(None)

    def stop(self) -> None:
        """Kill what runs: `record` raises Cancelled in its threads."""
        self._stopping.set()

    def _watch(self, program: Program, seed: int, sink: Sink) -> RunResult:
        tracing = Tracing(sink, self.settings.trace_limits, self.settings.granularity)
        return self._place.run_one(program, hash_seed=seed, tracing=tracing, cancelled=self._stopping.is_set)

    def record(self, program: Program, writer: Writer) -> Recorded:
        """Record a program that the writer does not have."""
        settings = self.settings
        if settings.environment is not None and "environment" not in program.extra:
            program = replace(program, extra={**program.extra, "environment": settings.environment})
        if settings.python is not None and "environment" not in program.extra:
            python = of_interpreter(settings.python).python
            program = replace(program, extra={**program.extra, "python": python})
        mask = self._mask(program)
        with writer.begin(program) as spool, tempfile.TemporaryFile() as first:

            def keep(block: bytes) -> None:
                for part in [block] if mask is None else mask.blocks([block]):
                    spool.write(part, checked=True)
                if settings.repeat:
                    save(block, first)

            run_result = self._watch(program, HASH_SEEDS[0], keep)
            where, why = None, {}
            tried = False
            if settings.repeat and run_result.outcome is not Outcome.HARNESS_ERROR:
                tried = True
                for seed in range(1, settings.runs):
                    watch = functools.partial(self._watch, program, seed)
                    where = where or _another_run(watch, run_result, first)
                # Where time ran out, each of some twenty experiments would take all of it again.
                if self.explain and where is not None and run_result.outcome is not Outcome.TIMED_OUT:
                    why = self._explain(program)
                    where = in_words(where, why)
            if mask is not None:
                run_result = masked(run_result, mask)
                where = where and mask.text(where)
                self.masked |= mask.masked
            spool.finish(
                run_result,
                self.environment(program, run_result.packages),
                repeatable=where is None if tried else None,
                difference=where,
            )
        return Recorded(run_result, where, why)

    def _mask(self, program: Program) -> EnvironmentMask | None:
        if self.settings.mask and program.path not in self._masks:
            self._masks[program.path] = mask_around(os.getcwd(), program.path)
        return self._masks.get(program.path)

    def _explain(self, program: Program) -> dict[Cause, str]:
        settings = self.settings
        return causes(
            program,
            determinism=settings.determinism,
            limits=settings.limits,
            trace_limits=settings.trace_limits,
            granularity=settings.granularity,
            confinement=settings.sandbox,
            cancelled=self._stopping.is_set,
            python=settings.python,
        )

    def environment(self, program: Program, packages: dict[str, str]) -> Environment:
        """Where a program ran; packages are those that it imported."""
        built = self._place.environment(program)
        settings = self.settings
        here = Environment.here(
            tracer=tracer_class().name if built is None else self._place.tracer(program),
            hash_seed=HASH_SEEDS[0],
            packages=packages,
            granularity=settings.granularity,
            limits=settings.trace_limits.leaving_out,
            fixed=self._place.determinism.said,
        )
        here = replace(
            here,
            run_limits=settings.limits.to_dict(),
            trace_limits=asdict(settings.trace_limits),
            sandbox=settings.sandbox.value,
            accounts=self._place.accounts(),
        )
        if built is None:
            return here
        return replace(
            here,
            python=built.python_version,
            implementation=built.implementation,
            name=built.name,
            installed=built.installed,
            pins_sha256=built.pins_sha256 or None,
            installed_sha256=built.installed_sha256,
        )


def record_programs(
    programs: Iterable[Program],
    folder: str | Path,
    settings: RecordSettings | None = None,
    *,
    workers: int = 2,
    progress: Callable[[Program, RunResult | None], None] = lambda program, run_result: None,
    note: Callable[[str], None] = _log.warning,
    explain: bool = True,
) -> RecordSummary:
    """Record every program that the folder does not hold yet.

    workers: programs that run at once; they are taken from the iterable as workers get free. progress: called
    in this thread after each program, with None for one that was skipped. note: told where the slow tracer is
    used, and which secrets were masked. explain: whether causes are looked for where two runs differ, which
    takes some twenty more.

    An interrupt or an error in the iterable closes the folder properly: everything finished is
    kept and will not be recorded again.
    """
    summary = RecordSummary()
    seen: set[str] = set()
    settings = settings or RecordSettings()
    with (
        ProgramRecorder(settings, workers=workers, explain=explain) as recorder,
        Writer(folder) as writer,
        ThreadPoolExecutor(workers, "deskcheck-record") as pool,
    ):
        if recorder.tracer == "reference":
            note(slow(settings.python))
        pending: dict[Future[Recorded], Program] = {}

        def collect(block: bool) -> None:
            done, _ = wait(pending, None if block else 0, FIRST_COMPLETED) if pending else (set(), None)
            for future in done:
                program = pending.pop(future)
                run_result, where, why = future.result()
                summary.recorded += 1
                summary.by_outcome[run_result.outcome.value] += 1
                if where is not None:
                    summary.not_repeatable[program.id] = where
                    summary.causes.update(cause.value for cause in why)
                if run_result.refused:
                    summary.refused[program.id] = run_result.refused
                if run_result.outcome is Outcome.HARNESS_ERROR:
                    summary.problems[program.id] = run_result.detail
                progress(program, run_result)

        try:
            for program in programs:
                if program.id in seen:
                    raise InputError(f"two programs have the id {program.id!r}; give each its own")
                seen.add(program.id)
                if program.id in writer.done:
                    summary.skipped += 1
                    progress(program, None)
                    continue
                while len(pending) >= 2 * workers:
                    collect(block=True)
                pending[pool.submit(recorder.record, program, writer)] = program
                collect(block=False)
            while pending:
                collect(block=True)
        except Exception:  # a program that cannot be made: what runs already is finished first
            while pending:
                collect(block=True)
            raise
        except BaseException:
            recorder.stop()
            for future in pending:
                future.cancel()
            raise
    summary.files = sorted(str(path) for path in Path(folder).glob("*.parquet"))
    if recorder.masked:
        note(masked_text(recorder.masked))
    return summary


def slow(python: str | None) -> str:
    """What a user is told where the reference tracer records; python: the interpreter that was asked for."""
    if python is None:
        return SLOW
    return f"--python {python}, Python {of_interpreter(python).python_version}: {SLOW_THERE}"


def _another_run(watch: Callable[[Sink], RunResult], run_result: RunResult, first: IO[bytes]) -> str | None:
    with tempfile.TemporaryFile() as second:
        again = watch(functools.partial(save, stream=second))
        return difference(
            (run_result, functools.partial(saved, first)), (again, functools.partial(saved, second))
        )
