"""The one place where answers of models are run."""

from deskcheck.recording import Ending, Program
from deskcheck.sandbox import Confinement, Limits, Sandbox
from deskcheck.sandbox import run as run_in_sandbox

LIMITS = Limits(cpu_s=5, wall_s=20, memory_bytes=1 << 30, output_bytes=1 << 16, file_bytes=1 << 20)
"""A published function with the arguments of a model: what needs more than this is no answer."""


def run(program: Program) -> Ending:
    """Run a program that nobody trusts, unrecorded; say how that ended."""
    return run_in_sandbox(program, limits=LIMITS)


def for_many(confinement: Confinement = Confinement.STRICT) -> Sandbox:
    """A sandbox whose `run_one` does what `run` does, many times sooner. Nothing is started before a program
    is run in it; whoever has it closes it."""
    return Sandbox(confinement, workers=1, limits=LIMITS)
