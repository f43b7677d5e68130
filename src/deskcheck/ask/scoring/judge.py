"""The judge of answers that are programs: it runs them in a sandbox, within limits."""

from dataclasses import replace

from deskcheck.recording import Outcome, Program, RunResult, SandboxError
from deskcheck.recording.rules import Checker
from deskcheck.recording.spool import instructions_in
from deskcheck.sandbox import Checked, Limits, Sandbox, Tracing
from deskcheck.sandbox.limits import WALL_TIMES
from deskcheck.tracer import Granularity, TraceLimits

PROGRAM_LIMITS = Limits(cpu_s=10, wall_s=60, memory_bytes=1 << 30, output_bytes=1 << 18, file_bytes=16 << 20)
"""The limits of a model's program in all of its tests; CPU time decides."""
MOST_S = 3 * WALL_TIMES * PROGRAM_LIMITS.wall_s
"""Time in which a program is run or given up, with three tries."""
_COUNTED = TraceLimits(items=1, text_chars=1, depth=1, objects=100, events=50_000_000)
"""The settings for a program whose instructions are counted. Its events are not stored, so they need little
content."""


class AnswerNotRun(SandboxError):
    """An answer could not be run, in any try. This says nothing about the answer."""


def of_sandbox(run_result: RunResult) -> RunResult:
    """The same result. Raises AnswerNotRun if the sandbox failed."""
    if run_result.outcome is Outcome.HARNESS_ERROR:
        raise AnswerNotRun(f"the sandbox failed: {run_result.detail}")
    return run_result


class InstructionCount:
    """The number of instructions that programs ran."""

    def __init__(self) -> None:
        self.instructions = 0
        self.is_complete = True
        """Whether no instruction was left out."""
        self._checker = Checker(references=False)

    def add(self, block: bytes) -> None:
        self._checker.block(block)
        self.instructions += instructions_in(block)

    def end(self, run_result: RunResult) -> None:
        """Note the end of a program. One that was ended while it waited for a call has reported
        everything."""
        self.is_complete = self.is_complete and run_result.cut in (None, "ended")


class Judge:
    """Runs programs in a sandbox. With a `count` they are traced, and may take longer. Threads may use it
    together. Methods raise AnswerNotRun if the sandbox failed."""

    limits = PROGRAM_LIMITS
    counting = replace(PROGRAM_LIMITS, cpu_s=60)
    """While instructions are counted, which takes many times as long."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def check(self, checked: Checked, count: InstructionCount | None = None) -> tuple[RunResult, str]:
        """Score a program by a check; with the output of the check."""
        printed = [""]
        limits, tracing = self._bounds(count)
        run_result = self._sandbox.check_one(checked, limits=limits, tracing=tracing, printed=printed.append)
        return self._ended(run_result, count), printed[-1]

    def script(self, program: Program, count: InstructionCount | None = None) -> RunResult:
        """Run a program by itself."""
        limits, tracing = self._bounds(count)
        return self._ended(self._sandbox.run_one(program, limits=limits, tracing=tracing), count)

    def _bounds(self, count: InstructionCount | None) -> tuple[Limits, Tracing | None]:
        if count is None:
            return self.limits, None
        return self.counting, Tracing(count.add, _COUNTED, Granularity.INSTRUCTION)

    def _ended(self, run_result: RunResult, count: InstructionCount | None) -> RunResult:
        if count is not None:
            count.end(run_result)
        return of_sandbox(run_result)
