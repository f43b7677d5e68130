"""Which rule of ours stood in a cell's way, from the exception that left the cell and from what it tried.

Runs in the kernel's process, except for `of_commands` and `is_installed`. Limits on memory and on the size of
files are met at every level; the other rules hold at `strict` and `standard`. A refusal in a process that the
cell started is seen only if its command names another machine, or its standard error tells.
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
    "memory": "a kernel may fill so much memory and no more; --memory SIZE gives it more",
    "disk": "a notebook may write so much and no more; --disk SIZE gives it more",
    "open files": "a kernel may have so many files open and no more; --open-files N gives it more",
    "processes": "so many processes and threads may run and no more; --processes N allows more",
    "output": "no more of a cell's output is kept; --output-chars N keeps more",
    "network": "there is no network in the sandbox; --sandbox trusted has the machine's",
    "sockets": "no socket can be made in the sandbox, not on this machine either; "
    "--sandbox trusted allows it",
    "shared memory": "there is none in the sandbox at 'standard'; --sandbox strict and trusted have it",
    "files outside": "of the files around a notebook there are only those below its root, and where "
    "deskcheck runs as root only those that all users may read; --root FOLDER, --sandbox trusted",
    "home": "the home folder is empty; with --sandbox trusted, --env HOME gives cells yours",
    "environment": "cells do not have your environment's variables; --env NAME gives them one",
    "user": "cells run as a user of their own, who has no name; --sandbox trusted runs them as you",
    "input": "nobody is there to answer what a cell asks; write the answer into the cell",
    "system calls": "the sandbox does not allow this call to the system; --sandbox trusted does",
}
"""Each with what it means and what to do."""

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
"""Of another machine, in a command."""
_INSTALLS = re.compile(r"\binstall\b")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_MOST_WRITTEN = 1000
"""Names of written files that are remembered of one cell."""
_NO_USER = "uid not found"
_NO_DATABASE = "unable to open database file"
_CHAIN = 20
"""Exceptions that are looked at: the one that left the cell, and those that led to it."""


class Refusals:
    """The rules that stood in the way of each cell. confined: at a level that confines. home: the copy of the
    notebook's folder; what is beside it is ours."""

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
        """Facts of the cell that ended, with the exception that left it.

        ``rule``; or, if no rule is known here, ``missing``: the path of a file that was not found, relative
        to `home` if it is there or around it. ``module``: that is a module, without the end of its name.
        ``commands``: the cell started processes (see `of_commands`). ``installs``: they install something
        (see `is_installed`).
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
        """What was missing for a file: itself, or its folder if the file is new."""
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
"""How a system's tools name a path and the reason: ``cat: /a: Permission denied``."""


def of_commands(output: str) -> str | None:
    """The rule that a cell's commands met, from what they wrote to both streams; None if none is known.

    Call it outside of the sandbox: a refused file counts only if it can be read there, or its folder written.
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
    """Whether all that was to be installed was there, by what the command showed: it needed no network."""
    return _INSTALLED.search(output) is not None and _NOT_INSTALLED.search(output) is None


def _is_allowed(path: str, reason: str) -> bool:
    """Whether out here nothing is in the way of what a command could not do."""
    if reason.startswith("No such"):
        return os.path.exists(path)
    return can_open(path, writes=not (reason.startswith("Permission") and os.path.exists(path)))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those that it came of, nearest first."""
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
    """Whether the exception came out of a file, or a function, of one of these names."""
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
