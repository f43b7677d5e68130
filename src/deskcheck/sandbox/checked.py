"""Judges a program by a check that runs in another process, out of the program's reach.

Code can defeat asserts in its own process with an object that is equal to everything, or by replacing a
builtin. Here the check calls the judged functions through the caller, and gets only plain values
(`inside.codec`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from deskcheck.errors import SandboxError
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox.exchange import ChildRun, Exchange
from deskcheck.sandbox.inside.calling import NotCompared
from deskcheck.sandbox.process import Cancelled, ProcessRun


@dataclass(frozen=True, slots=True)
class Checked:
    """A program and a check of it.

    Arguments and results are passed by value, but changes to a list or another mutable argument reach the
    check. Functions and iterators stay in their process and are called there. StopIteration becomes
    RuntimeError, as in a generator.
    """

    program: Program
    check: str
    """Trusted Python text that raises an exception if the program is wrong."""
    names: tuple[str, ...]
    """Functions of the program that the check calls."""

    @property
    def checking(self) -> Program:
        """The check as a program."""
        return Program(id=f"{self.program.id}:check", code=self.check, filename="check.py")


def judge(
    answering: ProcessRun,
    checking: ProcessRun,
    cancelled: Callable[[], bool],
    printed: Callable[[str], None] = lambda text: None,
) -> RunResult:
    """Have a check call a program until one of them ends: the result of the program, judged.

    The outcome is `RETURNED` if the check passed, `WRONG` if it failed, and `NOT_COMPARED` if a value cannot
    be handed over. Other outcomes of the program stay. A failure of the check itself is an error of
    deskcheck. `printed` takes the output of the check.

    Raises Cancelled, ServerLost: both servers may then be busy. Otherwise they are free.
    """
    answering.forward = checking.send
    checking.forward = answering.send
    with Exchange[RunResult]() as exchange:
        exchange.add(answering)
        exchange.add(checking)
        ended: dict[ChildRun[RunResult], RunResult] = {}
        while len(ended) < 2:
            if cancelled():
                raise Cancelled(f"the run of {answering.program.id!r} was cancelled")
            for run, result in exchange.wait():
                if isinstance(result, SandboxError):
                    raise result
                ended[run] = result
            if answering in ended and checking not in ended:
                checking.stop(Outcome.KILLED, "the program is gone")
            if checking in ended and answering not in ended:
                answering.stop(Outcome.RETURNED, "")
    printed(ended[checking].stdout)
    return _judged(ended[answering], ended[checking], checking)


def _judged(answer: RunResult, check: RunResult, checking: ProcessRun) -> RunResult:
    if checking.stopped is not None and checking.stopped[1] == "the program is gone":
        if answer.outcome is Outcome.RETURNED:
            return replace(answer, outcome=Outcome.WRONG, detail="it ended before the check was over")
        return answer
    if answer.outcome is not Outcome.RETURNED:
        return answer  # stopped by a limit, or a forger caught, while the check ended
    if check.outcome is Outcome.RETURNED:
        return answer
    detail = f"the check: {check.detail}"
    if check.outcome in (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY):
        return replace(answer, outcome=check.outcome, detail=detail)
    if check.outcome is Outcome.RAISED:
        if check.exception == NotCompared.__name__:
            return replace(answer, outcome=Outcome.NOT_COMPARED, detail=f"cannot be compared: {check.detail}")
        return replace(answer, outcome=Outcome.WRONG, detail=check.detail)
    return replace(answer, outcome=Outcome.HARNESS_ERROR, detail=detail)
