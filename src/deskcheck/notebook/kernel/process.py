"""The process of a recorded kernel: an ipykernel that is confined before its first cell runs.

Runs as a program of the sandbox, with UNIX sockets in the program's folder. The first cell closes the way to
new connections: from then on all threads are under the filter of every program of the sandbox. Measurements
of a cell are sent with its reply.
"""

import itertools
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from deskcheck.notebook.kernel.commands import run_command
from deskcheck.notebook.kernel.folders import (
    CHANNELS,
    HOME,
    SOCKETS,
    copy_below_root,
    home_of_ipython,
    import_as_in_jupyter,
    interpreter_on_path,
)
from deskcheck.notebook.kernel.late import Children
from deskcheck.notebook.kernel.randomness import Randomness
from deskcheck.notebook.kernel.refusals import Refusals
from deskcheck.sandbox.inside import server


def main(settings: dict[str, Any]) -> None:
    """Run a kernel until it is shut down. settings: see `kernel.Kernel`."""
    import zmq
    from ipykernel import kernelapp
    from zmq.utils.garbage import gc as _garbage

    interpreter_on_path()
    os.environ.update(settings["environment"])
    time.tzset()
    os.makedirs(SOCKETS, exist_ok=True)
    home_of_ipython()
    program_folder = os.getcwd()
    folder, root = settings["folder"], settings["root"]
    copy_below_root(folder, root, HOME, linked=settings["confined"])
    connection = f"{program_folder}/{SOCKETS}/connection.json"
    facts = {
        "transport": "ipc",
        "ip": f"{program_folder}/{SOCKETS}/s",
        "key": settings["key"],
        "signature_scheme": "hmac-sha256",
        **{f"{channel}_port": number for number, channel in enumerate(CHANNELS, 1)},
    }
    Path(connection).write_text(json.dumps(facts), encoding="utf-8")
    # Its pipe for the output of forked children would be a TCP socket, which is not to be had: libzmq ends
    # the process then. `_forked` does without.
    threads: Any = kernelapp.IOPubThread
    kernelapp.IOPubThread = lambda *arguments, **named: threads(*arguments, **named | {"pipe": False})
    app: Any = kernelapp.IPKernelApp.instance()
    try:
        app.initialize(["-f", connection, "--HistoryManager.hist_file=:memory:", "--IPKernelApp.quiet=True"])
    except Exception:  # noqa: BLE001  # said on standard error, where the caller reads it
        traceback.print_exc()
        os._exit(1)  # finalisation would wait for sockets that stay open
    import_as_in_jupyter(program_folder)
    # A cell that prints faster than we read must neither wait nor lose output: no bound on the queue.
    getattr(app.iopub_socket, "socket", app.iopub_socket).setsockopt(zmq.SNDHWM, 0)
    _in_pieces(app.session)
    _garbage.start()  # a thread of ZeroMQ that the first large message would start, when no more may be
    if settings["confined"]:
        app.shell.system = lambda command: run_command(app.shell, command)
    door = _Door(app, os.path.join(program_folder, HOME, settings["inside"]), settings)
    app.kernel.do_execute = door.do_execute
    os.register_at_fork(after_in_child=_forked)
    Path(SOCKETS, "ready").touch()
    app.start()


def _forked() -> None:
    """In a forked child, ipykernel's streams would write to its parent's sockets. The descriptors beneath
    lead to a thread of the parent, which shows their content."""
    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115  # for as long as the process lives
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115


_PIECE_CHARS = 1 << 20
_LINE_CHARS = 100_000
BEYOND = "deskcheck_beyond"
"""Field of an output: number of characters that were left out here (`sandbox.decoder`)."""

GOES_ON = "deskcheck_goes_on"
"""Field of printed text: whether it continues the message before it."""


def _in_pieces(session: Any) -> None:
    """Keep messages below the caller's limit: printed text is sent in pieces, other parts that are too large
    are left out."""
    send = session.send

    def send_in_pieces(
        stream: Any, msg_or_type: Any, content: Any = None, *arguments: Any, **named: Any
    ) -> Any:
        message = msg_or_type if isinstance(msg_or_type, dict) else None
        kind = msg_or_type if message is None else message["header"]["msg_type"]
        whole_content = content if message is None else message["content"]
        if sum(len(memoryview(buffer)) for buffer in named.get("buffers") or ()) > _PIECE_CHARS:
            named["buffers"] = None
        sent = None
        for piece in _pieces(str(kind), whole_content):
            if message is None:
                sent = send(stream, msg_or_type, piece, *arguments, **named)
            else:
                sent = send(stream, {**message, "content": piece}, content, *arguments, **named)
        return sent

    session.send = send_in_pieces


def _pieces(kind: str, content: Any) -> list[Any]:
    """The content of a message, or several that mean the same together."""
    if not isinstance(content, dict):
        return [content]
    text = content.get("text")
    if kind == "stream" and isinstance(text, str) and len(text) > _PIECE_CHARS:
        pieces = [text[at : at + _PIECE_CHARS] for at in range(0, len(text), _PIECE_CHARS)]
        return [{**content, "text": piece, GOES_ON: number > 0} for number, piece in enumerate(pieces)]
    if isinstance(content.get("traceback"), list):
        lines = [str(line) for line in content["traceback"]]
        sizes = itertools.accumulate(min(len(line), _LINE_CHARS) for line in lines)
        fitting_lines = [
            line[:_LINE_CHARS] for line, size in zip(lines, sizes, strict=True) if size <= _PIECE_CHARS
        ]
        beyond = sum(map(len, lines)) - sum(map(len, fitting_lines))
        value = str(content.get("evalue", ""))[:_LINE_CHARS]
        return [
            {**content, "traceback": fitting_lines, "evalue": value}
            | ({BEYOND: beyond} if beyond > 0 else {})
        ]
    if isinstance(content.get("data"), dict):
        room, beyond, kept_data = _PIECE_CHARS, 0, {}
        for mime, shown_value in content["data"].items():
            size = len(shown_value) if isinstance(shown_value, (str, bytes)) else len(repr(shown_value))
            if size <= room:
                kept_data[mime] = shown_value
                room -= size
            else:
                beyond += size
        return [{**content, "data": kept_data, BEYOND: beyond} if beyond else content]
    return [content]


class _Door:
    """Wraps ipykernel's `do_execute`."""

    def __init__(self, app: Any, folder: str, settings: dict[str, Any]) -> None:
        self.run = app.kernel.do_execute
        self.shell = app.shell
        self.folder = folder
        self.confined: bool = settings["confined"]
        self.pid = os.getpid()
        self.open = True
        self.children = Children()
        self.refusals = Refusals(os.path.join(os.getcwd(), HOME), confined=self.confined)
        self.randomness = Randomness(settings["run"])
        self.randomness.watch()
        self.capture: Any = None
        if settings["state"] is not None:
            from deskcheck.notebook.state.capture import Capture, StateLimits

            self.capture = Capture(StateLimits(**settings["state"]))

    async def do_execute(self, code: str, silent: bool, *args: Any, **named: Any) -> dict[str, Any]:
        """Run a cell with ipykernel's method. The reply has the measurements as ``deskcheck``."""
        if self.open:
            self.open = False
            if self.confined:
                server.stop_listening()
            os.makedirs(self.folder, exist_ok=True)
            os.chdir(self.folder)
        self.refusals.begin(code)
        self.randomness.begin(code)
        wall, cpu = time.perf_counter(), time.process_time()
        reply: dict[str, Any] = await self.run(code, silent, *args, **named)
        # An interrupt that comes when the cell has ended is late: here it would end the kernel. ipykernel
        # sets its handler again when it has sent the reply.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if os.getpid() != self.pid:
            # A child that a cell forked has come to the end of the cell. It shares the kernel's sockets,
            # and would take messages that are the kernel's.
            sys.stdout.flush()
            os._exit(0)
        facts: dict[str, Any] = {
            "wall_s": time.perf_counter() - wall,
            "cpu_s": time.process_time() - cpu,
        }
        facts |= self.refusals.of(self._error())
        drew = self.randomness.end()
        facts |= {"drew": [*drew], "draws": sum(drew.values())}
        self.children.wait()
        if self.capture is not None and not silent:
            facts["state"] = self.capture.after_cell(self.shell.user_ns, self.shell.user_ns_hidden, code)
        return {**reply, "deskcheck": facts}

    def _error(self) -> BaseException | None:
        """The exception that left the cell."""
        result = getattr(self.shell, "last_execution_result", None)
        error = getattr(result, "error_in_exec", None) or getattr(result, "error_before_exec", None)
        return error if isinstance(error, BaseException) else None
