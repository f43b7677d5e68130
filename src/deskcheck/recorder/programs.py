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
from collections.abc import Callable, Container, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from deskcheck.errors import InputError, own_failures
from deskcheck.jobs.threads import in_threads
from deskcheck.recorder.filters.flight import FlightRecorder
from deskcheck.recorder.filters.masking import mask_around, masked, masked_program, masked_text
from deskcheck.recorder.repeats import Cause, causes, in_words
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.block import save, saved
from deskcheck.recording.comparison.runs import difference, ending_difference
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Program
from deskcheck.recording.recording import UNTRACED, RunResult, refused_text
from deskcheck.recording.secrets import EnvironmentMask
from deskcheck.recording.writer import Writer
from deskcheck.sandbox.elsewhere import Elsewhere
from deskcheck.sandbox.environments import of_interpreter
from deskcheck.sandbox.process import Sink, Tracing
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.tracer import tracer_class
from deskcheck.tracer.contents.memory import KNOWN
from deskcheck.words import counted, counts_text, list_lines

_log = logging.getLogger(__name__)
SLOW = (
    "the tracer's C core is not built for this Python. The reference tracer records the same, but takes "
    "about a hundred times as long. To build the core, install a C compiler, then deskcheck again."
)
"""The note for users of the reference tracer."""
NOT_KNOWN = (
    "deskcheck supports CPython 3.11 to 3.15 with a GIL, and this is {python}. The reference tracer records "
    "slowly, without the value stack, the positions of iterators, and threads other than the first."
)
"""The note for interpreters whose memory layout deskcheck does not know."""
SLOW_THERE = (
    "the tracer's C core is not built for that Python. The reference tracer records the same, but takes "
    "about a hundred times as long. For the core, install deskcheck from a wheel for that version of "
    "Python, or build it in its source folder with that version."
)
"""The note for another interpreter."""
HASH_SEEDS = (0, 1)
"""PYTHONHASHSEED of the recorded run, and of the run for comparison."""
_TIMES_ELSEWHERE = 2
_BY_LUCK = ((101, 1), (102, 2))
"""Number and hash seed of further runs elsewhere, without the tracer.

Results that depend on hashes, addresses or threads can be the same in two runs by chance.
"""


@dataclass(slots=True)
class RecordSummary:
    """Counts of `record_programs`, and facts by program id."""

    recorded: int = 0
    skipped: int = 0
    """Programs whose recordings the folder already had."""
    by_outcome: Counter[str] = field(default_factory=Counter)
    """Outcome -> new recordings."""
    not_repeatable: dict[str, str] = field(default_factory=dict)
    """Program id -> the first difference between two runs."""
    untraced: dict[str, str] = field(default_factory=dict)
    """Program id -> the difference, if only the run without the tracer differs."""
    causes: Counter[str] = field(default_factory=Counter)
    """`repeats.Cause` -> programs that do not repeat because of it."""
    refused: dict[str, dict[str, int]] = field(default_factory=dict)
    """Program id -> what the sandbox refused it, with counts."""
    not_importable: dict[str, str] = field(default_factory=dict)
    """Program id -> the message about a module that the interpreter does not have."""
    problems: dict[str, str] = field(default_factory=dict)
    """Program id -> how deskcheck itself failed."""
    files: list[str] = field(default_factory=list)

    @property
    def in_folder(self) -> int:
        return self.recorded + self.skipped

    def lines(self, out: Path) -> Iterator[str]:
        """Lines for the terminal."""
        ends = counts_text(self.by_outcome)
        yield f"recorded {counted(self.recorded, 'program')} in {out}" + (f": {ends}" if ends else "")
        yield from self._skipped_lines()
        yield from self._difference_lines()
        yield from self._refused_lines()
        advice = "ended because a module is missing (--python names an interpreter that has it)"
        yield from list_lines(advice, self.not_importable)
        yield from list_lines("failures of deskcheck", self.problems)

    def _refused_lines(self) -> Iterator[str]:
        """Lines about programs that the sandbox refused something, with the way out."""
        if not self.refused:
            return
        programs = Counter(name for names in self.refused.values() for name in names)
        names = ", ".join(name for name, _ in programs.most_common(5))
        yield (
            f"the sandbox refused something to {len(self.refused)} of {counted(self.recorded, 'program')}: "
            f"{names}. No questions are asked about these. If you trust them, use --sandbox trusted."
        )
        yield from list_lines("refused", {id_: refused_text(names) for id_, names in self.refused.items()})

    def _skipped_lines(self) -> Iterator[str]:
        if self.skipped:
            yield f"skipped {self.skipped}, already in the folder"

    def _difference_lines(self) -> Iterator[str]:
        yield from list_lines("not repeatable", self.not_repeatable)
        yield from list_lines("changed by the tracer: without it they end differently", self.untraced)

    def to_dict(self) -> dict[str, Any]:
        values = {item.name: copy.copy(getattr(self, item.name)) for item in fields(self)}
        if not self.not_importable:
            del values["not_importable"]
        return values | {"by_outcome": dict(self.by_outcome), "causes": dict(self.causes)}

    def add(
        self, program: Program, future: "Future[Recorded]", note: Callable[[str], None]
    ) -> RunResult | None:
        """Count a finished recording. Returns None if deskcheck failed on the program."""
        recorded = None
        try:
            with own_failures(functools.partial(self.problems.__setitem__, program.id)):
                recorded = future.result()
        except InputError as error:  # it cannot be saved
            self.problems[program.id] = str(error)
        if recorded is None:
            note(f"{program.id}: {self.problems[program.id].partition(chr(10))[0]}")
            return None
        run_result, where, found_causes = recorded
        self.recorded += 1
        self.by_outcome[run_result.outcome.value] += 1
        self.add_difference(program.id, where)
        self.causes.update(cause.value for cause in found_causes)
        if run_result.refused:
            self.refused[program.id] = run_result.refused
        if run_result.exception == "ModuleNotFoundError" and not run_result.refused:
            self.not_importable[program.id] = run_result.detail
        if run_result.outcome is Outcome.HARNESS_ERROR:
            self.problems[program.id] = run_result.detail
        return run_result

    def add_difference(self, program_id: str, where: str | None) -> None:
        """Count a recording by the difference between its runs, if any."""
        if where is not None:
            (self.untraced if where.startswith(UNTRACED) else self.not_repeatable)[program_id] = where


class Recorded(NamedTuple):
    """A result, the first difference between two runs, and its causes."""

    run_result: RunResult
    where: str | None
    causes: dict[Cause, str]


class ProgramRecorder:
    """A sandbox that records programs. Threads may share it.

        with ProgramRecorder(settings) as recorder, Writer(folder) as writer:
            recorder.record(program, writer)

    workers: programs that run at once. explain: whether to search for the causes of differences.
    """

    def __init__(self, settings: RecordSettings, *, workers: int = 1, explain: bool = True) -> None:
        self.settings, self.explain = settings, explain
        python = settings.python
        self._masks: dict[str | None, EnvironmentMask | None] = {}
        self.masked: set[str] = set()
        """Names of the variables whose values were masked."""
        self._stopping = threading.Event()
        self._sandbox = Sandbox(
            settings.sandbox,
            workers=workers,
            limits=settings.limits,
            determinism=settings.determinism,
            environment=settings.environment if python is None else of_interpreter(python),
        )

    def __enter__(self) -> Self:
        self._sandbox.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._sandbox.close()

    @property
    def tracer(self) -> str:
        """Name of the tracer for programs that do not name an environment."""
        return self._sandbox.tracer(None)

    def stop(self) -> None:
        """Kill running programs: `record` raises Cancelled in its threads."""
        self._stopping.set()

    def _watch(self, program: Program, sink: Sink, **how: Any) -> RunResult:
        """Run a program under the tracer. how: as in `Sandbox.run_one`."""
        settings = self.settings
        limits = settings.flight.limits(settings.trace_limits)
        tracing = Tracing(sink, limits, settings.granularity, endless=bool(settings.flight))
        return self._run(program, tracing=tracing, **how)

    def _run(self, program: Program, **how: Any) -> RunResult:
        return self._sandbox.run_one(program, files=True, cancelled=self._stopping.is_set, **how)

    def _elsewhere(self, number: int, first: RunResult, *, mix: bool = False) -> dict[str, Any]:
        """The settings of a run on another machine. It may take longer, unless a limit ended the first run.

        number: of the run; it decides clocks, names and addresses. mix: whether threads also switch at other
        times. Then the states of every program with threads differ.
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
        return {"elsewhere": Elsewhere(seed=number), "determinism": determinism, "limits": longer}

    def record(self, program: Program, writer: Writer) -> Recorded:
        """Record a program, compare it with further runs, and write it."""
        settings = self.settings
        if settings.environment is not None and "environment" not in program.extra:
            program = replace(program, extra={**program.extra, "environment": settings.environment})
        if settings.python is not None and "environment" not in program.extra:
            python = of_interpreter(settings.python).python
            program = replace(program, extra={**program.extra, "python": python})
        mask = self._mask(program)
        stored = program if mask is None else masked_program(program, mask)
        with writer.begin(stored) as spool, tempfile.TemporaryFile() as first:
            flight = FlightRecorder(settings.flight, settings.trace_limits.events)
            write = functools.partial(spool.write, checked=True)
            repeat = settings.repeat and not settings.flight

            def keep(block: bytes) -> None:
                for part in [block] if mask is None else mask.blocks([block]):
                    (flight.write if settings.flight else write)(part)
                if repeat:
                    save(block, first)

            run_result = self._watch(program, keep, hash_seed=HASH_SEEDS[0])
            flight.finish(write)
            run_result = flight.ending(run_result)
            tried = repeat and run_result.outcome is not Outcome.HARNESS_ERROR
            where, found_causes = self._differs(program, run_result, first) if tried else (None, {})
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
        return Recorded(run_result, where, found_causes)

    def _mask(self, program: Program) -> EnvironmentMask | None:
        if self.settings.mask and program.path not in self._masks:
            self._masks[program.path] = mask_around(os.getcwd(), program.path)
        return self._masks.get(program.path)

    def _differs(
        self, program: Program, run_result: RunResult, first: IO[bytes]
    ) -> tuple[str | None, dict[Cause, str]]:
        """The first difference between the first run and further ones, with its causes.

        first: the file with the events of the first run.
        """
        for number in range(1, self.settings.runs):
            again, where = self._another_run(program, number, run_result, first)
            if where is not None:
                # Where time ran out, each of some twenty experiments would take all of it again.
                explain = self.explain and run_result.outcome is not Outcome.TIMED_OUT
                found_causes = self._explain(program) if explain else {}
                return in_words(where, found_causes) if found_causes else where, found_causes
            if again.reads:
                read = f"reads the environment: {', '.join(again.reads)}, not set here"
                return in_words(read, found_causes := {Cause.ENVIRONMENT: read}), found_causes
        run_again = functools.partial(self._run, program, hash_seed=HASH_SEEDS[0])
        where = without_tracer(run_result, run_again)
        for number, hash_seed in _BY_LUCK:
            if where is None and run_result.outcome not in _LIMITED:
                how = self._elsewhere(number, run_result, mix=True)
                where = ending_difference(run_result, self._run(program, hash_seed=hash_seed, **how))
        return where, {}

    def _another_run(
        self, program: Program, number: int, run_result: RunResult, first: IO[bytes]
    ) -> tuple[RunResult, str | None]:
        """A traced run elsewhere, and its first difference from the first run."""
        with tempfile.TemporaryFile() as second:
            sink = functools.partial(save, stream=second)
            again = self._watch(program, sink, hash_seed=number, **self._elsewhere(number, run_result))
            first_blocks, second_blocks = functools.partial(saved, first), functools.partial(saved, second)
            return again, difference((run_result, first_blocks), (again, second_blocks))

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
        """The environment of a recording. packages: those that the program imported."""
        built = self._sandbox.environment(program)
        settings = self.settings
        environment = Environment.here(
            tracer=tracer_class().name if built is None else self._sandbox.tracer(program),
            hash_seed=HASH_SEEDS[0],
            packages=packages,
            granularity=settings.granularity,
            limits=settings.trace_limits.leaving_out | settings.flight.leaving_out,
            fixed=self._sandbox.determinism.said,
        )
        environment = replace(
            environment,
            run_limits=settings.limits.to_dict(),
            trace_limits=asdict(settings.trace_limits),
            sandbox=settings.sandbox.value,
            accounts=self._sandbox.accounts(),
        )
        if built is None:
            return environment
        return replace(
            environment,
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
    """Record every program that the folder does not have.

    An interrupt or an error of the iterable keeps what is finished. If deskcheck fails on a program, it is
    one of the `problems`, and the others continue.

    workers: programs that run at once. progress: called after each program, with None for a skipped one.
    note: called with sentences about the slow tracer and masked secrets. explain: whether to search for the
    causes of differences, which takes some twenty more runs.
    """
    summary = RecordSummary()
    settings = settings or RecordSettings()

    def new_programs(finished_ids: Container[str]) -> Iterator[Program]:
        ids: set[str] = set()
        for program in programs:
            if program.id in ids:
                raise InputError(f"two programs have the id {program.id!r}. Give each a different id.")
            ids.add(program.id)
            if program.id in finished_ids:
                summary.skipped += 1
                progress(program, None)
            else:
                yield program

    with (
        ProgramRecorder(settings, workers=workers, explain=explain) as recorder,
        Writer(folder) as writer,
        ThreadPoolExecutor(workers, "deskcheck-record") as pool,
    ):
        if recorder.tracer == "reference":
            note(slow(settings.python))
        record = functools.partial(recorder.record, writer=writer)
        results = in_threads(pool, record, new_programs(writer.done), 2 * workers)
        try:
            with closing(results):
                for program, future in results:
                    progress(program, summary.add(program, future, note))
        except (KeyboardInterrupt, SystemExit):
            recorder.stop()
            raise
    summary.files = sorted(str(path) for path in Path(folder).glob("*.parquet"))
    if recorder.masked:
        note(masked_text(recorder.masked))
    return summary


_LIMITED = (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_LIMIT)
"""Outcomes of runs that get further without the tracer."""


def without_tracer(traced: RunResult, run: Callable[[], RunResult]) -> str | None:
    """How a run without the tracer ends differently, because the tracer changed the program; else None.

    run: makes the run without the tracer.
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
    """The note for the user if the reference tracer records. python: the value of --python."""
    if python is None:
        return SLOW if KNOWN else NOT_KNOWN.format(python=_this_python())
    return f"--python {python}, Python {of_interpreter(python).python_version}: {SLOW_THERE}"
