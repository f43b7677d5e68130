"""Functions without tests as a source of programs: ``inputs:FILE.py``, ``inputs:FOLDER``, ``inputs:PACKAGE``.

Of each function the account says what was tried and kept, or why nothing was (``table=FILE.jsonl``).
"""

import json
import os
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

from deskcheck.corpus.inputs.candidates import need_hypothesis
from deskcheck.corpus.inputs.search import WAYS, Effort, Search, search, watching
from deskcheck.corpus.inputs.targets import File, Passed, SearchScope, Target, scope_of, targets_in
from deskcheck.corpus.readers.files import short_id
from deskcheck.corpus.text.options import whole_number, with_options
from deskcheck.recording import InputError, Program, RunResult
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.sandbox import Sandbox

PREFIX = "inputs"
_OPTIONS = {
    "each": "inputs kept for each function at most, 10 by default",
    "budget": "inputs tried for each function, 60 by default",
    "by": "known, hints, hypothesis; several as known+hints, which is the default",
    "tests": "yes: files of tests too, of a folder or a package; no by default",
    "table": "a file to write, JSON lines: what was tried and kept of each function, and why not",
    "workers": "functions that are tried at once, one for each processor by default",
    "sandbox": "how closely they are confined while they are tried: strict, standard or trusted",
    "seed": "another number, other inputs",
}
_LIMITS = Limits(cpu_s=1.0, wall_s=20.0)
_AT_IMPORT = Limits(cpu_s=10.0, wall_s=30.0)
_FOR_IMPORT = 2.0
"""A call may use so many times what the import of its module took, beside its own second."""
T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the options of a source say."""

    effort: Effort
    seed: int
    level: Confinement
    tests: bool
    table: Path | None
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What became of a function, or of a file without functions that could be read (`function` is empty).

    line: where its definition begins. lines, branches: what it has (`ways`); lines_run, branches_run: what
    the inputs that were kept take of it. why: why none was kept, or nothing was tried; empty otherwise.
    seconds: on the clock, for the search.
    """

    file: str
    function: str
    line: int
    tried: int = 0
    stopped: int = 0
    kept: int = 0
    lines: int = 0
    lines_run: int = 0
    branches: int = 0
    branches_run: int = 0
    why: str = ""
    seconds: float = 0.0


def inputs(
    source: str,
    programs: Callable[[str], Iterator[Program]],
    *,
    is_set: Callable[[str], bool],
    note: Callable[[str], None],
    propose: Callable[[str], str] | None = None,
) -> Iterator[Program]:
    """Calls of functions with inputs that were found. programs: reads sources that have inputs to begin with;
    is_set: whether a word is the name of such a source. propose: as of `find_inputs`.

    In `extra`, `input` says how each was made and what it was kept for. note: told how many were
    tried and kept, and of functions without known inputs, how many of their lines and branches those run.

    Raises:
        InputError: an option or the source cannot be used.
        MissingExtra: Hypothesis is asked for and not installed.
    """
    head, colon, inner = source.partition(":")
    _, options = with_options(head, _OPTIONS, source)
    if not colon or not inner:
        raise InputError(
            f"{source}: names no functions. Write inputs:FILE.py, inputs:FILE.py::FUNCTION, inputs:FOLDER or "
            "inputs:PACKAGE"
        )
    asked = _asked(options, source)
    place = scope_of(inner, programs, is_set=is_set, tests=asked.tests)
    if asked.table is not None and not asked.table.absolute().parent.is_dir():
        raise InputError(f"{source}: table={asked.table}: there is no folder {asked.table.parent}.")
    if propose is not None:
        asked = replace(asked, workers=1)  # a model is asked by one thread
    return _Run(inner, asked, note, propose).programs(place)


def _asked(options: dict[str, str], source: str) -> _Asked:
    each = whole_number(options.get("each", "10"), "each", source, most=1000)
    budget = whole_number(options.get("budget", "60"), "budget", source, most=100_000)
    seed = whole_number(options.get("seed", "0"), "seed", source, least=0)
    workers = whole_number(options.get("workers", str(os.cpu_count() or 1)), "workers", source, most=1000)
    ways = tuple(options.get("by", "known+hints").split("+"))
    for way in ways:
        if way not in WAYS:
            raise InputError(f"{source}: by={options['by']}: {way!r} is none of {', '.join(WAYS)}.")
    if "hypothesis" in ways:
        need_hypothesis()
    level = options.get("sandbox", Confinement.STRICT.value)
    if level not in list(Confinement):
        raise InputError(f"{source}: sandbox={level} is none of {', '.join(Confinement)}.")
    tests = options.get("tests", "no")
    if tests not in ("yes", "no"):
        raise InputError(f"{source}: tests={tests} is neither yes nor no.")
    return _Asked(
        effort=Effort(each=each, budget=budget, ways=ways),
        seed=seed,
        level=Confinement(level),
        tests=tests == "yes",
        table=Path(options["table"]) if "table" in options else None,
        workers=workers,
    )


@dataclass(frozen=True, slots=True)
class _Tried:
    """A function with what was found. program: the call, its arguments are not decided."""

    account: Account
    program: Program | None = None
    search: Search | None = None
    known: bool = False


@dataclass(slots=True)
class _Run:
    """One search over all functions of a source."""

    inner: str
    asked: _Asked
    note: Callable[[str], None]
    propose: Callable[[str], str] | None
    stopping: threading.Event = field(default_factory=threading.Event)

    def programs(self, place: SearchScope) -> Iterator[Program]:
        asked = self.asked
        if place.tests:
            self.note(f"{self.inner}: {place.tests} files of tests are left out; tests=yes takes them")
        accounts: list[Account] = []
        if asked.table is not None:
            asked.table.write_text("", encoding="utf-8")
        with (
            Sandbox(asked.level, workers=asked.workers, limits=_LIMITS) as sandbox,
            ThreadPoolExecutor(asked.workers, "deskcheck-inputs") as pool,
        ):
            try:
                for tried in self._tried(place, sandbox, pool):
                    accounts.append(tried.account)
                    self._write(tried.account)
                    if not tried.known and (not place.several or not tried.account.function):
                        self.note(_in_words(tried.account))
                    yield from _with_inputs(tried)
            except BaseException:
                self.stopping.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        for line in _summary(self.inner, accounts, several=place.several and place.known is None):
            self.note(line)

    def _tried(self, place: SearchScope, sandbox: Sandbox, pool: ThreadPoolExecutor) -> Iterator[_Tried]:
        def look(file: File) -> list[tuple[Target | Passed, Limits]]:
            used: list[float] = []

            def run(program: Program) -> RunResult:
                run_result = sandbox.run_one(program, limits=_AT_IMPORT, cancelled=self.stopping.is_set)
                used.append(run_result.cpu_s or 0.0)
                return run_result

            found = targets_in(file, run)
            cpu_s = _LIMITS.cpu_s + _FOR_IMPORT * sum(used)
            return [(each, replace(_LIMITS, cpu_s=cpu_s)) for each in found]

        def do(one: tuple[Target | Passed, Limits]) -> _Tried:
            return self._try(*one, sandbox)

        ahead = 2 * self.asked.workers
        targets: Iterable[tuple[Target | Passed, Limits]]
        if place.known is not None:
            targets = ((target, _LIMITS) for target in place.known)
        else:
            targets = chain.from_iterable(_in_order(pool, look, place.files, ahead))
        yield from _in_order(pool, do, targets, ahead)

    def _try(self, target: Target | Passed, limits: Limits, sandbox: Sandbox) -> _Tried:
        if isinstance(target, Passed):
            return _Tried(
                Account(file=target.file, function=target.function, line=target.line, why=target.why)
            )
        program = target.program
        numbers = random.Random(f"{self.asked.seed}:{program.source}:{program.entry}")
        watch = watching(sandbox, limits, self.stopping.is_set)
        line = 0 if target.node is None else target.node.lineno
        began = time.monotonic()
        account = Account(file=target.shown, function=program.entry or "", line=line)
        try:
            found = search(target, self.asked.effort, watch, numbers, self.propose)
        except InputError as error:
            return _Tried(replace(account, why=" ".join(str(error).split())[:300]))
        account = replace(
            account,
            tried=found.tried,
            stopped=found.stopped,
            kept=len(found.found),
            lines=found.lines,
            lines_run=found.lines_run,
            branches=found.branches,
            branches_run=found.branches_run,
            why="" if found.found else _why_none(found),
            seconds=round(time.monotonic() - began, 3),
        )
        return _Tried(account, program, found, bool(target.known))

    def _write(self, account: Account) -> None:
        if self.asked.table is not None:
            with self.asked.table.open("a", encoding="utf-8") as table:
                table.write(json.dumps(asdict(account)) + "\n")


def _in_order(
    pool: ThreadPoolExecutor, do: Callable[[S], T], things: Iterable[S], ahead: int
) -> Generator[T, None, None]:
    """What is made of each, in the order of the things; some are made ahead."""
    waiting: deque[Future[T]] = deque()
    for thing in things:
        waiting.append(pool.submit(do, thing))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _with_inputs(tried: _Tried) -> Iterator[Program]:
    program, found = tried.program, tried.search
    if program is None or found is None:
        return
    extra = dict(program.extra)
    if "own" in extra:
        # Of the package only what ran: a recording holds the text of every module that is followed.
        ran = {file.removesuffix(".py").replace("/", ".") for file in found.files}
        extra["own"] = sorted(ran - {program.module})
    for one in found.found:
        yield replace(
            program,
            id=short_id(f"{program.id}{one.arguments}"),
            arguments=one.arguments,
            extra={**extra, "input": {"by": one.by, "new": list(one.new)}},
        )


# -- what is told ------------------------------------------------------------------------------------


def _why_none(found: Search) -> str:
    if not found.tried:
        return "nothing to try: no literal is of its parameters' types"
    dropped = ", ".join(f"{count} {why}" for why, count in found.dropped.most_common())
    return f"of {found.tried} inputs none could be kept: {dropped}"


def _in_words(account: Account) -> str:
    if not account.function:
        return f"Left out: {account.file}: {account.why}"
    name = f"{account.file}::{account.function}"
    if not account.tried:
        return f"{name}: not tried: {account.why}"
    stopped = f"; a limit stopped {account.stopped}" if account.stopped else ""
    branches = f", {account.branches_run} of {account.branches} branches" if account.branches else ""
    return (
        f"{name}: {account.tried} inputs tried{stopped}, {account.kept} kept; they run "
        f"{account.lines_run} of {account.lines} lines{branches}"
    )


def _summary(inner: str, accounts: Sequence[Account], *, several: bool) -> Iterator[str]:
    tried = [account for account in accounts if account.tried]
    kept = sum(account.kept for account in tried)
    if not several:
        if len(tried) > 1:
            yield (
                f"{len(tried)} functions: {sum(account.tried for account in tried)} inputs tried, {kept} kept"
            )
        return
    functions = [account for account in accounts if account.function]
    with_some = [account for account in tried if account.kept]
    lines, branches = sum(a.lines for a in tried), sum(a.branches for a in tried)
    yield (
        f"{inner}: {len(functions)} functions in {len({a.file for a in accounts})} files; {len(tried)} tried "
        f"with {sum(a.tried for a in tried)} inputs; {kept} kept, of {len(with_some)} functions; they run "
        f"{sum(a.lines_run for a in tried)} of {lines} lines and {sum(a.branches_run for a in tried)} of "
        f"{branches} branches of what was tried"
    )
    reasons = Counter(account.why for account in functions if not account.tried)
    if reasons:
        yield "not tried: " + "; ".join(f"{count} {why}" for why, count in reasons.most_common(12))
    none = len(tried) - len(with_some)
    if none:
        yield f"tried, and nothing kept: {none} functions; inputs,table=FILE.jsonl:{inner} says why of each"
