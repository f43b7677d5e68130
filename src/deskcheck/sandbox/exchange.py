"""Listens to processes under servers until they end: to one, to a program and its check, or to many at once.

A `ChildRun` decides about the limits and the ending of a run. `Exchange` is the only loop that serves runs.
"""

import os
import select
import socket
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, TypeVar

from deskcheck.errors import SandboxError, ServerLost
from deskcheck.recording.outcome import Outcome
from deskcheck.sandbox.decoder import Decoder, Forged
from deskcheck.sandbox.inside.channel import CALL_BYTES, TooLong
from deskcheck.sandbox.limits import WALL_TIMES, Limits
from deskcheck.sandbox.server import Server, ServerReport

LOOK_S = 0.05
"""Longest time between two checks whether a run is cancelled or exceeds its memory."""
ANSWER_S = 5.0
"""Seconds before the server is asked again whether a run is late."""
_CHUNK_BYTES = 1 << 16
_JOB_S = 60.0
"""Seconds for a process to take its job, which it does first."""
MIRROR_BYTES = 1 << 20
"""Size of the memory shared with the process, for events that it has not sent yet."""

Ended = TypeVar("Ended")


class Cancelled(SandboxError):
    """The caller no longer wants the run."""


def send_message(
    channel: socket.socket, message: bytes | memoryview, descriptors: list[int], timeout_s: float = ANSWER_S
) -> bool:
    """Send a message for `inside.calling.receive`; False if it was not received in time.

    A process that has ended does not receive it either. Its report shows that.
    """
    if channel.fileno() < 0:
        return True
    channel.settimeout(timeout_s)
    try:
        socket.send_fds(channel, [len(message).to_bytes(4, "big")], descriptors)
        channel.sendall(message)
    except TimeoutError:
        return False
    except OSError:
        return True
    finally:
        channel.setblocking(False)
    return True


class Pipes:
    """The caller's ends of a process's standard output, standard error and channel."""

    def __init__(self) -> None:
        self.channel, channel_theirs = socket.socketpair()
        self.out, out_theirs = os.pipe()
        self.err, err_theirs = os.pipe()
        self.theirs = [out_theirs, err_theirs, channel_theirs.detach()]
        self.open = {self.out, self.err, self.channel.fileno()}
        for descriptor in (self.out, self.err):
            os.set_blocking(descriptor, False)

    def hand_over(self) -> None:
        """Close the process's ends, once the process has them."""
        while self.theirs:
            os.close(self.theirs.pop())

    def close(self, descriptor: int) -> None:
        self.open.remove(descriptor)
        if descriptor == self.channel.fileno():
            self.channel.close()
        else:
            os.close(descriptor)

    def close_all(self) -> None:
        self.hand_over()
        for descriptor in [*self.open]:
            self.close(descriptor)


class ChildRun(Generic[Ended]):
    """The caller's side of a run under a server, from its start to its ending.

    `Exchange` calls `read` for each of `descriptors` that is readable. It calls `finish` when the server's
    connection is readable, until that returns the ending, and `late` at the `deadline` by `time.monotonic`.
    `close` releases the run's resources. To give up a run, end its server.
    """

    name: str
    """The name of the run in messages."""
    channel_name = "the recorder's channel"

    def __init__(self, server: Server, limits: Limits, pipes: Pipes) -> None:
        self.server = server
        self.limits = limits
        self.pipes = pipes
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.stopped: tuple[Outcome, str] | None = None
        self.is_over = False
        """Whether the process has sent its last message, so that later output is not its own."""
        self.has_forged = False
        self.started = time.monotonic()
        self.deadline = self.started + limits.wall_s
        self.last_moment = self.started + WALL_TIMES * limits.wall_s
        handlers: dict[int, Callable[[bytes], None]] = {
            pipes.out: self.stdout.extend,
            pipes.err: self.stderr.extend,
            pipes.channel.fileno(): self.take_messages,
        }
        self.handlers = {descriptor: handlers[descriptor] for descriptor in pipes.open}

    @property
    def descriptors(self) -> list[int]:
        return [*self.handlers]

    def hand_over(self, job: bytes) -> None:
        """Give the process its job. Raises ServerLost."""
        if not send_message(self.pipes.channel, job, [], _JOB_S):
            raise ServerLost(f"the process of {self.name} did not take its job")

    def read(self, descriptor: int) -> bool:
        """Read from a descriptor; False at its end, or if there is nothing to read now."""
        handler = self.handlers.get(descriptor)
        if handler is None:
            return False
        try:
            data = os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            data = b""
        if not data:
            del self.handlers[descriptor]
            self.lose(descriptor)
            return False
        if descriptor == self.pipes.channel.fileno():
            self._take(handler, data)
        elif not self.has_said_enough():
            handler(data)
            if self.has_said_enough() and not self.is_over:
                self.stop(Outcome.OUTPUT_LIMIT, f"more than {self.limits.output_bytes} bytes of output")
        return True

    def _take(self, handler: Callable[[bytes], None], data: bytes) -> None:
        if self.has_forged:
            return  # it is being ended for that
        try:
            handler(data)
        except Forged as error:
            self.stop_for(error)

    def has_said_enough(self) -> bool:
        return len(self.stdout) + len(self.stderr) > self.limits.output_bytes

    def stop_for(self, error: Forged) -> None:
        """Have the process killed for its forged message. No more is read from the channel."""
        self.has_forged = True
        if isinstance(error, TooLong) and error.limit == CALL_BYTES:
            self.stop(Outcome.OUT_OF_MEMORY, f"a call that takes or gives more than {CALL_BYTES} bytes")
        else:
            self.stop(Outcome.KILLED, f"it wrote to {self.channel_name}: {error}")

    def take_messages(self, data: bytes) -> None:
        """Take bytes from the channel. Raises Forged."""
        raise NotImplementedError

    def lose(self, descriptor: int) -> None:
        """The other end of a descriptor is closed."""
        self.pipes.close(descriptor)

    def stop(self, outcome: Outcome, reason: str) -> None:
        """Have the process killed, for a reason that decides its outcome. The first reason counts."""
        if self.stopped is None:
            self.stopped = (outcome, reason)
            self.server.kill()

    def beyond_memory(self) -> tuple[Outcome, str]:
        """The outcome and its detail if the kernel killed a process because memory was used up."""
        return Outcome.OUT_OF_MEMORY, self.server.why_out_of_memory(f"{self.limits.memory_bytes} bytes")

    def late(self) -> None:
        """Wall time is up: ask the server, which knows whether the process had a processor.

        After three times the limit, the run is stopped anyway, because its own processes may have kept the
        processor busy.
        """
        now = time.monotonic()
        if now >= self.last_moment:
            self.stop(*beyond_wall_time(self.limits))
            self.deadline = now + ANSWER_S
        else:
            self.deadline = min(now + ANSWER_S, self.last_moment)
            self.server.too_late()

    def finish(self) -> Ended | None:
        """The ending, once the server's connection is readable; None if it continues. Raises ServerLost."""
        report = self.server.report()
        if isinstance(report, float):
            self.wait_longer(report)
            return None
        # No process of the program is left: what the pipes hold is all there will be.
        self.drain()
        return self.ending(report)

    def wait_longer(self, seconds: float) -> None:
        self.deadline = min(time.monotonic() + seconds, self.last_moment)

    def drain(self) -> None:
        for descriptor in self.descriptors:
            while self.read(descriptor):
                pass

    def ending(self, report: ServerReport) -> Ended:
        raise NotImplementedError

    def close(self) -> None:
        """Close the open descriptors. The server ends an unfinished program."""
        self.handlers.clear()
        self.pipes.close_all()


class RecordedRun(ChildRun[Ended]):
    """A run whose process reports on its channel. If it is traced, `sink` takes its events."""

    def __init__(
        self,
        server: Server,
        limits: Limits,
        pipes: Pipes,
        decoder: Decoder,
        sink: Callable[[bytes], None] | None,
    ) -> None:
        super().__init__(server, limits, pipes)
        self.decoder = decoder
        self.sink = sink
        self.end: dict[str, Any] | None = None
        self.failed: dict[str, Any] | None = None
        self.forward: Callable[[bytes | memoryview], None] = lambda message: None
        """Takes the messages of the process for another process."""
        self.mirror: int | None = None
        if sink is not None:
            self.mirror = os.memfd_create("deskcheck")
            os.ftruncate(self.mirror, MIRROR_BYTES)

    def take_messages(self, data: bytes) -> None:
        for kind, content in self.decoder.feed(data):
            match kind:
                case "block":
                    assert self.sink is not None
                    self.sink(content)
                case "end":
                    self.end = content
                case "failed":
                    self.failed = content
                case "ask" | "answer":
                    self.forward(content)

    def drain(self) -> None:
        """Take also the last events of a process that ended before it sent them."""
        super().drain()
        if self.mirror is None or self.sink is None:
            return
        try:
            block = self.decoder.last(os.pread(self.mirror, MIRROR_BYTES, 0))
        except Forged as error:
            self.stop_for(error)
        else:
            if block is not None:
                self.sink(block)

    def facts_of(self, outcome: Outcome) -> dict[str, Any]:
        """The facts that the process reported about its end, if it ended with that outcome."""
        if self.end is None or outcome != self.end.get("outcome"):
            return {}
        return {
            "exception": self.end.get("exception"),
            "result": self.end.get("result"),
            "result_builtin": self.end.get("result_builtin", False),
        }

    def close(self) -> None:
        super().close()
        if self.mirror is not None:
            os.close(self.mirror)
            self.mirror = None


class Exchange(Generic[Ended]):
    """Runs to listen to together. Use it as a context. The makers of the runs close them."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._runs: dict[int, ChildRun[Ended]] = {}
        """Runs, by the descriptor of the server's connection."""
        self._owners: dict[int, ChildRun[Ended]] = {}
        """Runs, by the descriptors that their processes write to."""

    def __enter__(self) -> "Exchange[Ended]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._epoll.close()

    def add(self, run: ChildRun[Ended]) -> None:
        connection = run.server.connection.fileno()
        self._runs[connection] = run
        self._epoll.register(connection, select.EPOLLIN)
        for descriptor in run.descriptors:
            self._owners[descriptor] = run
            self._epoll.register(descriptor, select.EPOLLIN)

    def wait(self) -> list[tuple[ChildRun[Ended], Ended | SandboxError]]:
        """Listen for a moment. Returns the runs that have ended, each with its result or with an error."""
        pause_s = min((run.deadline for run in self._runs.values()), default=0.0) - time.monotonic()
        ready = [descriptor for descriptor, _ in self._epoll.poll(min(max(pause_s, 0.001), LOOK_S))]
        for descriptor in ready:
            owner = self._owners.get(descriptor)
            if owner is not None and not owner.read(descriptor) and descriptor not in owner.descriptors:
                del self._owners[descriptor]  # closed, which takes it from the epoll too
        ended = [
            ending
            for descriptor in ready
            if descriptor in self._runs and (ending := self._finish(descriptor)) is not None
        ]
        now = time.monotonic()
        for run in self._runs.values():
            if run.deadline <= now:
                run.late()
            elif not ready and run.server.out_of_memory():  # one of its processes; others may wait for that
                run.stop(*run.beyond_memory())
        return ended

    def _finish(self, connection: int) -> tuple[ChildRun[Ended], Ended | SandboxError] | None:
        run = self._runs[connection]
        result: Ended | SandboxError | None
        try:
            result = run.finish()
        except SandboxError as error:
            result = error
        if result is None:
            return None  # it was asked whether it is too late, and is not
        for descriptor in [descriptor for descriptor, owner in self._owners.items() if owner is run]:
            del self._owners[descriptor]
            if descriptor in run.descriptors:
                self._epoll.unregister(descriptor)
        del self._runs[connection]
        self._epoll.unregister(connection)
        return run, result


def follow(run: ChildRun[Ended], cancelled: Callable[[], bool]) -> Ended:
    """Serve one run until it ends. Raises Cancelled, ServerLost; the run is closed in any case."""
    try:
        with Exchange[Ended]() as exchange:
            exchange.add(run)
            while True:
                if cancelled():
                    raise Cancelled(f"{run.name} was cancelled")
                for _, result in exchange.wait():
                    if isinstance(result, SandboxError):
                        raise result
                    return result
    finally:
        run.close()


def beyond_wall_time(limits: Limits) -> tuple[Outcome, str]:
    """The outcome and its detail if the run gets no more wall time."""
    return Outcome.TIMED_OUT, (
        f"more than {WALL_TIMES} times {limits.wall_s:g} s of wall time, with its waiting for a processor"
    )
