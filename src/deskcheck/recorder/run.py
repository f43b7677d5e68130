"""Runs a program like Python, and records it: ``deskcheck run app.py ARGUMENTS``.

The program is not confined. It has the working directory, environment and standard streams of the user, and
its exit status is passed on. Events arrive over a pipe that is hidden from the program. If it is killed, the
last events are read from shared memory.
"""

import json
import logging
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError
from deskcheck.recorder.filters.flight import FlightRecorder
from deskcheck.recorder.filters.masking import mask_around, masked, masked_program, masked_text
from deskcheck.recorder.program_input import ProgramInput, redirected_input, with_input
from deskcheck.recorder.settings import RunSettings
from deskcheck.recording.outcome import Outcome, signal_name
from deskcheck.recording.program import Environment, Mode, Program
from deskcheck.recording.recording import RunResult
from deskcheck.recording.secrets import EnvironmentMask
from deskcheck.recording.spool import Spool
from deskcheck.recording.writer import Writer, free_id
from deskcheck.sandbox.decoder import Decoder
from deskcheck.sandbox.inside.channel import KEY_BYTES, Forged
from deskcheck.sandbox.inside.main_module import CONTAINED, MODULE
from deskcheck.sandbox.process import versions
from deskcheck.sandbox.surroundings.own_modules import own_modules, text_of
from deskcheck.sources.text.archive import MAIN, modules_in_archive
from deskcheck.tracer import tracer_class

_log = logging.getLogger(__name__)
_CHILD = Path(__file__).with_name("run_child.py")
_MIRROR_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 20
STDIN = "-"


def run(
    target: str,
    arguments: tuple[str, ...] = (),
    *,
    out: str | Path,
    module: bool = False,
    settings: RunSettings | None = None,
    note: Callable[[str], None] = _log.warning,
) -> tuple[str, int]:
    """Run and record a program. Returns the id of the recording, and the exit status as in `subprocess`.

    Ctrl-C reaches the program, and SIGTERM is passed on to it.

    target: a file, an archive or folder with a ``__main__.py``, or ``-`` for standard input; if `module`, the
    name of a module, as for ``python -m``. note: called with the names of masked secrets.

    Raises:
        InputError: the file does not exist.
        RecordingError: the folder cannot be written to.
    """
    settings = settings or RunSettings()
    program, job = _planned(target, arguments, module)
    with Writer(out) as writer:
        program = replace(program, id=free_id(program.id, writer.done))
        mask = mask_around(str(Path.cwd()), job["path"] or None) if settings.mask else None
        stdin = None if target == STDIN else redirected_input()
        program = with_input(program, ProgramInput(arguments=arguments, stdin=stdin))
        spool = writer.begin(program if mask is None else masked_program(program, mask))
        watched = _Watched(spool, mask, settings)
        began = time.monotonic()
        status = watched.run(job)
        run_result = watched.run_result(status, time.monotonic() - began)
        spool.finish(run_result, _environment(settings, run_result))
    if mask is not None and mask.masked:
        note(masked_text(mask.masked))
    return program.id, status


def _planned(target: str, arguments: tuple[str, ...], module: bool) -> tuple[Program, dict[str, Any]]:
    """The program as data, and the job for its process."""
    working_folder = Path.cwd()
    if module:
        label = target.replace(".", "/") + ".py"
        return _job(MODULE, target, arguments, label, own_modules(working_folder), path=str(working_folder))
    if target == STDIN:
        scope, modules = own_modules(working_folder)
        return _job("stdin", target, arguments, "<stdin>", (scope | {"<stdin>": "<stdin>"}, modules))
    file = Path(target)
    _refuse_unusable(target, file)
    full_path = os.path.abspath(target)
    if file.is_dir():
        code = (file / MAIN).read_text("utf-8", "replace")
        recorded = own_modules(full_path)
        return _job(CONTAINED, target, arguments, MAIN, recorded, path=full_path, code=code)
    archive = modules_in_archive(file)
    if archive is not None:
        code, recorded = archive.get(MAIN, ""), own_modules(full_path)
        return _job(CONTAINED, target, arguments, MAIN, recorded, path=full_path, code=code)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{target}: cannot be read: {error.strerror}.") from error
    scope, modules = own_modules(Path(full_path).parent)
    return _job(
        "file",
        target,
        arguments,
        file.name,
        (scope | {full_path: file.name}, modules),
        path=str(Path(os.path.realpath(target)).parent),
        code=data.decode("utf-8", "replace"),
        piped=None if file.is_file() else data.decode("latin-1"),
    )


def _refuse_unusable(target: str, file: Path) -> None:
    """Raise InputError if the target is neither a file nor a folder with a ``__main__.py``."""
    if target.startswith("-"):
        raise InputError(
            f"{target}: is not an option of `deskcheck run`. Put options of deskcheck before FILE.py, and "
            f"options of the program after it. For a file of this name write ./{target}"
        )
    instead = "Write deskcheck run FILE.py, or deskcheck run -m MODULE."
    if not file.exists():
        raise InputError(f"{target}: is not a file. {instead}")
    if file.is_dir() and not (file / MAIN).is_file():
        raise InputError(f"{target}: is a folder without a file {MAIN}. {instead}")


def _job(
    how: str,
    target: str,
    arguments: tuple[str, ...],
    label: str,
    recorded: tuple[dict[str, str], list[str]],
    *,
    path: str = "",
    code: str = "",
    piped: str | None = None,
) -> tuple[Program, dict[str, Any]]:
    """The result of `_planned` for one way to run a program.

    recorded: the result of `own_modules`. path: first entry of the import path. piped: the text of a file
    that can be read only once.
    """
    command = ["-m", target] if how == MODULE else [target]
    scope, modules = recorded
    program = Program(
        id=(Path(target).name or target) if how == CONTAINED else label,
        code=code,
        mode=Mode.MODULE,
        filename=label,
        source=target,
        extra={"run": how, "folder": str(Path.cwd())},
    )
    job = {
        "how": how,
        "target": target,
        "argv": [command[0], *arguments],
        "orig_argv": [sys.executable, *command, *arguments],
        "path": path,
        "label": label,
        "text": piped,
        "scope": scope,
        "modules": modules,
        "tracer": tracer_class().name,
    }
    return program, job


class _Watched:
    """A running program, and its events."""

    def __init__(self, spool: Spool, mask: EnvironmentMask | None, settings: RunSettings) -> None:
        self.spool = spool
        self.mask = mask
        self.settings = settings
        self.flight = FlightRecorder(settings.flight, settings.trace_limits.events)
        self.key = secrets.token_bytes(KEY_BYTES)
        self.decoder = Decoder(self.key, traced=True, endless=bool(settings.flight))
        self.end: dict[str, Any] | None = None
        self.forged = ""

    def run(self, job: dict[str, Any]) -> int:
        """Run the job's process to its end, and return the exit status."""
        settings = self.settings
        mirror = os.memfd_create("deskcheck")
        os.ftruncate(mirror, _MIRROR_BYTES)
        ours, theirs = os.pipe()
        job_reader, job_writer = os.pipe()
        job |= {
            "key": self.key.hex(),
            "channel": theirs,
            "mirror": mirror,
            "trace_limits": asdict(settings.flight.limits(settings.trace_limits)),
            "granularity": settings.granularity.value,
        }
        try:
            with _left_to_the_program() as pass_on:
                process = subprocess.Popen(
                    [sys.executable, str(_CHILD), str(job_reader)], pass_fds=(theirs, mirror, job_reader)
                )
                pass_on.append(process)
                os.close(theirs)
                os.close(job_reader)
                with open(job_writer, "w", encoding="utf-8") as stream:
                    json.dump(job, stream)
                self._read(ours, process)
                status = process.wait()
            self._last(os.pread(mirror, _MIRROR_BYTES, 0))
            self.flight.finish(self._keep)
            return status
        finally:
            os.close(ours)
            os.close(mirror)

    def _read(self, channel: int, process: "subprocess.Popen[bytes]") -> None:
        """Read the channel until the program has ended. Its child processes may keep the channel open."""
        while True:
            ended = process.poll() is not None
            ready, _, _ = select.select([channel], [], [], 0 if ended else 0.1)
            if not ready:
                if ended:
                    return
                continue
            data = os.read(channel, _CHUNK_BYTES)
            if not data:
                return
            self._take(data)

    def _take(self, data: bytes) -> None:
        if self.forged:
            return
        try:
            for message in self.decoder.feed(data):
                if message.kind == "block":
                    self._write(message.content)
                elif message.kind == "end":
                    self.end = message.content
        except Forged as error:
            self.forged = str(error)

    def _last(self, memory: bytes) -> None:
        if self.forged:
            return
        try:
            block = self.decoder.last(memory)
        except Forged as error:
            self.forged = str(error)
        else:
            if block is not None:
                self._write(block)

    def _write(self, block: bytes) -> None:
        for part in [block] if self.mask is None else self.mask.blocks([block]):
            (self.flight.write if self.settings.flight else self._keep)(part)

    def _keep(self, block: bytes) -> None:
        self.spool.write(block, checked=True)

    def run_result(self, status: int, wall_s: float) -> RunResult:
        end = self.end or {}
        outcome, detail = self._verdict(status)
        files = end.get("sources", {}).items()
        texts = {label: text_of(file) for label, file in files}
        cut = self.decoder.cut or end.get("cut") or ("ended" if self.end is None else None)
        run_result = RunResult(
            outcome=outcome,
            detail=detail,
            exception=end.get("exception") if outcome == end.get("outcome") else None,
            exit_status=status,
            cpu_s=end.get("cpu_s"),
            wall_s=round(wall_s, 6),
            cut=cut,
            sources=texts,
            packages=versions(end.get("imported", ())),
        )
        run_result = self.flight.ending(run_result)
        return run_result if self.mask is None else masked(run_result, self.mask)

    def _verdict(self, status: int) -> tuple[Outcome, str]:
        if self.forged:
            return Outcome.HARNESS_ERROR, f"the program wrote to the recorder's channel: {self.forged}"
        if self.end is not None:
            if self.end.get("failure"):
                return Outcome.HARNESS_ERROR, f"the tracer failed: {self.end['failure']}"
            return Outcome(self.end["outcome"]), self.end.get("detail", "")
        if status < 0:
            return Outcome.KILLED, signal_name(-status)
        return Outcome.EXITED, f"status {status}, without a message"


@contextmanager
def _left_to_the_program() -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Ignore Ctrl-C in the context, and pass SIGTERM on to the program."""
    processes: list[subprocess.Popen[bytes]] = []

    def terminate(signum: int, frame: object) -> None:
        for process in processes:
            process.terminate()

    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda signum, frame: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, terminate),
    }
    try:
        yield processes
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _environment(settings: RunSettings, run_result: RunResult) -> Environment:
    environment = Environment.here(
        tracer=tracer_class().name,
        hash_seed=None,
        packages=run_result.packages,
        granularity=settings.granularity,
        limits=settings.trace_limits.leaving_out | settings.flight.leaving_out,
    )
    return replace(environment, trace_limits=asdict(settings.trace_limits), sandbox="trusted")
