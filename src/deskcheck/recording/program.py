"""What was run, as data: a program, where it came from, and the environment it ran in."""

import platform
import re
import sys
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from deskcheck._version import __version__

FILES_BESIDE = 1000
"""Entries of a folder that a program may find beside it; where there are more, it finds none of them."""


class Mode(StrEnum):
    """How a program is run."""

    CALL = "call"
    """The code is executed as a module, then ``entry(arguments)`` is called; only the call is recorded."""
    MODULE = "module"
    """The code is executed as a module, and that is recorded."""
    SESSION = "session"
    """Statement by statement, as typed at the interactive prompt: values of expressions are
    shown, an exception is shown and the next statement runs. This is how doctests run."""


_LINE_END = re.compile(r"\r\n|\r|\n")


def code_lines(code: str) -> list[str]:
    """The lines of a program's text as the interpreter counts them, without their ends.

    They end at a line feed, a carriage return or both (Language Reference, "Physical lines"), and at
    nothing else: `str.splitlines` ends a line at a form feed and seven other characters, too.
    """
    lines = _LINE_END.split(code)
    return lines if lines[-1] else lines[:-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program and where it came from.

    `code` is the source text; `filename` names it in events and tracebacks. In `Mode.CALL`, `entry`
    is a function (or a dotted path to a method) that the code defines and `arguments` the Python
    text of an argument list with its parentheses, as ``(3, seed=1)``.

    `module` is an importable module whose namespace the code starts from and whose own functions
    are recorded with it; `path` is a folder put last on the import path. Without a `module`, what else
    lies in that folder can be read by its relative path, up to `FILES_BESIDE` entries. `expected` is what
    the source of the program says will happen, as text in the source's own form.
    """

    id: str
    code: str
    mode: Mode = Mode.MODULE
    filename: str = "program.py"
    entry: str | None = None
    arguments: str | None = None
    module: str | None = None
    path: str | None = None
    expected: str | None = None
    source: str = ""
    licence: str | None = None
    train_ok: bool = False
    date: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mode is Mode.CALL and (self.entry is None or self.arguments is None):
            raise ValueError(f"program {self.id!r}: mode 'call' needs an entry and arguments")

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON-able values; `Program.from_dict` reads them back."""
        return {**asdict(self), "mode": self.mode.value}

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "Program":
        """Inverse of `to_dict`; unknown keys are ignored, so that newer files stay readable."""
        known = cls.__dataclass_fields__  # what `fields` makes a list of, each time
        values = {key: value for key, value in row.items() if key in known}
        return cls(**{**values, "mode": Mode(values["mode"])})


_IN_FILES = {"granularity": "level"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Where a program ran: what a reader needs to run it again."""

    python: str
    """Version of the interpreter, as ``3.12.1``."""
    implementation: str
    platform: str
    hash_seed: int | None
    """PYTHONHASHSEED; None: whatever the process had."""
    deskcheck: str
    """Version of deskcheck that recorded."""
    tracer: str
    """Which tracer: ``native``, or ``reference`` where its C core is missing."""
    packages: dict[str, str] = field(default_factory=dict)
    """Distributions that the program imported, with versions."""
    granularity: str = "line"
    """How closely the tracer looked: ``line``, or ``instruction``."""
    limits: dict[str, Any] = field(default_factory=dict)
    """What the user asked to be left out, in the words of `TraceLimits`: `only`, `call_depth`, ..."""
    run_limits: dict[str, Any] = field(default_factory=dict)
    """What bounded the run, in the words of `Limits`: `cpu_s`, `memory_bytes`, ..."""
    trace_limits: dict[str, Any] = field(default_factory=dict)
    """What bounded the trace, in the words of `TraceLimits`: `events`, `items`, ..."""
    sandbox: str | None = None
    """How closely the program was confined: ``strict``, ``standard``, ``trusted``."""
    accounts: dict[str, str] = field(default_factory=dict)
    """What counted the `memory`, `pids` and `cpu` of the run: a control group, or what stood for it."""
    name: str | None = None
    """Of the environment that was built for it (`deskcheck env`); None: what deskcheck runs in."""
    installed: dict[str, str] = field(default_factory=dict)
    """Every distribution in that environment, with its version."""
    pins_sha256: str | None = None
    """Over what the environment was asked to be: pins, Python version, platform."""
    installed_sha256: str | None = None
    """Over the files of what is installed in it."""

    fixed: dict[str, Any] = field(default_factory=dict)
    """What the program found in place of clocks, random numbers and the like, in the words of
    `Determinism`."""

    def to_dict(self) -> dict[str, Any]:
        """As it stands in files, where the granularity is called ``level`` (docs/reference/format.md)."""
        row = asdict(self)
        return {_IN_FILES.get(name, name): value for name, value in row.items()}

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "Environment":
        """What `to_dict` gave; keys of later versions are passed over."""
        known = {_IN_FILES.get(field_of.name, field_of.name): field_of.name for field_of in fields(cls)}
        return cls(**{known[name]: value for name, value in row.items() if name in known})

    @classmethod
    def here(
        cls,
        *,
        tracer: str,
        hash_seed: int | None,
        packages: dict[str, str],
        granularity: str = "line",
        limits: dict[str, Any] | None = None,
        fixed: dict[str, Any] | None = None,
    ) -> "Environment":
        """The environment of a run with this interpreter."""
        return cls(
            python=platform.python_version(),
            implementation=sys.implementation.name,
            platform=platform.platform(),
            hash_seed=hash_seed,
            deskcheck=__version__,
            tracer=tracer,
            packages=packages,
            granularity=granularity,
            limits=limits or {},
            fixed=fixed or {},
        )
