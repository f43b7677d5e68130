"""The search for inputs of many functions: the inputs of each function, or the reason why it has none."""

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
NO_TIME = "the time was used up"
_AT_IMPORT = Limits(cpu_s=10.0, wall_s=30.0)
_FOR_IMPORT = 2.0
"""A call may use one second and this many times the CPU time that importing its module took."""
_COUNTS = ("tried", "stopped", "lines", "lines_run", "branches", "branches_run")
T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The result of the search for a function, or for a file whose functions cannot be read."""

    file: str
    function: str
    """Name of the function; empty for a file."""
    line: int
    tried: int = 0
    stopped: int = 0
    kept: int = 0
    lines: int = 0
    lines_run: int = 0
    """Lines that the kept inputs run."""
    branches: int = 0
    branches_run: int = 0
    """Branches that the kept inputs take."""
    why: str = ""
    """The reason why no input was kept or tried."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Tried:
    """A function and its inputs."""

    account: Account
    program: Program | None = None
    """The call, without its arguments."""
    search: Search | None = None
    had_inputs: bool = False
    """Whether the function had inputs before."""
    needs: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    """For a method: the call that makes its object -> functions that ran for it, by file, to show to a
    reader."""

    def programs(self) -> Iterator[Program]:
        """The calls with the inputs that were found.

        `input` in their `extra` tells how the input was made and why it was kept.
        """
        program, search = self.program, self.search
        if program is None or search is None:
            return
        extra = dict(program.extra)
        if "own" in extra:
            # Only modules that ran: a recording contains the text of every module of `own`.
            ran = {file.removesuffix(".py").replace("/", ".") for file in search.files}
            extra["own"] = sorted(ran - {program.module})
        for kept_input in search.inputs:
            needs = self.needs.get(made_by(kept_input.arguments)) if self.needs else None
            yield replace(
                program,
                id=short_id(f"{program.id}{kept_input.arguments}"),
                arguments=kept_input.arguments,
                extra={
                    **extra,
                    **({"needs": {**needs}} if needs else {}),
                    "input": {"by": kept_input.way, "new": list(kept_input.new)},
                },
            )


@dataclass(slots=True)
class EachFunction:
    """Looks for inputs of functions in a sandbox, several functions at once."""

    sandbox: Sandbox
    effort: Effort
    seed: int = 0
    propose: Callable[[str], str] | None = None
    """See `find_inputs`."""
    methods: bool = False
    """Whether methods are tried too, on objects that are made for them."""
    accepts: Callable[[File, str], bool] = lambda file, function: True
    """Whether to try a function of a file."""
    cpu_s: Callable[[], float] = lambda: float("inf")
    """CPU seconds that the next function may use. Its search ends with the input that uses them up."""
    spent_s: Callable[[float], None] = lambda seconds: None
    """Takes the CPU seconds that runs in the sandbox used."""
    stopping: threading.Event = field(default_factory=threading.Event)

    def of_files(self, files: Iterable[File], workers: int) -> Generator[Tried, None, None]:
        """Search the functions of files, in order."""
        with _threads(workers, self.stopping) as pool:
            ahead = 2 * workers
            targets = chain.from_iterable(_in_order(pool, self._look, files, ahead))
            yield from _in_order(pool, self._do, targets, ahead)

    def of_targets(self, targets: Iterable[Target], workers: int) -> Generator[Tried, None, None]:
        """Search functions that are known already, in order."""
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
        return [(target, limits) for target in targets if self.accepts(file, target.function)]

    def _do(self, task: tuple[Target | Passed, Limits]) -> Tried:
        target, limits = task
        if isinstance(target, Passed):
            return Tried(
                Account(file=target.file, function=target.function, line=target.line, why=target.reason)
            )
        program = target.program
        rng = random.Random(f"{self.seed}:{program.source}:{program.entry}")
        line = 0 if target.node is None else target.node.lineno
        account = Account(file=target.display_path, function=program.entry or "", line=line)
        limit_s, used = self.cpu_s(), [0.0]
        before_s, began = time.thread_time(), time.monotonic()

        if limit_s <= 0:
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
            search_result = search(
                target, self.effort, counted, rng, self.propose, go_on=lambda: spent_s() < limit_s
            )
        except InputError as error:
            return Tried(replace(account, why=" ".join(str(error).split())[:300]))
        else:
            search_result, needs = self._with_objects(target, search_result, counted_run)
        finally:
            self.spent_s(used[0])
        account = replace(
            account,
            **{name: getattr(search_result, name) for name in _COUNTS},
            kept=len(search_result.inputs),
            why="" if search_result.inputs else _why_none(search_result),
            seconds=round(time.monotonic() - began, 3),
        )
        return Tried(account, program, search_result, bool(target.known_inputs), needs)

    def _with_objects(
        self, target: Target, search_result: Search, run: Callable[[Program], tuple[RunResult, list[bytes]]]
    ) -> tuple[Search, dict[str, dict[str, list[str]]]]:
        """The inputs of a method whose objects can be shown to a reader, and the functions that make these.

        An object can be shown if only code of the method's file runs to make it.
        """
        if target.receiver is None:
            return search_result, {}
        needs: dict[str, dict[str, list[str]]] = {}
        for constructor in dict.fromkeys(made_by(result.arguments) for result in search_result.inputs):
            name = target.receiver.name
            ended, blocks = run(replace(target.program, entry=name, arguments=constructor.removeprefix(name)))
            ran: dict[str, set[str]] = {}
            for row in chain.from_iterable(map(rows, blocks)):
                ran.setdefault(row.file, set()).add(row.function)
            if ended.outcome is Outcome.RETURNED and ran.keys() <= {target.file}:
                needs[constructor] = {file: sorted(functions) for file, functions in ran.items()}
        usable = tuple(result for result in search_result.inputs if made_by(result.arguments) in needs)
        dropped = search_result.dropped + Counter(
            {"on an object that cannot be written as code": len(search_result.inputs) - len(usable)}
        )
        return replace(search_result, inputs=usable, dropped=+dropped), needs


@contextmanager
def _threads(workers: int, stopping: threading.Event) -> Iterator[ThreadPoolExecutor]:
    """A pool of threads that is stopped at once if an exception leaves the block."""
    pool = ThreadPoolExecutor(workers, "deskcheck-inputs")
    try:
        yield pool
    except BaseException:
        stopping.set()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _in_order(
    pool: ThreadPoolExecutor, function: Callable[[S], T], things: Iterable[S], ahead: int
) -> Generator[T, None, None]:
    """The results of a function for all things, in order. Up to `ahead` results are computed in advance."""
    waiting: deque[Future[T]] = deque()
    for thing in things:
        waiting.append(pool.submit(function, thing))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _why_none(search: Search) -> str:
    if not search.tried:
        return "nothing to try: no literal is of its parameters' types"
    dropped = ", ".join(f"{count} {reason}" for reason, count in search.dropped.most_common())
    return f"of {search.tried} inputs none could be kept: {dropped}"
