"""Runs one program in a process of its own and says how it ended.

First form: rlimits, a scratch directory, an environment without secrets, a process group that is
killed whole. It keeps honest mistakes in, and a program cannot forge its verdict by printing,
exiting or writing to descriptors. It does not keep a determined attacker from the network, from
readable files or, as root, from raising its limits.
"""

import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from deskcheck.recording.block import MAGIC, mirrored
from deskcheck.recording.errors import SandboxError
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.recording import Ending
from deskcheck.sandbox._channel import KEY_BYTES, Forged, Receiver
from deskcheck.sandbox.limits import Limits
from deskcheck.tracer.limits import Level, TraceLimits

_CHILD = Path(__file__).with_name("_child.py")
_CHUNK_BYTES = 1 << 16
_MIRROR_BYTES = 1 << 20
"""Memory shared with the process, for events that it has not handed over yet."""

Sink = Callable[[bytes], None]
"""Takes events as the tracer writes them: a block (`recording.block`)."""


def run(
    program: Program,
    *,
    limits: Limits | None = None,
    trace_limits: TraceLimits | None = None,
    level: Level = Level.LINE,
    hash_seed: int = 0,
    sink: Sink | None = None,
    python: str | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Ending:
    """Run a program and return how it ended. With a sink, it is traced and the blocks of events go there.

    level: what is traced, lines or instructions too. hash_seed: PYTHONHASHSEED of the process. python:
    the interpreter, by default this one; it must be able to import nothing but the standard library.

    cancelled: asked some twenty times a second; once it says so, the program is killed.

    Raises SandboxError when the process cannot be started, and Cancelled: that says nothing about
    the program.
    """
    with tempfile.TemporaryDirectory(prefix="deskcheck-", ignore_cleanup_errors=True) as scratch:
        watch = _Watch(program, limits or Limits(), sink, cancelled, level)
        return watch.run(scratch, trace_limits or TraceLimits(), hash_seed, python or sys.executable)


class Cancelled(SandboxError):
    """The caller no longer wants the run."""


@dataclass
class _Watch:
    """The parent's side of one run."""

    program: Program
    limits: Limits
    sink: Sink | None
    cancelled: Callable[[], bool]
    level: Level
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    ready: bool = False
    end: dict[str, Any] | None = None
    failed: dict[str, Any] | None = None
    stopped: tuple[Outcome, str] | None = None
    blocks: int = 0

    def run(self, scratch: str, trace_limits: TraceLimits, hash_seed: int, python: str) -> Ending:
        key = secrets.token_bytes(KEY_BYTES)
        self.receiver = Receiver(key)
        self._write_program(scratch)
        job_read, job_write = os.pipe()
        channel_read, channel_write = os.pipe()
        mirror = os.memfd_create("deskcheck")
        os.ftruncate(mirror, _MIRROR_BYTES)
        job = {
            "program": self.program.to_dict(),
            "record": self.sink is not None,
            "limits": self.limits.to_dict(),
            "trace_limits": asdict(trace_limits),
            "level": self.level,
            "channel": channel_write,
            "mirror": mirror,
            "key": key.hex(),
            "scratch": scratch,
        }
        started = time.monotonic()
        try:
            process = subprocess.Popen(
                [python, "-s", "-P", str(_CHILD), str(job_read)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(job_read, channel_write, mirror),
                env=_environment(scratch, hash_seed),
                start_new_session=True,
            )
        except OSError as error:
            os.close(job_write)
            os.close(channel_read)
            os.close(mirror)
            raise SandboxError(f"cannot start {python}: {error}") from error
        finally:
            os.close(job_read)
            os.close(channel_write)
        try:
            # A thread is not needed: the child reads its job before it writes anything.
            with os.fdopen(job_write, "wb") as stream:
                stream.write(json.dumps(job).encode())
        except BrokenPipeError:
            pass  # it ended before it read its job: the exit status tells
        try:
            usage = self._pump(process, channel_read, started)
            self._read_mirror(mirror)
        except BaseException:
            _kill(process.pid)
            process.wait()
            raise
        finally:
            os.close(channel_read)
            os.close(mirror)
        return self._ending(process.returncode, usage, time.monotonic() - started)

    def _read_mirror(self, mirror: int) -> None:
        """Take the last events of a process that ended without handing them over."""
        if self.sink is None or self.end is not None:
            return
        block = mirrored(os.pread(mirror, _MIRROR_BYTES, 0), self.blocks)
        if block is not None:
            self.sink(block)

    def _write_program(self, scratch: str) -> None:
        """Lay the source beside the run, so that tracebacks and `inspect` find it."""
        name = self.program.filename
        if name == os.path.basename(name):
            (Path(scratch) / name).write_text(self.program.code, encoding="utf-8", errors="surrogatepass")

    def _pump(self, process: subprocess.Popen[bytes], channel: int, started: float) -> Any:
        assert process.stdout is not None
        assert process.stderr is not None
        deadline = started + self.limits.wall_s
        with selectors.DefaultSelector() as selector, process.stdout, process.stderr:
            streams: dict[int, Callable[[bytes], None]] = {
                channel: self._messages,
                process.stdout.fileno(): self.stdout.extend,
                process.stderr.fileno(): self.stderr.extend,
            }
            for descriptor in streams:
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            usage = None
            while streams and usage is None:
                if self.cancelled():
                    raise Cancelled(f"the run of {self.program.id!r} was cancelled")
                left = deadline - time.monotonic()
                if left <= 0 and self.stopped is None:
                    self._stop(process, Outcome.TIMED_OUT, f"more than {self.limits.wall_s:g} s of wall time")
                for ready, _ in selector.select(min(max(left, 0.0), 0.05)):
                    self._read(process, ready.fd, streams, selector)
                usage = _reap(process)
            if usage is None:
                usage = self._wait(process, deadline)
            _kill(process.pid)  # whatever the program left behind
            for descriptor in list(streams):
                while self._read(process, descriptor, streams, selector):
                    pass
        return usage

    def _wait(self, process: subprocess.Popen[bytes], deadline: float) -> Any:
        """All streams are closed but the process lives on."""
        while (usage := _reap(process)) is None:
            if self.cancelled():
                raise Cancelled(f"the run of {self.program.id!r} was cancelled")
            if time.monotonic() > deadline and self.stopped is None:
                self._stop(process, Outcome.TIMED_OUT, f"more than {self.limits.wall_s:g} s of wall time")
            time.sleep(0.002)
        return usage

    def _read(
        self,
        process: subprocess.Popen[bytes],
        descriptor: int,
        streams: dict[int, Callable[[bytes], None]],
        selector: selectors.BaseSelector,
    ) -> bool:
        """Take what a stream has to give; False at its end or when it has nothing now."""
        try:
            data = os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not data:
            selector.unregister(descriptor)
            del streams[descriptor]
            return False
        try:
            streams[descriptor](data)
        except Forged as error:
            self._stop(process, Outcome.KILLED, f"it wrote to the recorder's channel: {error}")
            selector.unregister(descriptor)
            del streams[descriptor]
            return False
        if len(self.stdout) + len(self.stderr) > self.limits.output_bytes:
            self._stop(process, Outcome.OUTPUT_LIMIT, f"more than {self.limits.output_bytes} bytes of output")
        return True

    def _stop(self, process: subprocess.Popen[bytes], outcome: Outcome, why: str) -> None:
        if self.stopped is None:
            self.stopped = (outcome, why)
            _kill(process.pid)

    def _messages(self, data: bytes) -> None:
        for message in self.receiver.feed(data):
            if message.startswith((b"[", MAGIC)):
                self.blocks += 1
                if self.sink is not None and self.end is None:
                    self.sink(message)
            elif message == b"ready":
                self.ready = True
            elif message.startswith(b"end ") and self.end is None:
                self.end = json.loads(message[4:])
            elif message.startswith(b"failed "):
                self.failed = json.loads(message[7:])

    def _ending(self, status: int, usage: Any, wall_s: float) -> Ending:
        cpu_s = usage.ru_utime + usage.ru_stime
        outcome, detail = self._verdict(status, cpu_s)
        end = self.end or {}
        facts: dict[str, Any] = {}
        if outcome == end.get("outcome"):
            facts = {
                "exception": end.get("exception"),
                "result": end.get("result"),
                "result_builtin": end.get("result_builtin", False),
            }
        cut = end.get("cut")
        if self.sink is not None and cut is None and self.end is None:
            cut = "ended"  # the process was gone before the trace was closed
        return Ending(
            outcome=outcome,
            detail=detail,
            stdout=_text(self.stdout, self.limits.output_bytes),
            stderr=_text(self.stderr, self.limits.output_bytes),
            exit_status=status,
            cpu_s=round(cpu_s, 6),
            wall_s=round(wall_s, 6),
            cut=cut,
            sources=end.get("sources", {}),
            packages=_versions(end.get("imported", ())),
            **facts,
        )

    def _verdict(self, status: int, cpu_s: float) -> tuple[Outcome, str]:
        """Outcome and detail, from what the program cannot write."""
        if self.stopped is not None and (self.end is None or self.stopped[0] is Outcome.KILLED):
            return self.stopped
        if self.failed is not None:
            return Outcome.HARNESS_ERROR, f"before the program began: {self.failed['detail']}"
        if self.end is not None:
            if self.end.get("failure"):
                return Outcome.HARNESS_ERROR, f"the tracer failed: {self.end['failure']}"
            return Outcome(self.end["outcome"]), self.end.get("detail", "")
        out_of_cpu = cpu_s >= self.limits.cpu_s * 0.95
        if status == -signal.SIGXCPU or (status == -signal.SIGKILL and out_of_cpu):
            return Outcome.TIMED_OUT, f"more than {self.limits.cpu_s:g} s of CPU time"
        if status < 0:
            return Outcome.KILLED, signal.Signals(-status).name
        if not self.ready:
            tail = _text(self.stderr, 2000).strip()
            raise SandboxError(f"the process ended with status {status} before the program began: {tail}")
        return Outcome.EXITED, f"status {status}, without a word"


def _reap(process: subprocess.Popen[bytes]) -> Any:
    """Resource usage, once the process has ended; None before."""
    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    if pid == 0:
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _environment(scratch: str, hash_seed: int) -> dict[str, str]:
    """Nothing of ours but what a program needs to run: no keys, no tokens."""
    return {
        "PATH": os.defpath,
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(hash_seed),
    }


def _text(data: bytearray, limit: int) -> str:
    return bytes(data[:limit]).decode("utf-8", "replace")


_distributions: dict[str, list[str]] | None = None


def _versions(imported: Any) -> dict[str, str]:
    """Versions of the distributions that the imported top-level modules belong to."""
    global _distributions
    foreign = [n for n in imported if n not in sys.stdlib_module_names and n not in ("__main__", "deskcheck")]
    if not foreign:
        return {}
    if _distributions is None:
        _distributions = dict(metadata.packages_distributions())
    names = {name for module in foreign for name in _distributions.get(module, ())}
    return {name: metadata.version(name) for name in sorted(names)}
