"""Finds out by experiment why runs of a program differ.

The causes have the names from the literature on flaky tests (Luo et al. 2014, doi:10.1145/2635868.2635920,
table 1; Gruber et al. 2021, arXiv:2101.09077, for Python). `ADDRESSES` is added, for results that depend on
memory addresses. Network and test order do not occur: programs run one at a time and without a network.
"""

import functools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import IO

from deskcheck.recording.block import save, saved
from deskcheck.recording.comparison.runs import difference
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.elsewhere import Elsewhere
from deskcheck.sandbox.environments import of_interpreter
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.process import Tracing
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.sandbox.server import can_fix_addresses
from deskcheck.tracer.limits import Granularity, TraceLimits


class Cause(StrEnum):
    """A cause of differences between two runs of a program."""

    RANDOMNESS = "randomness"
    """Random numbers: `random`, `os.urandom`, `secrets`, `uuid4`, numpy."""
    TIME = "time"
    """Clocks and dates."""
    UNORDERED = "unordered collections"
    """The order of sets, and everything else that depends on hashes of strings."""
    ADDRESSES = "addresses"
    """Memory addresses of objects: `id`, hashes of objects, the default `repr`."""
    CONCURRENCY = "concurrency"
    """The moments when threads switch."""
    ENVIRONMENT = "environment"
    """Names of the machine, its users and folders; its hardware, processes and environment variables."""
    UNKNOWN = "unknown"
    """Runs differ with all sources fixed, or only when several sources change together."""


_FIXED = Determinism(clock=1_699_963_200.0, tick_s=0.001, random_seed=0, turns=True, addresses=True)
_STEP_S = 90_061.5
"""Time between the clocks of two runs: a day, an hour, a minute, a second and a half."""
_TRIES = 3
"""Number of values that each source takes in addition to its fixed one."""


@dataclass(frozen=True, slots=True)
class _Conditions:
    """The conditions of a run."""

    determinism: Determinism
    hash_seed: int = 0
    again: int = 0
    """Number of programs that the server ran before; 0 for a new server."""
    elsewhere: Elsewhere | None = None

    def varied(self, cause: Cause, number: int) -> "_Conditions":
        """The conditions with another value of one source; number counts from one."""
        determinism = self.determinism
        match cause:
            case Cause.RANDOMNESS:
                return replace(self, determinism=replace(determinism, random_seed=number))
            case Cause.TIME:
                start, tick_s = (_FIXED.clock or 0.0) + number * _STEP_S, _FIXED.tick_s * (number + 1)
                return replace(self, determinism=replace(determinism, clock=start, tick_s=tick_s))
            case Cause.UNORDERED:
                return replace(self, hash_seed=number)
            case Cause.ADDRESSES:
                mixed = Elsewhere(seed=number, names=False, clock=False)
                return replace(self, determinism=replace(determinism, addresses=None), elsewhere=mixed)
            case Cause.CONCURRENCY:
                return replace(self, determinism=replace(determinism, turns=False))
            case Cause.ENVIRONMENT:
                moved = Elsewhere(seed=number, clock=False, addresses=self.elsewhere is not None)
                return replace(self, again=number, elsewhere=moved)
            case Cause.UNKNOWN:
                raise ValueError("an unknown source cannot be varied")


_Observed = tuple[RunResult, Callable[[], Iterator[bytes]]]


class _Experiments:
    """Runs of one program under chosen conditions.

    fixed: sources that the user has fixed, which are never varied. sandbox_of: makes a sandbox for some runs.
    """

    def __init__(
        self,
        stack: ExitStack,
        program: Program,
        fixed: Determinism,
        sandbox_of: Callable[..., Sandbox],
        trace_limits: TraceLimits | None,
        granularity: Granularity,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self.stack = stack
        self.sandbox_of = sandbox_of
        self.run = functools.partial(Sandbox.run_one, program=program, cancelled=cancelled)
        self.trace_limits, self.granularity = trace_limits, granularity
        self.base = _Conditions(
            Determinism(
                clock=_FIXED.clock if fixed.clock is None else fixed.clock,
                tick_s=_FIXED.tick_s if fixed.clock is None else fixed.tick_s,
                random_seed=_FIXED.random_seed if fixed.random_seed is None else fixed.random_seed,
                turns=_FIXED.turns if fixed.turns is None else fixed.turns,
                addresses=can_fix_addresses() or None,
            )
        )
        fixed_sources = {
            Cause.TIME: fixed.clock,
            Cause.RANDOMNESS: fixed.random_seed,
            Cause.CONCURRENCY: fixed.turns,
            Cause.ADDRESSES: fixed.addresses if can_fix_addresses() else True,
            Cause.UNKNOWN: True,
        }
        self.sources = [cause for cause in Cause if fixed_sources.get(cause) is None]
        self.sandboxes: dict[tuple[int, bool | None], Sandbox] = {}

    def observe(self, conditions: _Conditions) -> _Observed:
        """Run the program in a new server, or in one that has run it before."""
        key = conditions.hash_seed, conditions.determinism.addresses
        sandbox = self.sandboxes.get(key) if conditions.again else None
        run = functools.partial(self.run, determinism=conditions.determinism, elsewhere=conditions.elsewhere)
        if sandbox is None:
            sandbox = self.sandbox_of(hash_seed=conditions.hash_seed, determinism=conditions.determinism)
            self.stack.callback(sandbox.close)
            self.sandboxes[key] = sandbox
            for _ in range(conditions.again):
                run(sandbox)
        blocks: IO[bytes] = self.stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is
        sink = functools.partial(save, stream=blocks)
        run_result = run(sandbox, tracing=Tracing(sink, self.trace_limits, self.granularity))
        return run_result, functools.partial(saved, blocks)

    def all_varied(self, number: int, but: Iterable[Cause] = ()) -> _Conditions:
        conditions = self.base
        for cause in self.sources:
            if cause not in but:
                conditions = conditions.varied(cause, number)
        return conditions

    def causes(self) -> dict[Cause, str]:
        """The causes of a difference, each with the difference that it makes.

        First all sources are fixed and varied one at a time: a source that makes the run differ is a cause.
        Then only the causes are fixed: if the run still differs, there is an unknown cause.
        """
        first = self.observe(self.base)
        where = difference(first, self.observe(self.base))
        if where is not None:
            return {Cause.UNKNOWN: where}
        differences: dict[Cause, str] = {}
        # The environment first: where a server may be used again, most experiments cost no start of one.
        for cause in sorted(self.sources, key=lambda cause: cause is not Cause.ENVIRONMENT):
            again = self.base if Cause.ENVIRONMENT in differences else replace(self.base, again=1)
            for number in range(1, _TRIES + 1):
                where = difference(first, self.observe(again.varied(cause, number)))
                if where is not None:
                    differences[cause] = where
                    break
        where = difference(first, self.observe(self.all_varied(1, differences)))
        if where is not None:
            differences[Cause.UNKNOWN] = where
        elif not differences:
            differences[Cause.UNKNOWN] = "the runs differed once, and in no experiment after that"
        if Cause.ADDRESSES in differences:  # these follow from the environment, too
            differences.pop(Cause.ENVIRONMENT, None)
        return {cause: differences[cause] for cause in Cause if cause in differences}


def causes(
    program: Program,
    *,
    determinism: Determinism | None = None,
    limits: Limits | None = None,
    trace_limits: TraceLimits | None = None,
    granularity: Granularity = Granularity.LINE,
    confinement: Confinement | str = Confinement.STRICT,
    cancelled: Callable[[], bool] = lambda: False,
    python: str | None = None,
) -> dict[Cause, str]:
    """The causes of a difference between two runs, each with the difference that it makes.

    determinism: sources that were fixed in these runs.
    """
    with ExitStack() as stack:
        environment = None if python is None else of_interpreter(python)
        sandbox_of = functools.partial(
            Sandbox, confinement, workers=1, limits=limits, environment=environment
        )
        about = sandbox_of, trace_limits, granularity, cancelled
        return _Experiments(stack, program, determinism or Determinism(), *about).causes()


def in_words(where: str, causes_found: dict[Cause, str]) -> str:
    """A difference with its causes, as recordings store it."""
    return f"{where} (cause: {', '.join(causes_found)})"
