"""What of our rules stood in a cell's way: told by the exception that left it, and by what it tried.

In the kernel's process, but for `of_commands`. A limit on memory or on the size of files is met at every
level; what else the sandbox refuses, at `strict` and `standard` alone. The answer is a word of `RULES`. Not
seen: what a process that the cell started was refused, unless its command or its standard error tells."""

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
_FETCHES = re.compile(
    rb"\b(wget|curl|gdown|kaggle\s+datasets|(conda|mamba|apt|apt-get|npm)\s+install)\b"
    rb"|\bgit\s+clone\s[^;&|\n]*?(?<![\w.@-])(?!file:)[\w.@-]+:\S"  # of another machine
)
_INSTALLS = re.compile(rb"\bpip3?\s+install\b")
_SCRIPT = re.compile(r"\s*%%(!|bash|sh|script|system|sx)\b")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_MOST_WRITTEN = 1000
"""Names of files that are kept of one cell."""
_NO_USER = "uid not found"
_NO_DATABASE = "unable to open database file"
_CHAIN = 20
"""Exceptions of one that are looked at: the one that left the cell, those that it came of, and so on."""


class Refusals:
    """What stood in the way of each cell. confined: at a level that confines. home: the folder that is a copy
    of the notebooks'; what lies beside it is ours."""

    def __init__(self, home: str, *, confined: bool) -> None:
        self.home = home
        self.confined = confined
        self._tried: str | None = None
        self._commands = False
        self._database: str | None = None
        """The file that the last database was to be in."""
        self._written: set[str] = set()
        """Files that were to be written."""
        self._installs = False
        self._script = b""
        """The cell, if it is a script for another program."""
        if confined:
            sys.addaudithook(self._hook)

    def begin(self, source: str) -> None:
        """A cell begins."""
        self._tried = self._database = None
        self._written = set()
        self._commands = self._installs = False
        self._script = source.encode("utf-8", "replace") if _SCRIPT.match(source) else b""

    def of(self, error: BaseException | None) -> dict[str, str | bool]:
        """Of the cell that has ended, and the exception that left it: ``rule``, and where that is not known
        here ``missing``, the path of a file that was not found, from `home` where it lies there or around.
        ``module``: it is a module's in the current folder, without the end of its name. ``commands``: it
        started processes, of which `of_commands` tells more. ``installs``: one of them was pip's, of which
        `is_installed` does."""
        told = {"commands": self._commands, "installs": self._installs}
        return self._of(error) | {name: True for name, happened in told.items() if happened}

    def _of(self, error: BaseException | None) -> dict[str, str | bool]:
        seen = [*_chain(error)]
        rule = next((found for each in seen if (found := self._rule(each)) is not None), self._tried)
        if rule is not None:
            return {"rule": rule}
        for each in seen:
            if isinstance(each, FileNotFoundError) and isinstance(each.filename, str):
                return {"missing": self._missing(each.filename, each.filename in self._written)}
            if self._database is not None and self._no_database(each):
                return {"missing": self._missing(self._database, not os.path.exists(self._database))}
            if isinstance(each, ModuleNotFoundError) and each.name:
                module = os.path.abspath(each.name.partition(".")[0])
                return {"missing": self._from_home(module), "module": True}
        return {}

    def _rule(self, error: BaseException) -> str | None:
        if isinstance(error, MemoryError):
            return "memory"
        if isinstance(error, RuntimeError) and "start new thread" in str(error):
            return "processes"
        if type(error).__name__ == "StdinNotImplementedError":  # IPython's
            return "input"
        if isinstance(error, EOFError) and self.confined and _left_in(error, "managers.py"):
            return "sockets"  # of a process that serves others' objects
        if self.confined and self._database is not None and self._no_database(error):
            folder = os.path.dirname(os.path.abspath(self._database))
            if os.path.isdir(folder) and not os.access(folder, os.W_OK):
                return "files outside"  # as of any other file that is to be made there
        if isinstance(error, KeyError) and self.confined and _NO_USER in str(error):
            return "user"
        if not isinstance(error, OSError):
            return None
        number = error.errno
        if number in _BY_NUMBER:
            if number == errno.EAGAIN and not _left_in(error, "fork", "_execute_child"):
                return None
            return _BY_NUMBER[number]
        if not self.confined:
            return None
        if type(error).__name__ == "gaierror" or number in _OF_NETWORK:
            return "network"
        if number in (errno.EPERM, errno.EACCES) and _left_in(error, "synchronize.py", "shared_memory.py"):
            return "shared memory"
        if number == errno.EPERM:
            if self._tried is not None:
                return self._tried
            return "sockets" if _left_in(error, "socket.py", "/asyncio/") else "system calls"
        if number in (errno.EACCES, errno.EROFS):
            return "files outside"
        return None

    def _no_database(self, error: BaseException) -> bool:
        return type(error).__name__ == "OperationalError" and _NO_DATABASE in str(error)

    def _missing(self, path: str, new: bool) -> str:
        """What was missing for a file: itself, or where it is new its folder."""
        path = os.path.abspath(path)
        folder = os.path.dirname(path)
        return self._from_home(folder if new and not os.path.isdir(folder) else path)

    def _from_home(self, path: str) -> str:
        ours = os.path.dirname(self.home)
        return os.path.relpath(path, self.home) if f"{path}/".startswith(f"{ours}/") else path

    def _hook(self, event: str, given: tuple[Any, ...]) -> None:
        if event in _LOOKS_UP:
            if not _is_own(given[0]):
                self._tried = "network"
        elif event == "socket.__new__":
            if self._tried is None and len(given) > 1 and given[1] in (2, 10) and given[0].fileno() < 0:
                self._tried = "sockets"
        elif event == "socket.connect":
            address = given[1]
            if isinstance(address, tuple) and address and not _is_own(address[0]):
                self._tried = "network"
        elif event == "open":
            path, _, flags = given
            writes = isinstance(path, str) and isinstance(flags, int) and flags & _WRITES
            if writes and len(self._written) < _MOST_WRITTEN:
                self._written.add(path)
        elif event == "sqlite3.connect":
            self._database = given[0] if isinstance(given[0], str) else None
        elif event in ("subprocess.Popen", "os.system", "os.posix_spawn", "pty.spawn"):
            self._commands = True
            command = _command(given) + b"\n" + self._script
            self._installs = self._installs or _INSTALLS.search(command) is not None
            if _FETCHES.search(command):
                self._tried = "network"


_NO_NETWORK = re.compile(
    r"Temporary failure in name resolution|Could not resolve host|Network is unreachable"
)
_INSTALLED = "Requirement already satisfied"
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
"""How the tools of a system name a path and the reason: ``cat: /a: Permission denied``."""


def of_commands(shown: str) -> str | None:
    """The rule of ours that commands of a cell met, told by what they wrote to both streams; None if none
    is known. Not in the kernel's process, but outside, where a file that was refused can be looked at: it is
    ours only if it is there and may be read, or its folder be written to."""
    if _NO_NETWORK.search(shown):
        return "network"
    if "cannot find name for user ID" in shown:
        return "user"
    for found in _REFUSED.finditer(shown):
        path = found[1]
        if not path.startswith(PROCESS_FOLDERS) and _is_allowed(path, found["why"]):
            return "files outside"
    return None


def is_installed(shown: str) -> bool:
    """Whether pip found everything that it was to install, by what it showed, and so needed no network."""
    return _INSTALLED in shown and _NOT_INSTALLED.search(shown) is None


def _is_allowed(path: str, why: str) -> bool:
    """Whether out here nothing is in the way of what a command could not do."""
    if why.startswith("No such"):
        return os.path.exists(path)
    return can_open(path, writes=not (why.startswith("Permission") and os.path.exists(path)))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those that it came of, nearest first."""
    waiting = [error]
    seen: list[BaseException] = []
    while waiting and len(seen) < _CHAIN:
        each = waiting.pop(0)
        if not isinstance(each, BaseException) or any(each is other for other in seen):
            continue
        seen.append(each)
        yield each
        given = each.args[0] if each.args else None  # urllib's URLError, what requests raises
        waiting += [each.__cause__, each.__context__, given]


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


def _command(given: tuple[Any, ...]) -> bytes:
    """What a process is started with, as an audit event has it."""
    parts: list[Any] = []
    for each in given[:2]:
        parts += each if isinstance(each, list | tuple) else [each]
    texts = [part.encode("utf-8", "replace") if isinstance(part, str) else part for part in parts]
    return b" ".join(text for text in texts if isinstance(text, bytes))
