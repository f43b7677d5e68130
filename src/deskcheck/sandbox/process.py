"""Runs one program and decides its outcome, from facts that the program cannot write. The caller's side.

The program's process is a fork of a server (`inside.server`). Its output and its recorder's messages arrive
through pipes. Its exit status and CPU time come from the server, which the program cannot reach.
"""

import functools
import marshal
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from typing import Any

from deskcheck.errors import SandboxError
from deskcheck.recording.outcome import Outcome, signal_name
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.decoder import Decoder
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.elsewhere import Elsewhere
from deskcheck.sandbox.exchange import Cancelled as Cancelled
from deskcheck.sandbox.exchange import Pipes, RecordedRun, send_message
from deskcheck.sandbox.inside.channel import KEY_BYTES
from deskcheck.sandbox.inside.main_module import WITH_MODULES, is_main_module
from deskcheck.sandbox.inside.readable_files import PROCESS_FOLDERS, can_open
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.linux import processes as _processes
from deskcheck.sandbox.server import Server, ServerReport
from deskcheck.sandbox.surroundings.own_modules import own_modules, text_of
from deskcheck.tracer.limits import Granularity, TraceLimits

MOST_PATHS = 32
"""Largest number of paths to report that a program could not open. `_syscalls.c` has the same number."""
MOST_NAME_CHARS = 1000

_PROGRAM = tuple(entry.name for entry in fields(Program))
_NO_TRACE_LIMITS = TraceLimits()

Sink = Callable[[bytes], None]
"""Takes a block of events as the tracer writes it (`recording.block`)."""


@dataclass(frozen=True, slots=True)
class Tracing:
    """Settings of a traced run."""

    sink: Sink
    """Takes the blocks of events."""
    limits: TraceLimits | None = None
    """Limits of the trace; None: the default of `TraceLimits`."""
    granularity: Granularity = Granularity.LINE
    tracer: str | None = None
    """``reference`` for the reference tracer; None: the usual one."""
    endless: bool = False
    """Whether the sink bounds the events itself."""


class ProcessRun(RecordedRun[RunResult]):
    """One run of a program under a server."""

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
        """Start the run. `forward` takes the program's messages to another program.

        Args:
            tracing: settings of the trace; None: no trace.
            calls: functions of another program that this one may call.
            answers: whether the program waits for calls from another one after its code has run.
            determinism: fixed values for what differs between runs.
            files: whether the result names the files that the program wrote.
            elsewhere: further differences, for a server that is elsewhere.
        """
        self.program = program
        self.name = f"the run of {program.id!r}"
        key = secrets.token_bytes(KEY_BYTES)
        endless = tracing is not None and tracing.endless
        decoder = Decoder(key, traced=tracing is not None, asks=bool(calls), answers=answers, endless=endless)
        super().__init__(server, limits, Pipes(), decoder, None if tracing is None else tracing.sink)
        fixed = determinism or Determinism()
        strict = server.profile.level is Confinement.STRICT
        scope: dict[str, str] = {}
        modules: list[str] = []
        if program.path is not None and (is_main_module(program.extra) or WITH_MODULES in program.extra):
            scope, modules = own_modules(program.path)
        self.scope = {label: file for file, label in scope.items()}
        """Name in events -> file of the modules that are recorded with a main module."""
        job = {
            "scope": scope,
            "modules": modules,
            "program": {**{name: getattr(program, name) for name in _PROGRAM}, "mode": program.mode.value},
            "record": tracing is not None,
            "limits": _as_dict(limits),
            **_job_of(tracing),
            "key": key.hex(),
            "determinism": fixed.to_dict(),
            "elsewhere": None if elsewhere is None else elsewhere.job(fixed, strict=strict),
            "calls": calls,
            "answers": answers,
        }
        try:
            mirror = [] if self.mirror is None else [self.mirror]
            server.begin(limits, [*self.pipes.theirs, *mirror], files=files)
            self.pipes.hand_over()
            self.hand_over(marshal.dumps(job, 4))
        except BaseException:
            self.close()
            raise

    def send(self, message: bytes | memoryview) -> None:
        """Send a call, or its answer, to the program's process. If it does not listen, its report or its wall
        time shows that."""
        self.decoder.owed += 1
        send_message(self.pipes.channel, message, [])

    def ending(self, report: ServerReport) -> RunResult:
        wall_s = time.monotonic() - self.started
        outcome, detail = self._verdict(report)
        end = self.end or {}
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
            sources=end.get("sources", {}) | self._texts(end.get("loaded", ())),
            refused=self._refused(report.refused, end),
            packages=self._packages(end.get("imported", ())),
            files=report.files,
            reads=tuple(end.get("reads", ())),
            **self.facts_of(outcome),
        )

    def _refused(self, calls: dict[str, int] | None, end: Mapping[str, Any]) -> dict[str, int] | None:
        """The refused calls, and the paths that could not be opened inside but can be opened outside.

        Args:
            calls: the calls that the filter refused; None if unknown.
        """
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
        full_path = os.path.join(folder or "/", path)
        return not full_path.startswith(PROCESS_FOLDERS) and can_open(full_path, writes=writes)

    def _texts(self, loaded: Any) -> dict[str, str]:
        """The texts of loaded modules among those that are recorded with a main module."""
        return {label: text_of(self.scope[label]) for label in self.scope if label in loaded}

    def _packages(self, imported: Any) -> dict[str, str]:
        """The versions of the distributions that imported top-level modules belong to."""
        environment = self.server.profile.environment
        return versions(imported) if environment is None else environment.versions(imported)

    def _verdict(self, report: ServerReport) -> tuple[Outcome, str]:
        """The outcome and its detail, from facts that the program cannot write."""
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
    """The outcome and its detail if a program met a limit that the server watches."""
    killed = report.status == -signal.SIGKILL and report.cpu_s >= limits.cpu_s * 0.95
    beyond = report.stopped == _processes.NOTHING and report.cpu_s > limits.cpu_s  # between two looks
    if report.stopped == _processes.CPU_TIME or report.status == -signal.SIGXCPU or killed or beyond:
        return Outcome.TIMED_OUT, f"more than {limits.cpu_s:g} s of CPU time"
    if report.stopped == _processes.MEMORY:
        return Outcome.OUT_OF_MEMORY, f"more than {limits.memory_bytes} bytes in all its processes"
    if report.stopped == _processes.WALL_TIME:
        return Outcome.TIMED_OUT, f"more than {limits.wall_s:g} s of wall time"
    return None


def _job_of(tracing: Tracing | None) -> dict[str, Any]:
    """The part of a job about tracing."""
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
