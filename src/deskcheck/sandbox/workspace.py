"""A confined folder with files, in which commands run: any program, not only Python.

    with Workspace(level="strict") as workspace:
        workspace.write("hello.py", b"print('hello')")
        print(workspace.run(["python", "hello.py"]).stdout)

Each command is a fork of a server that executes it. When it ends, all its processes end. Files stay until the
workspace is closed. A confined process reads and writes them too. One command runs at a time.
"""

import errno
import fcntl
import marshal
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from deskcheck.errors import SandboxError, ServerLost
from deskcheck.recording.outcome import Outcome
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.decoder import WORD_BYTES, Forged, end_of_command
from deskcheck.sandbox.environments import find
from deskcheck.sandbox.exchange import Cancelled, ChildRun, Exchange, Pipes
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.process import limit_met
from deskcheck.sandbox.server import Profile, Server, ServerReport

_OUTPUT_BYTES = 10 << 20


@dataclass(frozen=True, slots=True)
class Completed:
    """The ending of a command."""

    outcome: Outcome
    """`EXITED`, `KILLED` (by a signal), `TIMED_OUT`, `OUT_OF_MEMORY` or `OUTPUT_LIMIT`."""
    detail: str
    """The limit that the command met."""
    status: int
    """The exit status, negative for a signal."""
    stdout: bytes
    """Standard output, up to the limit."""
    stderr: bytes
    """Standard error, up to the limit."""
    cpu_s: float
    wall_s: float


class Workspace:
    """A folder in memory, or in a temporary folder of this machine, for commands. Threads may share it.

    Args:
        limits: limits of each command.
        environment: the environment whose ``python`` is first on PATH, by default that of this interpreter.
        readable: files and folders that commands may read.
        scratch_bytes: size of all files at `strict`, where ``/tmp`` is the working directory. At other levels
            each file has a limit, and commands cannot reach the machine's ``/tmp``.

    Raises:
        SandboxError: on entry, the kernel lacks something that the level needs.
        InputError: no environment has the name.
    """

    def __init__(
        self,
        level: Confinement | str = Confinement.STRICT,
        *,
        limits: Limits | None = None,
        environment: str | None = None,
        readable: tuple[str, ...] = (),
        scratch_bytes: int = 256 << 20,
    ) -> None:
        self.level = Confinement(level)
        self.limits = limits or Limits()
        built = None if environment is None else find(environment)
        self._profile = Profile(
            level=self.level,
            python=None if built is None else built.python,
            environment=built,
            readable=tuple(sorted(readable)),
            scratch_bytes=scratch_bytes,
            workspace=True,
        )
        self._lock = threading.Lock()
        self._server: Server | None = None

    def __enter__(self) -> "Workspace":
        server = Server(self._profile)
        server.wait_until_ready()
        self._server = server
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the command that runs, and remove the files."""
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def run(
        self,
        argv: Sequence[str],
        *,
        input: bytes | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        wall_s: float | None = None,
        output_bytes: int = _OUTPUT_BYTES,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Completed:
        """Run a command to its end. Its first word is searched on PATH, as changed by `env`.

        Args:
            input: standard input.
            cwd: the working directory. A relative path is below the workspace's folder.
            wall_s: wall time, including the command's waiting for a processor.
            output_bytes: limit of each of the two output streams.
            cancelled: called some twenty times a second.

        Raises:
            OSError: the command cannot be started.
            Cancelled: `cancelled` returned true.
            ServerLost: the workspace is gone.
        """
        if not argv:
            raise ValueError("an empty command: its first word names the program")
        job = {"kind": "run", "argv": list(argv), "cwd": cwd, "env": dict(env or {})}
        limits = self.limits if wall_s is None else replace(self.limits, wall_s=wall_s)
        return self._do(job, input, limits, output_bytes, cancelled)

    def read(self, path: str, *, most_bytes: int = 100 << 20) -> bytes:
        """The contents of a file. Raises OSError like `open`, and with EFBIG above `most_bytes`."""
        job = {"kind": "read", "path": path, "most_bytes": most_bytes}
        completed = self._do(job, None, self.limits, most_bytes, lambda: False)
        self._refuse_stopped(completed, path)
        return completed.stdout

    def write(self, path: str, contents: bytes) -> None:
        """Write a file, and make the folders above it. Raises OSError like `open`."""
        completed = self._do({"kind": "write", "path": path}, contents, self.limits, 0, lambda: False)
        self._refuse_stopped(completed, path)

    def _refuse_stopped(self, completed: Completed, path: str) -> None:
        if completed.outcome is Outcome.TIMED_OUT:
            raise TimeoutError(errno.ETIMEDOUT, completed.detail, path)
        if completed.outcome is not Outcome.EXITED or completed.status:
            text = completed.stderr.decode("utf-8", "replace").strip()[-500:]
            raise SandboxError(f"{path}: {completed.outcome} {completed.detail or completed.status}: {text}")

    def _do(
        self,
        job: dict[str, Any],
        contents: bytes | None,
        limits: Limits,
        output_bytes: int,
        cancelled: Callable[[], bool],
    ) -> Completed:
        with self._lock:
            server = self._server
            if server is None:
                raise ServerLost("the workspace is closed")
            request = _Request(server, limits, job, contents, output_bytes)
            try:
                return request.follow(cancelled)
            except ServerLost:
                self.close()
                raise
            finally:
                request.close()


class _Request(ChildRun[Completed | OSError]):
    """A running command, or reading or writing of a file: its descriptors and its output."""

    name = "the command"
    channel_name = "the sandbox's channel"

    def __init__(
        self,
        server: Server,
        limits: Limits,
        job: dict[str, Any],
        contents: bytes | None,
        output_bytes: int,
    ) -> None:
        super().__init__(server, limits, Pipes())
        self.job = job
        self.contents = contents
        self.output_bytes = output_bytes
        self.refusal = bytearray()

    def follow(self, cancelled: Callable[[], bool]) -> Completed:
        """Start the command and wait for its end.

        Raises OSError if it could not begin, Cancelled, and ServerLost.
        """
        sealed = [] if self.contents is None else [_sealed(self.contents)]
        try:
            self.server.begin(self.limits, [*self.pipes.theirs, *sealed])
        finally:
            self.pipes.hand_over()
            for descriptor in sealed:
                os.close(descriptor)
        self.hand_over(marshal.dumps({**self.job, "limits": self.limits.to_dict()}, 4))
        given_up = False
        with Exchange[Completed | OSError]() as exchange:
            exchange.add(self)
            while not (ended := exchange.wait()):
                if not given_up and cancelled():
                    given_up = True  # its files stay, so it ends before anybody goes on
                    self.stop(Outcome.KILLED, "cancelled")
        result = ended[0][1]
        if given_up and not isinstance(result, ServerLost):
            raise Cancelled("the command was cancelled")
        if isinstance(result, Completed):
            return result
        raise result

    def late(self) -> None:
        """Stop the command. Its waiting for a processor counts."""
        self.deadline = float("inf")
        self.stop(Outcome.TIMED_OUT, f"more than {self.limits.wall_s:g} s of wall time")

    def take_messages(self, data: bytes) -> None:
        if len(self.refusal) + len(data) > WORD_BYTES:
            raise Forged(f"more than {WORD_BYTES} bytes")
        self.refusal += data

    def read(self, descriptor: int) -> bool:
        more = super().read(descriptor)
        for taken in (self.stdout, self.stderr):
            if len(taken) > self.output_bytes:
                del taken[self.output_bytes :]
                self.stop(Outcome.OUTPUT_LIMIT, f"more than {self.output_bytes} bytes of output")
        return more

    def has_said_enough(self) -> bool:
        """False: `read` limits each stream by itself."""
        return False

    def ending(self, report: ServerReport) -> Completed | OSError:
        limits, status = self.limits, report.status
        if self.stopped is not None:
            outcome, detail = self.stopped
        elif status == -signal.SIGKILL and self.server.out_of_memory():
            outcome, detail = self.beyond_memory()
        elif (met := limit_met(report, limits)) is not None:
            outcome, detail = met
        elif self.refusal:
            try:
                return end_of_command(self.refusal)
            except Forged as forged:
                outcome, detail = Outcome.KILLED, f"it wrote to {self.channel_name}: {forged}"
        elif status < 0:
            outcome, detail = Outcome.KILLED, f"signal {-status}"
        else:
            outcome, detail = Outcome.EXITED, ""
        wall_s = time.monotonic() - self.started
        return Completed(
            outcome, detail, status, bytes(self.stdout), bytes(self.stderr), report.cpu_s, wall_s
        )


def _sealed(contents: bytes) -> int:
    """A descriptor of these bytes in memory, which no process can change."""
    descriptor = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    unwritten = memoryview(contents)
    while unwritten:
        unwritten = unwritten[os.write(descriptor, unwritten) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor
