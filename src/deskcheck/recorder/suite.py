"""Calls that a project's own tests make: ``pytest:PATH``.

The tests run under observation (`deskcheck.sandbox.observed.suite`), and of the calls of the project's own
functions some are recorded where they happen: with the objects, fixtures and patches that are
there. This module finds out what the project is, chooses among the recorded calls, checks them and
keeps them.

The tests run three times. First unwatched: a test that then comes out otherwise when it is watched
has noticed, and its calls are not kept. Then the calls are recorded, and then again under another
hash seed: the same call must give the same recording. Where the arguments can be written as Python
text, the call is also made alone, in the sandbox: only then can a reader tell from the text what
happens, and a model's arguments be run.
"""

import functools
import hashlib
import json
import os
import platform
import secrets
import stat
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from deskcheck import __version__
from deskcheck.files import disk_errors
from deskcheck.jobs.job import terminable
from deskcheck.recorder.masking import masked
from deskcheck.recorder.programs import HASH_SEEDS, SLOW_THERE, RecordSummary, slow, without_tracer
from deskcheck.recorder.reads import VARIES, reads_of, without
from deskcheck.recorder.settings import SuiteSettings
from deskcheck.recorder.suite_cache import SETTINGS, Kept
from deskcheck.recording import Environment, InputError, Kind, Mode, Outcome, Program, RunResult
from deskcheck.recording.block import rows
from deskcheck.recording.comparison.runs import difference
from deskcheck.recording.comparison.states import Global
from deskcheck.recording.secrets import EnvironmentMask, secrets_of, variables_around
from deskcheck.recording.writer import Writer
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.environments import of_interpreter
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.observed.suite import Observed, ObservedTests, Observing, Pace, RecordedCall, observe
from deskcheck.sandbox.process import Tracing, versions
from deskcheck.sandbox.sandbox import BareInterpreter, Sandbox
from deskcheck.sources.sets.files import short_id
from deskcheck.sources.sources import TESTS
from deskcheck.sources.text.python import modified
from deskcheck.tracer.limits import TraceLimits

OUTPUT = "pytest-output.txt"
"""What the tests wrote, kept beside the recordings."""
_ROOT_MARKS = (*SETTINGS, ".git")
_DECIDES = ("calls", "per_function", "seed", "times", "spare_s", "repeat", "mask", "trace_limits")
"""The settings that decide what is recorded: with others, a recording that was stopped does not go on."""
_FIRST_SHARE, _OF_THE_REST = 0.3, 0.4
"""What recording calls may take: of the CPU time that all of it may take, and of what three runs of the
tests leave of that. Recording half of them again, and checking them, takes the rest."""
_RUNS, _FOR_FIRST_CALLS = 3, 0.4
_AT_LEAST_S = 0.5
"""Tests that take less count as if they took this."""
_POOL = 2
"""For every call of a function that may be kept so many are recorded, to choose among their
paths."""


def find_suite(source: str, *, packages: Sequence[str] = (), python: str | None = None) -> ObservedTests:
    """The tests that ``pytest:PATH`` means: a project's folder, a folder or file of tests, or one
    test.

    packages: top-level packages whose functions are the project's own, instead of what lies below
    its root. python: the interpreter, by default this one.

    Raises:
        InputError: there is no such path, or no such interpreter.
    """
    file, colons, test = source.removeprefix(TESTS).partition("::")
    path = Path(file or ".")
    if not path.exists():
        raise InputError(
            f"{source}: no such file or folder: {path}. Write pytest:FOLDER, or pytest:FILE.py::TEST."
        )
    path = path.resolve()
    root = _root(path)
    found = sys.executable if python is None else of_interpreter(python).python
    return ObservedTests(
        arguments=(f"{path}{colons}{test}",),
        root=root,
        packages=tuple(packages),
        path=tuple(folder for folder in (root / "src",) if folder.is_dir()),
        python=os.path.abspath(found),
    )


def _root(path: Path) -> Path:
    """The folder of the project: where its settings are, else the tests' own or the one above
    ``tests``."""
    folder = path if path.is_dir() else path.parent
    for above in (folder, *folder.parents):
        if any((above / mark).exists() for mark in _ROOT_MARKS):
            return above
    return folder.parent if folder.name in ("tests", "test") else folder


# -- choosing --------------------------------------------------------------------------------------


def choose(
    observed: Observed, calls: int, per_function: int, without: Container[str] = ()
) -> list[RecordedCall]:
    """At most so many of the recorded calls: every function gets its first before any gets its
    second, and of one function those come first that take a way through the code that no other has
    taken; before others those that return, and whose arguments a reader can write or see (`_FORMS`). Calls
    of the tests in `without` are left out. Those that run something of which there is no source are taken
    out of `observed`, and counted in it."""
    by_function: dict[tuple[str, str, int], dict[str, list[RecordedCall]]] = {}
    ids: set[str] = set()
    unseen = []
    for place, call in observed.calls.items():
        if (name := _id(call)) not in ids and call.facts["test"] not in without:
            ids.add(name)
            way = _way(observed, call)
            if way is None:
                unseen.append(place)
                continue
            by_function.setdefault(call.key[1:4], {}).setdefault(way, []).append(call)
    for place in unseen:
        del observed.calls[place]
        observed.left_out["in a module whose source cannot be read"] += 1
    queues = [
        _in_turn(sorted((sorted(way, key=_rank) for way in ways.values()), key=lambda way: _rank(way[0])))[
            :per_function
        ]
        for ways in by_function.values()
    ]
    return sorted(_in_turn(queues)[:calls], key=lambda call: call.at)


_FORMS = ("literal", "shown", "in part")
"""What is known of a call's arguments, by what can be asked about it."""


def _rank(call: RecordedCall) -> tuple[bool, int]:
    """Less for a call that more can be asked about."""
    return call.facts["outcome"] != Outcome.RETURNED, _FORMS.index(call.facts["form"])


def _in_turn(lists: Iterable[list[RecordedCall]]) -> list[RecordedCall]:
    """The first of each, then the second of each, and so on."""
    return [call for each in zip_longest(*lists) for call in each if call is not None]


def _way(observed: Observed, call: RecordedCall) -> str | None:
    """A digest of the lines that a call ran, in order. None where there is no source to one of its files."""
    digest = hashlib.blake2b(digest_size=16)
    known = {*call.facts["needs"]}
    for row in chain.from_iterable(map(rows, observed.blocks_of(call))):
        known.add(row.file)
        if row.kind == Kind.LINE:
            digest.update(f"{row.file}:{row.line};".encode("utf-8", "surrogatepass"))
    return digest.hexdigest() if all(map(functools.partial(_has_source, observed), known)) else None


def _has_source(observed: Observed, label: str) -> bool:
    return label in observed.modules and _source(observed.modules[label][1]) is not None


def _id(call: RecordedCall) -> str:
    facts = call.facts
    return short_id(f"{facts['module']}.{facts['function']}{facts['arguments']}")


# -- recording -------------------------------------------------------------------------------------


@dataclass(slots=True)
class SuiteSummary(RecordSummary):
    """What `record_suite` did, besides what a `RecordSummary` says.

    ended: how the tests ended, as ``passed`` or ``failed``; no error of ours. tests: outcome -> how
    many. otherwise: tests with another outcome when they are watched than when they are not (or
    under another hash seed), with both; calls that they make are not kept. functions: of how many
    there are recordings. literal: recordings whose arguments can be written in Python; alone: those
    of them that do the same by themselves; not_alone: those of them that were not tried, as the
    time was spent. varies: global variables that were others in the second run -> recordings
    without their value, whose call cannot read them. tests_s: CPU time that the tests take by
    themselves; cost_s: what recording them took in all, in this call; both None where nothing was
    run twice. left_out: reason -> calls that were not recorded; functions_left_out: reason ->
    functions without recordings of their own. output: file of what the tests wrote.
    """

    ended: str = ""
    tests: Counter[str] = field(default_factory=Counter)
    otherwise: dict[str, str] = field(default_factory=dict)
    functions: int = 0
    literal: int = 0
    alone: int = 0
    not_alone: int = 0
    varies: Counter[str] = field(default_factory=Counter)
    tests_s: float | None = None
    cost_s: float | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    functions_left_out: dict[str, int] = field(default_factory=dict)
    output: str = ""
    account: "SuiteAccount | None" = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The fields but for the account."""
        told = RecordSummary.to_dict(self)
        del told["account"]
        return told


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteAccount:
    """What is known of single tests and functions, beside what is counted in a `SuiteSummary`.

    tests: id -> outcome; why: id -> why it did not pass. modules: the project's own that were imported ->
    their files. called: function, as ``module:qualified.name`` -> its calls; not_recorded: those that are not
    recorded by themselves -> reason. packages, interpreter: as in `Environment`.
    """

    tests: dict[str, str]
    why: dict[str, str]
    modules: dict[str, str]
    called: dict[str, int]
    not_recorded: dict[str, str]
    packages: dict[str, str]
    interpreter: dict[str, Any]

    @property
    def slow(self) -> str | None:
        """What a user is told where the reference tracer recorded; None where it did not."""
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
            why=observed.why,
            modules=dict(observed.modules.values()),
            called=dict(called),
            not_recorded={f"{key[0]}:{key[1]}": why for key, why in observed.not_recorded.items()},
            packages=observed.packages,
            interpreter=observed.interpreter,
        )


Progress = Callable[[str, int, int], None]
"""Is told (what is being done, how much of it is done, of how much)."""


def record_suite(
    suite: ObservedTests,
    folder: str | Path,
    settings: SuiteSettings | None = None,
    *,
    workers: int = 2,
    progress: Progress = lambda what, done, of: None,
) -> SuiteSummary:
    """Run the tests and keep recordings of calls of the project's own functions. What the folder holds
    already is not recorded again.

    settings: `package` and `python` have been used where the suite was found (`find_suite`). workers: calls
    that are made again at once. progress: told what is being done, how much of it is done, of how much.

    How the tests end is no error. Whatever ends this early, the same call goes on where it was:
    with the test that ran, and with the calls that were not checked. An interrupt or SIGTERM is
    raised as KeyboardInterrupt or SystemExit once the tests have ended; the recordings that were
    not checked yet are then there with `repeatable` None, until it goes on.

    Raises:
        InputError: no pytest, no tests, or no call of the project's own functions.
        RecordingError: the folder cannot be written to.
    """
    settings = settings or SuiteSettings()
    recorder = _Recorder(
        suite=suite,
        limits=settings.limits,
        trace_limits=settings.trace_limits,
        workers=workers,
        times=settings.times,
        spare_s=settings.spare_s,
        mask=_mask(suite) if settings.mask else None,
        progress=progress,
    )
    kept = Kept(Path(folder), suite, {name: asdict(settings)[name] for name in _DECIDES})
    look = functools.partial(observe, suite, _observing(settings, recorder.mask))
    repeat = settings.repeat
    with terminable(), ExitStack() as stack:
        recorder.begin(stack)
        with Writer(folder, prepare=kept.begin) as writer:
            try:
                interrupted = recorder.runs(stack, look, kept, repeat=repeat)
            except InputError:
                kept.remove()  # to be mended, and then begun anew
                raise
            first = recorder.first
            if first is None:
                assert interrupted is not None
                raise interrupted
            otherwise = _otherwise(recorder.plain, first.tests)
            chosen = choose(first, settings.calls, settings.per_function, otherwise)
            if not chosen and interrupted is None:
                nothing = InputError(_nothing(suite, first))
                kept.remove()
                raise nothing
            summary = _summary(first, chosen, otherwise)
            summary.output = str(_keep_output(first, Path(folder, OUTPUT)))
            todo = [(recorder.program(first, call), call) for call in chosen]
            summary.skipped = sum(program.id in writer.done for program, _ in todo)
            todo = [(program, call) for program, call in todo if program.id not in writer.done]
            if interrupted is None:
                try:
                    interrupted = recorder.record(stack, look, kept, writer, summary, todo, repeat=repeat)
                except (KeyboardInterrupt, SystemExit) as error:
                    interrupted = error
            if interrupted is not None:
                recorder.keep_unchecked(writer, summary, kept, todo)
                raise interrupted
            kept.remove()
    summary.account = SuiteAccount.of(first)
    summary.files = sorted(str(path) for path in Path(folder).glob("*.parquet"))
    return summary


def _observing(settings: SuiteSettings, mask: EnvironmentMask | None) -> Observing:
    """More calls than are kept: which of them are is decided when all have been seen."""
    return Observing(
        most=_POOL * settings.per_function,
        budget=_POOL * settings.calls,
        seed=settings.seed,
        trace_limits=settings.trace_limits,
        wall_s=settings.wall_s,
        mask=mask,
    )


def _keep_output(observed: Observed, path: Path) -> Path:
    """Put what the tests wrote into a file. What stood there is replaced: a link is not followed."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    with disk_errors(path, "keep what the tests wrote"):
        try:
            with open(part, "x", encoding="utf-8") as stream:
                stream.write(observed.read_output())
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    return path


def _mask(suite: ObservedTests) -> EnvironmentMask:
    """For what the tests find in their environment: ours, and what we add; and for secrets in files."""
    secrets = secrets_of(variables_around(os.getcwd(), str(suite.root)))
    return EnvironmentMask({**secrets, **os.environ, "PYTHONHASHSEED": str(HASH_SEEDS[0])})


def _otherwise(tests: Mapping[str, str], watched: Mapping[str, str]) -> dict[str, str]:
    """Tests that came to their end both times, but to another."""
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
        left_out["in a test that comes out otherwise when it is watched"] = changed
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
    """Why there is no recording, and what to do."""
    asked = f"{TESTS}{suite.arguments[0]}"
    tail = observed.read_output().strip()[-1500:]
    if not set(observed.tests.values()) - {"not collected", "error", "skipped"}:
        return f"{asked}: no test ran to its end; pytest {observed.ended}:\n{tail}"
    where = f"the packages {', '.join(suite.packages)}" if suite.packages else f"{suite.root}"
    reasons = "".join(f"\n    {n} calls: {why}" for why, n in observed.left_out.most_common())
    return (
        f"{asked}: {len(observed.tests)} tests ran, but no call of a function in {where} was recorded."
        f"{reasons}\n"
        "If the tests import an installed copy, install the project editable (pip install -e), or record "
        "its package: deskcheck record, with --package NAME."
    )


@dataclass(frozen=True, slots=True)
class _Checked:
    """A program, and what the second run of its call gave: whether the same, and where they
    differ."""

    program: Program
    repeatable: bool | None = None
    difference: str | None = None
    alone: str = ""
    """Why the call was not made alone, where it could have been."""
    varies: frozenset[Global] = frozenset()
    """Global variables that it cannot read and that were others in the second run."""


@dataclass(kw_only=True)
class _Recorder:
    suite: ObservedTests
    limits: Limits
    trace_limits: TraceLimits
    workers: int
    times: float
    spare_s: float
    mask: EnvironmentMask | None
    progress: Progress
    guard: threading.Lock = field(default_factory=threading.Lock)
    plain: dict[str, str] = field(default_factory=dict)
    first: Observed | None = None
    ours: Sandbox | None = None
    """For calls that need no more than their project and the standard library: where the tests have another
    interpreter of our version. An answer can be run in ours alone."""
    not_ours: set[str | None] = field(default_factory=set)
    """Modules that need more."""
    own_s: float | None = None
    """CPU time that the tests take by themselves; None: it was not looked at."""
    spent_s: float = 0.0
    """CPU time of other processes that were started for this."""

    def begin(self, stack: ExitStack) -> None:
        self.began_s = time.process_time()
        self.sandbox = Sandbox(
            Confinement.TRUSTED,  # the tests have just run without any
            workers=self.workers,
            limits=self.limits,
            environment=BareInterpreter(self.suite.python),
            hash_seed=HASH_SEEDS[1],
        )
        stack.callback(self.sandbox.close)

    def _is_of_our_version(self, observed: Observed) -> bool:
        """Whether the tests have another interpreter than ours, of the same version."""
        python = str(observed.interpreter.get("python", ""))
        ours = ".".join(map(str, sys.version_info[:2]))
        return self.suite.python != os.path.abspath(sys.executable) and python.startswith(f"{ours}.")

    def cost_s(self) -> float:
        """CPU time that all of it has taken so far."""
        return self.spent_s + time.process_time() - self.began_s

    def allowed_s(self) -> float:
        """CPU time that all of it may take."""
        return self.times * max(self.own_s or 0.0, _AT_LEAST_S) + self.spare_s

    def _pace(self, plain: Observed) -> Pace:
        """What recording calls may cost, in what the tests take by themselves."""
        if not self.spare_s:
            return Pace(times=_FIRST_SHARE * self.times, own=plain.own, start=plain.start)
        own_s = max(self.own_s or 0.0, 0.01)
        most_s = _OF_THE_REST * (self.allowed_s() - _RUNS * own_s)
        first_s = _FOR_FIRST_CALLS * most_s
        return Pace(times=(most_s - first_s) / own_s, first_s=first_s, own=plain.own, start=plain.start)

    def runs(
        self, stack: ExitStack, look: Callable[..., Any], kept: Kept, *, repeat: bool
    ) -> BaseException | None:
        """Run the tests unwatched and watched. Returns what has interrupted that."""
        pace = Pace(times=_FIRST_SHARE * self.times)
        if repeat:
            with look(
                hash_seed=HASH_SEEDS[0], wanted=(), kept=kept.run("unwatched"), progress=self.unwatched
            ) as unwatched:
                plain: Observed = unwatched
                self.spent_s += plain.cpu_s
                if plain.interrupted is not None:
                    return plain.interrupted
                self.plain = plain.tests
                self.own_s = plain.start + sum(plain.own.values())
                pace = self._pace(plain)
        first: Observed = stack.enter_context(
            look(hash_seed=HASH_SEEDS[0], pace=pace, kept=kept.run("first"), progress=self.first_run)
        )
        self.first = first
        self.spent_s += first.cpu_s
        if self._is_of_our_version(first):
            self.ours = Sandbox(
                Confinement.TRUSTED, workers=self.workers, limits=self.limits, hash_seed=HASH_SEEDS[1]
            )
            stack.callback(self.ours.close)
        return first.interrupted

    def record(
        self,
        stack: ExitStack,
        look: Callable[..., Any],
        kept: Kept,
        writer: Writer,
        summary: SuiteSummary,
        todo: list[tuple[Program, RecordedCall]],
        *,
        repeat: bool,
    ) -> BaseException | None:
        """Check the calls and write the recordings. Returns what has interrupted that."""
        first = self.first
        assert first is not None
        if not repeat or not todo:
            for program, call in todo:
                self.keep(writer, summary, first, call, _Checked(program))
            return None
        second: Observed = stack.enter_context(
            look(
                hash_seed=HASH_SEEDS[1],
                wanted=[call.key for _, call in todo],
                kept=kept.run("again"),
                progress=self.second_run,
            )
        )
        self.spent_s += second.cpu_s
        if second.interrupted is not None:
            return second.interrupted
        summary.otherwise = _otherwise(self.plain, second.tests) | summary.otherwise
        for (_, call), checked in zip(todo, self.check(todo, first, second), strict=True):
            self.keep(writer, summary, first, call, checked)
        if self.own_s is not None:
            summary.tests_s, summary.cost_s = round(self.own_s, 3), round(self.cost_s(), 3)
        return None

    def keep_unchecked(
        self, writer: Writer, summary: SuiteSummary, kept: Kept, todo: list[tuple[Program, RecordedCall]]
    ) -> None:
        """Write the calls that were not checked before an interrupt."""
        first = self.first
        assert first is not None
        writer.flush()
        unchecked = [(program, call) for program, call in todo if program.id not in writer.done]
        kept.unchecked(program.id for program, _ in unchecked)
        for program, call in unchecked:
            self.keep(writer, summary, first, call, _Checked(program))

    def unwatched(self, tests: int, collected: int, calls: int) -> None:
        self.progress("tests, unwatched", tests, collected)

    def first_run(self, tests: int, collected: int, calls: int) -> None:
        self.progress(f"{calls} calls in tests", tests, collected)

    def second_run(self, tests: int, collected: int, calls: int) -> None:
        self.progress("the same again", tests, collected)

    def program(self, observed: Observed, call: RecordedCall) -> Program:
        """The call as a program; alone, it starts with what its module holds when it is
        imported."""
        facts = call.facts
        file = Path(facts["file"])
        ran = {row.file for row in chain.from_iterable(map(rows, observed.blocks_of(call)))}
        folder = _import_folder(facts["module"], file)
        functions = facts["functions"]
        if self.mask is not None:
            functions = {name: self.mask.text(text) for name, text in functions.items()}
        return Program(
            id=_id(call),
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

    def check(
        self, todo: list[tuple[Program, RecordedCall]], first: Observed, second: Observed
    ) -> Iterator[_Checked]:
        """In the order of `todo`."""
        again = {call.key: call for call in second.calls.values()}
        stopping = threading.Event()

        def check_one(each: tuple[Program, RecordedCall]) -> _Checked:
            program, call = each
            return self._check(program, call, again.get(call.key), first, second, stopping.is_set)

        with ThreadPoolExecutor(self.workers, "deskcheck-suite") as pool:
            try:
                for done, checked in enumerate(pool.map(check_one, todo), 1):
                    self.progress("checked", done, len(todo))
                    yield checked
            except BaseException:
                stopping.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _check(
        self,
        program: Program,
        call: RecordedCall,
        again: RecordedCall | None,
        first: Observed,
        second: Observed,
        cancelled: Callable[[], bool],
    ) -> _Checked:
        one = (_ending(call, {}), functools.partial(first.blocks_of, call))
        if again is None and call.key[0] not in second.tests:
            return _Checked(program)  # the second run did not come as far
        if first.tests.get(call.key[0]) != second.tests.get(call.key[0]):
            outcomes = f"{first.tests.get(call.key[0])} and {second.tests.get(call.key[0])}"
            return _Checked(program, False, f"its test comes out otherwise: {outcomes}")
        if again is None:
            return _Checked(program, False, "the test does not make this call again")
        reads, unread = self._reads(first, call), set[Global]()
        two = (_ending(again, {}), functools.partial(second.blocks_of, again))
        where = difference(one, two, reads=reads, unread=unread)
        if where is not None:
            return _Checked(program, False, where)
        return replace(self._check_alone(program, one, reads, cancelled), varies=frozenset(unread))

    def _reads(self, observed: Observed, call: RecordedCall) -> Callable[[Global], bool]:
        if self.trace_limits.leaving_out:  # it is not known what ran
            return lambda name: True

        @functools.cache
        def known() -> Callable[[Global], bool]:
            events = chain.from_iterable(map(rows, observed.blocks_of(call)))
            ran = {(row.file, row.function) for row in events}
            return reads_of(ran, lambda label: _source(observed.modules[label][1]) or "")

        return lambda name: known()(name)

    def _check_alone(
        self,
        program: Program,
        one: tuple[RunResult, Callable[[], Iterable[bytes]]],
        reads: Callable[[Global], bool],
        cancelled: Callable[[], bool],
    ) -> _Checked:
        """Where the call can be written in Python, make it without its test."""
        if program.extra["arguments"] != "literal" or program.path is None:
            return _Checked(program, True)
        if self.own_s is not None and self.cost_s() > self.allowed_s():
            return _Checked(program, True, alone="no time")
        extra = {**program.extra, "alone": True}
        if self.ours is not None and program.module not in self.not_ours:
            run_result, blocks = self._alone(self.ours, program, cancelled)
            if not blocks or self._foreign(run_result):
                self.not_ours.add(program.module)
            elif self._differs(one, run_result, blocks, reads) is None:
                where = self._untraced(self.ours, program, run_result, cancelled)
                if where is not None:
                    return _Checked(program, False, where)
                return _Checked(replace(program, extra=extra), True)
        run_result, blocks = self._alone(self.sandbox, program, cancelled)
        if not blocks:  # it needs more than its module: settings, a database, another folder
            return _Checked(program, True)
        where = self._differs(one, run_result, blocks, reads)
        if where is not None:
            return _Checked(program, False, f"alone, without its test: {where}")
        where = self._untraced(self.sandbox, program, run_result, cancelled)
        if where is not None:
            return _Checked(program, False, where)
        if self.suite.python != os.path.abspath(sys.executable):
            extra["python"] = self.suite.python
        return _Checked(replace(program, extra=extra), True)

    def _untraced(
        self, sandbox: Sandbox, program: Program, traced: RunResult, cancelled: Callable[[], bool]
    ) -> str | None:
        """Where a call that was made alone ends differently without the tracer."""

        def run() -> RunResult:
            run_result = sandbox.run_one(program, files=True, cancelled=cancelled)
            with self.guard:
                self.spent_s += run_result.cpu_s or 0.0
            return run_result if self.mask is None else masked(run_result, self.mask)

        return without_tracer(traced, run)

    def _alone(
        self, sandbox: Sandbox, program: Program, cancelled: Callable[[], bool]
    ) -> tuple[RunResult, list[bytes]]:
        """Make a call without its test; its end and its events."""
        blocks: list[bytes] = []
        tracing = Tracing(blocks.append, self.trace_limits)
        run_result = sandbox.run_one(program, tracing=tracing, files=True, cancelled=cancelled)
        with self.guard:
            self.spent_s += run_result.cpu_s or 0.0
        if self.mask is not None:  # as what it is compared with
            run_result, blocks = masked(run_result, self.mask), [*self.mask.blocks(blocks)]
        return run_result, blocks

    @staticmethod
    def _differs(
        one: tuple[RunResult, Callable[[], Iterable[bytes]]],
        run_result: RunResult,
        blocks: list[bytes],
        reads: Callable[[Global], bool],
    ) -> str | None:
        where = difference(one, (run_result, lambda: blocks), reads=reads)
        if where is not None:  # caches that other tests have filled do no harm
            where = difference(
                (one[0], _without_globals(one[1])), (run_result, _without_globals(lambda: blocks))
            )
        return where

    def _foreign(self, run_result: RunResult) -> bool:
        """Whether a call took more from our interpreter than the standard library: the tests' own may have
        another version of it."""
        assert self.first is not None
        own = versions({name.partition(".")[0] for name, _ in self.first.modules.values()})
        return not run_result.packages.keys() <= own.keys()

    def keep(
        self, writer: Writer, summary: SuiteSummary, observed: Observed, call: RecordedCall, checked: _Checked
    ) -> None:
        """Write one recording."""
        program = checked.program
        if checked.varies:
            names = sorted(f"{observed.modules[file][0]}.{name}" for file, name in checked.varies)
            program = replace(program, extra={**program.extra, VARIES: names})
            summary.varies.update(names)
        labels = {row.file for row in chain.from_iterable(map(rows, observed.blocks_of(call)))}
        labels |= call.facts["needs"].keys()
        sources = {label: _source(observed.modules[label][1]) or "" for label in sorted(labels)}
        run_result = _ending(call, sources, observed.packages)
        blocks, where = observed.blocks_of(call), checked.difference
        if checked.varies:
            blocks = [*without(blocks, checked.varies)]
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
                    limits=self.trace_limits.leaving_out,
                ),
                repeatable=checked.repeatable,
                difference=where,
            )
        summary.recorded += 1
        summary.by_outcome[run_result.outcome.value] += 1
        summary.alone += "alone" in program.extra
        summary.not_alone += bool(checked.alone)
        summary.add_difference(program.id, where)


def _without_globals(blocks: Callable[[], Iterable[bytes]]) -> Callable[[], Iterator[bytes]]:
    """The events without the values of global variables, block by block."""

    def stripped() -> Iterator[bytes]:
        for row in chain.from_iterable(map(rows, blocks())):
            yield json.dumps(row._replace(globals=None)).encode()

    return stripped


def _import_folder(module: str, file: Path) -> Path | None:
    """The folder from which a file is imported under that name; None if there is none."""
    parts = module.split(".")
    place = file.parent if file.name == "__init__.py" else file.with_suffix("")
    return place.parents[len(parts) - 1] if place.parts[-len(parts) :] == tuple(parts) else None


def _ending(call: RecordedCall, sources: dict[str, str], packages: dict[str, str] | None = None) -> RunResult:
    facts = call.facts
    return RunResult(
        outcome=Outcome(facts["outcome"]),
        detail=facts.get("detail", ""),
        exception=facts.get("exception"),
        result=facts.get("result"),
        result_builtin=facts.get("result_builtin", False),
        stdout=facts["stdout"],
        sources=sources,
        packages=packages or {},
    )


def _modified(file: Path) -> str | None:
    try:
        return modified(file)
    except OSError:
        return None  # it is gone


_SOURCE_BYTES = 16 << 20


@functools.cache
def _source(file: str) -> str | None:
    """The text of a module, whose file the tests name; None where there is none."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with open(descriptor, encoding="utf-8", errors="replace") as stream:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _SOURCE_BYTES:
                return None
            return stream.read(_SOURCE_BYTES)
    except OSError:
        return None
