"""Listens to processes under servers until they end: to one, to a program and its check, or to many at once.

What a run may take, and how it ended, its `ChildRun` decides. `Exchange` is the one loop that looks after it.
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
"""The longest time between two looks at whether a run is cancelled, or beyond its memory."""
ANSWER_S = 5.0
"""Until the server is asked again whether a run is too late."""
_CHUNK_BYTES = 1 << 16
_JOB_S = 60.0
"""For a process to take its job. It does that before anything else."""
MIRROR_BYTES = 1 << 20
"""Memory shared with the process, for events that it has not handed over yet."""

Ended = TypeVar("Ended")


class Cancelled(SandboxError):
    """The caller no longer wants the run."""


def send_message(
    channel: socket.socket, message: bytes | memoryview, descriptors: list[int], timeout_s: float = ANSWER_S
) -> bool:
    """Hand over a message as `inside.calling.receive` takes it; False where nobody took it in time.

    A process that has ended takes nothing either: its report tells.
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
        """Close the ends that the process has by now."""
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
    """The caller's side of what a process under a server does, from its start to its ending.

    `Exchange` calls `read` with each of `descriptors` as it becomes readable, `finish` when the server's
    connection is, until it gives the ending, and `late` at the `deadline` by `time.monotonic`. `close` gives
    back what the run holds; a run that is given up needs a server that is ended.
    """

    name: str
    """What runs, for messages."""
    channel_name = "the recorder's channel"

    def __init__(self, server: Server, limits: Limits, pipes: Pipes) -> None:
        self.server = server
        self.limits = limits
        self.pipes = pipes
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.stopped: tuple[Outcome, str] | None = None
        self.is_over = False
        """Whether it has said all, so that more output is not its own."""
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
        """Take what a descriptor has to give; False at its end or when it has nothing now."""
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
        """The outcome and its detail where the operating system ended a process for the memory of all."""
        return Outcome.OUT_OF_MEMORY, self.server.why_out_of_memory(f"{self.limits.memory_bytes} bytes")

    def late(self) -> None:
        """Wall time is up: the server decides, which sees whether the process had a processor. It has no say
        any more once the run has taken three times as long: its own processes may keep it from one."""
        now = time.monotonic()
        if now >= self.last_moment:
            self.stop(*beyond_wall_time(self.limits))
            self.deadline = now + ANSWER_S
        else:
            self.deadline = min(now + ANSWER_S, self.last_moment)
            self.server.too_late()

    def finish(self) -> Ended | None:
        """How it ended, once the server's connection is readable; None if it goes on. Raises ServerLost."""
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
        """Close what is open; an unfinished program is the server's to end."""
        self.handlers.clear()
        self.pipes.close_all()


class RecordedRun(ChildRun[Ended]):
    """A run whose process reports on its channel, and events too where it is traced: `sink` takes these."""

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
        """Takes what the process says to another one."""
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
        """Take also the last events of a process that ended without handing them over."""
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
        """What the process said of its end, where that is how it ended."""
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
    """Runs that are listened to together. Use as a context. The runs are their makers' to close."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._runs: dict[int, ChildRun[Ended]] = {}
        """By the descriptor of the server's connection."""
        self._owners: dict[int, ChildRun[Ended]] = {}
        """By the descriptors of what processes write to."""

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
        """Listen for a moment. The runs that have ended since: each with its result, or with what our side
        has lost of it."""
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
    """Be there for one run until it ends. Raises Cancelled, ServerLost; the run is closed either way."""
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
    """The outcome and its detail where no more wall time is granted."""
    return Outcome.TIMED_OUT, (
        f"more than {WALL_TIMES} times {limits.wall_s:g} s of wall time, with its waiting for a processor"
    )
