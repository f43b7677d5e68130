"""``%load_ext deskcheck``: the magic `%deskcheck`, which records a kernel from inside when the user asks.

Cells are seen in ipykernel's `do_execute`, outputs in `Session.send`: each output belongs to the cell whose
message it answers. IPython's hooks also run for silent executions, not for every cell that they end, and
twice for a cell inside a cell. An error of deskcheck stops the recording with a message and does not change
the cell.
"""

import argparse
import atexit
import hashlib
import json
import keyword
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deskcheck.errors import DeskcheckError, InputError, RecordingError
from deskcheck.notebook.jupyter import comm
from deskcheck.notebook.kernel.late import Children
from deskcheck.notebook.kernel.memory import memory_of, reset_peak
from deskcheck.notebook.state.capture import Capture, StateLimits

_USAGE = """\
%deskcheck record FILE_OR_FOLDER [--mask] [--mask-name REGEX] [--mask-text REGEX]
                                 [--no-state | --state-s SECONDS]
%deskcheck status
%deskcheck stop
%deskcheck context [NAME ...] [--budget TOKENS] [--json] [--no-mask] [--time-s SECONDS]
%%deskcheck context ...    what the code in this cell depends on; the code is not run
%%deskcheck trace [NAME] [--granularity line|instruction] [--max-events N] [--max-repetitions N]
                         [--call-depth N] [--only FUNCTION ...]
                           runs this cell as it would run, and shows each line; NAME: keeps the recording
%%deskcheck                the same, without options"""


class KernelRecorder:
    """Records the cells of a kernel until `stop`.

    shell: the shell of ipykernel.
    path: the trajectory's file.
    mask, fresh: as in `Live`.
    capture: sees the variables. None: they are not recorded.

    Raises InputError: the shell is not one of ipykernel. RecordingError: the file cannot be written or read,
    or another process is recording it.
    """

    def __init__(
        self, shell: Any, path: Path, *, mask: Any = None, capture: Capture | None = None, fresh: bool = True
    ) -> None:
        # Not at the top: these bring pyarrow into the user's kernel, which `context` does without.
        from deskcheck.notebook.jupyter.live import Live
        from deskcheck.notebook.trajectory.trajectory import Trajectory

        kernel = getattr(shell, "kernel", None)
        if kernel is None or not hasattr(kernel, "do_execute"):
            raise InputError(
                f"{type(shell).__name__}: only ipykernel kernels, started by Jupyter, can be recorded."
            )
        self.shell, self.kernel, self.capture = shell, kernel, capture
        self.failure: Exception | None = None
        self.children = Children()
        self.executions = 0
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._running: dict[str, Any] = {}
        """Id of a request -> outputs of the cell that runs."""
        head = Trajectory(
            id=path.name.partition(".")[0],
            source="kernel",
            cells=(),
            steps=(),
            language="python",
            path=shell.user_ns.get("__session__") or os.environ.get("JPY_SESSION_NAME"),
        )
        self.live = Live(path, head, mask, fresh=fresh)
        self._run, self._send = kernel.do_execute, kernel.session.send
        kernel.do_execute = self._do_execute
        kernel.session.send = self._sent
        atexit.register(self.stop)

    @property
    def path(self) -> Path:
        return self.live.path

    def stop(self) -> None:
        """End the recording and make its Parquet file. Does nothing the second time, or in a forked child."""
        if os.getpid() != self._pid or self.kernel is None:
            return
        atexit.unregister(self.stop)
        with self._lock:
            self._detach()
            self.live.close()
        _finish(self.path)

    def _detach(self) -> None:
        # If another extension has wrapped our method, it stays, and passes everything on.
        if self.kernel.__dict__.get("do_execute") == self._do_execute:
            self.kernel.do_execute = self._run
        if self.kernel.session.__dict__.get("send") == self._sent:
            self.kernel.session.send = self._send
        self.kernel = None

    def _fail(self, error: Exception) -> None:
        """Stop at an error of deskcheck. The next recorder continues from what was recorded."""
        with self._lock:
            self.failure = error
            if self.kernel is not None:
                atexit.unregister(self.stop)
                self._detach()
                self.live.close()
        print(f"deskcheck: the recording has stopped: {error}", file=sys.stderr)

    # -- in ipykernel's place ----------------------------------------------------------------------

    async def _do_execute(self, code: str, silent: bool, *args: Any, **named: Any) -> Any:
        kernel = self.kernel
        cell_id = named.get("cell_id")
        is_users = not silent and (named.get("store_history", True) or cell_id is not None)
        if kernel is None or not is_users or not code.strip():
            return await self._run(code, silent, *args, **named)
        message = kernel.get_parent("shell")["header"]["msg_id"]
        cell = self._undisturbed(self._begins, message, code, cell_id, named.get("cell_meta") or {})
        memory = reset_peak(self._pid)
        started, wall, cpu = time.time(), time.perf_counter(), time.process_time()
        reply: Any = None
        try:
            reply = await self._run(code, silent, *args, **named)
        finally:
            if cell is not None and os.getpid() == self._pid and self.kernel is not None:
                figures = {
                    "at": started,
                    "end": time.time(),
                    "wall_s": time.perf_counter() - wall,
                    "cpu_s": time.process_time() - cpu,
                    "memory_before": memory,
                    **dict(zip(("memory_after", "memory_peak"), memory_of(self._pid), strict=True)),
                }
                self._undisturbed(self._ended, message, cell, code, reply, figures)
        return reply

    def _guarded(self, action: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return action(*arguments)
        except Exception as error:  # noqa: BLE001  # ours must not become the user's
            self._fail(error)
            return None

    def _undisturbed(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Call without interrupts. Here one would end the recording in the middle of a step, and ipykernel
        would send no reply."""
        if threading.current_thread() is not threading.main_thread():
            return self._guarded(action, *arguments)
        before = signal.getsignal(signal.SIGINT)
        if before is None:  # not of Python's making, so that it could not be set back
            return self._guarded(action, *arguments)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            return self._guarded(action, *arguments)
        finally:
            signal.signal(signal.SIGINT, before)

    def _begins(self, message: str, code: str, cell_id: str | None, meta: dict[str, Any]) -> str:
        from deskcheck.notebook.kernel.cell import Collected

        with self._lock:
            self._running[message] = Collected()
            return self.live.begins(cell_id, code, _deleted(meta))

    def _show(self, running: Any, request: str, message: dict[str, Any]) -> None:
        from deskcheck.sandbox.decoder import shown

        running.take(shown(message["header"]["msg_type"], request, message["content"]))

    def _ended(self, message: str, cell: str, code: str, reply: Any, figures: dict[str, Any]) -> None:
        from deskcheck.notebook.kernel.cell import status_of

        # What it printed last is still on its way; ipykernel does the same before it replies.
        self.children.wait()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        status = status_of(reply or {"ename": "KeyboardInterrupt"})
        state = None
        if self.capture is not None:
            state = self.capture.after_cell(self.shell.user_ns, self.shell.user_ns_hidden, code)
        with self._lock:
            outputs = tuple(self._running.pop(message).outputs)
            self.live.ran(
                cell,
                code,
                status,
                outputs=outputs,
                count=(reply or {}).get("execution_count"),
                state=state,
                **figures,
            )
            self.executions += 1

    def _sent(self, *args: Any, **named: Any) -> Any:
        message = self._send(*args, **named)
        if self._running and os.getpid() == self._pid and isinstance(message, dict):
            with self._lock:
                request = (message.get("parent_header") or {}).get("msg_id", "")
                running = self._running.get(request)
                if running is not None:
                    self._guarded(self._show, running, request, message)
        return message


def _finish(path: Path) -> None:
    """Make the Parquet file in another process. pyarrow imports pandas, which the user's kernel must not
    contain, and which cannot be imported while the kernel ends."""
    from deskcheck.notebook.kernel.replayer import packages
    from deskcheck.recording.program import Environment

    seed = os.environ.get("PYTHONHASHSEED", "")
    environment = Environment.here(
        tracer="none", hash_seed=int(seed) if seed.isdigit() else None, packages=packages(fresh=False)
    )
    ran = subprocess.run(
        # -P: nothing in the user's folder is taken for a library. A new session: who ends the kernel and its
        # process group lets this end its work.
        [
            sys.executable,
            "-P",
            "-c",
            "from deskcheck.notebook.jupyter import magic; magic._finished()",
            str(path),
        ],
        input=json.dumps(environment.to_dict()),
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
    if ran.returncode:
        last = ran.stderr.strip().rpartition("\n")[2]
        raise RecordingError(
            f"{path}: could not be made ({last}). {path.name}.part contains the recorded steps. Record into "
            "the same file again to continue.",
            str(path),
        )


def _finished() -> None:
    """The program of the process that makes the Parquet file."""
    from deskcheck.notebook.trajectory.file import TrajectoryWriter, begun
    from deskcheck.recording.program import Environment

    path = sys.argv[1]
    head = begun(path)
    assert head is not None
    with TrajectoryWriter(path, head) as writer:
        writer.finish(environment=Environment.from_dict(json.load(sys.stdin)))


def _deleted(meta: dict[str, Any]) -> list[str]:
    """Cells that JupyterLab reports as deleted since the last execution."""
    ids = meta.get("deletedCells")
    return [id_ for id_ in ids if isinstance(id_, str)] if isinstance(ids, list) else []


class _Arguments(argparse.ArgumentParser):
    """A parser that raises InputError instead of ending the process."""

    def error(self, message: str) -> Any:
        raise InputError(f"%deskcheck: {message}.\n{_USAGE}")


def _parser() -> argparse.ArgumentParser:
    parser = _Arguments(prog="deskcheck", add_help=False)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Arguments)
    record = commands.add_parser("record", add_help=False)
    record.add_argument("path")
    record.add_argument("--mask", action="store_true")
    record.add_argument("--mask-name", action="append", default=[])
    record.add_argument("--mask-text", action="append", default=[])
    state = record.add_mutually_exclusive_group()
    state.add_argument("--no-state", action="store_true")
    state.add_argument("--state-s", type=float, default=StateLimits().time_s)
    context = commands.add_parser("context", add_help=False)
    context.add_argument("names", nargs="*")
    context.add_argument("--budget", type=int, default=2000)
    context.add_argument("--json", action="store_true")
    context.add_argument("--no-mask", action="store_true")
    context.add_argument("--time-s", type=float, default=0.05)
    trace = commands.add_parser("trace", add_help=False)
    trace.add_argument("name", nargs="?", type=_name)
    trace.add_argument("--granularity", choices=["line", "instruction"], default="line")
    trace.add_argument("--max-events", type=_positive, default=100_000)
    trace.add_argument("--max-repetitions", type=_positive)
    trace.add_argument("--call-depth", type=_positive)
    trace.add_argument("--only", action="append", default=[])
    commands.add_parser("status", add_help=False)
    commands.add_parser("stop", add_help=False)
    return parser


def _name(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise ValueError
    return text


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _cell_words(words: str) -> str:
    """The words after ``%%deskcheck`` with the command: alone, or before options, it is ``trace``."""
    return words if words.strip() and not words.lstrip().startswith("-") else f"trace {words}".rstrip()


def _trace_asked(words: str) -> argparse.Namespace | None:
    """The options of ``%%deskcheck trace``. None for other words, and for words that the magic refuses."""
    words = _cell_words(words)
    if words.split(maxsplit=1)[:1] != ["trace"]:
        return None
    try:
        return _parser().parse_args(shlex.split(words))
    except (InputError, ValueError):
        return None


class Magic:
    """The magic `%deskcheck` of one shell."""

    def __init__(self, shell: Any) -> None:
        # Not at the top: the process that finishes a recording has no use for the tracer.
        from deskcheck.notebook.jupyter.traced import TracedCells

        self.shell = shell
        self.traced = TracedCells(shell, _trace_asked)
        self.recorder: KernelRecorder | None = None
        self._captures: dict[Path, Capture | None] = {}
        """Earlier recording of this kernel -> the variables as they were last seen."""

    def __call__(self, line: str, cell: str | None = None) -> None:
        if cell is not None:
            line = _cell_words(line)
        try:
            options = _parser().parse_args(shlex.split(line))
            options.code = cell
            options.line = line
            if cell is not None and options.command not in ("context", "trace"):
                raise InputError(f"%%deskcheck {options.command}: is a line magic: write %deskcheck.")
            getattr(self, f"_{options.command}")(options)
        except DeskcheckError as error:
            # As a line, not a traceback: the user wrote the magic wrong.
            print(error, file=sys.stderr)
        except ValueError as error:
            print(f"%deskcheck: {error}.\n{_USAGE}", file=sys.stderr)

    def _record(self, options: argparse.Namespace) -> None:
        from deskcheck.notebook.trajectory.masking import Mask

        if self.recorder is not None and self.recorder.kernel is not None:
            raise InputError(f"{self.recorder.path}: is already being recorded. To end that: %deskcheck stop")
        path = _file(Path(options.path), self.shell)
        mask = None
        if options.mask or options.mask_name or options.mask_text:
            mask = Mask(options.mask_name, options.mask_text)
        again = path in self._captures
        capture = self._captures.get(path)
        if options.no_state:
            capture = None
        elif capture is None:
            capture = Capture(StateLimits(time_s=options.state_s))
        self.recorder = KernelRecorder(self.shell, path, mask=mask, capture=capture, fresh=not again)
        self._captures[path] = capture
        more = f", at step {self.recorder.live.steps}" if self.recorder.live.steps else ""
        print(f"Recording into {path} from the next cell{more}. To end it: %deskcheck stop")

    def _context(self, options: argparse.Namespace) -> None:
        from deskcheck.notebook.state.context import of_shell

        text = of_shell(
            self.shell,
            options.names or None,
            StateLimits(time_s=options.time_s),
            code=options.code,
            budget=options.budget,
            form="json" if options.json else "text",
            mask=not options.no_mask,
        )
        print(text, end="")

    def _trace(self, options: argparse.Namespace) -> None:
        """Refuse a trace whose line `traced` could not remove."""
        if options.code is None:
            raise InputError("%deskcheck trace: traces a cell: write %%deskcheck trace above its code.")
        if options.code.lstrip().startswith("%%"):
            raise InputError(
                "%%deskcheck trace: the cell has a second cell magic. Remove one of them. Nothing was run."
            )
        self.shell.run_cell(f"%%deskcheck {options.line}\n{options.code}", store_history=False)

    def _status(self, options: argparse.Namespace) -> None:
        recorder = self.recorder
        if recorder is None:
            print("Nothing is recorded. To begin: %deskcheck record FILE_OR_FOLDER")
        elif recorder.failure is not None:
            print(f"Recording into {recorder.path} has stopped: {recorder.failure}")
        elif recorder.kernel is None:
            print(f"Nothing is recorded. {recorder.path} has {recorder.live.steps} steps.")
        else:
            what = "with" if recorder.capture is not None else "without"
            masked = "masked" if recorder.live.mask is not None else "not masked"
            print(
                f"Recording into {recorder.path}: {recorder.executions} executions, {what} variables; "
                f"secrets are {masked}."
            )

    def _stop(self, options: argparse.Namespace) -> None:
        if self.recorder is None or self.recorder.kernel is None:
            raise InputError("Nothing is recorded. To begin: %deskcheck record FILE_OR_FOLDER")
        self.recorder.stop()
        print(f"Written: {self.recorder.path}, {self.recorder.live.steps} steps.")


def _file(path: Path, shell: Any) -> Path:
    """The trajectory's file. In a folder, it is named after the notebook if the front end gives its name."""
    from deskcheck.notebook.trajectory.trajectory import SUFFIX

    path = path.expanduser().absolute()
    if path.name.endswith(SUFFIX):
        return path
    if path.suffix:
        raise InputError(f"{path}: name a folder, or a file that ends in {SUFFIX}.")
    notebook = shell.user_ns.get("__session__") or os.environ.get("JPY_SESSION_NAME")
    if not notebook:  # by the kernel's own name, which it keeps when it is restarted
        from ipykernel.connect import get_connection_file

        kernel = Path(get_connection_file()).stem.removeprefix("kernel-")
        return path / (f"kernel-{kernel[:8]}" + SUFFIX)
    named = path / (Path(notebook).stem + SUFFIX)
    if _notebook_of(named) in (None, notebook):
        return named
    digest = hashlib.blake2b(os.fsencode(notebook), digest_size=4).hexdigest()
    return path / (f"{Path(notebook).stem}-{digest}" + SUFFIX)


def _notebook_of(path: Path) -> str | None:
    """The notebook that was recorded into a file. None if the file does not exist or does not name it."""
    from deskcheck.notebook.trajectory.file import begun, read_trajectory

    earlier = begun(path) or (read_trajectory(path) if path.exists() else None)
    return None if earlier is None else earlier.path


_magics: "weakref.WeakKeyDictionary[Any, Magic]" = weakref.WeakKeyDictionary()


def load(shell: Any) -> None:
    """Register the magic `%deskcheck` and the comm target ``deskcheck.context``. Records nothing."""
    if shell not in _magics:
        _magics[shell] = Magic(shell)
    comm.register(shell)
    shell.register_magic_function(_magics[shell], magic_kind="line_cell", magic_name="deskcheck")


def unload(shell: Any) -> None:
    """Remove the magic and the comm target, and end a recording."""
    comm.unregister(shell)
    magic = _magics.pop(shell, None)
    if magic is not None and magic.recorder is not None:
        magic.recorder.stop()
    if magic is not None:
        magic.traced.unload()
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("deskcheck", None)
