"""Whether runs of a program differ, and the causes, found by experiment.

The words are those of the literature on flaky tests (Luo et al. 2014, doi:10.1145/2635868.2635920, table 1;
Gruber et al. 2021, arXiv:2101.09077, for Python), with `ADDRESSES` for what shows where objects lie. Network
and test order do not occur here: a program has no network and runs alone.
"""

import functools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
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
    """The order of sets, and whatever else follows from hashes of strings."""
    ADDRESSES = "addresses"
    """Where objects lie in memory: `id`, hashes of objects, the default `repr`."""
    CONCURRENCY = "concurrency"
    """When threads take turns."""
    ENVIRONMENT = "environment"
    """Names of the machine, of its users and folders, what it has, its processes, and the environment."""
    UNKNOWN = "unknown"
    """It differs with all of these fixed, or only when several of them change together."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """A comparison of runs: the first difference, and each cause with the difference that it makes."""

    runs: int
    difference: str | None
    causes: dict[Cause, str] = field(default_factory=dict)


_FIXED = Determinism(clock=1_699_963_200.0, tick_s=0.001, random_seed=0, turns=True, addresses=True)
_STEP_S = 90_061.5
"""Between the clocks of two runs: a day, an hour, a minute, a second and a half."""
_TRIES = 3
"""Values that each source takes, beside its fixed one."""


@dataclass(frozen=True, slots=True)
class _Conditions:
    """The conditions of a run. again: programs that its server ran before; none for a fresh one."""

    determinism: Determinism
    hash_seed: int = 0
    again: int = 0
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
    """Runs of one program under chosen conditions. fixed: what its user has fixed, and stays so.
    sandbox_of: makes a sandbox for some of them."""

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
        """Run the program in a fresh server, or in one that has run it before."""
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
        """Fix everything, then vary one source at a time: if the run differs, the source is a cause. Then fix
        only the causes: if the run still differs, there is an unknown one."""
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


def repeat(
    program: Program,
    runs: int = 3,
    *,
    limits: Limits | None = None,
    trace_limits: TraceLimits | None = None,
    granularity: Granularity = Granularity.LINE,
    confinement: Confinement | str = Confinement.STRICT,
) -> Repeats:
    """Run a program several times under the tracer, each with other hashes, random numbers, clocks, addresses
    and thread switches; if the runs differ, find the causes.

    Raises ValueError for less than two runs, SandboxError.
    """
    if runs < 2:
        raise ValueError(f"runs={runs} must be at least two, or there is nothing to compare")
    with ExitStack() as stack:
        sandbox_of = functools.partial(Sandbox, confinement, workers=1, limits=limits)
        experiments = _Experiments(stack, program, Determinism(), sandbox_of, trace_limits, granularity)
        first = experiments.observe(experiments.all_varied(1))
        where = None
        for number in range(2, runs + 1):
            where = difference(first, experiments.observe(experiments.all_varied(number)))
            if where is not None:
                break
        return Repeats(runs, where, experiments.causes() if where is not None else {})


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
