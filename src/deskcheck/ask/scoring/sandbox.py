"""The one place where answers of models are run."""

from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.marking import Mark, mark
from deskcheck.errors import SandboxError
from deskcheck.recording import Ending, Outcome, Program
from deskcheck.sandbox import Confinement, Limits, Sandbox
from deskcheck.sandbox import run as run_in_sandbox

LIMITS = Limits(cpu_s=5, wall_s=20, memory_bytes=1 << 30, output_bytes=1 << 16, file_bytes=1 << 20)
"""A published function with the arguments of a model: what needs more than this is no answer."""


def run(program: Program) -> Ending:
    """Run a program that nobody trusts, unrecorded; say how that ended."""
    return run_in_sandbox(program, limits=LIMITS)


class AnswerNotRun(SandboxError):
    """An answer could not be run, however often it was tried: says nothing about the answer."""


def for_many(confinement: Confinement = Confinement.STRICT, workers: int = 1) -> Sandbox:
    """A sandbox whose `run_one` does what `run` does, many times sooner. Nothing is started before a program
    is run in it; whoever has it closes it. workers: answers that are run at once."""
    return Sandbox(confinement, workers=workers, limits=LIMITS)


def mark_in(sandbox: Sandbox, sample: Sample, completion: str, *, stop_reason: str | None = None) -> Mark:
    """`marking.mark`, where what has to run runs in `sandbox`, and nothing else does. Threads may call this
    together.

    Raises:
        AnswerNotRun: the sandbox failed, as often as it tries. The mark is unknown.
        SandboxError: the level of confinement cannot be had here, or the sandbox was closed meanwhile.
    """

    def run_(program: Program) -> Ending:
        ending = sandbox.run_one(program)
        if ending.outcome is Outcome.KILLED:  # by itself, which it does again; or by this machine
            ending = sandbox.run_one(program)
        if ending.outcome is Outcome.HARNESS_ERROR:
            raise AnswerNotRun(f"the sandbox failed: {ending.detail}")
        return ending

    return mark(sample, completion, run=run_, stop_reason=stop_reason)
