"""The one place where answers of models are run."""

import atexit
import os
from dataclasses import replace
from functools import cache

from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.programs import InstructionCount, Judge
from deskcheck.ask.scoring.score import AnswerScore, score_answer
from deskcheck.recording import Outcome, Program, RunResult, SandboxError
from deskcheck.sandbox import Checked, Confinement, Limits, Sandbox, Tracing
from deskcheck.sandbox import run as run_in_sandbox
from deskcheck.sandbox.limits import WALL_TIMES
from deskcheck.tracer import Granularity, TraceLimits

LIMITS = Limits(cpu_s=5, wall_s=20, memory_bytes=1 << 30, output_bytes=1 << 16, file_bytes=1 << 20)
"""A published function with the arguments of a model: what needs more than this is no answer."""
PROGRAM_LIMITS = Limits(cpu_s=10, wall_s=60, memory_bytes=1 << 30, output_bytes=1 << 18, file_bytes=16 << 20)
"""A whole program of a model's, for all of its tests. CPU time decides."""

COUNTED = TraceLimits(items=1, text_chars=1, depth=1, objects=100, events=50_000_000)
"""Of a program whose events are counted: they are not kept, so they need not say much."""

MOST_S = 3 * WALL_TIMES * PROGRAM_LIMITS.wall_s
"""In which a program is run or given up, if it has to be tried three times."""


def run(program: Program) -> RunResult:
    """Run a program that nobody trusts, unrecorded; say how that ended."""
    return run_in_sandbox(program, limits=LIMITS)


def for_many(confinement: Confinement = Confinement.STRICT, workers: int = 1) -> Sandbox:
    """A sandbox whose `run_one` does what `run` does, many times sooner. Nothing is started before a program
    is run in it; whoever has it closes it. workers: answers that are run at once."""
    return Sandbox(confinement, workers=workers, limits=LIMITS)


class AnswerNotRun(SandboxError):
    """An answer could not be run, however often it was tried: says nothing about the answer."""


def of_sandbox(run_result: RunResult) -> RunResult:
    if run_result.outcome is Outcome.HARNESS_ERROR:
        raise AnswerNotRun(f"the sandbox failed: {run_result.detail}")
    return run_result


class SandboxJudge:
    """Judges programs in a sandbox, within its `limits`. Threads may use it together."""

    limits = PROGRAM_LIMITS
    counting = replace(PROGRAM_LIMITS, cpu_s=60)
    """While events are counted, which takes many times as long."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def check(self, checked: Checked, count: InstructionCount | None = None) -> tuple[RunResult, str]:
        told = [""]
        if count is None:
            run_result = self._sandbox.check_one(checked, limits=self.limits, told=told.append)
        else:
            tracing = Tracing(count.add, COUNTED, Granularity.INSTRUCTION)
            run_result = self._sandbox.check_one(
                checked, limits=self.counting, tracing=tracing, told=told.append
            )
            count.close(run_result)
        return of_sandbox(run_result), told[-1]

    def script(self, program: Program, count: InstructionCount | None = None) -> RunResult:
        if count is None:
            return of_sandbox(self._sandbox.run_one(program, limits=self.limits))
        tracing = Tracing(count.add, COUNTED, Granularity.INSTRUCTION)
        run_result = self._sandbox.run_one(program, limits=self.counting, tracing=tracing)
        return of_sandbox(count.close(run_result))


def score_in(
    sandbox: Sandbox,
    sample: Sample,
    completion: str,
    *,
    judge: Judge | None = None,
    stop_reason: str | None = None,
) -> AnswerScore:
    """`score_answer`, where what has to run runs in `sandbox`, and nothing else does. Threads may call this
    together. judge: of programs, by default one in that sandbox.

    Raises:
        AnswerNotRun: the sandbox failed, as often as it tries. The score is unknown.
        SandboxError: the level of confinement cannot be had here, or the sandbox was closed meanwhile.
    """

    def run_(program: Program) -> RunResult:
        run_result = sandbox.run_one(program)
        if run_result.outcome is Outcome.KILLED:  # by itself, which it does again; or by this machine
            run_result = sandbox.run_one(program)
        return of_sandbox(run_result)

    judge = SandboxJudge(sandbox) if judge is None else judge
    return score_answer(sample, completion, run=run_, judge=judge, stop_reason=stop_reason)


@cache
def shared() -> Sandbox:
    """The sandbox of this process, in which answers are run; it ends with the process."""
    sandbox = for_many(workers=os.cpu_count() or 1)
    atexit.register(sandbox.close)
    return sandbox


@cache
def judge() -> Judge:
    """The judge of this process."""
    return SandboxJudge(shared())
