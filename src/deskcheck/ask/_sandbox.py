"""The one place where answers of models are run."""

from deskcheck.recording import Ending, Program
from deskcheck.sandbox import Limits
from deskcheck.sandbox import run as run_in_sandbox

LIMITS = Limits(cpu_s=5, wall_s=20, memory_bytes=1 << 30, output_bytes=1 << 16, file_bytes=1 << 20)
"""A published function with the arguments of a model: what needs more than this is no answer."""


def run(program: Program) -> Ending:
    """Run a program that nobody trusts, unrecorded; say how that ended."""
    return run_in_sandbox(program, limits=LIMITS)
