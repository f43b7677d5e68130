"""Checks whether a recorded call repeats, in a second run of the tests and without its test."""

import functools
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain

from deskcheck.recorder.filters.masking import masked
from deskcheck.recorder.programs import HASH_SEEDS, without_tracer
from deskcheck.recorder.reads import reads_of
from deskcheck.recorder.settings import SuiteSettings
from deskcheck.recorder.suite_select import source_of
from deskcheck.recording import Outcome, Program, RunResult
from deskcheck.recording.block import rows
from deskcheck.recording.comparison.runs import difference
from deskcheck.recording.comparison.states import Global
from deskcheck.recording.secrets import EnvironmentMask
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.observed.suite import Observed, ObservedTests, Pace, RecordedCall
from deskcheck.sandbox.process import Tracing, versions
from deskcheck.sandbox.sandbox import BareInterpreter, Sandbox

_FIRST_SHARE, _OF_THE_REST = 0.3, 0.4
"""Shares for recording calls: of all CPU time, and of the rest after three runs of the tests.

Repeating half of these recordings, and checking them, takes the remaining CPU time.
"""
_RUNS, _FOR_FIRST_CALLS = 3, 0.4
_AT_LEAST_S = 0.5
"""Minimum CPU time of the tests in the computation of the budget."""
_Run = tuple[RunResult, Callable[[], Iterable[bytes]]]
"""The ending of a run, and its blocks of events."""


@dataclass(slots=True)
class Budget:
    """The CPU time that recording a suite has taken, and that it may take."""

    settings: SuiteSettings
    tests_s: float | None = None
    """CPU time of the tests without recording; None before they have run."""
    spent_s: float = 0.0
    """CPU time of processes that were started for the recording."""
    _began_s: float = field(default_factory=time.process_time)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def spend(self, cpu_s: float | None) -> None:
        with self._guard:
            self.spent_s += cpu_s or 0.0

    def cost_s(self) -> float:
        """CPU time that recording has taken so far."""
        return self.spent_s + time.process_time() - self._began_s

    def allowed_s(self) -> float:
        """CPU time that recording may take."""
        return self.settings.times * max(self.tests_s or 0.0, _AT_LEAST_S) + self.settings.spare_s

    @property
    def is_spent(self) -> bool:
        return self.tests_s is not None and self.cost_s() > self.allowed_s()

    def pace(self, plain: Observed | None) -> Pace:
        """The CPU time for recording calls. plain: the tests without recording, if they ran."""
        times = _FIRST_SHARE * self.settings.times
        if plain is None:
            return Pace(times=times)
        if not self.settings.spare_s:
            return Pace(times=times, cpu_s_by_test=plain.cpu_s_by_test, start=plain.start)
        tests_s = max(self.tests_s or 0.0, 0.01)
        most_s = _OF_THE_REST * (self.allowed_s() - _RUNS * tests_s)
        first_s = _FOR_FIRST_CALLS * most_s
        return Pace(
            times=(most_s - first_s) / tests_s,
            first_s=first_s,
            cpu_s_by_test=plain.cpu_s_by_test,
            start=plain.start,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """A call as a program, and whether it repeats."""

    program: Program
    repeatable: bool | None = None
    difference: str | None = None
    not_tried_alone: bool = False
    """Whether time ran out before the call could be made without its test."""
    varies: frozenset[Global] = frozenset()
    """Global variables that the call cannot read and that differ in the second run."""


class CallVerifier:
    """Compares recorded calls with a second run of the tests, and with the same calls without their tests.

    stack: closes the sandboxes.
    """

    def __init__(
        self,
        suite: ObservedTests,
        settings: SuiteSettings,
        mask: EnvironmentMask | None,
        budget: Budget,
        workers: int,
        stack: ExitStack,
    ) -> None:
        self.suite, self.settings, self.mask, self.budget = suite, settings, mask, budget
        self.workers = workers
        self._stack = stack
        self._stopping = threading.Event()
        self._sandbox = self._sandbox_of(BareInterpreter(suite.python))
        self._modules_with_more: set[str | None] = set()
        """Modules that need more than their project and the standard library."""

    def _sandbox_of(self, environment: BareInterpreter | None) -> Sandbox:
        sandbox = Sandbox(
            Confinement.TRUSTED,  # the tests have just run without any
            workers=self.workers,
            limits=self.settings.limits,
            environment=environment,
            hash_seed=HASH_SEEDS[1],
        )
        self._stack.callback(sandbox.close)
        return sandbox

    def verify(
        self, calls: list[tuple[Program, RecordedCall]], first: Observed, second: Observed
    ) -> Iterator[Verdict]:
        """A verdict for each call, in order. first, second: the two runs of the tests."""
        again = {call.key: call for call in second.calls.values()}

        def verify_one(pair: tuple[Program, RecordedCall]) -> Verdict:
            program, call = pair
            return self._verify(program, call, again.get(call.key), first, second)

        # An answer can be run in our interpreter only. So calls that need no more than their project and the
        # standard library are made there, where the tests have another interpreter of our version.
        ours = self._sandbox_of(None) if self._is_of_our_version(first) else None
        self._ours, self._first = ours, first
        with ThreadPoolExecutor(self.workers, "deskcheck-suite") as pool:
            try:
                yield from pool.map(verify_one, calls)
            except BaseException:
                self._stopping.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _is_of_our_version(self, observed: Observed) -> bool:
        """Whether the tests run in a different interpreter of the same version as this one."""
        python = str(observed.interpreter.get("python", ""))
        ours = ".".join(map(str, sys.version_info[:2]))
        return self._has_other_interpreter and python.startswith(f"{ours}.")

    @property
    def _has_other_interpreter(self) -> bool:
        return self.suite.python != os.path.abspath(sys.executable)

    def _verify(
        self,
        program: Program,
        call: RecordedCall,
        again: RecordedCall | None,
        first: Observed,
        second: Observed,
    ) -> Verdict:
        test = call.key[0]
        if again is None and test not in second.tests:
            return Verdict(program)  # the second run did not come as far
        outcomes = first.tests.get(test), second.tests.get(test)
        if outcomes[0] != outcomes[1]:
            return Verdict(
                program, False, f"the outcome of its test differs: {outcomes[0]} and {outcomes[1]}"
            )
        if again is None:
            return Verdict(program, False, "the test does not make this call again")
        reads, unread = self._reads(first, call), set[Global]()
        first_run = (ending(call), functools.partial(first.blocks_of, call))
        second_run = (ending(again), functools.partial(second.blocks_of, again))
        where = difference(first_run, second_run, reads=reads, unread=unread)
        if where is not None:
            return Verdict(program, False, where)
        return replace(self._verify_alone(program, first_run, reads), varies=frozenset(unread))

    def _reads(self, observed: Observed, call: RecordedCall) -> Callable[[Global], bool]:
        """Whether the call may read a global variable."""
        if self.settings.trace_limits.leaving_out:  # it is not known what ran
            return lambda name: True

        @functools.cache
        def reads() -> Callable[[Global], bool]:
            events = chain.from_iterable(map(rows, observed.blocks_of(call)))
            functions = {(row.file, row.function) for row in events}
            return reads_of(functions, lambda label: source_of(observed.modules[label][1]) or "")

        return lambda name: reads()(name)

    def _verify_alone(self, program: Program, in_test: _Run, reads: Callable[[Global], bool]) -> Verdict:
        """Make the call without its test, if its arguments can be written in Python."""
        if program.extra["arguments"] != "literal" or program.path is None:
            return Verdict(program, True)
        if self.budget.is_spent:
            return Verdict(program, True, not_tried_alone=True)
        alone = replace(program, extra={**program.extra, "alone": True})
        if self._ours is not None and program.module not in self._modules_with_more:
            run = self._run_alone(self._ours, program)
            if run is None or self._uses_packages(run[0]):
                self._modules_with_more.add(program.module)
            elif _difference_alone(in_test, run, reads) is None:
                return self._untraced(self._ours, program, run[0]) or Verdict(alone, True)
        run = self._run_alone(self._sandbox, program)
        if run is None:  # it needs more than its module: settings, a database, another folder
            return Verdict(program, True)
        where = _difference_alone(in_test, run, reads)
        if where is not None:
            return Verdict(program, False, f"alone, without its test: {where}")
        if self._has_other_interpreter:
            alone.extra["python"] = self.suite.python
        return self._untraced(self._sandbox, program, run[0]) or Verdict(alone, True)

    def _untraced(self, sandbox: Sandbox, program: Program, traced: RunResult) -> Verdict | None:
        """A verdict if a call without its test ends differently without the tracer; else None."""
        where = without_tracer(traced, functools.partial(self._run, sandbox, program, None))
        return None if where is None else Verdict(program, False, where)

    def _run_alone(self, sandbox: Sandbox, program: Program) -> _Run | None:
        """Make a call without its test. None if it has no events."""
        blocks: list[bytes] = []
        run_result = self._run(sandbox, program, Tracing(blocks.append, self.settings.trace_limits))
        if self.mask is not None:  # as what it is compared with
            blocks = [*self.mask.blocks(blocks)]
        return (run_result, lambda: blocks) if blocks else None

    def _run(self, sandbox: Sandbox, program: Program, tracing: Tracing | None) -> RunResult:
        run_result = sandbox.run_one(program, tracing=tracing, files=True, cancelled=self._stopping.is_set)
        self.budget.spend(run_result.cpu_s)
        return run_result if self.mask is None else masked(run_result, self.mask)

    def _uses_packages(self, run_result: RunResult) -> bool:
        """Whether a call used packages of this interpreter, which can differ from those of the tests."""
        project_packages = versions({name.partition(".")[0] for name, _ in self._first.modules.values()})
        return not run_result.packages.keys() <= project_packages.keys()


def _difference_alone(in_test: _Run, alone: _Run, reads: Callable[[Global], bool]) -> str | None:
    where = difference(in_test, alone, reads=reads)
    if where is None:
        return None
    # Caches that other tests have filled do no harm.
    return difference((in_test[0], _without_globals(in_test[1])), (alone[0], _without_globals(alone[1])))


def _without_globals(blocks: Callable[[], Iterable[bytes]]) -> Callable[[], Iterator[bytes]]:
    """The events without the values of global variables, block by block."""

    def stripped() -> Iterator[bytes]:
        for row in chain.from_iterable(map(rows, blocks())):
            yield json.dumps(row._replace(globals=None)).encode()

    return stripped


def ending(
    call: RecordedCall, sources: dict[str, str] | None = None, packages: dict[str, str] | None = None
) -> RunResult:
    """The result of a recorded call."""
    facts = call.facts
    return RunResult(
        outcome=Outcome(facts["outcome"]),
        detail=facts.get("detail", ""),
        exception=facts.get("exception"),
        result=facts.get("result"),
        result_builtin=facts.get("result_builtin", False),
        stdout=facts["stdout"],
        sources=sources or {},
        packages=packages or {},
    )
