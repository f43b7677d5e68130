"""Records calls that the tests of a project make: ``pytest:PATH``.

The tests run three times under observation (`deskcheck.sandbox.observed.suite`):

1. Without recording. If the outcome of a test changes with recording, its calls are left out.
2. With recording of some calls of the project's functions, where they happen: with the objects, fixtures and
   patches of the test. Some of these calls are chosen (`suite_select`).
3. With another hash seed, to find out whether the calls repeat (`suite_verify`).
"""

import os
import platform
import secrets
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from deskcheck._version import __version__
from deskcheck.files import disk_errors
from deskcheck.jobs.job import terminable
from deskcheck.recorder.programs import HASH_SEEDS, SLOW_THERE, RecordSummary, slow
from deskcheck.recorder.reads import VARIES, without
from deskcheck.recorder.settings import SuiteSettings
from deskcheck.recorder.suite_cache import SETTINGS, SuiteCache
from deskcheck.recorder.suite_select import call_id, choose, source_of
from deskcheck.recorder.suite_verify import Budget, CallVerifier, Verdict, ending
from deskcheck.recording import Environment, InputError, Mode, Program
from deskcheck.recording.block import rows
from deskcheck.recording.secrets import EnvironmentMask, secrets_of, variables_around
from deskcheck.recording.writer import Writer
from deskcheck.sandbox.environments import of_interpreter
from deskcheck.sandbox.observed.suite import Observed, ObservedTests, Observing, RecordedCall, observe
from deskcheck.sources.sources import TESTS
from deskcheck.sources.text.python import modified
from deskcheck.words import counted, counts_text, list_lines

OUTPUT = "pytest-output.txt"
"""Name of the file with the output of the tests, in the folder of the recordings."""
_ROOT_MARKS = (*SETTINGS, ".git")
_DECIDES = ("calls", "per_function", "seed", "times", "spare_s", "repeat", "mask", "trace_limits")
"""Settings that decide the recordings. An interrupted recording can be resumed only with the same values."""
_POOL = 2
"""Calls that are recorded for each one that may be kept, to choose among their paths."""


def find_suite(source: str, *, packages: Sequence[str] = (), python: str | None = None) -> ObservedTests:
    """The tests of ``pytest:PATH``. PATH is a project, a folder or file of tests, or one test.

    packages: top-level packages whose functions are recorded, instead of the files below the project's root.

    Raises:
        InputError: the path or the interpreter does not exist.
    """
    file, colons, test = source.removeprefix(TESTS).partition("::")
    path = Path(file or ".")
    if not path.exists():
        raise InputError(
            f"{source}: no such file or folder: {path}. Write pytest:FOLDER, or pytest:FILE.py::TEST."
        )
    path = path.resolve()
    root = _root(path)
    interpreter = sys.executable if python is None else of_interpreter(python).python
    return ObservedTests(
        arguments=(f"{path}{colons}{test}",),
        root=root,
        packages=tuple(packages),
        path=tuple(folder for folder in (root / "src",) if folder.is_dir()),
        python=os.path.abspath(interpreter),
    )


def _root(path: Path) -> Path:
    """The project's folder: the one with its settings, else the folder of the tests or above ``tests``."""
    folder = path if path.is_dir() else path.parent
    for above in (folder, *folder.parents):
        if any((above / mark).exists() for mark in _ROOT_MARKS):
            return above
    return folder.parent if folder.name in ("tests", "test") else folder


# -- recording -------------------------------------------------------------------------------------


@dataclass(slots=True)
class SuiteSummary(RecordSummary):
    """Counts of `record_suite`, in addition to those of a `RecordSummary`."""

    ended: str = ""
    """How the tests ended, such as ``passed`` or ``failed``."""
    tests: Counter[str] = field(default_factory=Counter)
    """Outcome -> tests."""
    otherwise: dict[str, str] = field(default_factory=dict)
    """Tests whose outcome changes with recording or with another hash seed -> both outcomes."""
    functions: int = 0
    """Functions with recordings."""
    literal: int = 0
    """Recordings whose arguments can be written in Python."""
    alone: int = 0
    """Literal calls that run in the same way without their test."""
    not_alone: int = 0
    """Literal calls that were not made without their test for lack of time."""
    varies: Counter[str] = field(default_factory=Counter)
    """Global variables that differ between runs -> recordings without their value."""
    tests_s: float | None = None
    """CPU time of the tests without recording; None if nothing ran twice."""
    cost_s: float | None = None
    """CPU time of recording in this call."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Reason -> calls that were not recorded."""
    functions_left_out: dict[str, int] = field(default_factory=dict)
    """Reason -> functions that were not recorded separately."""
    output: str = ""
    """The file with the output of the tests."""
    account: "SuiteAccount | None" = field(default=None, repr=False)

    def lines(self, out: Path) -> Iterator[str]:
        ends = counts_text(self.by_outcome)
        calls, functions = counted(self.recorded, "call"), counted(self.functions, "function")
        yield f"recorded {calls} of {functions} in {out}" + (f": {ends}" if ends else "")
        yield from self._skipped_lines()
        yield f"the tests {self.ended}: {counts_text(self.tests)}; their output is in {self.output}"
        yield f"{self.literal} with literal arguments; {self.alone} of them run the same without their test"
        if self.not_alone:
            yield f"{self.not_alone} more were not tried alone, for lack of time (--suite-times allows more)"
        if self.cost_s is not None and self.tests_s is not None:
            yield (
                f"the tests take {self.tests_s:.1f} s of CPU time; recording took {self.cost_s:.1f} s, "
                f"{self.cost_s / self.tests_s:.0f} times as much"
            )
        yield from self._difference_lines()
        if self.varies:
            yield (
                "not shown: global variables that differ between two runs and that the call does not read: "
                f"{counts_text(self.varies)}"
            )
        yield from list_lines("tests whose outcome changes when they are recorded", self.otherwise)
        for noun, left_out in (("calls", self.left_out), ("functions", self.functions_left_out)):
            if left_out:
                yield f"{noun} left out: " + ", ".join(
                    f"{count} {reason}" for reason, count in left_out.items()
                )

    def to_dict(self) -> dict[str, Any]:
        """The fields except the account."""
        values = RecordSummary.to_dict(self)
        del values["account"]
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteAccount:
    """Facts about single tests and functions."""

    tests: dict[str, str]
    """Id -> outcome."""
    why: dict[str, str]
    """Id -> why the test did not pass."""
    modules: dict[str, str]
    """Imported modules of the project -> their files."""
    called: dict[str, int]
    """Function, as ``module:qualified.name`` -> its calls."""
    not_recorded: dict[str, str]
    """Functions that are not recorded separately -> reason."""
    packages: dict[str, str]
    interpreter: dict[str, Any]

    @property
    def slow(self) -> str | None:
        """A note for the user if the reference tracer recorded, else None."""
        if self.interpreter.get("tracer") != "reference":
            return None
        python = self.interpreter.get("python", "of the tests")
        return f"Python {python}: {slow(None) if python == platform.python_version() else SLOW_THERE}"

    @classmethod
    def of(cls, observed: Observed) -> "SuiteAccount":
        called: Counter[str] = Counter()
        for (module, name, _), calls in observed.called.items():
            called[f"{module}:{name}"] += calls
        return cls(
            tests=observed.tests,
            why=observed.reasons,
            modules=dict(observed.modules.values()),
            called=dict(called),
            not_recorded={f"{key[0]}:{key[1]}": reason for key, reason in observed.not_recorded.items()},
            packages=observed.packages,
            interpreter=observed.interpreter,
        )


Progress = Callable[[str, int, int], None]
"""Called with the current activity, the amount of it that is done, and the total."""


def record_suite(
    suite: ObservedTests,
    folder: str | Path,
    settings: SuiteSettings | None = None,
    *,
    workers: int = 2,
    progress: Progress = lambda text, finished, total: None,
) -> SuiteSummary:
    """Run the tests and record calls of the project's functions that the folder does not have yet.

    Failing tests are not an error. After an interruption the same call resumes, at the interrupted test.
    An interrupt or SIGTERM is raised as KeyboardInterrupt or SystemExit when the tests have ended. Recordings
    that are not verified then have `repeatable` None until the next call.

    settings: without effect are `package` and `python`, which `find_suite` uses. workers: calls that are
    repeated at once.

    Raises:
        InputError: pytest or tests are missing, or they do not call functions of the project.
        RecordingError: the folder cannot be written to.
    """
    settings = settings or SuiteSettings()
    cache = SuiteCache(Path(folder), suite, {name: asdict(settings)[name] for name in _DECIDES})
    with terminable(), ExitStack() as stack:
        recorder = _SuiteRecorder(suite, settings, cache, workers, progress, stack)
        with Writer(folder, prepare=cache.begin) as writer:
            summary = recorder.record(writer)
            cache.remove()
    summary.files = sorted(str(path) for path in Path(folder).glob("*.parquet"))
    return summary


def _keep_output(observed: Observed, path: Path) -> Path:
    """Write the output of the tests to a file. An old file or link at this path is replaced."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    with disk_errors(path, "save the output of the tests"):
        try:
            with open(part, "x", encoding="utf-8") as stream:
                stream.write(observed.read_output())
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    return path


def _mask(suite: ObservedTests) -> EnvironmentMask:
    """The mask for all environment variables of the tests, and for secrets in files."""
    secrets = secrets_of(variables_around(os.getcwd(), str(suite.root)))
    return EnvironmentMask({**secrets, **os.environ, "PYTHONHASHSEED": str(HASH_SEEDS[0])})


def _otherwise(tests: Mapping[str, str], watched: Mapping[str, str]) -> dict[str, str]:
    """Tests that ended in both runs, but with different outcomes."""
    return {
        test: f"{tests[test]}, then {outcome}"
        for test, outcome in sorted(watched.items())
        if tests.get(test, outcome) != outcome
    }


def _summary(observed: Observed, chosen: list[RecordedCall], otherwise: dict[str, str]) -> SuiteSummary:
    left_out = dict(observed.left_out.most_common())
    changed = sum(call.facts["test"] in otherwise for call in observed.calls.values())
    over = observed.replaced + len(observed.calls) - len(chosen) - changed
    if changed:
        left_out["in a test whose outcome changes when it is recorded"] = changed
    if over:
        left_out["recorded, but over the budget"] = over
    return SuiteSummary(
        ended=observed.ended,
        tests=Counter(observed.tests.values()),
        otherwise=otherwise,
        functions=len({call.key[1:4] for call in chosen}),
        literal=sum(call.facts["form"] == "literal" for call in chosen),
        left_out=left_out,
        functions_left_out=dict(Counter(observed.not_recorded.values()).most_common()),
    )


def _nothing(suite: ObservedTests, observed: Observed) -> str:
    """The message for a suite without recordings, with the reasons and the way out."""
    source = f"{TESTS}{suite.arguments[0]}"
    tail = observed.read_output().strip()[-1500:]
    if not set(observed.tests.values()) - {"not collected", "error", "skipped"}:
        return f"{source}: no test finished; pytest {observed.ended}:\n{tail}"
    where = f"the packages {', '.join(suite.packages)}" if suite.packages else f"{suite.root}"
    reasons = "".join(f"\n    {n} calls: {reason}" for reason, n in observed.left_out.most_common())
    return (
        f"{source}: {len(observed.tests)} tests ran, but no call of a function in {where} was recorded."
        f"{reasons}\n"
        "If the tests import an installed copy, install the project with pip install -e, or record its "
        "package with --package NAME."
    )


class _SuiteRecorder:
    """One call of `record_suite`: runs the tests three times, chooses calls, verifies and writes them."""

    def __init__(
        self,
        suite: ObservedTests,
        settings: SuiteSettings,
        cache: SuiteCache,
        workers: int,
        progress: Progress,
        stack: ExitStack,
    ) -> None:
        self.suite = suite
        self.settings = settings
        self.cache = cache
        self.progress = progress
        self.stack = stack
        self.mask = _mask(suite) if settings.mask else None
        self.budget = Budget(settings)
        self.verifier = CallVerifier(suite, settings, self.mask, self.budget, workers, stack)
        self.unwatched: dict[str, str] = {}
        """Outcomes of the tests when they ran without recording."""

    def record(self, writer: Writer) -> SuiteSummary:
        """Record into the writer. After an interrupt the finished calls are written, then it is raised."""
        try:
            first = self._record_first()
        except InputError:
            self.cache.remove()  # the next call has to begin again
            raise
        otherwise = _otherwise(self.unwatched, first.tests)
        chosen = choose(first, self.settings.calls, self.settings.per_function, otherwise)
        if not chosen and first.interrupted is None:
            message = _nothing(self.suite, first)
            self.cache.remove()
            raise InputError(message)
        summary = _summary(first, chosen, otherwise)
        summary.output = str(_keep_output(first, writer.folder / OUTPUT))
        summary.account = SuiteAccount.of(first)
        programs = [(self.program(first, call), call) for call in chosen]
        new = [(program, call) for program, call in programs if program.id not in writer.done]
        summary.skipped = len(programs) - len(new)
        interrupted = first.interrupted
        if interrupted is None:
            try:
                interrupted = self._verify(writer, summary, first, new)
            except (KeyboardInterrupt, SystemExit) as error:
                interrupted = error
        if interrupted is not None:
            self._write_unverified(writer, summary, first, new)
            raise interrupted
        return summary

    def _observe(self, name: str, hash_seed: int, text: str, **how: Any) -> Observed:
        """Run the tests. The stack deletes the events. text: for progress, with the number of calls."""
        settings = self.settings
        observing = Observing(  # more calls than are kept: which are is decided when all have been seen
            per_function=_POOL * settings.per_function,
            budget=_POOL * settings.calls,
            seed=settings.seed,
            trace_limits=settings.trace_limits,
            wall_s=settings.wall_s,
            mask=self.mask,
        )
        observed = self.stack.enter_context(
            observe(
                self.suite,
                observing,
                hash_seed=hash_seed,
                journal_path=self.cache.run(name),
                progress=lambda tests, collected, calls: self.progress(text.format(calls), tests, collected),
                **how,
            )
        )
        self.budget.spend(observed.cpu_s)
        return observed

    def _record_first(self) -> Observed:
        """Run the tests without recording, then with it. Raises an interrupt of the first of these runs."""
        plain = None
        if self.settings.repeat:
            plain = self._observe("unwatched", HASH_SEEDS[0], "tests, without recording", only=())
            if plain.interrupted is not None:
                raise plain.interrupted
            self.unwatched = plain.tests
            self.budget.tests_s = plain.start + sum(plain.cpu_s_by_test.values())
        pace = self.budget.pace(plain)
        return self._observe("first", HASH_SEEDS[0], "{} calls in tests", pace=pace)

    def _verify(
        self,
        writer: Writer,
        summary: SuiteSummary,
        first: Observed,
        calls: list[tuple[Program, RecordedCall]],
    ) -> BaseException | None:
        """Verify the calls and write the recordings. Returns an exception that interrupted this, or None."""
        if not self.settings.repeat or not calls:
            for program, call in calls:
                self.write(writer, summary, first, call, Verdict(program))
            return None
        keys = [call.key for _, call in calls]
        second = self._observe("again", HASH_SEEDS[1], "tests, again", only=keys)
        if second.interrupted is not None:
            return second.interrupted
        summary.otherwise = _otherwise(self.unwatched, second.tests) | summary.otherwise
        verdicts = self.verifier.verify(calls, first, second)
        for number, ((_, call), verdict) in enumerate(zip(calls, verdicts, strict=True), 1):
            self.progress("checked", number, len(calls))
            self.write(writer, summary, first, call, verdict)
        if self.budget.tests_s is not None:
            summary.tests_s = round(self.budget.tests_s, 3)
            summary.cost_s = round(self.budget.cost_s(), 3)
        return None

    def _write_unverified(
        self,
        writer: Writer,
        summary: SuiteSummary,
        first: Observed,
        calls: list[tuple[Program, RecordedCall]],
    ) -> None:
        """Write the calls that were not verified before an interrupt."""
        writer.flush()
        unverified = [(program, call) for program, call in calls if program.id not in writer.done]
        self.cache.unchecked(program.id for program, _ in unverified)
        for program, call in unverified:
            self.write(writer, summary, first, call, Verdict(program))

    def program(self, observed: Observed, call: RecordedCall) -> Program:
        """The call as a program. Without its test, it starts from the state of its imported module."""
        facts = call.facts
        file = Path(facts["file"])
        ran = {row.file for row in chain.from_iterable(map(rows, observed.blocks_of(call)))}
        folder = _import_folder(facts["module"], file)
        functions = facts["functions"]
        if self.mask is not None:
            functions = {name: self.mask.text(text) for name, text in functions.items()}
        return Program(
            id=call_id(call),
            code="",
            mode=Mode.CALL,
            filename="<call>",
            entry=facts["function"],
            arguments=facts["arguments"],
            module=facts["module"],
            path=None if folder is None else str(folder),
            source=str(file.relative_to(self.suite.root))
            if file.is_relative_to(self.suite.root)
            else str(file),
            licence=self.suite.licence,
            date=_modified(file),
            extra={
                "test": facts["test"],
                "line": facts["line"],
                "arguments": facts["form"],
                **({"functions": functions} if functions else {}),
                **({"numbers": facts["numbers"]} if facts["numbers"] is not None else {}),
                **({"needs": facts["needs"]} if facts["needs"] else {}),
                "own": facts["own"],
                "modules": sorted({observed.modules[label][0] for label in ran} - {facts["module"]}),
            },
        )

    def write(
        self,
        writer: Writer,
        summary: SuiteSummary,
        observed: Observed,
        call: RecordedCall,
        verdict: Verdict,
    ) -> None:
        """Write one recording."""
        program = verdict.program
        if verdict.varies:
            names = sorted(f"{observed.modules[file][0]}.{name}" for file, name in verdict.varies)
            program = replace(program, extra={**program.extra, VARIES: names})
            summary.varies.update(names)
        labels = {row.file for row in chain.from_iterable(map(rows, observed.blocks_of(call)))}
        labels |= call.facts["needs"].keys()
        sources = {label: source_of(observed.modules[label][1]) or "" for label in sorted(labels)}
        run_result = ending(call, sources, observed.packages)
        blocks, where = observed.blocks_of(call), verdict.difference
        if verdict.varies:
            blocks = [*without(blocks, verdict.varies)]
        if where is not None and self.mask is not None:
            where = self.mask.text(where)
        with writer.begin(program) as spool:
            for block in blocks:
                spool.write(block)
            spool.finish(
                run_result,
                Environment(
                    **observed.interpreter,
                    hash_seed=HASH_SEEDS[0],
                    deskcheck=__version__,
                    packages=observed.packages,
                    installed={},  # the user's own environment: not built by us, not looked through
                    limits=self.settings.trace_limits.leaving_out,
                ),
                repeatable=verdict.repeatable,
                difference=where,
            )
        summary.recorded += 1
        summary.by_outcome[run_result.outcome.value] += 1
        summary.alone += "alone" in program.extra
        summary.not_alone += verdict.not_tried_alone
        summary.add_difference(program.id, where)


def _import_folder(module: str, file: Path) -> Path | None:
    """The folder from which a file is imported under this name, or None."""
    parts = module.split(".")
    module_path = file.parent if file.name == "__init__.py" else file.with_suffix("")
    return module_path.parents[len(parts) - 1] if module_path.parts[-len(parts) :] == tuple(parts) else None


def _modified(file: Path) -> str | None:
    try:
        return modified(file)
    except OSError:
        return None  # it is gone
