"""Runs many programs that nobody trusts, each a fork of a warm interpreter."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType

from deskcheck.recording.program import Program
from deskcheck.recording.recording import Ending
from deskcheck.sandbox import process
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.tracer.limits import Level, TraceLimits


@dataclass(frozen=True, slots=True)
class Result:
    """A program and how it ended. attempts: runs that it took, more than one after a failure of ours."""

    program: Program
    ending: Ending
    attempts: int = 1


class Sandbox:
    """A place where programs run, confined.

        with Sandbox(level="strict", workers=2) as sandbox:
            for result in sandbox.run(programs):
                print(result.program.id, result.ending.outcome)

    level: see `Confinement`. workers: programs that run at once. profile: modules that are imported
    before any program runs; a program that imports them pays nothing. limits: bounds on each run.
    python: the interpreter, by default this one. readable: files and folders that programs may read,
    beside the interpreter's own and those that a program names itself (`Program.path`). tries: runs
    of one program until a failure of ours (`Outcome.HARNESS_ERROR`) is reported.

    Raises SandboxError on entry where the kernel does not give what the level needs; the message names
    what is missing and the way out.
    """

    def __init__(
        self,
        level: Confinement | str = Confinement.STRICT,
        *,
        workers: int = 2,
        profile: tuple[str, ...] = (),
        limits: Limits | None = None,
        python: str | None = None,
        readable: tuple[str, ...] = (),
        tries: int = 3,
    ) -> None:
        self.level = Confinement(level)
        self.workers = workers
        self.profile = profile
        self.limits = limits or Limits()
        self.python = python
        self.readable = readable
        self.tries = tries

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every process of the sandbox. Runs that are under way end as cancelled."""

    def run(self, programs: Iterable[Program], *, ordered: bool = True) -> Iterator[Result]:
        """Run programs and give their results: in the order of the programs, or as they are completed.

        Programs are taken from the iterable as workers get free, and no more than a few ahead of the
        results that were taken. Closing the iterator kills what still runs.
        """
        with ThreadPoolExecutor(self.workers, "deskcheck-run") as pool:
            pending: list[Future[Result]] = []
            for program in programs:
                pending.append(pool.submit(self._result, program))
                while len(pending) >= 2 * self.workers:
                    yield self._next(pending, ordered)
            while pending:
                yield self._next(pending, ordered)

    def _next(self, pending: list[Future[Result]], ordered: bool) -> Result:
        done = pending[0] if ordered else next(iter(wait(pending, return_when=FIRST_COMPLETED).done))
        pending.remove(done)
        return done.result()

    def _result(self, program: Program) -> Result:
        return Result(program, self.run_one(program))

    def run_one(
        self,
        program: Program,
        *,
        limits: Limits | None = None,
        trace_limits: TraceLimits | None = None,
        level: Level = Level.LINE,
        hash_seed: int = 0,
        sink: process.Sink | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Ending:
        """Run one program and say how it ended. Threads may call this together.

        limits: instead of the sandbox's own. The rest is as for `deskcheck.sandbox.run`.
        """
        return process.run(
            program,
            limits=limits or self.limits,
            trace_limits=trace_limits,
            level=level,
            hash_seed=hash_seed,
            sink=sink,
            python=self.python,
            cancelled=cancelled,
        )
