"""What was drawn, left outside of a kernel's variables by one cell and read there by another: in files and in
environment variables; and what a command of the shell is given of it.

In the kernel's process. A file counts as written by a cell, by a process of it too, if it was changed last
while the cell ran. Files that are read are told by the interpreter's audit events, and by the arguments of
functions whose names say that they read. Not seen: names of files that are drawn, servers, the clipboard."""

import ast
import os
import re
import sys
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

from deskcheck.notebook.kernel.chance.sources import READS
from deskcheck.notebook.state.dependencies import parse

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_MOST = 1000
"""So many files that a cell opens are looked at."""
_CHARS = 1000
_CLOCK_OF_FILES = 5 if sys.platform == "linux" else time.CLOCK_REALTIME
"""Linux gives files the time of its last tick: ``CLOCK_REALTIME_COARSE``. Notebooks may put another function
in the place of `time.time`."""
_COMMAND = re.compile(r"^\s*(?:([\w, ]+)=\s*)?(?:!|%sx\b|%system\b)(.*)$", re.MULTILINE)
"""Variables that get what it prints, and a command of the shell. IPython puts values of variables into it."""
_WORD = re.compile(r"\w+")
_SCRIPT = re.compile(r"\A\s*%%(?:bash|sh|script|!)")


class Left(NamedTuple):
    """name: of a file or variable that has what was drawn. label: of the generator."""

    name: str
    label: str


class Outside:
    """Of the cells of one kernel, in their order."""

    def __init__(self) -> None:
        self._written: list[tuple[int, int, str]] = []
        """When a cell began and ended that had what was drawn, and which generator drew it."""
        self._variables: dict[str, str] = {}
        """Environment variables that have what was drawn: the generator."""
        self._began = 0
        self._before: dict[str, str] = {}
        self._opened: set[str] = set()

    def watch(self) -> None:
        """From now on, see which files are opened."""
        own = weakref.ref(self)

        def hook(event: str, given: tuple[Any, ...]) -> None:
            found = own() if event in ("open", "sqlite3.connect") else None
            if found is not None and found._written:
                found._opens(event, given)

        sys.addaudithook(hook)

    def _opens(self, event: str, given: tuple[Any, ...]) -> None:
        path, flags = given[0], given[2] if event == "open" else 0
        if type(path) in (str, bytes) and not (flags or 0) & _WRITES and len(self._opened) < _MOST:
            self._opened.add(os.path.abspath(os.fsdecode(path)))

    def begin(self) -> None:
        """A cell begins."""
        self._began = time.clock_gettime_ns(_CLOCK_OF_FILES)
        self._before = dict(os.environ)
        self._opened.clear()

    def reads(self, code: str, namespace: Mapping[str, Any]) -> Left | None:
        """What the cell that has ended read that was drawn."""
        if not (self._written or self._variables):
            return None
        tree = parse(code) or ast.Module([], [])
        for path in sorted({*self._opened, *_named_files(tree, namespace)} if self._written else ()):
            label = self._writer(path)
            if label is not None:
                return Left(os.path.basename(path), label)
        texts = {each.value for each in _constants(tree)} if self._variables else set()
        for name, label in self._variables.items():
            if name in texts:
                return Left(name, label)
        return None

    def _writer(self, path: str) -> str | None:
        """The generator of what was drawn by the cell that changed a file last; None: none was."""
        try:
            changed = os.stat(path).st_mtime_ns
        except (OSError, ValueError):
            return None
        for began, ended, label in self._written:
            if began <= changed <= ended:
                return label
        return None

    def end(self, label: str | None) -> None:
        """The cell has ended. label: the generator of what was drawn and it had; None: it had nothing."""
        changed = {
            name for name in {*self._before, *os.environ} if self._before.get(name) != os.environ.get(name)
        }
        if label is None:
            for name in changed:
                self._variables.pop(name, None)
            return
        self._variables |= dict.fromkeys(changed, label)
        self._written.append((self._began, time.clock_gettime_ns(time.CLOCK_REALTIME), label))

    def in_shell(self, code: str, names: Mapping[str, str]) -> Left | None:
        """What of that which was drawn a cell gives to a command of the shell: ``!echo {name}``, ``$NAME``.
        names: variables that have it, each with the generator."""
        commands = "\n".join(command for _, command in _COMMAND.findall(code))
        script = code if _SCRIPT.match(code) else commands
        for text, given in ((commands, names), (script, self._variables)):
            for name, label in given.items() if text else ():
                if re.search(rf"\{{[^{{}}]*\b{re.escape(name)}\b|\$\{{?{re.escape(name)}\b", text):
                    return Left(name, label)
        return None


def kept_of_shell(code: str) -> Iterator[str]:
    """Variables that a cell gives what a command of the shell printed."""
    for targets, _ in _COMMAND.findall(code):
        yield from _WORD.findall(targets)


def _constants(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node


def _named_files(tree: ast.Module, namespace: Mapping[str, Any]) -> Iterator[str]:
    """Files that are given to a function or method whose name says that it reads."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        own = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if not isinstance(own, str) or not READS.search(own):
            continue
        for each in (*node.args, *(given.value for given in node.keywords)):
            value: Any = each.value if isinstance(each, ast.Constant) else None
            if isinstance(each, ast.Name):
                value = namespace.get(each.id)
            if (type(value) is str and len(value) < _CHARS) or issubclass(type(value), PurePath):
                yield os.path.abspath(value)
