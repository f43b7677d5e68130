"""The place where answers of models are run."""

import atexit
import os
from functools import cache

from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.judge import Judge, of_sandbox
from deskcheck.ask.scoring.score import AnswerScore, score_answer
from deskcheck.recording import Outcome, Program, RunResult
from deskcheck.sandbox import Confinement, Limits, Sandbox

LIMITS = Limits(cpu_s=5, wall_s=20, memory_bytes=1 << 30, output_bytes=1 << 16, file_bytes=1 << 20)
"""The limits of a published function with the arguments of a model; an answer that needs more is wrong."""


def for_many(confinement: Confinement = Confinement.STRICT, workers: int = 1) -> Sandbox:
    """A sandbox for answers, to be closed by the caller. It starts processes when the first program is run.
    workers: programs that run at once."""
    return Sandbox(confinement, workers=workers, limits=LIMITS)


def score_in(
    sandbox: Sandbox,
    sample: Sample,
    completion: str,
    *,
    judge: Judge | None = None,
    stop_reason: str | None = None,
) -> AnswerScore:
    """`score_answer`, with a sandbox for answers that have to run. Threads may call it at the same time.
    judge: the judge of programs, by default one in that sandbox.

    Raises:
        AnswerNotRun: the sandbox failed in each try. The score is unknown.
        SandboxError: the level of confinement is not available here, or the sandbox is closed.
    """

    def run(program: Program) -> RunResult:
        run_result = sandbox.run_one(program)
        if run_result.outcome is Outcome.KILLED:  # by itself, which it does again; or by this machine
            run_result = sandbox.run_one(program)
        return of_sandbox(run_result)

    judge = Judge(sandbox) if judge is None else judge
    return score_answer(sample, completion, run=run, judge=judge, stop_reason=stop_reason)


@cache
def shared() -> Sandbox:
    """The sandbox of this process for answers; it ends with the process."""
    sandbox = for_many(workers=os.cpu_count() or 1)
    atexit.register(sandbox.close)
    return sandbox
