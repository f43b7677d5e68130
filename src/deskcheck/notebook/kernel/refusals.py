"""Finds the rule of the sandbox that made a cell fail, from its exception and from the calls that it tried.

Runs in the kernel's process, except for `of_commands` and `is_installed`. Limits on memory and on the size of
files apply at every level, the other rules at `strict` and `standard`. A refusal in a process that the cell
started is seen only if its command names another machine, or its standard error reports it.
"""

import errno
import ipaddress
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from deskcheck.sandbox.inside.readable_files import PROCESS_FOLDERS, can_open

RULES: dict[str, str] = {
    "memory": "the kernel reached its limit on memory; raise it with --memory SIZE",
    "disk": "the notebook reached its limit on written files; raise it with --disk SIZE",
    "open files": "the kernel reached its limit on open files; raise it with --open-files N",
    "processes": "the kernel reached its limit on processes and threads; raise it with --processes N",
    "output": "the cell reached its limit on output; raise it with --output-chars N",
    "network": "the sandbox has no network; --sandbox trusted uses the machine's",
    "sockets": "cells cannot make sockets in the sandbox, not even on this machine; "
    "--sandbox trusted allows it",
    "shared memory": "the sandbox has no shared memory at 'standard'; --sandbox strict and trusted have it",
    "files outside": "cells see only files below the notebook's root, and if deskcheck runs as root, only "
    "those that all users may read; use --root FOLDER or --sandbox trusted",
    "home": "the home folder is empty; use --sandbox trusted with --env HOME for yours",
    "environment": "cells do not get your environment variables; --env NAME passes one on",
    "user": "cells run as a separate user without a name; --sandbox trusted runs them as you",
    "input": "a cell cannot ask for input; write the answer into the cell",
    "system calls": "the sandbox does not allow this system call; --sandbox trusted does",
}
"""Rule -> its meaning and the way out, for the user."""

_BY_NUMBER = {
    errno.EFBIG: "disk",
    errno.ENOSPC: "disk",
    errno.ENOMEM: "memory",
    errno.EMFILE: "open files",
    errno.EAGAIN: "processes",
}
_OF_NETWORK = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL)
_LOOKS_UP = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyname_ex")
_STARTS = ("subprocess.Popen", "os.system", "os.posix_spawn", "pty.spawn")
_ADDRESS = re.compile(r"\b(?!file:)[a-z][\w+.-]*://|[\w.-]@[\w.-]+:\S")
"""The address of another machine, in a command."""
_INSTALLS = re.compile(r"\binstall\b")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_MOST_WRITTEN = 1000
"""Maximum number of written files that are remembered for one cell."""
_NO_USER = "uid not found"
_NO_DATABASE = "unable to open database file"
_CHAIN = 20
"""Maximum number of exceptions that are looked at: the cell's, and those that caused it."""


class Refusals:
    """Finds the rule that made a cell fail, for each cell of a kernel.

    home: the copy of the notebook's folder. Other files in the folder above it are deskcheck's.
    confined: whether the kernel runs at `strict` or `standard`.
    """

    def __init__(self, home: str, *, confined: bool) -> None:
        self.home = home
        self.confined = confined
        self.begin("")
        if confined:
            sys.addaudithook(self._hook)

    def begin(self, source: str) -> None:
        """A cell begins."""
        self._script = source if source.lstrip().startswith("%%") else ""
        self._tried: str | None = None
        self._commands = self._installs = False
        self._database: str | None = None
        """The file of the last database that was opened."""
        self._written: set[str] = set()

    def of(self, error: BaseException | None) -> dict[str, str | bool]:
        """Facts about the ended cell. error: the exception that it raised.

        - ``rule``: the rule that refused something.
        - ``missing``, if no rule is known here: the path of a file that was not found, relative to `home` if
          it is in `home` or around it.
        - ``module``: ``missing`` is a module, without its suffix.
        - ``commands``: the cell started processes (see `of_commands`).
        - ``installs``: these processes install packages (see `is_installed`).
        """
        facts = {"commands": self._commands, "installs": self._installs}
        return self._of(error) | {name: True for name, is_true in facts.items() if is_true}

    def _of(self, error: BaseException | None) -> dict[str, str | bool]:
        errors = [*_chain(error)]
        rule = next((rule for cause in errors if (rule := self._rule(cause)) is not None), self._tried)
        if rule is not None:
            return {"rule": rule}
        for cause in errors:
            if isinstance(cause, FileNotFoundError) and isinstance(cause.filename, str):
                return {"missing": self._missing(cause.filename, cause.filename in self._written)}
            if self._database is not None and _is_no_database(cause):
                return {"missing": self._missing(self._database, not os.path.exists(self._database))}
            if isinstance(cause, ModuleNotFoundError) and cause.name:
                module = os.path.abspath(cause.name.partition(".")[0])
                return {"missing": self._from_home(module), "module": True}
        return {}

    def _rule(self, error: BaseException) -> str | None:
        if isinstance(error, MemoryError):
            return "memory"
        if isinstance(error, RuntimeError) and "start new thread" in str(error):
            return "processes"
        if type(error).__name__ == "StdinNotImplementedError":  # IPython's
            return "input"
        if isinstance(error, OSError) and error.errno in _BY_NUMBER:
            if error.errno == errno.EAGAIN and not _left_in(error, "fork", "_execute_child"):
                return None
            return _BY_NUMBER[error.errno]
        return self._rule_of_sandbox(error) if self.confined else None

    def _rule_of_sandbox(self, error: BaseException) -> str | None:
        if isinstance(error, EOFError) and _left_in(error, "managers.py"):
            return "sockets"  # of a process that serves others' objects
        if isinstance(error, KeyError) and _NO_USER in str(error):
            return "user"
        if self._database is not None and _is_no_database(error):
            folder = os.path.dirname(os.path.abspath(self._database))
            if os.path.isdir(folder) and not os.access(folder, os.W_OK):
                return "files outside"
        if not isinstance(error, OSError):
            return None
        if type(error).__name__ == "gaierror" or error.errno in _OF_NETWORK:
            return "network"
        if isinstance(error, PermissionError) and _left_in(error, "synchronize.py", "shared_memory.py"):
            return "shared memory"
        if error.errno == errno.EPERM:
            return self._tried or ("sockets" if _left_in(error, "socket.py", "/asyncio/") else "system calls")
        return "files outside" if error.errno in (errno.EACCES, errno.EROFS) else None

    def _missing(self, path: str, is_new: bool) -> str:
        """The path that a file lacked: the file itself, or its folder if the file is new."""
        path = os.path.abspath(path)
        folder = os.path.dirname(path)
        return self._from_home(folder if is_new and not os.path.isdir(folder) else path)

    def _from_home(self, path: str) -> str:
        around = os.path.dirname(self.home)
        return os.path.relpath(path, self.home) if f"{path}/".startswith(f"{around}/") else path

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _LOOKS_UP:
            self._try_host(arguments[0])
        elif event == "socket.__new__":
            # Not of a descriptor that is a socket already.
            is_made = len(arguments) > 1 and arguments[1] in (2, 10) and arguments[0].fileno() < 0
            self._tried = self._tried or ("sockets" if is_made else None)
        elif event == "socket.connect":
            address = arguments[1]
            if isinstance(address, tuple) and address:
                self._try_host(address[0])
        elif event == "open":
            path, _, flags = arguments
            is_written = isinstance(path, str) and isinstance(flags, int) and flags & _WRITES
            if is_written and len(self._written) < _MOST_WRITTEN:
                self._written.add(path)
        elif event == "sqlite3.connect":
            self._database = arguments[0] if isinstance(arguments[0], str) else None
        elif event in _STARTS:
            command = f"{arguments[:2]} {self._script}"
            self._commands = True
            self._installs = self._installs or _INSTALLS.search(command) is not None
            if _ADDRESS.search(command):
                self._tried = "network"

    def _try_host(self, host: Any) -> None:
        if not _is_own(host):
            self._tried = "network"


def _is_no_database(error: BaseException) -> bool:
    return type(error).__name__ == "OperationalError" and _NO_DATABASE in str(error)


_NO_NETWORK = re.compile(
    r"Temporary failure in name resolution|Could not resolve host|Network is unreachable"
)
_INSTALLED = re.compile(r"\balready\b")
_NOT_INSTALLED = re.compile(
    r"^(\s|\x1b\[[\d;]*m)*(Collecting|ERROR|WARNING: Retrying)\b",  # in colours, on a terminal
    re.MULTILINE,
)
_REFUSED = re.compile(
    r"""^[^:\n]+:.*?[\s'"\u2018\u201c](/[^\s:'"\u2019\u201d]*)['"\u2019\u201d]?
    (?:[ ]for[ ]\w+)?:[ ](?:\[Errno[ ]\d+\][ ])?
    (?P<why>Permission[ ]denied|Read-only[ ]file[ ]system|No[ ]such[ ]file[ ]or[ ]directory)$""",
    re.MULTILINE | re.VERBOSE,
)
"""An error of a command-line tool about a path: ``cat: /a: Permission denied``."""


def of_commands(output: str) -> str | None:
    """The rule that made a cell's commands fail, from their output and standard error. None if unknown.

    Call it outside of the sandbox: a refused file counts only if it can be read or written there.
    """
    if _NO_NETWORK.search(output):
        return "network"
    if "cannot find name for user ID" in output:
        return "user"
    for match in _REFUSED.finditer(output):
        path = match[1]
        if not path.startswith(PROCESS_FOLDERS) and _is_allowed(path, match["why"]):
            return "files outside"
    return None


def is_installed(output: str) -> bool:
    """Whether everything to install was there already, by the command's output: it needed no network."""
    return _INSTALLED.search(output) is not None and _NOT_INSTALLED.search(output) is None


def _is_allowed(path: str, reason: str) -> bool:
    """Whether an access that a command was refused is possible outside of the sandbox."""
    if reason.startswith("No such"):
        return os.path.exists(path)
    return can_open(path, writes=not (reason.startswith("Permission") and os.path.exists(path)))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and those that caused it, nearest first."""
    waiting = [error]
    causes: list[BaseException] = []
    while waiting and len(causes) < _CHAIN:
        cause = waiting.pop(0)
        if not isinstance(cause, BaseException) or any(cause is earlier for earlier in causes):
            continue
        causes.append(cause)
        yield cause
        argument = cause.args[0] if cause.args else None  # urllib's URLError, what requests raises
        waiting += [cause.__cause__, cause.__context__, argument]


def _left_in(error: BaseException, *names: str) -> bool:
    """Whether the exception passed through a file or function with one of these names."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if any(name in code.co_filename or name in code.co_name for name in names):
            return True
        trace = trace.tb_next
    return False


def _is_own(host: Any) -> bool:
    """Whether a name or number of a machine is that of this one."""
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "localhost")
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return text in ("localhost", "sandbox")
