"""A program, its source, and the environment it ran in, as data."""

import platform
import re
import sys
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from deskcheck._version import __version__

FILES_BESIDE = 1000
"""A program may read its folder if that has no more entries than this."""


class Mode(StrEnum):
    """How a program is run."""

    CALL = "call"
    """Execute the code as a module, then call ``entry(arguments)``. Only the call is recorded."""
    MODULE = "module"
    """Execute the code as a module, and record that."""
    SESSION = "session"
    """Execute the code statement by statement, like the interactive prompt. It prints the values of
    expressions; after an exception it goes to the next statement. Doctests run this way."""


_LINE_END = re.compile(r"\r\n|\r|\n")


def code_lines(code: str) -> list[str]:
    """The lines of a program's text as the interpreter counts them, without their ends.

    They end only at a line feed, a carriage return or both (Language Reference, "Physical lines").
    `str.splitlines` also ends a line at a form feed and at seven other characters.
    """
    lines = _LINE_END.split(code)
    return lines if lines[-1] else lines[:-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program and where it came from."""

    id: str
    code: str
    """Source text."""
    mode: Mode = Mode.MODULE
    filename: str = "program.py"
    """Name of the code in events and tracebacks."""
    entry: str | None = None
    """Function that `Mode.CALL` calls, or dotted path to a method."""
    arguments: str | None = None
    """Python text of the argument list of that call, with parentheses, such as ``(3, seed=1)``."""
    module: str | None = None
    """Importable module. The code starts in its namespace, and its functions are recorded too."""
    path: str | None = None
    """Folder that is put last on the import path. Without a `module`, the program can also read the files in
    it by their relative paths, if it has no more than `FILES_BESIDE` entries."""
    expected: str | None = None
    """Outcome that the source of the program promises, as text in the source's format."""
    source: str = ""
    licence: str | None = None
    train_ok: bool = False
    date: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mode is Mode.CALL and (self.entry is None or self.arguments is None):
            raise ValueError(f"program {self.id!r}: mode 'call' needs an entry and arguments")

    def to_dict(self) -> dict[str, Any]:
        """The fields as values for JSON. `Program.from_dict` reads them back."""
        return {**asdict(self), "mode": self.mode.value}

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "Program":
        """Inverse of `to_dict`. Unknown keys are ignored, so that files of later versions can be read."""
        own_fields = cls.__dataclass_fields__  # `fields` would make a list each time
        values = {key: value for key, value in row.items() if key in own_fields}
        return cls(**{**values, "mode": Mode(values["mode"])})


_IN_FILES = {"granularity": "level"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The environment that a program ran in: all that is needed to run it again."""

    python: str
    """Version of the interpreter, such as ``3.12.1``."""
    implementation: str
    platform: str
    hash_seed: int | None
    """PYTHONHASHSEED; None if it was not set for the run."""
    deskcheck: str
    """Version of deskcheck that made the recording."""
    tracer: str
    """``native``, or ``reference`` if the C core is not built."""
    packages: dict[str, str] = field(default_factory=dict)
    """Distributions that the program imported, with versions."""
    granularity: str = "line"
    """Granularity of the trace: ``line`` or ``instruction``."""
    limits: dict[str, Any] = field(default_factory=dict)
    """Limits of the user that leave events out, by the field of `TraceLimits`: `only`, `call_depth`, ..."""
    run_limits: dict[str, Any] = field(default_factory=dict)
    """Limits of the run, by the field of `Limits`: `cpu_s`, `memory_bytes`, ..."""
    trace_limits: dict[str, Any] = field(default_factory=dict)
    """Limits of the trace, by the field of `TraceLimits`: `events`, `items`, ..."""
    sandbox: str | None = None
    """Strictness of the sandbox: ``strict``, ``standard``, ``trusted``."""
    accounts: dict[str, str] = field(default_factory=dict)
    """Mechanism that counted `memory`, `pids` and `cpu` of the run: a control group, or its substitute."""
    name: str | None = None
    """Name of the environment that was built for the program (`deskcheck env`); None for the environment of
    deskcheck itself."""
    installed: dict[str, str] = field(default_factory=dict)
    """Every distribution in that environment, with its version."""
    pins_sha256: str | None = None
    """Digest of the request for the environment: pins, Python version, platform."""
    installed_sha256: str | None = None
    """Digest of the files that are installed in it."""

    fixed: dict[str, Any] = field(default_factory=dict)
    """Fixed values of clocks, random numbers and the like, by the field of `Determinism`."""

    def to_dict(self) -> dict[str, Any]:
        """The fields under their names in files, where granularity is ``level`` (format.md)."""
        row = asdict(self)
        return {_IN_FILES.get(name, name): value for name, value in row.items()}

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "Environment":
        """Inverse of `to_dict`. Keys of later versions are ignored."""
        names = {_IN_FILES.get(field_of.name, field_of.name): field_of.name for field_of in fields(cls)}
        return cls(**{names[name]: value for name, value in row.items() if name in names})

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
