"""Runs a program as its user does, recorded: ``deskcheck run app.py ARGUMENTS``.

Not confined, and nothing is put in the place of anything: working directory, environment, standard streams
and exit status are the program's own. The events come over a pipe that the program does not know of; what it
had not handed over when it was killed is read from memory that both share.
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
from deskcheck.recorder.masking import mask_around, masked, masked_text
from deskcheck.recorder.settings import RunSettings
from deskcheck.recording.outcome import Outcome, signal_name
from deskcheck.recording.program import Environment, Mode, Program
from deskcheck.recording.recording import RunResult
from deskcheck.recording.secrets import EnvironmentMask
from deskcheck.recording.spool import Spool
from deskcheck.recording.writer import Writer, free_id
from deskcheck.sandbox.decoder import Decoder
from deskcheck.sandbox.inside.channel import KEY_BYTES, Forged
from deskcheck.sandbox.process import versions
from deskcheck.sources.text.archive import MAIN, modules_in_archive
from deskcheck.tracer import tracer_class

_log = logging.getLogger(__name__)
_CHILD = Path(__file__).with_name("run_child.py")
_MIRROR_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 20
_OWN_FILES = 2000
_NOT_OWN = ("node_modules", "site-packages", "dist-packages", "__pycache__")
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
    """Run a program to its end and record it into a folder; the id of the recording and the exit status.

    target: a file, or an archive or a folder with a ``__main__.py``; ``-`` for a program from standard input;
    or, if `module`, the name of a module, as ``python -m`` takes it. The status is negative for a signal, as
    `subprocess` has it. Ctrl-C reaches the program and is its own matter; SIGTERM is passed on. note: is told
    which secrets were masked.

    Raises:
        InputError: there is no such file.
        RecordingError: the folder cannot be written to.
    """
    settings = settings or RunSettings()
    program, job = _planned(target, arguments, module)
    with Writer(out) as writer:
        program = replace(program, id=free_id(program.id, writer.done))
        mask = mask_around(str(Path.cwd()), job["path"] or None) if settings.mask else None
        if mask is not None:
            program.extra["argv"] = [mask.text(argument) for argument in arguments]
        spool = writer.begin(program)
        watched = _Watched(spool, mask)
        began = time.monotonic()
        status = watched.run(job | {"settings": settings})
        run_result = watched.run_result(status, time.monotonic() - began)
        spool.finish(run_result, _environment(settings, run_result))
    if mask is not None and mask.masked:
        note(masked_text(mask.masked))
    return program.id, status


def _planned(target: str, arguments: tuple[str, ...], module: bool) -> tuple[Program, dict[str, Any]]:
    """The program as data, and what its process is told."""
    piped = None
    if module:
        how, path, folder, text = "module", str(Path.cwd()), Path.cwd(), ""
        label = target.replace(".", "/") + ".py"
        argv, orig = ["-m", *arguments], ["-m", target, *arguments]
    elif target == STDIN:
        how, path, folder, text, label = "stdin", "", Path.cwd(), "", "<stdin>"
        argv, orig = [STDIN, *arguments], [STDIN, *arguments]
    else:
        file = Path(target)
        if target.startswith("-"):
            raise InputError(
                f"{target}: is no option of `deskcheck run`. Its own stand before FILE.py, those of the "
                "program after it; a file of that name is ./" + target
            )
        if not file.exists():
            raise InputError(
                f"{target}: is no file. Write deskcheck run FILE.py, or deskcheck run -m MODULE."
            )
        if file.is_dir() and not (file / MAIN).is_file():
            raise InputError(
                f"{target}: is a folder without a file {MAIN}. Write deskcheck run FILE.py, or "
                "deskcheck run -m MODULE."
            )
        archive = None if file.is_dir() else modules_in_archive(file)
        if file.is_dir() or archive is not None:
            return _contained(file, target, arguments, archive)
        try:
            data = file.read_bytes()
        except OSError as error:
            raise InputError(f"{target}: cannot be read: {error.strerror}.") from error
        how, folder, label = "file", Path(os.path.abspath(target)).parent, file.name
        path, text = str(Path(os.path.realpath(target)).parent), data.decode("utf-8", "replace")
        argv, orig = [target, *arguments], [target, *arguments]
        piped = None if file.is_file() else data.decode("latin-1")
    scope, modules = _own(folder)
    if how == "file":
        scope[os.path.abspath(target)] = label
    elif how == "stdin":
        scope["<stdin>"] = label
    program = _program(label, label, text, target, how, arguments)
    job = {
        "how": how,
        "target": target,
        "argv": argv,
        "orig_argv": [sys.executable, *orig],
        "path": path,
        "label": label,
        "text": piped,
        "scope": scope,
        "modules": modules,
        "texts": {},
        "tracer": tracer_class().name,
    }
    return program, job


def _program(id_: str, label: str, text: str, target: str, how: str, arguments: tuple[str, ...]) -> Program:
    return Program(
        id=id_,
        code=text,
        mode=Mode.MODULE,
        filename=label,
        source=target,
        extra={"run": how, "argv": list(arguments), "folder": str(Path.cwd())},
    )


def _contained(
    file: Path, target: str, arguments: tuple[str, ...], archive: dict[str, str] | None
) -> tuple[Program, dict[str, Any]]:
    """As `_planned`, of the ``__main__.py`` in an archive, whose modules are given, or in a folder."""
    place = os.path.abspath(target)
    if archive is None:
        scope, modules = _own(Path(place))
        text = (file / MAIN).read_text("utf-8", "replace")
    else:
        scope, modules = {f"{place}/{name}": name for name in archive}, [*map(_module, archive)]
        text = archive.get(MAIN, "")
    job = {
        "how": "contained",
        "target": target,
        "argv": [target, *arguments],
        "orig_argv": [sys.executable, target, *arguments],
        "path": place,
        "label": MAIN,
        "text": None,
        "scope": scope,
        "modules": modules,
        "texts": archive or {},
        "tracer": tracer_class().name,
    }
    return _program(file.name or target, MAIN, text, target, "contained", arguments), job


def _module(label: str) -> str:
    return label.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _own(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Modules in a folder and below, file -> name in events, and their names; not those of environments and
    of what is hidden. Of a folder with very many none."""
    scope: dict[str, str] = {}
    modules: list[str] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in _NOT_OWN
            and not os.path.exists(os.path.join(place, name, "pyvenv.cfg"))
        ]
        for name in files:
            if name.endswith(".py"):
                path = os.path.join(place, name)
                label = os.path.relpath(path, folder)
                scope[path] = label
                modules.append(_module(label))
        if len(scope) > _OWN_FILES:
            return {}, []
    return scope, modules


class _Watched:
    """A program that runs, and the events that come from it."""

    def __init__(self, spool: Spool, mask: EnvironmentMask | None) -> None:
        self.spool = spool
        self.mask = mask
        self.key = secrets.token_bytes(KEY_BYTES)
        self.decoder = Decoder(self.key, traced=True)
        self.end: dict[str, Any] | None = None
        self.forged = ""
        self.texts: dict[str, str] = {}
        """Of files in an archive."""

    def run(self, job: dict[str, Any]) -> int:
        """The exit status."""
        settings: RunSettings = job.pop("settings")
        self.texts = job.pop("texts")
        mirror = os.memfd_create("deskcheck")
        os.ftruncate(mirror, _MIRROR_BYTES)
        ours, theirs = os.pipe()
        told, telling = os.pipe()
        job |= {
            "key": self.key.hex(),
            "channel": theirs,
            "mirror": mirror,
            "trace_limits": asdict(settings.trace_limits),
            "granularity": settings.granularity.value,
        }
        try:
            with _left_to_the_program() as pass_on:
                process = subprocess.Popen(
                    [sys.executable, str(_CHILD), str(told)], pass_fds=(theirs, mirror, told)
                )
                pass_on.append(process)
                os.close(theirs)
                os.close(told)
                with open(telling, "w", encoding="utf-8") as stream:
                    json.dump(job, stream)
                self._read(ours, process)
                status = process.wait()
            self._last(os.pread(mirror, _MIRROR_BYTES, 0))
            return status
        finally:
            os.close(ours)
            os.close(mirror)

    def _read(self, channel: int, process: "subprocess.Popen[bytes]") -> None:
        """Take what comes until the program has ended. What it has started may hold the channel longer."""
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
            for said in self.decoder.feed(data):
                if said.kind == "block":
                    self._write(said.content)
                elif said.kind == "end":
                    self.end = said.content
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
            self.spool.write(part, checked=True)

    def run_result(self, status: int, wall_s: float) -> RunResult:
        end = self.end or {}
        outcome, detail = self._verdict(status)
        files = end.get("sources", {}).items()
        texts = {label: self.texts[label] if label in self.texts else _text(file) for label, file in files}
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
        return run_result if self.mask is None else masked(run_result, self.mask)

    def _verdict(self, status: int) -> tuple[Outcome, str]:
        if self.forged:
            return Outcome.HARNESS_ERROR, f"the program wrote into our channel: {self.forged}"
        if self.end is not None:
            if self.end.get("failure"):
                return Outcome.HARNESS_ERROR, f"the tracer failed: {self.end['failure']}"
            return Outcome(self.end["outcome"]), self.end.get("detail", "")
        if status < 0:
            return Outcome.KILLED, signal_name(-status)
        return Outcome.EXITED, f"status {status}, without a word"


@contextmanager
def _left_to_the_program() -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Within, Ctrl-C ends us no more than it ends the program, and SIGTERM goes on to it."""
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


def _text(file: str) -> str:
    try:
        return Path(file).read_text("utf-8", "replace")
    except OSError:
        return ""


def _environment(settings: RunSettings, run_result: RunResult) -> Environment:
    here = Environment.here(
        tracer=tracer_class().name,
        hash_seed=None,
        packages=run_result.packages,
        granularity=settings.granularity,
        limits=settings.trace_limits.leaving_out,
    )
    return replace(here, trace_limits=asdict(settings.trace_limits), sandbox="trusted")
