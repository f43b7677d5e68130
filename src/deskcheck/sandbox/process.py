"""Runs one program and says how it ended: the caller's side, decided from what the program cannot write.

The program's process is a fork of a server (`inside.server`). Its output and what its recorder says come here
through pipes, its exit status and CPU time from the server, which is not in the program's reach.
"""

import functools
import marshal
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from typing import Any

from deskcheck.errors import SandboxError, ServerLost
from deskcheck.recording.outcome import Outcome, signal_name
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.decoder import Decoder, Forged
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.elsewhere import Elsewhere
from deskcheck.sandbox.inside.channel import CALL_BYTES, KEY_BYTES, TooLong
from deskcheck.sandbox.inside.readable_files import PROCESS_FOLDERS, can_open
from deskcheck.sandbox.limits import WALL_TIMES, Limits
from deskcheck.sandbox.linux import processes as _processes
from deskcheck.sandbox.server import Server, ServerReport
from deskcheck.tracer.limits import Granularity, TraceLimits

_CHUNK_BYTES = 1 << 16
_MIRROR_BYTES = 1 << 20
"""Memory shared with the process, for events that it has not handed over yet."""
_ANSWER_S = 5.0
"""Until the server is asked again whether a program is too late."""
_JOB_S = 60.0
"""For a program's process to take its job. It does that before anything else."""

MOST_PATHS = 32
"""That were not opened, of one program. `_syscalls.c` has the same number."""
MOST_NAME_CHARS = 1000

_PROGRAM = tuple(each.name for each in fields(Program))
_NO_TRACE_LIMITS = TraceLimits()

Sink = Callable[[bytes], None]
"""Takes events as the tracer writes them: a block (`recording.block`)."""


@dataclass(frozen=True, slots=True)
class Tracing:
    """That a run is traced, and how.

    sink: is given the blocks of events. limits: what is left out, by default nothing but what `TraceLimits`
    says. granularity: lines, or instructions, too. tracer: ``reference`` for that one; None: the usual.
    """

    sink: Sink
    limits: TraceLimits | None = None
    granularity: Granularity = Granularity.LINE
    tracer: str | None = None


class Cancelled(SandboxError):
    """The caller no longer wants the run."""


class ProcessRun:
    """The caller's side of one run under a server, from its start to its ending.

    Call `read` with each descriptor of `descriptors` as it becomes readable, and `finish` when the server's
    connection is, until it gives the ending. `deadline` is when wall time is up, by `time.monotonic`; call
    `late` then. Whoever does not call for a while says so (`was_away`). `close` gives back what the run
    holds; a run that is given up needs a server that is ended.
    """

    def __init__(
        self,
        program: Program,
        server: Server,
        *,
        limits: Limits,
        tracing: Tracing | None = None,
        calls: tuple[str, ...] = (),
        determinism: Determinism | None = None,
        answers: bool = False,
        files: bool = False,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        """tracing: None: it is not traced. calls: functions of another program that this one may call.
        answers: whether, once its code has run, the program waits for calls from another. `forward` takes
        what it says to that other. determinism: what the program finds in place of what differs between
        runs. files: whether the result names the files that it wrote. elsewhere: under a server that is
        elsewhere, what else is different there."""
        self.forward: Callable[[bytes | memoryview], None] = lambda message: None
        self.program = program
        self.server = server
        self.limits = limits
        self.sink = None if tracing is None else tracing.sink
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.end: dict[str, Any] | None = None
        self.failed: dict[str, Any] | None = None
        self.stopped: tuple[Outcome, str] | None = None
        self.mirror: int | None = None
        key = secrets.token_bytes(KEY_BYTES)
        self.decoder = Decoder(key, traced=tracing is not None, asks=bool(calls), answers=answers)
        job = {
            "program": {**{name: getattr(program, name) for name in _PROGRAM}, "mode": program.mode.value},
            "record": tracing is not None,
            "limits": _as_dict(limits),
            **_job_of(tracing),
            "key": key.hex(),
            "determinism": (determinism or Determinism()).to_dict(),
            "elsewhere": None
            if elsewhere is None
            else elsewhere.job(
                determinism or Determinism(), strict=server.profile.level is Confinement.STRICT
            ),
            "calls": calls,
            "answers": answers,
        }
        self.started = time.monotonic()
        self.deadline = self.started + limits.wall_s
        self.last_moment = self.started + WALL_TIMES * limits.wall_s
        self.channel, theirs = socket.socketpair()
        out, out_theirs = os.pipe()
        err, err_theirs = os.pipe()
        given = [out_theirs, err_theirs, theirs.fileno()]
        if tracing is not None:
            self.mirror = os.memfd_create("deskcheck")
            os.ftruncate(self.mirror, _MIRROR_BYTES)
            given.append(self.mirror)
        self.descriptors: dict[int, Callable[[bytes], None]] = {
            out: self.stdout.extend,
            err: self.stderr.extend,
            self.channel.fileno(): self._messages,
        }
        os.set_blocking(out, False)
        os.set_blocking(err, False)
        try:
            server.begin(limits, given, files=files)
            theirs.close()
            self._hand_over(marshal.dumps(job, 4))
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
            os.close(out_theirs)
            os.close(err_theirs)

    def _hand_over(self, job: bytes) -> None:
        self.channel.settimeout(_JOB_S)
        try:
            self.channel.sendall(len(job).to_bytes(4, "big") + job)
        except TimeoutError as error:
            raise ServerLost("a program's process did not take its job") from error
        except OSError:
            pass  # it ended before it read its job: the report tells
        self.channel.setblocking(False)

    def send(self, message: bytes | memoryview) -> None:
        """Hand a call, or its answer, to the program's process, as `inside.calling.receive` takes it."""
        self.decoder.owed += 1
        if self.channel.fileno() < 0:
            return  # it has closed it, and will not be asked again
        self.channel.settimeout(_ANSWER_S)
        try:
            self.channel.sendall(len(message).to_bytes(4, "big"))
            self.channel.sendall(message)
        except OSError:
            return  # it is ending, or does not listen: its report, or its wall time, tells
        finally:
            self.channel.setblocking(False)

    def read(self, descriptor: int) -> bool:
        """Take what a descriptor has to give; False at its end or when it has nothing now."""
        take = self.descriptors.get(descriptor)
        if take is None:
            return False
        try:
            data = os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            data = b""
        if data and self._has_said_enough() and descriptor != self.channel.fileno():
            return True  # it is being ended for that
        try:
            if data:
                take(data)
        except Forged as error:
            self.stop(*self._forger(error))
            data = b""
        if not data:
            self._drop(descriptor)
            return False
        if self._has_said_enough():
            self.stop(Outcome.OUTPUT_LIMIT, f"more than {self.limits.output_bytes} bytes of output")
        return True

    def _has_said_enough(self) -> bool:
        return len(self.stdout) + len(self.stderr) > self.limits.output_bytes

    def _forger(self, error: Forged) -> tuple[Outcome, str]:
        if isinstance(error, TooLong) and error.limit == CALL_BYTES:
            return Outcome.OUT_OF_MEMORY, f"a call that takes or gives more than {CALL_BYTES} bytes"
        return Outcome.KILLED, f"it wrote to the recorder's channel: {error}"

    def _drop(self, descriptor: int) -> None:
        del self.descriptors[descriptor]
        if descriptor == self.channel.fileno():
            self.channel.close()
        else:
            os.close(descriptor)

    def stop(self, outcome: Outcome, why: str) -> None:
        """Have the program killed, for a reason that decides its outcome. The first reason counts."""
        if self.stopped is None:
            self.stopped = (outcome, why)
            self.server.kill()

    def beyond_memory(self) -> tuple[Outcome, str]:
        """The outcome and its detail where the operating system ended a process for the memory of all."""
        return Outcome.OUT_OF_MEMORY, self.server.why_out_of_memory(f"{self.limits.memory_bytes} bytes")

    def was_away(self, seconds: float) -> None:
        """Nobody looked after the run for so long: that is not its fault."""
        self.deadline += seconds
        self.last_moment += seconds

    def late(self) -> None:
        """Wall time is up: the server decides, which sees whether the program had a processor. It has no say
        any more once the run has taken three times as long: its own processes may keep it from one."""
        now = time.monotonic()
        if now >= self.last_moment:
            self.stop(*beyond_wall_time(self.limits))
            self.deadline = now + _ANSWER_S
        else:
            self.deadline = min(now + _ANSWER_S, self.last_moment)
            self.server.too_late()

    def finish(self) -> RunResult | None:
        """How it ended, once the server's connection is readable; None if it goes on. Raises ServerLost."""
        report = self.server.report()
        if isinstance(report, float):
            self.deadline = min(time.monotonic() + report, self.last_moment)
            return None
        # No process of the program is left: what the pipes hold is all there will be.
        for descriptor in list(self.descriptors):
            while self.read(descriptor):
                pass
        wall_s = time.monotonic() - self.started
        if self.mirror is not None:
            self._read_mirror(self.mirror)
        return self._ending(report, wall_s)

    def close(self) -> None:
        """Close what is open; an unfinished program is the server's to end."""
        for descriptor in list(self.descriptors):
            self._drop(descriptor)
        if self.mirror is not None:
            os.close(self.mirror)
            self.mirror = None

    def _read_mirror(self, mirror: int) -> None:
        """Take the last events of a process that ended without handing them over."""
        if self.sink is None:
            return
        try:
            block = self.decoder.last(os.pread(mirror, _MIRROR_BYTES, 0))
        except Forged as error:
            self.stopped = self.stopped or self._forger(error)
        else:
            if block is not None:
                self.sink(block)

    def _messages(self, data: bytes) -> None:
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

    def _ending(self, report: ServerReport, wall_s: float) -> RunResult:
        outcome, detail = self._verdict(report)
        end = self.end or {}
        facts: dict[str, Any] = {}
        if outcome == end.get("outcome"):
            facts = {
                "exception": end.get("exception"),
                "result": end.get("result"),
                "result_builtin": end.get("result_builtin", False),
            }
        cut = self.decoder.cut or end.get("cut")
        if self.sink is not None and cut is None and self.end is None:
            cut = "ended"  # the process was gone before the trace was closed
        return RunResult(
            outcome=outcome,
            detail=detail,
            stdout=text(self.stdout, self.limits.output_bytes),
            stderr=text(self.stderr, self.limits.output_bytes),
            exit_status=report.status,
            cpu_s=round(report.cpu_s, 6),
            wall_s=round(wall_s, 6),
            cut=cut,
            sources=end.get("sources", {}),
            refused=self._refused(report.refused, end),
            packages=self._packages(end.get("imported", ())),
            files=report.files,
            reads=tuple(end.get("reads", ())),
            **facts,
        )

    def _refused(self, calls: dict[str, int] | None, end: Mapping[str, Any]) -> dict[str, int] | None:
        """The calls that were refused, and of the paths that were not opened those that can be opened
        outside. calls: by the filter; None: not known."""
        refused = {
            path if "/" in path else f"./{path}": 1
            for path, writes in end.get("unopened", ())[:MOST_PATHS]
            if self._opens_here(path, writes)
        }
        if "refused" in end:
            refused[end["refused"][:MOST_NAME_CHARS]] = 1
        return None if calls is None and not refused else refused | (calls or {})

    def _opens_here(self, path: str, writes: bool) -> bool:
        folder = self.program.path
        if "\0" in path or len(path) > MOST_NAME_CHARS or (folder is None and not os.path.isabs(path)):
            return False
        place = os.path.join(folder or "/", path)
        return not place.startswith(PROCESS_FOLDERS) and can_open(place, writes=writes)

    def _packages(self, imported: Any) -> dict[str, str]:
        """Versions of the distributions that the imported top-level modules belong to."""
        environment = self.server.profile.environment
        return versions(imported) if environment is None else environment.versions(imported)

    def _verdict(self, report: ServerReport) -> tuple[Outcome, str]:
        """Outcome and detail, from what the program cannot write."""
        status = report.status
        if self.stopped is not None:
            return self.stopped
        if status == -signal.SIGKILL and self.server.out_of_memory():
            # First: where the kernel ended a child of it, it may have waited until its time was up.
            return self.beyond_memory()
        by_limit = limit_met(report, self.limits)
        if by_limit is not None:
            return by_limit
        if self.failed is not None:
            return Outcome.HARNESS_ERROR, f"before the program began: {self.failed['detail']}"
        if self.end is not None:
            if self.end.get("failure"):
                return Outcome.HARNESS_ERROR, f"the tracer failed: {self.end['failure']}"
            if status < 0 and self.end["outcome"] == Outcome.RETURNED:  # its output may not have been written
                return Outcome.KILLED, f"{signal_name(-status)}, after it had returned"
            return Outcome(self.end["outcome"]), self.end.get("detail", "")
        if status < 0:
            return Outcome.KILLED, signal_name(-status)
        if not self.decoder.ready:
            tail = text(self.stderr, 2000).strip()
            raise SandboxError(f"the process ended with status {status} before the program began: {tail}")
        return Outcome.EXITED, f"status {status}, without a word"


def limit_met(report: ServerReport, limits: Limits) -> tuple[Outcome, str] | None:
    """The outcome and its detail where a program met one of the limits that the server watches."""
    killed = report.status == -signal.SIGKILL and report.cpu_s >= limits.cpu_s * 0.95
    beyond = report.stopped == _processes.NOTHING and report.cpu_s > limits.cpu_s  # between two looks
    if report.stopped == _processes.CPU_TIME or report.status == -signal.SIGXCPU or killed or beyond:
        return Outcome.TIMED_OUT, f"more than {limits.cpu_s:g} s of CPU time"
    if report.stopped == _processes.MEMORY:
        return Outcome.OUT_OF_MEMORY, f"more than {limits.memory_bytes} bytes in all its processes"
    if report.stopped == _processes.WALL_TIME:
        return Outcome.TIMED_OUT, f"more than {limits.wall_s:g} s of wall time"
    return None


def beyond_wall_time(limits: Limits) -> tuple[Outcome, str]:
    """The outcome and its detail where no more wall time is granted."""
    return Outcome.TIMED_OUT, (
        f"more than {WALL_TIMES} times {limits.wall_s:g} s of wall time, with its waiting for a processor"
    )


def _job_of(tracing: Tracing | None) -> dict[str, Any]:
    """What the process of a program is told of its tracing."""
    if tracing is None:
        return {}
    return {
        "trace_limits": _as_dict(tracing.limits or _NO_TRACE_LIMITS),
        "granularity": tracing.granularity.value,
        "tracer": tracing.tracer,
    }


@functools.lru_cache(16)
def _as_dict(limits: Limits | TraceLimits) -> dict[str, Any]:
    return asdict(limits)


def text(data: bytearray, limit: int) -> str:
    return bytes(data[:limit]).decode("utf-8", "replace")


@functools.cache
def _distributions() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())


def versions(imported: Any) -> dict[str, str]:
    """Versions of the distributions that the imported top-level modules belong to."""
    foreign = [n for n in imported if n not in sys.stdlib_module_names and n not in ("__main__", "deskcheck")]
    if not foreign:
        return {}
    names = {name for module in foreign for name in _distributions().get(module, ())}
    return {name: metadata.version(name) for name in sorted(names)}
