"""Records many programs into a folder: in parallel, resumable, each checked for repeatability."""

import copy
import functools
import logging
import os
import platform
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from deskcheck.errors import InputError, own_failures
from deskcheck.recorder.masking import mask_around, masked, masked_text
from deskcheck.recorder.repeats import Cause, causes, in_words
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.block import save, saved
from deskcheck.recording.comparison.runs import difference, ending_difference
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Program
from deskcheck.recording.recording import UNTRACED, RunResult
from deskcheck.recording.secrets import EnvironmentMask
from deskcheck.recording.writer import Writer
from deskcheck.sandbox.elsewhere import Elsewhere
from deskcheck.sandbox.environments import of_interpreter
from deskcheck.sandbox.process import Sink, Tracing
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.tracer import tracer_class
from deskcheck.tracer.contents.memory import KNOWN

_log = logging.getLogger(__name__)
SLOW = (
    "the tracer's C core is not built for this Python: the reference tracer records, which tells the same "
    "and takes about a hundred times as long. With a C compiler, installing deskcheck again builds it."
)
"""What a user of the reference tracer is told."""
NOT_KNOWN = (
    "deskcheck knows CPython 3.11 to 3.15 with a GIL, and {python} is another interpreter: the reference "
    "tracer records, slowly, what Python itself tells. Left out are the value stack, how far iterators are, "
    "and all threads but the first."
)
"""The same, of an interpreter whose memory is not known."""
SLOW_THERE = (
    "the tracer's C core is not built for that Python: the reference tracer records, which tells the same "
    "and takes about a hundred times as long. Where deskcheck is installed from a wheel of that Python's "
    "version, or built in its source folder with that version, there is one."
)
"""The same, of another interpreter."""
HASH_SEEDS = (0, 1)
"""PYTHONHASHSEED of the run that is kept, and of the one that it is compared with."""
_TIMES_ELSEWHERE = 2
_BY_LUCK = ((101, 1), (102, 2))
"""Seed and hash seed of further runs elsewhere, without the tracer: what depends on hashes, addresses or
threads can come out the same twice."""


@dataclass(slots=True)
class RecordSummary:
    """What `record_programs` did.

    recorded: new recordings. skipped: programs that the folder already held. by_outcome: how many of the new
    recordings ended how. not_repeatable: program id -> where two runs differ. untraced: program id -> where
    only the run without the tracer differs. causes: of how many of those that are not repeatable what was
    found to be a cause (`repeats.Cause`). refused: program id -> what the sandbox refused it. problems:
    program id -> how our own machinery failed on it.
    """

    recorded: int = 0
    skipped: int = 0
    by_outcome: Counter[str] = field(default_factory=Counter)
    not_repeatable: dict[str, str] = field(default_factory=dict)
    untraced: dict[str, str] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)
    refused: dict[str, dict[str, int]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        told = {each.name: copy.copy(getattr(self, each.name)) for each in fields(self)}
        return told | {"by_outcome": dict(self.by_outcome), "causes": dict(self.causes)}

    def add_difference(self, program_id: str, where: str | None) -> None:
        """Count a recording whose runs differ there."""
        if where is not None:
            (self.untraced if where.startswith(UNTRACED) else self.not_repeatable)[program_id] = where


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

    def _watch(self, program: Program, sink: Sink, **how: Any) -> RunResult:
        """Run a program under the tracer. how: as in `Sandbox.run_one`."""
        tracing = Tracing(sink, self.settings.trace_limits, self.settings.granularity)
        return self._run(program, tracing=tracing, **how)

    def _run(self, program: Program, **how: Any) -> RunResult:
        return self._place.run_one(program, files=True, cancelled=self._stopping.is_set, **how)

    def _elsewhere(self, seed: int, first: RunResult, *, mix: bool = False) -> dict[str, Any]:
        """How a program runs on another machine. It may take longer there, unless a limit ended the first
        run.

        mix: whether threads take other turns, too. Then the states on the way to the end differ for every
        program that has threads.
        """
        settings, limits = self.settings, self.settings.limits
        times = 1 if first.outcome in _LIMITED else _TIMES_ELSEWHERE
        determinism = settings.determinism
        if mix and determinism.turns is None:
            determinism = replace(determinism, turns=False)
        longer = replace(
            limits,
            cpu_s=times * limits.cpu_s,
            wall_s=times * limits.wall_s,
            open_files=max(16, limits.open_files - 8),
        )
        return {"elsewhere": Elsewhere(seed=seed), "determinism": determinism, "limits": longer}

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

            run_result = self._watch(program, keep, hash_seed=HASH_SEEDS[0])
            tried = settings.repeat and run_result.outcome is not Outcome.HARNESS_ERROR
            where, why = self._differs(program, run_result, first) if tried else (None, {})
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

    def _differs(
        self, program: Program, run_result: RunResult, first: IO[bytes]
    ) -> tuple[str | None, dict[Cause, str]]:
        """Where further runs differ from the first one, whose events are in the file, and why."""
        for seed in range(1, self.settings.runs):
            again, where = self._another_run(program, seed, run_result, first)
            if where is not None:
                # Where time ran out, each of some twenty experiments would take all of it again.
                explain = self.explain and run_result.outcome is not Outcome.TIMED_OUT
                why = self._explain(program) if explain else {}
                return in_words(where, why) if why else where, why
            if again.reads:
                read = f"reads the environment: {', '.join(again.reads)}, not set here"
                return in_words(read, why := {Cause.ENVIRONMENT: read}), why
        here = functools.partial(self._run, program, hash_seed=HASH_SEEDS[0])
        where = without_tracer(run_result, here)
        for seed, hash_seed in _BY_LUCK:
            if where is None and run_result.outcome not in _LIMITED:
                how = self._elsewhere(seed, run_result, mix=True)
                where = ending_difference(run_result, self._run(program, hash_seed=hash_seed, **how))
        return where, {}

    def _another_run(
        self, program: Program, seed: int, run_result: RunResult, first: IO[bytes]
    ) -> tuple[RunResult, str | None]:
        """A traced run elsewhere, and where it differs from the first."""
        with tempfile.TemporaryFile() as second:
            sink = functools.partial(save, stream=second)
            again = self._watch(program, sink, hash_seed=seed, **self._elsewhere(seed, run_result))
            here, there = functools.partial(saved, first), functools.partial(saved, second)
            return again, difference((run_result, here), (again, there))

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

    A program that deskcheck itself fails on is one of the `problems`; the others continue.
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
                recorded = None
                try:
                    with own_failures(functools.partial(summary.problems.__setitem__, program.id)):
                        recorded = future.result()
                except InputError as error:  # it cannot be saved
                    summary.problems[program.id] = str(error)
                if recorded is None:
                    note(f"{program.id}: {summary.problems[program.id].partition(chr(10))[0]}")
                    progress(program, None)
                    continue
                run_result, where, why = recorded
                summary.recorded += 1
                summary.by_outcome[run_result.outcome.value] += 1
                summary.add_difference(program.id, where)
                if why:
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


_LIMITED = (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_LIMIT)
"""A limit ended the run, and without the tracer it comes further."""


def without_tracer(traced: RunResult, run: Callable[[], RunResult]) -> str | None:
    """Where a run without the tracer ends differently from one with it; None if it does not. The tracer has
    changed the program, then, and the recording says what does not happen without it.

    traced: the run with the tracer; run: does the same without.
    """
    if traced.outcome in _LIMITED:
        return None
    untraced = run()
    if untraced.outcome is Outcome.HARNESS_ERROR:
        return None
    where = ending_difference(traced, untraced)
    return None if where is None else f"{UNTRACED}{where}"


def _this_python() -> str:
    kind = " without a GIL" if "t" in getattr(sys, "abiflags", "") else ""
    return f"{platform.python_implementation()} {platform.python_version()}{kind}"


def slow(python: str | None) -> str:
    """What a user is told where the reference tracer records; python: the interpreter that was asked for."""
    if python is None:
        return SLOW if KNOWN else NOT_KNOWN.format(python=_this_python())
    return f"--python {python}, Python {of_interpreter(python).python_version}: {SLOW_THERE}"
