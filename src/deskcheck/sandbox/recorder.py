"""Records many programs into a folder: in parallel, resumable, each checked for repeatability."""

import functools
import json
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from deskcheck.recording.errors import InputError
from deskcheck.recording.file import Writer
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Environment, Program
from deskcheck.recording.recording import Ending
from deskcheck.sandbox.compare import difference
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.repeats import Cause, causes, in_words, save, saved
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.tracer import Level, TraceLimits, tracer_class

HASH_SEEDS = (0, 1)
"""PYTHONHASHSEED of the run that is kept, and of the one that it is compared with."""


@dataclass(slots=True)
class Summary:
    """What `record_all` did.

    recorded: new recordings. skipped: programs that the folder already held. by_outcome: how many of the new
    recordings ended how. not_repeatable: program id -> where two runs differ. causes: of how many of those
    what was found to be a cause (`repeats.Cause`). problems: program id -> how our own machinery failed on
    it.
    """

    recorded: int = 0
    skipped: int = 0
    by_outcome: Counter[str] = field(default_factory=Counter)
    not_repeatable: dict[str, str] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)
    problems: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


def record_all(
    programs: Iterable[Program],
    folder: str | Path,
    *,
    workers: int = 2,
    limits: Limits | None = None,
    trace_limits: TraceLimits | None = None,
    level: Level = Level.LINE,
    repeat: bool = True,
    runs: int = 2,
    fixed: Determinism | None = None,
    confinement: Confinement | str = Confinement.STRICT,
    environment: str | None = None,
    progress: Callable[[Program, Ending | None], None] = lambda program, ending: None,
) -> Summary:
    """Record every program that the folder does not hold yet.

    Programs are taken from the iterable as workers get free. `progress` is called in this thread after each
    program, with None for one that was skipped. With `repeat`, each program runs a second time under another
    hash seed, and a recording that differs says where, and by further runs why (`repeats.causes`). `fixed`:
    what the programs find in place of what differs between runs. environment: name of the one that programs
    run in which name none themselves; its recording says so in ``extra`` too.

    An interrupt or an error in the iterable closes the folder properly: everything finished is
    kept and will not be recorded again.
    """
    summary = Summary()
    limits, trace_limits = limits or Limits(), trace_limits or TraceLimits()
    seen: set[str] = set()
    stopping = threading.Event()
    place = Sandbox(confinement, workers=workers, limits=limits, fixed=fixed, environment=environment)
    explain = functools.partial(
        causes,
        fixed=fixed,
        limits=limits,
        trace_limits=trace_limits,
        level=level,
        confinement=confinement,
        cancelled=stopping.is_set,
    )
    if runs < 2:
        raise ValueError(f"runs={runs} must be at least two; for one that is not compared, repeat=False")
    watch = functools.partial(
        place.run_one, trace_limits=trace_limits, level=level, cancelled=stopping.is_set
    )
    with place, Writer(folder) as writer, ThreadPoolExecutor(workers, "deskcheck-record") as pool:
        pending: dict[Future[tuple[Ending, str | None, dict[Cause, str]]], Program] = {}

        def collect(block: bool) -> None:
            done, _ = wait(pending, None if block else 0, FIRST_COMPLETED) if pending else (set(), None)
            for future in done:
                program = pending.pop(future)
                ending, where, why = future.result()
                summary.recorded += 1
                summary.by_outcome[ending.outcome.value] += 1
                if where is not None:
                    summary.not_repeatable[program.id] = where
                    summary.causes.update(cause.value for cause in why)
                if ending.outcome is Outcome.HARNESS_ERROR:
                    summary.problems[program.id] = ending.detail
                progress(program, ending)

        try:
            for program in programs:
                if program.id in seen:
                    raise InputError(f"two programs have the id {program.id!r}; give each its own")
                seen.add(program.id)
                if program.id in writer.done:
                    summary.skipped += 1
                    progress(program, None)
                    continue
                if environment is not None and "environment" not in program.extra:
                    program = replace(program, extra={**program.extra, "environment": environment})
                while len(pending) >= 2 * workers:
                    collect(block=True)
                about = {"level": level, "limits": trace_limits.leaving_out, "fixed": place.fixed.said}
                here = functools.partial(_environment, program, place, about)
                why = explain if repeat else None
                pending[pool.submit(_record, program, writer, watch, here, why, range(1, runs))] = program
                collect(block=False)
            while pending:
                collect(block=True)
        except Exception:  # a program that cannot be made: what runs already is finished first
            while pending:
                collect(block=True)
            raise
        except BaseException:
            stopping.set()
            for future in pending:
                future.cancel()
            raise
    summary.files = sorted(str(path) for path in Path(folder).glob("*.parquet"))
    return summary


def _record(
    program: Program,
    writer: Writer,
    watch: Callable[..., Ending],
    here: Callable[[dict[str, str]], Environment],
    explain: Callable[[Program], dict[Cause, str]] | None,
    seeds: Iterable[int],
) -> tuple[Ending, str | None, dict[Cause, str]]:
    """Record one program; return its ending and, if it is not repeatable, where two runs differ and why.

    explain: finds out why; None for one run that nothing is compared with. seeds: for hashes, of the other
    runs.
    """
    with writer.begin(program) as spool, tempfile.TemporaryFile() as first:

        def keep(block: bytes) -> None:
            spool.write(block)
            if explain is not None:
                save(block, first)

        ending = watch(program, hash_seed=HASH_SEEDS[0], sink=keep)
        where, why = None, {}
        tried = False
        if explain is not None and ending.outcome is not Outcome.HARNESS_ERROR:
            tried = True
            for seed in seeds:
                where = where or _another_run(program, watch, ending, first, seed)
            # Where time ran out, each of some twenty experiments would take all of it again.
            if where is not None and ending.outcome is not Outcome.TIMED_OUT:
                why = explain(program)
                where = in_words(where, why)
        spool.finish(
            ending,
            here(ending.packages),
            repeatable=where is None if tried else None,
            difference=where,
        )
    return ending, where, why


def _environment(
    program: Program, place: Sandbox, about: dict[str, Any], packages: dict[str, str]
) -> Environment:
    """Where a program ran; packages are those that it imported."""
    built = place.environment(program)
    here = Environment.here(
        tracer=tracer_class().name if built is None else place.tracer(program),
        hash_seed=HASH_SEEDS[0],
        packages=packages,
        **about,
    )
    if built is None:
        return here
    return replace(
        here,
        python=built.python_version,
        implementation=built.implementation,
        name=built.name,
        installed=built.installed,
        pins_sha256=built.pins_sha256,
        installed_sha256=built.installed_sha256,
    )


def _another_run(
    program: Program, watch: Callable[..., Ending], ending: Ending, first: IO[bytes], seed: int
) -> str | None:
    with tempfile.TemporaryFile() as second:
        again = watch(program, hash_seed=seed, sink=functools.partial(save, stream=second))
        return difference(
            (ending, functools.partial(saved, first)), (again, functools.partial(saved, second))
        )


def dumps(summary: Summary) -> str:
    """The summary as one JSON object."""
    return json.dumps(
        {
            "recorded": summary.recorded,
            "skipped": summary.skipped,
            "by_outcome": dict(summary.by_outcome),
            "not_repeatable": summary.not_repeatable,
            "causes": dict(summary.causes),
            "problems": summary.problems,
            "files": summary.files,
        }
    )
