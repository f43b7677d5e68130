"""Makes inputs for public functions, if no question can be asked about the calls that the tests make of them.

The search runs at the strictest level of the sandbox, like the source `inputs:`, because a function may do
harm with unforeseen arguments. Methods are called on objects that the search makes. The calls are recorded
twice, under two hash seeds, and stored with the calls of the tests.
"""

import os
import platform
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from deskcheck.ask.results.project_benchmark import Interpreter
from deskcheck.bench.inventory import Defined
from deskcheck.bench.project import ProjectFiles
from deskcheck.errors import InputError, SandboxError
from deskcheck.files import read_json
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Outcome, Program, RunResult
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.environments import of_interpreter
from deskcheck.sandbox.process import versions
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.sources.inputs.function_search import LIMITS, NO_TIME, EachFunction, Tried
from deskcheck.sources.inputs.search import Effort
from deskcheck.sources.inputs.targets import File, imported, module_file
from deskcheck.sources.text.modules import origin_of_file
from deskcheck.tracer.limits import TraceLimits

_TRIES_PER_FUNCTION = 12
"""Number of inputs to try for a function, if there is time."""
_IMPORT_LIMITS = replace(LIMITS, cpu_s=10.0, wall_s=30.0)
_SHORT_REASONS = (
    ("of ", "none of the inputs that were tried could be kept"),
    (NO_TIME, "the time for made inputs was used up"),
    ("its module ", "its module cannot be imported in the sandbox"),
)
"""(beginning of a reason, the reason that is counted instead, without numbers and names of a function)."""


@dataclass(slots=True)
class MadeInputs:
    """The result of making inputs."""

    functions: int = 0
    """Number of functions that were tried."""
    why_not: dict[str, str] = field(default_factory=dict)
    """Reasons why no input was kept, by function as ``module:qualified.name``."""
    recorded: int = 0
    """Number of recorded calls."""
    not_repeatable: int = 0
    """Number of calls with another result in the second run."""
    cost_s: float = 0.0
    """CPU seconds."""
    failed: str = ""
    """Reason why no input could be made at all; empty otherwise."""


@dataclass(slots=True)
class _Clock:
    """The CPU seconds allowed and used, by this process and the sandbox, shared equally by the functions."""

    allowed_s: float
    waiting: int
    """Number of functions that were not tried yet."""
    sandbox_s: float = 0.0
    began_s: float = field(default_factory=time.process_time)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def spent_s(self) -> float:
        return self.sandbox_s + time.process_time() - self.began_s

    def add(self, seconds: float) -> None:
        with self.guard:
            self.sandbox_s += seconds

    def share_s(self) -> float:
        with self.guard:
            share = (self.allowed_s - self.spent_s()) / max(self.waiting, 1)
            self.waiting -= 1
            return share


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """Settings for making inputs."""

    per_function: int
    """Largest number of inputs to keep for a function."""
    seed: int
    trace_limits: TraceLimits
    allowed_s: float
    """CPU seconds for all functions together."""
    workers: int


def make_inputs(
    functions: Sequence[Defined],
    files: ProjectFiles,
    recordings: Path,
    interpreter: Interpreter,
    making: Making,
    progress: Callable[[str, int, int], None],
) -> MadeInputs:
    """Look for inputs of functions and record the calls in a folder of recordings."""
    summary = MadeInputs(functions=len(functions))
    workers = making.workers
    clock = _Clock(making.allowed_s, len(functions))
    tried_count = 0

    def on_tried(tried: Tried, key: str) -> None:
        nonlocal tried_count
        tried_count += 1
        progress("functions tried with made inputs", tried_count, len(functions))
        if tried.account.why:
            summary.why_not[key] = _short(tried.account.why)

    def on_recorded(program: Program, run_result: RunResult | None) -> None:
        if run_result is not None:
            clock.add(2 * (run_result.cpu_s or 0.0))  # each call runs twice

    keys = {function.key for function in functions}
    try:
        for python, group in _by_interpreter(_modules(functions, files), files, interpreter, clock, workers):
            settings = RecordSettings(
                sandbox=Confinement.STRICT, python=python, trace_limits=making.trace_limits, limits=LIMITS
            )
            programs = _programs(group, keys, making, clock, python, on_tried)
            batch = record_programs(
                programs,
                recordings,
                settings,
                workers=workers,
                progress=on_recorded,
                note=lambda text: None,  # the note on a slow tracer was printed for the tests already
                explain=False,
            )
            summary.recorded += batch.recorded + batch.skipped
            summary.not_repeatable += len(batch.not_repeatable) + len(batch.untraced)
    except (SandboxError, InputError) as error:
        summary.failed = str(error)
    summary.cost_s = round(clock.spent_s(), 3)
    return summary


def _short(reason: str) -> str:
    return next((short for beginning, short in _SHORT_REASONS if reason.startswith(beginning)), reason)


def _module_of(function: Defined) -> str:
    return function.module


def _modules(functions: Sequence[Defined], files: ProjectFiles) -> Iterator[File]:
    for module, group in groupby(sorted(functions, key=_module_of), key=_module_of):
        file = next(group).file
        path = files.folder / file
        depth = module.count(".") + (path.name == "__init__.py")
        origin = origin_of_file(path, file, path.parents[depth])
        licence = files.licence.name if files.licence else None
        yield module_file(path, file, module, module, replace(origin, licence=licence))


def _by_interpreter(
    modules: Iterable[File], files: ProjectFiles, interpreter: Interpreter, clock: _Clock, workers: int
) -> Iterator[tuple[str | None, list[File]]]:
    """Groups of modules, each with its interpreter.

    deskcheck's own interpreter (None) runs the modules that need only the project and the standard library.
    The interpreter of the tests runs the others.
    """
    files_left = list(modules)
    if interpreter.path == os.path.abspath(sys.executable):
        yield None, files_left
        return
    if interpreter.version.rpartition(".")[0] == platform.python_version().rpartition(".")[0]:
        for_deskcheck = []
        own_packages = versions(
            {file.first.module.partition(".")[0] for file in files_left if file.first.module}
        ).keys()
        with Sandbox(Confinement.STRICT, workers=1, limits=_IMPORT_LIMITS) as sandbox:
            for file in files_left:
                run_result = sandbox.run_one(imported(file))
                clock.add(run_result.cpu_s or 0.0)
                if run_result.outcome is Outcome.RETURNED and run_result.packages.keys() <= own_packages:
                    for_deskcheck.append(file)
        if for_deskcheck:
            yield None, for_deskcheck
        files_left = [file for file in files_left if file not in for_deskcheck]
    if files_left:
        yield interpreter.path, files_left


def _programs(
    files: Sequence[File],
    keys: set[str],
    making: Making,
    clock: _Clock,
    python: str | None,
    on_tried: Callable[[Tried, str], None],
) -> Iterator[Program]:
    """The calls whose inputs the search keeps, until the CPU seconds are used up."""
    modules = {file.display_path: file.first.module or "" for file in files}
    environment = None if python is None else of_interpreter(python)
    workers = making.workers
    with Sandbox(Confinement.STRICT, workers=workers, limits=LIMITS, environment=environment) as sandbox:
        search = EachFunction(
            sandbox,
            Effort(per_function=making.per_function, budget=_TRIES_PER_FUNCTION),
            making.seed,
            methods=True,
            accepts=lambda file, name: f"{file.first.module}:{name}" in keys,
            cpu_s=clock.share_s,
            spent_s=clock.add,
        )
        tries = search.of_files(files, workers)
        with closing(tries):
            for tried in tries:
                if tried.account.function:
                    on_tried(tried, f"{modules[tried.account.file]}:{tried.account.function}")
                yield from tried.programs()


# -- which functions need made inputs ----------------------------------------------------------------


def without_questions(public: Sequence[Defined], recordings: Any) -> list[Defined]:
    """Functions without a recorded call that is repeatable and has arguments that a prompt can show."""
    asked_about: Counter[str] = Counter()
    for _, _, module, entry, repeatable, extra in recordings.columns(
        "module", "entry", "repeatable", "extra"
    ):
        facts: Mapping[str, Any] = read_json(extra, "column extra")
        if repeatable and facts.get("arguments") in ("literal", "shown") and "input" not in facts:
            asked_about[f"{module}:{entry}"] += 1
    return [function for function in public if function.key not in asked_about]


def made_ids(recordings: Any) -> set[str]:
    """Ids of the recordings whose inputs were made."""
    return {
        id_
        for _, _, id_, extra in recordings.columns("id", "extra")
        if "input" in read_json(extra, "column extra")
    }
