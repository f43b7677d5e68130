"""A private benchmark of a project: record its tests, make questions of the calls, check the questions.

    folder/
        recordings/       calls of the project's functions in its tests, and calls with made inputs
        questions.jsonl   questions about them with answers, as `offline questions` writes them
        environment/      what the tests ran in, if it was made for them
        recorded.json     the account of the recording, and a digest of the project's files
        bench.json        the facts of the page, index.html

The functions of the project are asked about, never its tests. A rerun continues after the last finished step.
"""

import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deskcheck.ask.baselines import oracle
from deskcheck.ask.baselines.stand_ins import BASELINES
from deskcheck.ask.questions.lines import lines_of, sample_in, write_questions
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.questions.settings import Sampling
from deskcheck.ask.results.project_benchmark import (
    QUESTIONS_FILE,
    RECORDINGS,
    Benchmark,
    BenchmarkFunction,
    BenchmarkKind,
    Interpreter,
    Missing,
)
from deskcheck.ask.results.statistics import mean_interval
from deskcheck.ask.scoring.sandbox import for_many
from deskcheck.ask.scoring.score import score_answer
from deskcheck.bench.interpreter import interpreter_of
from deskcheck.bench.inventory import Defined, public_functions
from deskcheck.bench.made import Making, made_ids, make_inputs, without_questions
from deskcheck.bench.project import FIXTURES, ProjectFiles, read_project
from deskcheck.bench.settings import BenchSettings
from deskcheck.errors import InputError
from deskcheck.files import FolderLock, disk_errors, read_file, read_json, write_file
from deskcheck.jobs.job import terminable
from deskcheck.recorder.settings import SuiteSettings
from deskcheck.recorder.suite import SuiteAccount, record_suite
from deskcheck.recorder.suite_cache import states_of
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.observed.suite import ObservedTests
from deskcheck.tracer.limits import TraceLimits

KINDS = tuple(QUESTIONS.built_in)
ENVIRONMENT, FACTS, RECORDED, PAGE = "environment", "bench.json", "recorded.json", "index.html"
_IGNORE = "# made by `deskcheck bench`: private, so not for a repository\n*\n"
_CALLS = 800
_TRACE = TraceLimits(events=1000, objects=1000)
"""Limits of one recorded call. Longer calls cost the time of many others and give few questions."""
_TIMES, _SPARE_S, _FOR_INPUTS_S = 3.0, 60.0, 15.0
"""CPU time of recording: a multiple of the CPU time of the tests, plus spare seconds. A part of the spare
seconds is for made inputs, which also get what the calls of tests do not use."""
_MADE_EACH = 2
"""Made inputs that are kept for a function."""
_NETWORK = re.compile(
    r"gaierror|Name or service not known|name resolution|Network is unreachable|NewConnectionError"
    r"|ConnectionRefusedError|ConnectTimeout|URLError|Cannot connect to host|No route to host"
)
_FIXTURE = re.compile(r"fixture '(\w+)' not found")
_MODULE = re.compile(r"No module named '([\w.]+)'")
_COROUTINES = re.compile(r"async def functions are not natively supported")

Progress = Callable[[str, int, int], None]
"""Takes the name of a step, how much of it is done, and the total (0: unknown)."""


def make_benchmark(
    project: str | os.PathLike[str],
    out: str | os.PathLike[str],
    settings: BenchSettings | None = None,
    *,
    workers: int = 2,
    progress: Progress = lambda what, count, of: None,
    note: Callable[[str], None] = lambda text: None,
) -> Benchmark:
    """Make a benchmark of a project's tests in a folder, or continue one. The page is not written.

    Raises:
        InputError: the project cannot be used, or the folder contains something else or a benchmark of an
            older state of the project.
        RecordingError: the folder cannot be written to, or another process has it.
        SandboxError: no environment can be made here.
    """
    settings = settings or BenchSettings()
    files = read_project(Path(project))
    folder = Path(out)
    _begin(folder, files)
    with terminable(), ExitStack() as stack:
        stack.callback(FolderLock(folder).release)
        if settings.replace:
            _remove(folder)
        return _Maker(files, folder, settings, workers, progress).make(note)


def _begin(folder: Path, files: ProjectFiles) -> None:
    """Make the folder, or check that an existing one is a benchmark of this project."""
    if folder.is_dir() and any(folder.iterdir()):
        ignored = folder / ".gitignore"
        if not ignored.is_file() or ignored.read_text("utf-8", "replace") != _IGNORE:
            raise InputError(
                f"{folder}: contains something other than a benchmark: choose another folder with --out."
            )
    if folder.resolve() == files.folder:
        raise InputError(f"{folder}: is the project itself: choose another folder with --out.")
    with disk_errors(folder, "be made"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text(_IGNORE, encoding="utf-8")


def _remove(folder: Path) -> None:
    """Remove everything but the environment."""
    with disk_errors(folder, "remove what was made before"):
        for name in (RECORDED, QUESTIONS_FILE, FACTS, PAGE):
            (folder / name).unlink(missing_ok=True)
        if (folder / RECORDINGS).is_dir():
            shutil.rmtree(folder / RECORDINGS)


def _made_before(folder: Path, how: str) -> InputError:
    return InputError(
        f"{folder}: was made before, {how}. Make it again with --replace, or choose another folder with "
        f"--out."
    )


class _Clock:
    """Wall time of the steps."""

    def __init__(self) -> None:
        self.wall_s: dict[str, float] = {}
        self._before = time.monotonic()

    def done(self, step: str) -> None:
        now = time.monotonic()
        self.wall_s[step] = round(now - self._before, 1)
        self._before = now


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes one benchmark, or continues it."""

    files: ProjectFiles
    folder: Path
    settings: BenchSettings
    workers: int
    progress: Progress

    def make(self, note: Callable[[str], None]) -> Benchmark:
        settings, folder = self.settings, self.folder
        self.earlier()  # before anything is installed
        clock = _Clock()
        interpreter = interpreter_of(
            self.files,
            folder.resolve() / ENVIRONMENT,
            python=settings.python,
            more=settings.packages,
            progress=lambda what: self.progress(what, 0, 0),
            note=note,
        )
        clock.done("the environment")
        recorded = self.recorded(interpreter)
        clock.done("recording")
        if settings.inputs and "made" not in recorded:
            recorded["made"] = self.made_inputs(interpreter, recorded)
            write_file(folder / RECORDED, [json.dumps(recorded)])
            clock.done("made inputs")
        if slow := SuiteAccount(**recorded["account"]).slow:
            note(slow)
        self.progress("making questions", 0, 0)
        recordings = Recordings(folder / RECORDINGS)
        excluded = _write_questions(folder, settings.seed, made_ids(recordings))
        kinds, of_programs = _scored(folder, excluded, self.progress)
        functions = _functions(recordings, self.files, recorded, of_programs, settings.seed)
        clock.done("questions")
        benchmark = self.benchmark(interpreter, recorded, kinds, functions, clock.wall_s)
        write_file(folder / FACTS, [json.dumps(benchmark.to_dict(), indent=1)])
        return benchmark

    def recorded(self, interpreter: Interpreter) -> dict[str, Any]:
        """The account of the recording: of a new one, or of an earlier one of the same project."""
        files, settings = self.files, self.settings
        if (earlier := self.earlier()) is not None:
            if earlier["asked"]["python"] != interpreter.path:
                raise _made_before(self.folder, f"with another interpreter, {earlier['asked']['python']}")
            return earlier
        suite = ObservedTests(
            arguments=tuple(map(str, files.test_paths)),
            root=files.folder,
            path=tuple(path for path in (files.folder / "src",) if path.is_dir()),
            python=interpreter.path,
            licence=files.licence.name if files.licence else None,
        )
        of_suite = SuiteSettings(
            calls=_CALLS,
            per_function=settings.per_function,
            seed=settings.seed,
            times=_TIMES,
            spare_s=_SPARE_S - _FOR_INPUTS_S * settings.inputs,
            trace_limits=_TRACE,
        )
        summary = record_suite(
            suite, self.folder / RECORDINGS, of_suite, workers=self.workers, progress=self.progress
        )
        assert summary.account is not None
        facts = {
            **summary.to_dict(),
            "account": asdict(summary.account),
            "asked": self.options() | {"python": interpreter.path},
            "files": states_of(files.folder),
        }
        write_file(self.folder / RECORDED, [json.dumps(facts)])
        return facts

    def made_inputs(self, interpreter: Interpreter, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """The account of the made inputs, as data."""
        recordings = self.folder / RECORDINGS
        public = public_functions(self.files.folder, recorded["account"]["modules"])
        allowed_s = _TIMES * recorded["tests_s"] + _SPARE_S - recorded["cost_s"]
        making = Making(
            per_function=min(_MADE_EACH, self.settings.per_function),
            seed=self.settings.seed,
            trace_limits=_TRACE,
            allowed_s=max(allowed_s, _FOR_INPUTS_S),
            workers=self.workers,
        )
        functions = without_questions(public, Recordings(recordings))
        return asdict(make_inputs(functions, self.files, recordings, interpreter, making, self.progress))

    def options(self) -> dict[str, Any]:
        """Options that decide the recordings, besides the project's files and the interpreter."""
        settings = self.settings
        return {
            "project": str(self.files.folder),
            "per_function": settings.per_function,
            "seed": settings.seed,
            "inputs": settings.inputs,
            "packages": [*settings.packages],
        }

    def earlier(self) -> dict[str, Any] | None:
        """The account of an earlier recording, if there is one. Raises InputError where it differs."""
        path = self.folder / RECORDED
        if not path.exists():
            return None
        facts: dict[str, Any] = read_json(
            read_file(path), str(path), "Delete the folder and make the benchmark again."
        )
        options = self.options()
        if {name: facts["asked"].get(name) for name in options} != options:
            raise _made_before(self.folder, "with other options or for another project")
        if facts["files"] != states_of(self.files.folder):
            raise _made_before(self.folder, "and the project has changed since")
        return facts

    def benchmark(
        self,
        interpreter: Interpreter,
        recorded: Mapping[str, Any],
        kinds: tuple[BenchmarkKind, ...],
        functions: tuple[BenchmarkFunction, ...],
        wall_s: Mapping[str, float],
    ) -> Benchmark:
        account, made_inputs = recorded["account"], recorded.get("made", {})
        outcomes: dict[str, str] = account["tests"]
        bad = ("failed", "error", "not collected")
        reasons: dict[str, str] = account["why"]
        failing = {test: reasons.get(test, "") for test, outcome in outcomes.items() if outcome in bad}
        return Benchmark(
            folder=str(self.folder),
            project=str(self.files.folder),
            name=self.files.name,
            version=self.files.version,
            licence=None if self.files.licence is None else asdict(self.files.licence),
            interpreter=interpreter,
            tests=dict(Counter(outcomes.values())),
            failing=failing,
            network=tuple(test for test, text in failing.items() if _NETWORK.search(text)),
            missing=missing_of(reasons),
            recorded=recorded["recorded"] + recorded["skipped"] + made_inputs.get("recorded", 0),
            kinds=kinds,
            functions=functions,
            calls_left_out=recorded["left_out"],
            not_repeatable=len(recorded["not_repeatable"])
            + len(recorded.get("untraced", ()))
            + made_inputs.get("not_repeatable", 0),
            made_inputs=made_inputs.get("recorded", 0),
            made_failed=made_inputs.get("failed", ""),
            inputs_s=made_inputs.get("cost_s"),
            packages=account["packages"],
            tracer=account["interpreter"].get("tracer", ""),
            settings=asdict(self.settings),
            wall_s=dict(wall_s),
            own_s=recorded["tests_s"],
            cost_s=recorded["cost_s"],
        )


# -- questions -------------------------------------------------------------------------------------


def _write_questions(folder: Path, seed: int, ids_of_made: set[str]) -> dict[str, Counter[str]]:
    """Write the questions. The result counts, by kind, the reasons why recordings were excluded.

    Args:
        ids_of_made: ids of the recordings of made inputs.
    """
    _, excluded = write_questions(
        folder / QUESTIONS_FILE,
        [folder / RECORDINGS],
        KINDS,
        sampling=Sampling(seed=seed),
        extra=lambda sample: {"made_from": "made inputs" if sample.program in ids_of_made else "tests"},
    )
    return excluded


def _scored(
    folder: Path, excluded: Mapping[str, Counter[str]], progress: Progress
) -> tuple[tuple[BenchmarkKind, ...], dict[str, Counter[str]]]:
    """The kinds with the scores of baselines, and the number of samples by program and kind.

    No model's answer is run, only recorded answers and values from prompts.
    """
    models = {name: BASELINES[name].make({}) for name in ("oracle", "guess")}
    scores: dict[tuple[str, str], list[float]] = {}
    clusters: dict[str, list[str]] = {name: [] for name in KINDS}
    of_programs: dict[str, Counter[str]] = {}
    with closing(for_many(Confinement.TRUSTED)) as sandbox:
        for number, line in enumerate(lines_of(folder / QUESTIONS_FILE), 1):
            sample = sample_in(line.raw)
            oracle.remember([sample])
            for name, complete in models.items():
                scored = score_answer(sample, complete(sample.prompt), run=sandbox.run_one)
                scores.setdefault((sample.question, name), []).append(scored.score)
            oracle.forget([sample])
            clusters[sample.question].append(sample.cluster)
            of_programs.setdefault(sample.program, Counter())[sample.question] += 1
            progress("questions checked", number, 0)
    kinds = tuple(
        BenchmarkKind(
            name=name,
            samples=len(clusters[name]),
            functions=len({*clusters[name]}),
            scores={
                model: mean_interval(scores[name, model], clusters[name])
                for model in models
                if clusters[name]
            },
            excluded=dict(excluded[name].most_common()),
        )
        for name in KINDS
    )
    return kinds, of_programs


def _functions(
    recordings: Recordings,
    files: ProjectFiles,
    recorded: Mapping[str, Any],
    of_programs: Mapping[str, Counter[str]],
    seed: int,
) -> tuple[BenchmarkFunction, ...]:
    """The public functions, and the others that are asked about."""
    account = recorded["account"]
    ids_of_made = made_ids(recordings)
    programs: dict[str, list[str]] = {}
    samples: dict[str, Counter[str]] = {}
    from_tests: set[str] = set()
    for _, _, id_, module, entry in recordings.columns("id", "module", "entry"):
        programs.setdefault(f"{module}:{entry}", []).append(id_)
        if id_ in of_programs:
            samples.setdefault(f"{module}:{entry}", Counter()).update(of_programs[id_])
            if id_ not in ids_of_made:
                from_tests.add(f"{module}:{entry}")
    public = {function.key: function for function in public_functions(files.folder, account["modules"])}
    ran_in = _ran_in(recordings)
    functions = []
    for key, function in public.items():
        why_not = ""
        if key not in samples:
            calls = [recordings[id_] for id_ in programs.get(key, ())]
            why_not = _why_recorded(calls, seed) if calls else _why_not(function, account, ran_in)
            tried = recorded.get("made", {}).get("why_not", {}).get(key)
            why_not += f"; {tried}" if tried else ""
        one_made = key in samples and key not in from_tests
        functions.append(_function(key, function, samples.get(key, Counter()), why_not, is_made=one_made))
    functions += [
        _function(key, None, counts, "", is_made=key not in from_tests)
        for key, counts in samples.items()
        if key not in public
    ]
    return tuple(sorted(functions, key=lambda function: (function.module, function.line, function.name)))


def _function(
    key: str, defined: Defined | None, samples: Counter[str], why_not: str, *, is_made: bool
) -> BenchmarkFunction:
    module, _, name = key.partition(":")
    return BenchmarkFunction(
        module=module,
        name=name,
        file=defined.file if defined else "",
        line=defined.line if defined else 0,
        public=defined is not None,
        samples=dict(samples),
        why_not=why_not,
        made=is_made,
    )


def _ran_in(recordings: Any) -> set[tuple[str, str]]:
    """The functions that ran inside recorded calls, as (file in events, qualified name)."""
    return {
        (row.file, row.function)
        for recording in recordings
        for row in recording.trace.rows
        if row.kind == "call"
    }


def _why_recorded(recordings: list[Any], seed: int) -> str:
    """The reason why a function with recorded calls has no questions."""
    reasons: Counter[str] = Counter()
    for recording in recordings:
        for name in KINDS:
            for _ in QUESTIONS[name](recording, seed=seed, excluded=reasons):
                break
    return reasons.most_common(1)[0][0] if reasons else "other questions take its place"


def _why_not(function: Defined, account: Mapping[str, Any], ran_in: set[tuple[str, str]]) -> str:
    """The reason why no call of a function is recorded by itself."""
    if function.key in account["not_recorded"]:
        return str(account["not_recorded"][function.key])
    if (function.module.replace(".", "/") + ".py", function.name) in ran_in:
        return "ran inside recorded calls of other functions"
    if function.key in account["called"]:
        return "called, but none of its calls could be recorded"
    return "no test calls it"


def missing_of(reasons: Mapping[str, str]) -> tuple[Missing, ...]:
    """Missing fixtures, modules and plugins for coroutines, from the reasons why tests did not pass."""
    counts: Counter[tuple[str, str | None]] = Counter()
    for text in reasons.values():
        if match := _FIXTURE.search(text):
            counts[f"fixture {match[1]}", FIXTURES.get(match[1])] += 1
        elif match := _MODULE.search(text):
            counts[f"module {match[1]}", None] += 1
        elif _COROUTINES.search(text):
            counts["a plugin that runs coroutines, or its mark", "pytest-asyncio"] += 1
    return tuple(
        Missing(what=what, package=package, tests=tests) for (what, package), tests in counts.most_common()
    )
