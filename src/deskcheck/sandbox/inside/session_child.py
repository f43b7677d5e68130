"""An interpreter that runs pieces in turn, and whose forks are held or continue. Standard library only.

Orders come on its channel. Each has a key that signs its report, so an earlier piece does not have the key of
a later one. Functions are bound here before the first piece runs, so a piece that replaces `os.write` or
`compile` does not affect this code. A piece that searches the process for these objects can still forge its
own report.
"""

import builtins
import ctypes
import io
import json
import linecache
import marshal
import os
import re
import resource
import signal
import socket
import sys
import traceback
import types
from ast import Expr, Expression, PyCF_ONLY_AST
from collections.abc import Callable
from dataclasses import replace
from time import monotonic, sleep  # the program may have a clock of its own
from typing import Any

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.value import decode, render
from deskcheck.sandbox.inside.channel import END_BYTES, END_PARTS, sender
from deskcheck.sandbox.linux import kernel
from deskcheck.tracer import TraceLimits
from deskcheck.tracer.result import snapshot

globals()["__builtins__"] = dict(vars(builtins))

_fork: Callable[[], int] = ctypes.PyDLL(None).fork
"""fork(2) without the functions that are registered for forks. `os.fork` would run those of the program, and
`random` would draw a new seed, but a snapshot must not differ. The only thread holds all locks."""
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_REST_BYTES, _REST_PARTS = 1 << 16, 100
"""Largest size of the facts besides a value."""
_PARENT_S = 5.0
"""Seconds to notice the parent's end. After it, the server is the parent."""


class SessionInterpreter:
    """The session in its process. `names` is the namespace of pieces."""

    def __init__(self, channel: int, outlives_server: bool, describe: Callable[[BaseException], Any]) -> None:
        self.connection = socket.socket(fileno=channel)
        self.channel = channel
        self.server = os.getppid()
        self.outlives_server = outlives_server
        self.describe = describe
        self.pid = os.getpid()
        self.main = types.ModuleType("__main__")
        vars(self.main)["__builtins__"] = builtins
        if sys.version_info < (3, 14):  # PEP 649
            vars(self.main)["__annotations__"] = {}
        sys.modules["__main__"] = self.main
        sys.argv = [""]
        sys.path.insert(0, "")  # as at the prompt: the folder of the moment
        self.stdout: Any = sys.stdout
        os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        """Mark a child that the program forked, which is not an interpreter of the session."""
        try:
            self.connection.close()
        except OSError:
            return

    def serve(
        self,
        receive: Callable[[socket.socket], tuple[dict[str, Any] | None, list[int]]],
        *,
        getpid: Callable[[], int] = os.getpid,
        new_sender: Callable[[int, bytes], Callable[[bytes], None]] = sender,
        dumps: Callable[[Any], str] = json.dumps,
        getrusage: Callable[[int], Any] = resource.getrusage,
    ) -> None:
        """Carry out orders until the channel ends, or the program ends this process."""
        while True:
            message, descriptors = receive(self.connection)
            if message is None:
                return
            send = new_sender(self.channel, message["key"])
            facts: dict[str, Any] = {"outcome": Outcome.RETURNED}
            leaving: BaseException | None = None
            if message["do"] == "run":
                facts, leaving = self._run(message)
            elif message["do"] == "hold":
                try:
                    key = self._hold(descriptors[0], message["files"], receive)
                except OSError as error:
                    facts = {"outcome": Outcome.RAISED, "detail": str(error)}
                else:
                    if key is not None:  # this is a copy of the copy, and goes on from here
                        send = new_sender(self.channel, key)
            if getpid() != self.pid:
                return  # the program forked, and this is the child
            used = getrusage(0)
            facts["cpu_s"] = used.ru_utime + used.ru_stime
            try:
                send(b"end " + dumps(facts).encode())
            except OSError:
                return  # the program has closed it
            if leaving is not None:
                raise leaving

    def _run(
        self,
        message: dict[str, Any],
        *,
        compile_: Callable[..., Any] = compile,
        exec_: Callable[..., Any] = exec,
        eval_: Callable[..., Any] = eval,
    ) -> tuple[dict[str, Any], BaseException | None]:
        """Run one piece. Returns its facts, and the exception if it ends the process."""
        code, file = message["code"], message["file"]
        lines = io.StringIO(code, newline=None).readlines()
        linecache.cache[file] = (len(code), None, lines, file)  # what tracebacks and `inspect` show
        limits = TraceLimits(**message["trace_limits"])
        names = vars(self.main)
        value = None
        facts: dict[str, Any] = {"outcome": Outcome.RETURNED}
        leaving: BaseException | None = None
        try:
            tree = compile_(code, file, "exec", PyCF_ONLY_AST, dont_inherit=True)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], Expr) else None
            body = compile_(tree, file, "exec", dont_inherit=True)
            expression = None
            if last is not None:
                expression = compile_(Expression(last.value), file, "eval", dont_inherit=True)
            if tree.body or expression is None:
                exec_(body, names)
            if expression is not None:
                value = eval_(expression, names)
            if value is not None:
                vars(builtins)["_"] = value  # as at the prompt
            if expression is not None:
                facts |= _told(value, limits)
        except SystemExit as error:
            facts |= {"outcome": Outcome.EXITED, **self.describe(error)}
            leaving = error
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the piece's
            memory = isinstance(error, MemoryError)
            facts |= {"outcome": Outcome.OUT_OF_MEMORY if memory else Outcome.RAISED, **self.describe(error)}
            self._show(error)
        del value
        self._flush()
        return facts, leaving

    def _show(
        self, error: BaseException, *, print_exception: Callable[..., None] = traceback.print_exception
    ) -> None:
        """Show an uncaught exception as the interpreter does."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        error.__traceback__ = trace
        hook = sys.excepthook
        try:
            if (
                hook is sys.__excepthook__
            ):  # which, up to 3.12, reads the source from a file that is not there
                print_exception(error)
            else:
                hook(type(error), error, trace)
        except BaseException as failed:  # noqa: BLE001 - the program's own hook, or its standard error
            try:
                os.write(2, f"Error in sys.excepthook: {type(failed).__name__}\n".encode())
            except OSError:
                return  # it has closed that too

    def _flush(self) -> None:
        for stream in (sys.stdout, self.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                continue  # closed, or replaced by something that has none

    def _hold(
        self,
        wake: int,
        files: list[tuple[int, str]],
        receive: Callable[[socket.socket], tuple[dict[str, Any] | None, list[int]]],
        *,
        fork: Callable[[], int] = _fork,
        exit_: Callable[[int], Any] = os._exit,
        waitpid: Callable[[int, int], Any] = os.waitpid,
    ) -> bytes | None:
        """Make a copy of this process that waits at `wake`.

        The process itself returns None. A copy that is woken makes a further copy, which continues from here
        and returns the key for its report.

        Args:
            files: open files, by descriptor. Each copy opens them again; otherwise all copies would share one
                position.
        """
        try:
            _open_again(files)
        except OSError:
            os.close(wake)
            raise
        child = fork()
        if child < 0:
            os.close(wake)
            raise OSError("the session's process cannot be forked")
        if child:
            os.close(wake)
            waitpid(child, 0)
            return None
        if fork():
            exit_(0)
        self._adopted()
        _open_again(files)
        folder = _current_folder()
        waiting = socket.socket(fileno=wake)
        waiting.sendall(b"held")
        while True:
            message, _ = receive(waiting)
            if message is None:
                exit_(0)
            assert message is not None
            child = fork()
            if child:
                waitpid(child, 0)
                continue
            if fork():
                exit_(0)
            self._adopted()
            waiting.close()
            _open_again(files)
            self._forget_orders()
            if folder is not None:
                os.chdir(folder)  # files have been put back: the folder is there again, and is another one
            return bytes(message["key"])

    def _forget_orders(self) -> None:
        """Read and drop the orders for the previous process. Only this process has the channel now."""
        self.connection.setblocking(False)
        try:
            while self.connection.recv(1 << 16):
                pass
        except BlockingIOError:
            self.connection.setblocking(True)

    def _adopted(self) -> None:
        """Wait until the server is this process's parent, and end with it: no other process would end it."""
        until = monotonic() + _PARENT_S
        while os.getppid() != self.server:
            if monotonic() > until:
                os._exit(3)
            sleep(0.0001)
        if not self.outlives_server:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        self.pid = os.getpid()


def _told(value: Any, limits: TraceLimits, *, dumps: Callable[[Any], str] = json.dumps) -> dict[str, Any]:
    """The description and the text of a piece's value, without parts that are too long to be accepted."""
    while True:
        encoded, objects = snapshot(value, limits)
        decoded = decode(encoded, objects)
        facts = {"result": render(decoded), "result_builtin": decoded.builtin, "value": [encoded, objects]}
        text = dumps(facts)
        if len(text) < 2 * END_BYTES - _REST_BYTES:
            marks = _STRING.sub("", text)
            if sum(map(marks.count, "[{,:")) < END_PARTS - _REST_PARTS:
                return facts
        limits = replace(
            limits,
            items=limits.items // 3,
            text_chars=min(limits.text_chars, len(text)) // 3,
            objects=limits.objects // 3,
        )


def _open_again(
    files: list[tuple[int, str]],
    *,
    open_: Callable[..., int] = os.open,
    dup2: Callable[..., int] = os.dup2,
    lseek: Callable[[int, int, int], int] = os.lseek,
) -> None:
    """Open read-only files again under the same descriptors, at the same position. Raises OSError."""
    for descriptor, path in files:
        new = open_(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if not os.path.samestat(os.fstat(new), os.fstat(descriptor)):
                raise OSError(f"{path} is not the file that is open")
            lseek(new, lseek(descriptor, 0, os.SEEK_CUR), os.SEEK_SET)
            dup2(new, descriptor, os.get_inheritable(descriptor))
        finally:
            os.close(new)


def _current_folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # the program has removed it
        return None


def receive(
    connection: socket.socket,
    *,
    recv: Callable[..., Any] = socket.recv_fds,
    loads: Callable[[bytes], Any] = marshal.loads,
) -> tuple[dict[str, Any] | None, list[int]]:
    """The next message and its descriptors; None at the end."""
    data, descriptors = b"", []
    size = 4
    while len(data) < size:
        try:
            chunk, more_descriptors, _, _ = recv(connection, min(size - len(data), 1 << 20), 1)
        except OSError:
            return None, []  # the program has closed it
        descriptors += more_descriptors
        if not chunk:
            return None, []
        data += chunk
        if len(data) == 4 and size == 4:
            size += int.from_bytes(data, "big")
    return loads(data[4:]), descriptors
