"""A place with files of its own, where commands run, confined: any program, not only Python.

    with Workspace(level="strict") as workspace:
        workspace.write("hello.py", b"print('hello')")
        print(workspace.run(["python", "hello.py"]).stdout)

The layers are those of `Sandbox` (`Confinement`); each command is a fork of a server that becomes it. Files
stay until the workspace is closed; processes do not: when a command ends, whatever it started is ended. One
command runs at a time, others wait for it. Files are read and written by a confined process too.
"""

import errno
import fcntl
import marshal
import os
import select
import signal
import socket
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
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.process import Cancelled, limit_met
from deskcheck.sandbox.server import Profile, Server, ServerReport

_CHUNK_BYTES = 1 << 16
_LOOK_MS = 50
_JOB_S = 60.0
"""For the process to take its job, which it does before anything else."""
_END_S = 30.0
"""For the server to report the end of a command that it was told to kill."""
_OUTPUT_BYTES = 10 << 20
_FORGED = "it wrote to the sandbox's channel"


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended.

    outcome: `EXITED`, `KILLED` (by a signal), or what stopped it: `TIMED_OUT`, `OUT_OF_MEMORY`,
    `OUTPUT_LIMIT`; detail says which limit that was. status: its exit status, negative for a signal. stdout,
    stderr: as far as they came.
    """

    outcome: Outcome
    detail: str
    status: int
    stdout: bytes
    stderr: bytes
    cpu_s: float
    wall_s: float


class Workspace:
    """A folder in memory, or in a temporary folder of this machine, and commands that run in it.

    level: see `Confinement`. limits: bounds on each command. environment: name of the environment whose
    ``python`` commands find first; by default this interpreter. readable: files and folders that they may
    read, beside the system's and the interpreter's. scratch_bytes: what all files may take together, at
    `strict`; at other levels each file is bounded alone.

    At `strict`, ``/tmp`` and the working directory are the same folder. Elsewhere the machine's own ``/tmp``
    is out of reach.

    Raises SandboxError on entry where the kernel does not give what the level needs, and InputError where
    no environment has the name. Threads may share a workspace.
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
        """Run a command to its end. Its first word is looked for on PATH, with `env` applied.

        input: what it reads from standard input. cwd: a path, below the workspace's own folder if it is
        relative. wall_s: instead of the limit's; here a command's wait for a processor counts. output_bytes:
        of each of standard output and error. cancelled: asked some twenty times a second.

        Raises OSError where the command cannot be started (no such command or folder, no permission),
        Cancelled, and ServerLost where the workspace is gone with its files.
        """
        if not argv:
            raise ValueError("an empty command: its first word names the program")
        job = {"kind": "run", "argv": list(argv), "cwd": cwd, "env": dict(env or {})}
        limits = self.limits if wall_s is None else replace(self.limits, wall_s=wall_s)
        return self._do(job, input, limits, output_bytes, cancelled)

    def read(self, path: str, *, most_bytes: int = 100 << 20) -> bytes:
        """Contents of a file. Raises OSError as `open` does; with EFBIG where it has more than most_bytes."""
        job = {"kind": "read", "path": path, "most_bytes": most_bytes}
        done = self._do(job, None, self.limits, most_bytes, lambda: False)
        self._refuse_stopped(done, path)
        return done.stdout

    def write(self, path: str, contents: bytes) -> None:
        """Write a file, and make the folders above it. Raises OSError as `open` does."""
        done = self._do({"kind": "write", "path": path}, contents, self.limits, 0, lambda: False)
        self._refuse_stopped(done, path)

    def _refuse_stopped(self, done: Completed, path: str) -> None:
        if done.outcome is Outcome.TIMED_OUT:
            raise TimeoutError(errno.ETIMEDOUT, done.detail, path)
        if done.outcome is not Outcome.EXITED or done.status:
            said = done.stderr.decode("utf-8", "replace").strip()[-500:]
            raise SandboxError(f"{path}: {done.outcome} {done.detail or done.status}: {said}")

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
            try:
                with _Request(server, limits, contents) as request:
                    request.hand_over(marshal.dumps({**job, "limits": limits.to_dict()}, 4))
                    return request.follow(output_bytes, cancelled)
            except ServerLost:
                self.close()
                raise


class _Request:
    """One command or file under way: its descriptors, and what it has written."""

    def __init__(self, server: Server, limits: Limits, contents: bytes | None) -> None:
        self.server = server
        self.limits = limits
        self.written: dict[int, bytearray] = {}
        self.stopped: tuple[Outcome, str] | None = None
        self.stopped_at = 0.0
        self.started = time.monotonic()
        self.channel, theirs = socket.socketpair()
        out, out_theirs = os.pipe()
        err, err_theirs = os.pipe()
        self.open = {out, err, self.channel.fileno()}
        self.ends = (out, err, self.channel.fileno())
        given = [out_theirs, err_theirs, theirs.detach()]
        try:
            if contents is not None:
                given.append(_sealed(contents))
            for descriptor in self.open:
                self.written[descriptor] = bytearray()
            os.set_blocking(out, False)
            os.set_blocking(err, False)
            server.begin(limits, given)
        except BaseException:
            self.__exit__()
            raise
        finally:
            for descriptor in given:
                os.close(descriptor)

    def __enter__(self) -> "_Request":
        return self

    def __exit__(self, *error: object) -> None:
        for descriptor in list(self.open):
            self._drop(descriptor)

    def _drop(self, descriptor: int) -> None:
        self.open.discard(descriptor)
        if descriptor == self.ends[2]:
            self.channel.close()
        else:
            os.close(descriptor)

    def hand_over(self, job: bytes) -> None:
        self.channel.settimeout(_JOB_S)
        try:
            self.channel.sendall(len(job).to_bytes(4, "big") + job)
        except TimeoutError as error:
            raise ServerLost("a command's process did not take its job") from error
        except OSError:
            pass  # it has ended: the report tells
        self.channel.setblocking(False)

    def follow(self, output_bytes: int, cancelled: Callable[[], bool]) -> Completed:
        """Be there until it has ended. Raises OSError where it could not begin, Cancelled, ServerLost."""
        connection = self.server.connection.fileno()
        poll = select.poll()
        for descriptor in (connection, *self.open):
            poll.register(descriptor, select.POLLIN)
        given_up = False
        deadline = self.started + self.limits.wall_s
        ended: ServerReport | None = None
        while ended is None:
            left_ms = 1000 * (deadline - time.monotonic())
            ready = {descriptor for descriptor, _ in poll.poll(min(max(left_ms, 1), _LOOK_MS))}
            for descriptor in ready & self.open:
                if not self._read(descriptor, output_bytes):
                    poll.unregister(descriptor)
                    self._drop(descriptor)
            if connection in ready:
                report = self.server.report()
                if isinstance(report, ServerReport):
                    ended = report
                    break
            if not given_up and cancelled():
                given_up = True
                self._stop(Outcome.KILLED, "cancelled")
            if self.server.out_of_memory():  # the kernel ended one of its processes; others may wait for that
                self._stop(*self._beyond_memory())
            if time.monotonic() >= deadline:
                self._stop(Outcome.TIMED_OUT, f"more than {self.limits.wall_s:g} s of wall time")
            if self.stopped is not None and time.monotonic() > self.stopped_at + _END_S:
                raise ServerLost("a command that was to be killed did not end")
        for descriptor in list(self.open):  # no process is left: what the pipes hold is all there will be
            while self._read(descriptor, output_bytes):
                pass
        if given_up:
            raise Cancelled("the command was cancelled")
        return self._completed(ended)

    def _read(self, descriptor: int, output_bytes: int) -> bool:
        """Take what a descriptor gives; False at its end, or where it has nothing now."""
        try:
            data = os.read(descriptor, _CHUNK_BYTES)
        except (BlockingIOError, ConnectionResetError):
            return False
        taken = self.written[descriptor]
        if descriptor == self.ends[2]:
            if len(taken) + len(data) > WORD_BYTES:
                self._stop(Outcome.KILLED, _FORGED)
                return False
            taken += data
        elif len(taken) + len(data) > output_bytes:
            taken += data[: output_bytes - len(taken)]
            self._stop(Outcome.OUTPUT_LIMIT, f"more than {output_bytes} bytes of output")
        else:
            taken += data
        return bool(data)

    def _stop(self, outcome: Outcome, why: str) -> None:
        if self.stopped is None:
            self.stopped, self.stopped_at = (outcome, why), time.monotonic()
            self.server.kill()

    def _beyond_memory(self) -> tuple[Outcome, str]:
        return Outcome.OUT_OF_MEMORY, self.server.why_out_of_memory(f"{self.limits.memory_bytes} bytes")

    def _completed(self, report: ServerReport) -> Completed:
        stdout, stderr, refusal = (bytes(self.written[descriptor]) for descriptor in self.ends)
        limits, status = self.limits, report.status
        if self.stopped is not None:
            outcome, detail = self.stopped
        elif status == -signal.SIGKILL and self.server.out_of_memory():
            outcome, detail = self._beyond_memory()
        elif (met := limit_met(report, limits)) is not None:
            outcome, detail = met
        elif refusal:
            try:
                error = end_of_command(refusal)
            except Forged as forged:
                outcome, detail = Outcome.KILLED, f"{_FORGED}: {forged}"
            else:
                raise error
        elif status < 0:
            outcome, detail = Outcome.KILLED, f"signal {-status}"
        else:
            outcome, detail = Outcome.EXITED, ""
        wall_s = time.monotonic() - self.started
        return Completed(outcome, detail, status, stdout, stderr, report.cpu_s, wall_s)


def _sealed(contents: bytes) -> int:
    """A descriptor of these bytes, in memory, that nobody can change."""
    descriptor = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    rest = memoryview(contents)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor
