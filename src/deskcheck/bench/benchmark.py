"""A benchmark of a project's own tests, from its folder alone: recorded, made into questions, checked.

    folder/
        recordings/       the calls of the project's functions that its tests make, and calls with made inputs
        questions.jsonl   the questions about them, with the right answers, as `offline questions` writes them
        environment/      what the tests ran in, where it was made for them
        recorded.json     what recording came to, and the state of the project's files then
        bench.json        all that the page tells
        index.html        the page

The functions of the project are asked about, never its tests. Each step that is done is kept: the same call
goes on from there.
"""

import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict
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
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.sandbox import for_many
from deskcheck.ask.scoring.score import score_answer
from deskcheck.bench.interpreter import interpreter_of
from deskcheck.bench.inventory import Defined, public_functions
from deskcheck.bench.made import Making, made_ids, make_inputs, without_questions
from deskcheck.bench.project import ProjectFiles, read_project
from deskcheck.bench.settings import BenchSettings
from deskcheck.errors import InputError
from deskcheck.files import FolderLock, disk_errors, read_file, read_json, write_file
from deskcheck.jobs.job import terminable
from deskcheck.recorder.settings import SuiteSettings
from deskcheck.recorder.suite import SuiteAccount, record_suite
from deskcheck.recorder.suite_cache import states_of
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.observed.suite import ObservedTests
from deskcheck.tracer.limits import TraceLimits

KINDS = tuple(QUESTIONS.own)
ENVIRONMENT, FACTS, RECORDED, PAGE = "environment", "bench.json", "recorded.json", "index.html"
_IGNORE = "# made by `deskcheck bench`: private, so not for a repository\n*\n"
_CALLS = 800
_TRACE = TraceLimits(events=1000, objects=1000)
"""Of a call: what is longer costs the time of many others, and is asked little about."""
_TIMES, _SPARE_S, _FOR_INPUTS_S = 3.0, 60.0, 15.0
"""Recording may take so many times the CPU time of the tests, and so many seconds more, of which some are for
made inputs, which also have what the tests' calls have left."""
_MADE_EACH = 2
"""Made inputs that are kept of a function."""
_NETWORK = re.compile(
    r"gaierror|Name or service not known|name resolution|Network is unreachable|NewConnectionError"
    r"|ConnectionRefusedError|ConnectTimeout|URLError|Cannot connect to host|No route to host"
)
_FIXTURE = re.compile(r"fixture '(\w+)' not found")
_MODULE = re.compile(r"No module named '([\w.]+)'")
_COROUTINES = re.compile(r"async def functions are not natively supported")
_FIXTURES = {
    "benchmark": "pytest-benchmark",
    "mocker": "pytest-mock",
    "httpserver": "pytest-httpserver",
    "httpx_mock": "pytest-httpx",
    "requests_mock": "requests-mock",
    "freezer": "pytest-freezer",
    "event_loop": "pytest-asyncio",
    "aiohttp_client": "pytest-aiohttp",
    "snapshot": "syrupy",
    "data_regression": "pytest-regressions",
    "file_regression": "pytest-regressions",
    "num_regression": "pytest-regressions",
    "faker": "Faker",
    "subtests": "pytest-subtests",
    "datadir": "pytest-datadir",
    "shared_datadir": "pytest-datadir",
    "respx_mock": "respx",
    "db": "pytest-django",
    "django_db_setup": "pytest-django",
    "qtbot": "pytest-qt",
    "fs": "pyfakefs",
    "cov": "pytest-cov",
    "testrun_uid": "pytest-xdist",
    "worker_id": "pytest-xdist",
}
"""Fixture -> the package that brings it."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, of how much (0: not known)."""


def make_benchmark(
    project: str | os.PathLike[str],
    out: str | os.PathLike[str],
    settings: BenchSettings | None = None,
    *,
    workers: int = 2,
    progress: Progress = lambda what, done, of: None,
    note: Callable[[str], None] = lambda text: None,
) -> Benchmark:
    """Make a benchmark of a project's tests in a folder, or go on with one. The page is not written.

    Raises:
        InputError: the project cannot be used (no folder, no project, no tests, none that runs); the folder
            holds something else, or another state of the project.
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
        return _made(files, folder, settings, workers, progress, note)


def _made(
    files: ProjectFiles,
    folder: Path,
    settings: BenchSettings,
    workers: int,
    progress: Progress,
    note: Callable[[str], None],
) -> Benchmark:
    _known(folder, files, settings)  # before anything is installed
    clock = _Clock()
    interpreter = interpreter_of(
        files,
        folder.resolve() / ENVIRONMENT,
        python=settings.python,
        more=settings.packages,
        progress=lambda what: progress(what, 0, 0),
        note=note,
    )
    clock.done("the environment")
    recorded = _recorded(files, folder, interpreter, settings, workers, progress)
    clock.done("recording")
    if settings.inputs and "made" not in recorded:
        recorded["made"] = _made_inputs(files, folder, interpreter, settings, recorded, workers, progress)
        write_file(folder / RECORDED, [json.dumps(recorded)])
        clock.done("made inputs")
    if slow := SuiteAccount(**recorded["account"]).slow:
        note(slow)
    progress("making questions", 0, 0)
    excluded = _questions(folder, settings.seed)
    kinds, of_functions = _scored(folder, excluded, progress)
    functions = _functions(folder, files, recorded, of_functions, settings.seed)
    clock.done("questions")
    found = _benchmark(folder, files, interpreter, recorded, kinds, functions, settings, clock.wall_s)
    write_file(folder / FACTS, [json.dumps(found.to_dict(), indent=1)])
    return found


class _Clock:
    def __init__(self) -> None:
        self.wall_s: dict[str, float] = {}
        self._before = time.monotonic()

    def done(self, step: str) -> None:
        now = time.monotonic()
        self.wall_s[step] = round(now - self._before, 1)
        self._before = now


def _begin(folder: Path, files: ProjectFiles) -> None:
    """Make the folder, or look whether what is there is ours."""
    if folder.is_dir() and any(folder.iterdir()):
        ignored = folder / ".gitignore"
        if not ignored.is_file() or ignored.read_text("utf-8", "replace") != _IGNORE:
            raise InputError(
                f"{folder}: holds something else than a benchmark: name another folder with --out."
            )
    if folder.resolve() == files.folder:
        raise InputError(f"{folder}: is the project itself: name another folder with --out.")
    with disk_errors(folder, "be made"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text(_IGNORE, encoding="utf-8")


def _remove(folder: Path) -> None:
    """Take away all but the environment."""
    with disk_errors(folder, "remove what was made before"):
        for name in (RECORDED, QUESTIONS_FILE, FACTS, PAGE):
            (folder / name).unlink(missing_ok=True)
        if (folder / RECORDINGS).is_dir():
            shutil.rmtree(folder / RECORDINGS)


# -- recording -------------------------------------------------------------------------------------


def _recorded(
    files: ProjectFiles,
    folder: Path,
    interpreter: Interpreter,
    settings: BenchSettings,
    workers: int,
    progress: Progress,
) -> dict[str, Any]:
    """What recording came to: now, or when it was done for the same project."""
    if (known := _known(folder, files, settings)) is not None:
        if known["asked"]["python"] != interpreter.path:
            raise _made_before(folder, f"with another interpreter, {known['asked']['python']}")
        return known
    root = files.folder
    suite = ObservedTests(
        arguments=tuple(map(str, files.test_paths)),
        root=root,
        path=tuple(each for each in (root / "src",) if each.is_dir()),
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
    summary = record_suite(suite, folder / RECORDINGS, of_suite, workers=workers, progress=progress)
    assert summary.account is not None
    told = summary.to_dict() | {"account": asdict(summary.account)}
    told |= {
        "asked": _asked(files, settings) | {"python": interpreter.path},
        "files": states_of(files.folder),
    }
    write_file(folder / RECORDED, [json.dumps(told)])
    return told


def _made_inputs(
    files: ProjectFiles,
    folder: Path,
    interpreter: Interpreter,
    settings: BenchSettings,
    recorded: Mapping[str, Any],
    workers: int,
    progress: Progress,
) -> dict[str, Any]:
    """What making inputs came to, as data."""
    from deskcheck.recording.reader import Recordings

    public = public_functions(files.folder, recorded["account"]["modules"])
    allowed_s = _TIMES * recorded["tests_s"] + _SPARE_S - recorded["cost_s"]
    return make_inputs(
        without_questions(public, Recordings(folder / RECORDINGS)),
        files,
        folder / RECORDINGS,
        interpreter,
        Making(
            each=min(_MADE_EACH, settings.per_function),
            seed=settings.seed,
            trace_limits=_TRACE,
            allowed_s=max(allowed_s, _FOR_INPUTS_S),
            workers=workers,
        ),
        progress,
    ).to_dict()


def _asked(files: ProjectFiles, settings: BenchSettings) -> dict[str, Any]:
    """What decides the recordings, beside the project's files and the interpreter."""
    decides = ("per_function", "seed", "packages", "inputs")
    told = {name: value for name, value in asdict(settings).items() if name in decides}
    return {"project": str(files.folder), **told, "packages": [*settings.packages]}


def _known(folder: Path, files: ProjectFiles, settings: BenchSettings) -> dict[str, Any] | None:
    """What recording came to earlier, if it did. Raises InputError where it was of something else."""
    place = folder / RECORDED
    if not place.exists():
        return None
    known: dict[str, Any] = read_json(
        read_file(place), str(place), "Delete the folder and make the benchmark anew."
    )
    asked = _asked(files, settings)
    if {name: known["asked"].get(name) for name in asked} != asked:
        raise _made_before(folder, "with other options, or of another project")
    if known["files"] != states_of(files.folder):
        raise _made_before(folder, "and the project has changed since")
    return known


def _made_before(folder: Path, how: str) -> InputError:
    return InputError(
        f"{folder}: was made before, {how}. Make it anew with --replace, or name another folder with --out."
    )


# -- questions -------------------------------------------------------------------------------------


def _questions(folder: Path, seed: int) -> dict[str, Counter[str]]:
    """Write the questions; by kind, why recordings are not asked about."""
    from deskcheck.recording.reader import Recordings

    made = made_ids(Recordings(folder / RECORDINGS))
    _, excluded = write_questions(
        folder / QUESTIONS_FILE,
        [folder / RECORDINGS],
        KINDS,
        sampling=Sampling(seed=seed),
        told=lambda sample: {"made_from": "made inputs" if sample.program in made else "tests"},
    )
    return excluded


def _samples(folder: Path) -> Iterator[Sample]:
    for line in lines_of(folder / QUESTIONS_FILE):
        yield sample_in(line.raw)


def _scored(
    folder: Path, excluded: Mapping[str, Counter[str]], progress: Progress
) -> tuple[tuple[BenchmarkKind, ...], dict[str, Counter[str]]]:
    """The kinds with the scores of baselines; program -> kind -> how many samples.

    The answers that are run are our own: those that were recorded, and values out of prompts.
    """
    models = {name: BASELINES[name].make({}) for name in ("oracle", "guess")}
    scores: dict[tuple[str, str], list[float]] = {}
    clusters: dict[str, list[str]] = {name: [] for name in KINDS}
    of_programs: dict[str, Counter[str]] = {}
    with closing(for_many(Confinement.TRUSTED)) as sandbox:
        for number, sample in enumerate(_samples(folder), 1):
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
    folder: Path,
    files: ProjectFiles,
    recorded: Mapping[str, Any],
    of_programs: Mapping[str, Counter[str]],
    seed: int,
) -> tuple[BenchmarkFunction, ...]:
    """The public functions, and the others that are asked about."""
    from deskcheck.recording.reader import Recordings

    account = recorded["account"]
    recordings = Recordings(folder / RECORDINGS)
    made = made_ids(recordings)
    programs: dict[str, list[str]] = {}
    samples: dict[str, Counter[str]] = {}
    from_tests: set[str] = set()
    for _, _, id_, module, entry in recordings.columns("id", "module", "entry"):
        programs.setdefault(f"{module}:{entry}", []).append(id_)
        if id_ in of_programs:
            samples.setdefault(f"{module}:{entry}", Counter()).update(of_programs[id_])
            if id_ not in made:
                from_tests.add(f"{module}:{entry}")
    public = {one.key: one for one in public_functions(files.folder, account["modules"])}
    ran_in = _ran_in(recordings)
    found = []
    for key, one in public.items():
        why_not = ""
        if key not in samples:
            asked = [recordings[id_] for id_ in programs.get(key, ())]
            why_not = _why_recorded(asked, seed) if asked else _why_not(one, account, ran_in)
            tried = recorded.get("made", {}).get("why_not", {}).get(key)
            why_not += f"; {tried}" if tried else ""
        one_made = key in samples and key not in from_tests
        found.append(_function(key, one, samples.get(key, Counter()), why_not, made=one_made))
    found += [
        _function(key, None, asked, "", made=key not in from_tests)
        for key, asked in samples.items()
        if key not in public
    ]
    return tuple(sorted(found, key=lambda each: (each.module, each.line, each.name)))


def _function(
    key: str, one: Defined | None, samples: Counter[str], why_not: str, *, made: bool
) -> BenchmarkFunction:
    module, _, name = key.partition(":")
    return BenchmarkFunction(
        module=module,
        name=name,
        file=one.file if one else "",
        line=one.line if one else 0,
        public=one is not None,
        samples=dict(samples),
        why_not=why_not,
        made=made,
    )


def _ran_in(recordings: Any) -> set[tuple[str, str]]:
    """(File in events, qualified name) of what ran inside recorded calls."""
    return {
        (row.file, row.function)
        for recording in recordings
        for row in recording.trace.rows
        if row.kind == "call"
    }


def _why_recorded(recordings: list[Any], seed: int) -> str:
    """Why nothing is asked about a function whose calls are recorded."""
    reasons: Counter[str] = Counter()
    for recording in recordings:
        for name in KINDS:
            for _ in QUESTIONS[name](recording, seed=seed, excluded=reasons):
                break
    return reasons.most_common(1)[0][0] if reasons else "others are asked in its place"


def _why_not(one: Defined, account: Mapping[str, Any], ran_in: set[tuple[str, str]]) -> str:
    """Why no call of a function is recorded by itself."""
    if one.key in account["not_recorded"]:
        return str(account["not_recorded"][one.key])
    if (one.module.replace(".", "/") + ".py", one.name) in ran_in:
        return "ran inside recorded calls of other functions"
    if one.key in account["called"]:
        return "called, but no call of it could be recorded"
    return "no test calls it"


# -- what it came to -------------------------------------------------------------------------------


def _benchmark(
    folder: Path,
    files: ProjectFiles,
    interpreter: Interpreter,
    recorded: Mapping[str, Any],
    kinds: tuple[BenchmarkKind, ...],
    functions: tuple[BenchmarkFunction, ...],
    settings: BenchSettings,
    wall_s: Mapping[str, float],
) -> Benchmark:
    account, made = recorded["account"], recorded.get("made", {})
    outcomes: dict[str, str] = account["tests"]
    bad = ("failed", "error", "not collected")
    why: dict[str, str] = account["why"]
    failing = {test: why.get(test, "") for test, outcome in outcomes.items() if outcome in bad}
    return Benchmark(
        folder=str(folder),
        project=str(files.folder),
        name=files.name,
        version=files.version,
        licence=None if files.licence is None else asdict(files.licence),
        interpreter=interpreter,
        tests=dict(Counter(outcomes.values())),
        failing=failing,
        network=tuple(test for test, text in failing.items() if _NETWORK.search(text)),
        missing=missing_of(why),
        recorded=recorded["recorded"] + recorded["skipped"] + made.get("recorded", 0),
        kinds=kinds,
        functions=functions,
        calls_left_out=recorded["left_out"],
        not_repeatable=len(recorded["not_repeatable"])
        + len(recorded.get("untraced", ()))
        + made.get("not_repeatable", 0),
        made_inputs=made.get("recorded", 0),
        made_failed=made.get("failed", ""),
        inputs_s=made.get("cost_s"),
        packages=account["packages"],
        tracer=account["interpreter"].get("tracer", ""),
        settings=asdict(settings),
        wall_s=dict(wall_s),
        own_s=recorded["tests_s"],
        cost_s=recorded["cost_s"],
    )


def missing_of(why: Mapping[str, str]) -> tuple[Missing, ...]:
    """What tests lack, from why they did not pass: fixtures, modules, plugins for coroutines."""
    counts: Counter[tuple[str, str | None]] = Counter()
    for text in why.values():
        if found := _FIXTURE.search(text):
            counts[f"fixture {found[1]}", _FIXTURES.get(found[1])] += 1
        elif found := _MODULE.search(text):
            counts[f"module {found[1]}", None] += 1
        elif _COROUTINES.search(text):
            counts["a plugin that runs coroutines, or its mark", "pytest-asyncio"] += 1
    return tuple(
        Missing(what=what, package=package, tests=tests) for (what, package), tests in counts.most_common()
    )
