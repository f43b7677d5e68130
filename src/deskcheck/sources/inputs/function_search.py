"""Inputs for many functions, one after the other: what was found of each, or why nothing was."""

import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar

from deskcheck.recording import InputError, Outcome, Program, RunResult
from deskcheck.recording.block import rows
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.sources.inputs.branches import Arc, arcs_of
from deskcheck.sources.inputs.receivers import made_by
from deskcheck.sources.inputs.search import Effort, Search, run_watched, search
from deskcheck.sources.inputs.targets import File, Passed, Target, targets_in
from deskcheck.sources.sets.files import short_id

LIMITS = Limits(cpu_s=1.0, wall_s=20.0)
NO_TIME = "the time was spent"
_AT_IMPORT = Limits(cpu_s=10.0, wall_s=30.0)
_FOR_IMPORT = 2.0
"""A call may use so many times what the import of its module took, beside its own second."""
_COUNTS = ("tried", "stopped", "lines", "lines_run", "branches", "branches_run")
T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What became of a function, or (`function` is empty) of a file whose functions cannot be read.

    lines_run, branches_run: by the inputs that were kept. why: why none was kept, or nothing was tried.
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


@dataclass(frozen=True, slots=True)
class Tried:
    """A function and its inputs."""

    account: Account
    program: Program | None = None
    """The call, without its arguments."""
    search: Search | None = None
    known: bool = False
    """Whether it had inputs to begin with."""
    needs: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    """Of a method: the call that makes its object -> functions that ran then, by file, for a reader."""

    def programs(self) -> Iterator[Program]:
        """The calls with the inputs that were found. In `extra`, `input` says how each was made and what it
        was kept for."""
        program, search = self.program, self.search
        if program is None or search is None:
            return
        extra = dict(program.extra)
        if "own" in extra:
            # Of the package only what ran: a recording holds the text of every module that is followed.
            ran = {file.removesuffix(".py").replace("/", ".") for file in search.files}
            extra["own"] = sorted(ran - {program.module})
        for kept_input in search.found:
            needs = self.needs.get(made_by(kept_input.arguments)) if self.needs else None
            yield replace(
                program,
                id=short_id(f"{program.id}{kept_input.arguments}"),
                arguments=kept_input.arguments,
                extra={
                    **extra,
                    **({"needs": {**needs}} if needs else {}),
                    "input": {"by": kept_input.by, "new": list(kept_input.new)},
                },
            )


@dataclass(slots=True)
class EachFunction:
    """Looks for inputs of functions in a sandbox, several functions at once.

    propose: as of `find_inputs`. methods: whether methods are tried too, on objects that are made for them.
    wanted: which functions of a file are looked at. cpu_s: seconds that the next function may use; it ends
    with the input that uses them up. spent_s: told of the CPU seconds that runs in the sandbox used.
    """

    sandbox: Sandbox
    effort: Effort
    seed: int = 0
    propose: Callable[[str], str] | None = None
    methods: bool = False
    wanted: Callable[[File, str], bool] = lambda file, function: True
    cpu_s: Callable[[], float] = lambda: float("inf")
    spent_s: Callable[[float], None] = lambda seconds: None
    stopping: threading.Event = field(default_factory=threading.Event)

    def of_files(self, files: Iterable[File], workers: int) -> Generator[Tried, None, None]:
        """The functions of files, in order."""
        with _threads(workers, self.stopping) as pool:
            ahead = 2 * workers
            targets = chain.from_iterable(_in_order(pool, self._look, files, ahead))
            yield from _in_order(pool, self._do, targets, ahead)

    def of_targets(self, targets: Iterable[Target], workers: int) -> Generator[Tried, None, None]:
        """Functions that are known already, in order."""
        with _threads(workers, self.stopping) as pool:
            yield from _in_order(pool, self._do, ((target, LIMITS) for target in targets), 2 * workers)

    def _look(self, file: File) -> list[tuple[Target | Passed, Limits]]:
        used: list[float] = []

        def run(program: Program) -> RunResult:
            run_result = self.sandbox.run_one(program, limits=_AT_IMPORT, cancelled=self.stopping.is_set)
            used.append(run_result.cpu_s or 0.0)
            return run_result

        targets = targets_in(file, run, methods=self.methods)
        self.spent_s(sum(used))
        limits = replace(LIMITS, cpu_s=LIMITS.cpu_s + _FOR_IMPORT * sum(used))
        return [(target, limits) for target in targets if self.wanted(file, target.function)]

    def _do(self, one: tuple[Target | Passed, Limits]) -> Tried:
        target, limits = one
        if isinstance(target, Passed):
            return Tried(
                Account(file=target.file, function=target.function, line=target.line, why=target.why)
            )
        program = target.program
        numbers = random.Random(f"{self.seed}:{program.source}:{program.entry}")
        line = 0 if target.node is None else target.node.lineno
        account = Account(file=target.shown, function=program.entry or "", line=line)
        most_s, used = self.cpu_s(), [0.0]
        before_s, began = time.thread_time(), time.monotonic()

        if most_s <= 0:
            return Tried(replace(account, why=NO_TIME))

        def counted_run(program: Program) -> tuple[RunResult, list[bytes]]:
            run_result, blocks = run_watched(self.sandbox, program, limits, self.stopping.is_set)
            used[0] += run_result.cpu_s or 0.0
            return run_result, blocks

        def counted(program: Program) -> tuple[RunResult, frozenset[Arc]]:
            run_result, blocks = counted_run(program)
            return run_result, frozenset(arcs_of(blocks))

        def spent_s() -> float:
            return used[0] + time.thread_time() - before_s

        try:
            found = search(
                target, self.effort, counted, numbers, self.propose, go_on=lambda: spent_s() < most_s
            )
        except InputError as error:
            return Tried(replace(account, why=" ".join(str(error).split())[:300]))
        else:
            found, needs = self._with_objects(target, found, counted_run)
        finally:
            self.spent_s(used[0])
        account = replace(
            account,
            **{name: getattr(found, name) for name in _COUNTS},
            kept=len(found.found),
            why="" if found.found else _why_none(found),
            seconds=round(time.monotonic() - began, 3),
        )
        return Tried(account, program, found, bool(target.known), needs)

    def _with_objects(
        self, target: Target, found: Search, run: Callable[[Program], tuple[RunResult, list[bytes]]]
    ) -> tuple[Search, dict[str, dict[str, list[str]]]]:
        """Of a method: what was found on objects whose making can be shown, and what runs then. That is
        code of the method's own file alone."""
        if target.receiver is None:
            return found, {}
        needs: dict[str, dict[str, list[str]]] = {}
        for constructor in dict.fromkeys(made_by(result.arguments) for result in found.found):
            name = target.receiver.name
            ended, blocks = run(replace(target.program, entry=name, arguments=constructor.removeprefix(name)))
            ran: dict[str, set[str]] = {}
            for row in chain.from_iterable(map(rows, blocks)):
                ran.setdefault(row.file, set()).add(row.function)
            if ended.outcome is Outcome.RETURNED and ran.keys() <= {target.file}:
                needs[constructor] = {file: sorted(functions) for file, functions in ran.items()}
        kept = tuple(result for result in found.found if made_by(result.arguments) in needs)
        dropped = found.dropped + Counter(
            {"on an object whose making cannot be shown": len(found.found) - len(kept)}
        )
        return replace(found, found=kept, dropped=+dropped), needs


@contextmanager
def _threads(workers: int, stopping: threading.Event) -> Iterator[ThreadPoolExecutor]:
    """Threads that end at once where what they are for is left by an exception."""
    pool = ThreadPoolExecutor(workers, "deskcheck-inputs")
    try:
        yield pool
    except BaseException:
        stopping.set()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


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


def _why_none(search: Search) -> str:
    if not search.tried:
        return "nothing to try: no literal is of its parameters' types"
    dropped = ", ".join(f"{count} {reason}" for reason, count in search.dropped.most_common())
    return f"of {search.tried} inputs none could be kept: {dropped}"
