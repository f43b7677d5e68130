"""Listens to runs under servers until they end: to one, to a program and its check, or to many at once.

What a run may take, and how it ended, its `ProcessRun` decides. Here is the one loop that looks after it.
"""

import select
import time
from collections.abc import Callable
from types import TracebackType

from deskcheck.errors import SandboxError
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox.process import Cancelled, ProcessRun

LOOK_S = 0.05
"""At least so often somebody looks whether a run is cancelled, or beyond its memory."""


class Exchange:
    """Runs that are listened to together. Use as a context. The runs are their makers' to close."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._runs: dict[int, ProcessRun] = {}
        """By the descriptor of the server's connection."""
        self._owners: dict[int, ProcessRun] = {}
        """By the descriptors of what programs write to."""

    def __enter__(self) -> "Exchange":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._epoll.close()

    @property
    def running(self) -> list[ProcessRun]:
        return [*self._runs.values()]

    def add(self, run: ProcessRun) -> None:
        connection = run.server.connection.fileno()
        self._runs[connection] = run
        self._epoll.register(connection, select.EPOLLIN)
        for descriptor in run.descriptors:
            self._owners[descriptor] = run
            self._epoll.register(descriptor, select.EPOLLIN)

    def wait(self) -> list[tuple[ProcessRun, RunResult | SandboxError]]:
        """Listen for a moment. The runs that have ended since: each with its result, or with what our side
        has lost of it."""
        left = min((run.deadline for run in self._runs.values()), default=0.0) - time.monotonic()
        ready = [descriptor for descriptor, _ in self._epoll.poll(min(max(left, 0.001), LOOK_S))]
        for descriptor in ready:
            owner = self._owners.get(descriptor)
            if owner is not None and not owner.read(descriptor) and descriptor not in owner.descriptors:
                del self._owners[descriptor]  # closed, which takes it from the epoll too
        ended = [found for each in ready if each in self._runs and (found := self._finish(each))]
        now = time.monotonic()
        for run in self._runs.values():
            if run.deadline <= now:
                run.late()
            elif not ready and run.server.out_of_memory():  # one of its processes; others may wait for that
                run.stop(*run.beyond_memory())
        return ended

    def _finish(self, connection: int) -> tuple[ProcessRun, RunResult | SandboxError] | None:
        run = self._runs[connection]
        result: RunResult | SandboxError | None
        try:
            result = run.finish()
        except SandboxError as error:
            result = error
        if result is None:
            return None  # it was asked whether it is too late, and is not
        for descriptor in [each for each, owner in self._owners.items() if owner is run]:
            del self._owners[descriptor]
            if descriptor in run.descriptors:
                self._epoll.unregister(descriptor)
        del self._runs[connection]
        self._epoll.unregister(connection)
        return run, result


def follow(run: ProcessRun, cancelled: Callable[[], bool]) -> RunResult:
    """Be there for one run until it ends. Raises Cancelled, ServerLost; the run is closed either way."""
    try:
        with Exchange() as exchange:
            exchange.add(run)
            while True:
                if cancelled():
                    raise Cancelled(f"the run of {run.program.id!r} was cancelled")
                for _, result in exchange.wait():
                    if isinstance(result, SandboxError):
                        raise result
                    return result
    finally:
        run.close()
