"""Limits on the size of recorded values and on the number of events."""

import builtins
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from deskcheck.settings import Setting

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLimits:
    """Limits of a trace. A value that exceeds a limit is cut, and marked as cut.

    `call_depth` and `repetitions` leave events out, and the next event has their number (format.md, *Gaps*).

    Raises ValueError if `call_depth` or `repetitions` is less than one.
    """

    items: int = 1000
    """Items of one container."""
    text_chars: int = 10_000
    """Characters of one string, or bytes."""
    int_digits: int = 4300
    """Digits of one int. 4300 is the limit of the interpreter for converting an int to text."""
    depth: int = 60
    """References from a variable to a value inside."""
    objects: int = 20_000
    """Objects that one event can reach."""
    events: Annotated[
        int,
        Setting(
            "Events recorded of each thread (1,000,000), or of a call that a test makes (5,000).",
            min=1,
            flag="--max-events",
        ),
    ] = 1_000_000
    """Events of one thread. After that the program continues unrecorded, and the trace says that it is
    cut."""
    call_depth: Annotated[
        int | None,
        Setting("Depth of nested calls that are recorded. Deeper calls are only counted.", min=1),
    ] = None
    """Depth of nested recorded frames, at least one."""
    repetitions: Annotated[
        int | None,
        Setting(
            "Maximum number of times that a line of a frame is recorded. Further repetitions are only "
            "counted.",
            min=1,
            flag="--max-repetitions",
        ),
    ] = None
    """How often one line of a frame is recorded, at least once; at instruction granularity also one
    instruction."""
    only: Annotated[
        tuple[str, ...],
        Setting(
            "Record only this code: a function or class (with everything inside it), MODULE, "
            "MODULE.FUNCTION, FILE.py or FILE.py::FUNCTION. May be given again.",
            metavar="NAME",
        ),
    ] = ()
    """Names of the only code to record: a module, ``pkg.module``; a file, ``module.py``; or a function or
    class with everything inside it, ``function``, ``module.Class.method`` or ``module.py::function``. Empty
    for all."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "only", tuple(self.only))  # JSON gives a list
        for name in ("call_depth", "repetitions"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name}={value} must be at least 1; leave it out for no limit")

    @property
    def leaving_out(self) -> dict[str, Any]:
        """The limits that leave events out and are set."""
        limits = {"only": list(self.only), "call_depth": self.call_depth, "repetitions": self.repetitions}
        return {name: value for name, value in limits.items() if value}

    def chooses(self, file: str, qualname: str) -> bool:
        """Whether `only` allows to record this code.

        file: the name of the file in events.
        qualname: `co_qualname` without comprehensions.
        """
        if not self.only:
            return True
        inside = qualname.replace(".<locals>", "")
        module = file.removesuffix(".py").replace("/", ".")
        return any(_names(name, file, module, inside) for name in self.only)


def _names(name: str, file: str, module: str, inside: str) -> bool:
    where, separator, function = name.partition("::")
    if separator:
        return _ends_in(file, where) and _begins_with(inside, function)
    if name.endswith(".py"):
        return _ends_in(file, name)
    return _begins_with(f"{module}.{inside}", name) or _begins_with(inside, name)


def _begins_with(dotted: str, name: str) -> bool:
    return dotted == name or dotted.startswith(f"{name}.")


def _ends_in(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")


class Granularity(StrEnum):
    """Granularity of a trace: an event at every line, or also at every instruction."""

    LINE = "line"
    INSTRUCTION = "instruction"
