"""Calls that a project's own tests make: ``pytest:PATH``.

The tests run under observation (`deskcheck.sandbox.suite`), and of the calls of the project's own
functions some are recorded where they happen: with the objects, fixtures and patches that are there.
This module finds out what the project is, chooses among the recorded calls, checks them and keeps them.

The tests run three times. First unwatched: a test that then comes out otherwise when it is watched has
noticed, and its calls are not kept. Then the calls are recorded, and then again under another hash
seed: the same call must give the same recording. Where the arguments can be written as Python text,
the call is also made alone, in the sandbox: only then can a reader tell from the text what happens,
and a model's arguments be run.
"""

import functools
import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from deskcheck import __version__
from deskcheck.corpus._python import modified
from deskcheck.corpus.files import short_id
from deskcheck.recording import Ending, Environment, InputError, Kind, Mode, Outcome, Program
from deskcheck.recording.block import rows
from deskcheck.recording.file import Writer
from deskcheck.sandbox.compare import difference
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.recorder import HASH_SEEDS, Summary
from deskcheck.sandbox.sandbox import run as run_in_sandbox
from deskcheck.sandbox.suite import Blocks, Call, Observed, Suite, observe
from deskcheck.tracer.limits import TraceLimits

PREFIX = "pytest:"
OUTPUT = "pytest-output.txt"
"""What the tests wrote, kept beside the recordings."""
LIMITS = TraceLimits(events=5000, objects=5000)
"""A call with more events than this is left out."""
_ROOT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", ".git")
_POOL = 2
"""For every call of a function that may be kept so many are recorded, to choose among their paths."""


def find_suite(source: str, *, packages: Sequence[str] = (), python: str | None = None) -> Suite:
    """The tests that ``pytest:PATH`` means: a project's folder, a folder or file of tests, or one test.

    packages: top-level packages whose functions are the project's own, instead of what lies below its
    root. python: the interpreter, by default this one.

    Raises:
        InputError: there is no such path, or no such interpreter.
    """
    file, colons, test = source.removeprefix(PREFIX).partition("::")
    path = Path(file or ".")
    if not path.exists():
        raise InputError(
            f"{source}: no such file or folder: {path}. Write pytest:FOLDER, or pytest:FILE.py::TEST."
        )
    path = path.resolve()
    root = _root(path)
    found = sys.executable
    if python is not None:
        found = shutil.which(python) or ""
        if not found:
            raise InputError(f"--python {python}: is no program that can be started.")
    return Suite(
        arguments=(f"{path}{colons}{test}",),
        root=root,
        packages=tuple(packages),
        path=tuple(folder for folder in (root / "src",) if folder.is_dir()),
        python=os.path.abspath(found),
    )


def _root(path: Path) -> Path:
    """The folder of the project: where its settings are, else the tests' own or the one above ``tests``."""
    folder = path if path.is_dir() else path.parent
    for above in (folder, *folder.parents):
        if any((above / mark).exists() for mark in _ROOT_MARKS):
            return above
    return folder.parent if folder.name in ("tests", "test") else folder


# -- choosing --------------------------------------------------------------------------------------


def choose(observed: Observed, calls: int, per_function: int, without: Container[str] = ()) -> list[Call]:
    """At most so many of the recorded calls: every function gets its first before any gets its second, and
    of one function those come first that take a way through the code that no other has taken. Calls of the
    tests in `without` are left out."""
    by_function: dict[tuple[str, str], dict[str, list[Call]]] = {}
    ids: set[str] = set()
    for call in observed.calls.values():
        if (name := _id(call)) not in ids and call.facts["test"] not in without:
            ids.add(name)
            ways = by_function.setdefault((call.facts["module"], call.facts["function"]), {})
            ways.setdefault(_way(observed, call), []).append(call)
    queues = [_in_turn(ways.values())[:per_function] for ways in by_function.values()]
    return sorted(_in_turn(queues)[:calls], key=lambda call: call.at)


def _in_turn(lists: Iterable[list[Call]]) -> list[Call]:
    """The first of each, then the second of each, and so on."""
    return [call for each in zip_longest(*lists) for call in each if call is not None]


def _way(observed: Observed, call: Call) -> str:
    """A digest of the lines that a call ran, in order."""
    digest = hashlib.blake2b(digest_size=16)
    for row in chain.from_iterable(map(rows, observed.blocks_of(call))):
        if row.kind == Kind.LINE:
            digest.update(f"{row.file}:{row.line};".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _id(call: Call) -> str:
    facts = call.facts
    return short_id(f"{facts['module']}.{facts['function']}{facts['arguments']}")


# -- recording -------------------------------------------------------------------------------------


@dataclass(slots=True)
class SuiteSummary(Summary):
    """What `record_suite` did, besides what a `Summary` says.

    ended: how the tests ended, as ``passed`` or ``failed``; no error of ours. tests: outcome -> how
    many. otherwise: tests with another outcome when they are watched than when they are not (or under
    another hash seed), with both; calls that they make are not kept. functions: of how many there are
    recordings. literal: recordings whose arguments can be written in Python; alone: those of them
    that do the same by themselves. left_out: reason -> calls that were not recorded;
    functions_left_out: reason -> functions without recordings of their own. output: file of what
    the tests wrote.
    """

    ended: str = ""
    tests: Counter[str] = field(default_factory=Counter)
    otherwise: dict[str, str] = field(default_factory=dict)
    functions: int = 0
    literal: int = 0
    alone: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    functions_left_out: dict[str, int] = field(default_factory=dict)
    output: str = ""

    def to_dict(self) -> dict[str, Any]:
        names = [*Summary.__dataclass_fields__, *SuiteSummary.__dataclass_fields__]
        return {name: getattr(self, name) for name in dict.fromkeys(names)}


Progress = Callable[[str, int, int], None]
"""Is told (what is being done, how much of it is done, of how much)."""


def record_suite(
    suite: Suite,
    folder: str | Path,
    *,
    calls: int = 1000,
    per_function: int = 10,
    wall_s: float = 1800.0,
    workers: int = 2,
    limits: Limits | None = None,
    trace_limits: TraceLimits | None = None,
    repeat: bool = True,
    seed: int = 0,
    progress: Progress = lambda what, done, of: None,
) -> SuiteSummary:
    """Run the tests and keep recordings of at most `calls` calls of the project's own functions, at
    most `per_function` of each. What the folder holds already is not recorded again.

    wall_s: seconds that one run of the tests may take. trace_limits: a call with more events than
    that is left out. seed: of the choice among the calls of one function.

    How the tests end is no error. An interrupt while they run ends them: what was recorded until then is
    kept, unchecked (`repeatable` is None), and KeyboardInterrupt is raised.

    Raises:
        InputError: no pytest, no tests, or no call of the project's own functions.
        RecordingError: the folder cannot be written to.
    """
    recorder = _Recorder(
        suite=suite,
        limits=limits or Limits(),
        trace_limits=trace_limits or LIMITS,
        workers=workers,
        progress=progress,
    )
    look = functools.partial(
        observe,
        suite,
        most=_POOL * per_function,
        budget=_POOL * calls,
        trace_limits=recorder.trace_limits,
        wall_s=wall_s,
        seed=seed,
    )
    with Writer(folder) as writer, ExitStack() as stack:
        plain: dict[str, str] = {}
        if repeat:
            with look(hash_seed=HASH_SEEDS[0], wanted=(), progress=recorder.unwatched) as unwatched:
                plain = unwatched.tests
                if unwatched.interrupted:
                    raise KeyboardInterrupt
        first = stack.enter_context(look(hash_seed=HASH_SEEDS[0], progress=recorder.first_run))
        otherwise = _otherwise(plain, first.tests)
        chosen = choose(first, calls, per_function, otherwise)
        if not chosen and not first.interrupted:
            raise InputError(_nothing(suite, first))
        summary = _summary(first, chosen, otherwise)
        output = Path(folder, OUTPUT)
        output.write_bytes(first.output.read_bytes())
        summary.output = str(output)
        todo = [(recorder.program(first, call), call) for call in chosen]
        summary.skipped = sum(program.id in writer.done for program, _ in todo)
        todo = [(program, call) for program, call in todo if program.id not in writer.done]
        interrupted = first.interrupted
        if first.interrupted or not repeat or not todo:
            for program, call in todo:
                recorder.keep(writer, summary, first, call, _Checked(program))
        else:
            wanted = [call.key for _, call in todo]
            with look(hash_seed=HASH_SEEDS[1], wanted=wanted, progress=recorder.second_run) as second:
                interrupted = second.interrupted
                summary.otherwise = _otherwise(plain, second.tests) | otherwise
                for (_, call), checked in zip(todo, recorder.check(todo, first, second), strict=True):
                    recorder.keep(writer, summary, first, call, checked)
        if interrupted:
            raise KeyboardInterrupt
    summary.files = sorted(str(path) for path in Path(folder).glob("*.parquet"))
    return summary


def _otherwise(tests: Mapping[str, str], watched: Mapping[str, str]) -> dict[str, str]:
    """Tests that came to their end both times, but to another."""
    return {
        test: f"{tests[test]}, then {outcome}"
        for test, outcome in sorted(watched.items())
        if tests.get(test, outcome) != outcome
    }


def _summary(observed: Observed, chosen: list[Call], otherwise: dict[str, str]) -> SuiteSummary:
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
        functions=len({(call.facts["module"], call.facts["function"]) for call in chosen}),
        literal=sum(call.facts["form"] == "literal" for call in chosen),
        left_out=left_out,
        functions_left_out=dict(observed.functions.most_common()),
    )


def _nothing(suite: Suite, observed: Observed) -> str:
    """Why there is no recording, and what to do."""
    asked = f"{PREFIX}{suite.arguments[0]}"
    tail = observed.output.read_text("utf-8", "replace").strip()[-1500:]
    if not set(observed.tests.values()) - {"not collected", "error", "skipped"}:
        return f"{asked}: no test ran to its end; pytest {observed.ended}:\n{tail}"
    where = f"the packages {', '.join(suite.packages)}" if suite.packages else f"{suite.root}"
    reasons = "".join(f"\n    {n} calls: {why}" for why, n in observed.left_out.most_common())
    return (
        f"{asked}: {len(observed.tests)} tests ran, but no call of a function in {where} was recorded."
        f"{reasons}\n"
        "If the tests import an installed copy, name its package: --package NAME."
    )


@dataclass(frozen=True, slots=True)
class _Checked:
    """A program, and what the second run of its call gave: whether the same, and where they differ."""

    program: Program
    repeatable: bool | None = None
    difference: str | None = None


@dataclass(kw_only=True)
class _Recorder:
    suite: Suite
    limits: Limits
    trace_limits: TraceLimits
    workers: int
    progress: Progress

    def unwatched(self, tests: int, collected: int, calls: int) -> None:
        self.progress("tests, unwatched", tests, collected)

    def first_run(self, tests: int, collected: int, calls: int) -> None:
        self.progress(f"{calls} calls in tests", tests, collected)

    def second_run(self, tests: int, collected: int, calls: int) -> None:
        self.progress("the same again", tests, collected)

    def program(self, observed: Observed, call: Call) -> Program:
        """The call as a program; alone, it starts with what its module holds when it is imported."""
        facts = call.facts
        file = Path(facts["file"])
        ran = {row.file for row in chain.from_iterable(map(rows, observed.blocks_of(call)))}
        folder = _import_folder(facts["module"], file)
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
            date=modified(file) if file.exists() else None,
            extra={
                "test": facts["test"],
                "line": facts["line"],
                "arguments": facts["form"],
                "own": facts["own"],
                "modules": sorted({observed.modules[label][0] for label in ran} - {facts["module"]}),
            },
        )

    def check(
        self, todo: list[tuple[Program, Call]], first: Observed, second: Observed
    ) -> Iterator[_Checked]:
        """In the order of `todo`."""
        again = {call.key: call for call in second.calls.values()}
        stopping = threading.Event()

        def check_one(each: tuple[Program, Call]) -> _Checked:
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
        call: Call,
        again: Call | None,
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
        where = difference(one, (_ending(again, {}), functools.partial(second.blocks_of, again)))
        if where is not None:
            return _Checked(program, False, where)
        if program.extra["arguments"] != "literal" or program.path is None:
            return _Checked(program, True)
        with tempfile.TemporaryFile() as events:
            blocks = Blocks(events)
            ending = run_in_sandbox(
                program,
                limits=self.limits,
                trace_limits=self.trace_limits,
                hash_seed=HASH_SEEDS[1],
                sink=blocks.add,
                python=self.suite.python,
                cancelled=cancelled,
                confinement=Confinement.TRUSTED,  # its test has just run without any
            )
            if not blocks.size:  # it needs more than its module: settings, a database, another folder
                return _Checked(program, True)
            alone = functools.partial(blocks.read, 0, blocks.size)
            where = difference(one, (ending, alone))
            if where is not None:  # caches that other tests have filled do no harm
                where = difference((one[0], _without_globals(one[1])), (ending, _without_globals(alone)))
        if where is not None:
            return _Checked(program, False, f"alone, without its test: {where}")
        extra = {**program.extra, "alone": True}
        if self.suite.python != os.path.abspath(sys.executable):
            extra["python"] = self.suite.python
        return _Checked(replace(program, extra=extra), True)

    def keep(
        self, writer: Writer, summary: SuiteSummary, observed: Observed, call: Call, checked: _Checked
    ) -> None:
        """Write one recording."""
        program = checked.program
        labels = {row.file for row in chain.from_iterable(map(rows, observed.blocks_of(call)))}
        sources = {label: _text(observed.modules[label][1]) for label in sorted(labels)}
        ending = _ending(call, sources, observed.packages)
        with writer.begin(program) as spool:
            for block in observed.blocks_of(call):
                spool.write(block)
            spool.finish(
                ending,
                Environment(
                    **observed.interpreter,
                    hash_seed=HASH_SEEDS[0],
                    deskcheck=__version__,
                    packages=observed.packages,
                    installed={},  # the user's own environment: not built by us, not looked through
                    limits=self.trace_limits.leaving_out,
                ),
                repeatable=checked.repeatable,
                difference=checked.difference,
            )
        summary.recorded += 1
        summary.by_outcome[ending.outcome.value] += 1
        summary.alone += "alone" in program.extra
        if checked.difference is not None:
            summary.not_repeatable[program.id] = checked.difference


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


def _ending(call: Call, sources: dict[str, str], packages: dict[str, str] | None = None) -> Ending:
    facts = call.facts
    return Ending(
        outcome=Outcome(facts["outcome"]),
        detail=facts.get("detail", ""),
        exception=facts.get("exception"),
        result=facts.get("result"),
        result_builtin=facts.get("result_builtin", False),
        stdout=facts["stdout"],
        sources=sources,
        packages=packages or {},
    )


@functools.cache
def _text(file: str) -> str:
    return Path(file).read_text("utf-8", "replace")
