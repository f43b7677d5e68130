"""How much of a value, and how many events, a tracer records."""

import builtins
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from deskcheck.settings import Setting

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLimits:
    """What is recorded is bounded; what is left out is marked where it is missing.

    items: of one container. text_chars: of one string or bytes. int_digits: of one int (4300 is the
    interpreter's own bound for turning an int into text). depth: steps of reference from a variable.
    objects: that one event can reach. events: of one thread; after that the program runs on
    unrecorded and the trace says that it is cut.

    These leave events out where there are more, and the next event says how many (format.md, *Gaps*):
    call_depth: recorded frames that run inside one another, at least one. repetitions: how often one line
    of a frame is recorded (at instruction level one instruction too), at least once.

    only: names of the code that is recorded, of all that could be; without any, all. A module,
    ``pkg.module``; a file, ``module.py``; a function or class with all that is inside it, ``function``,
    ``module.Class.method`` or ``module.py::function``.

    Raises ValueError where `call_depth` or `repetitions` is less than one.
    """

    items: int = 1000
    text_chars: int = 10_000
    int_digits: int = 4300
    depth: int = 60
    objects: int = 20_000
    events: Annotated[
        int,
        Setting(
            "Events recorded of each thread (1,000,000), or of a call that a test makes (5,000).",
            min=1,
            flag="--max-events",
        ),
    ] = 1_000_000
    call_depth: Annotated[
        int | None,
        Setting("Calls inside one another that are recorded. Deeper ones are counted.", min=1),
    ] = None
    repetitions: Annotated[
        int | None,
        Setting(
            "How often a line of a frame is recorded. What a loop does beyond that is counted.",
            min=1,
            flag="--max-repetitions",
        ),
    ] = None
    only: Annotated[
        tuple[str, ...],
        Setting(
            "Record this alone, of what would be: a function or class (with what is inside it), MODULE, "
            "MODULE.FUNCTION, FILE.py or FILE.py::FUNCTION. May be given again.",
            metavar="NAME",
        ),
    ] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "only", tuple(self.only))  # a list, where it comes from JSON
        for name in ("call_depth", "repetitions"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name}={value} must be at least one; leave it out for no limit")

    @property
    def leaving_out(self) -> dict[str, Any]:
        """Those that leave events out, as far as they are set."""
        limits = {"only": list(self.only), "call_depth": self.call_depth, "repetitions": self.repetitions}
        return {name: value for name, value in limits.items() if value}

    def chooses(self, file: str, qualname: str) -> bool:
        """Whether code is recorded. file: the name that events give it; qualname: as in `co_qualname`,
        without comprehensions."""
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
    """How closely a tracer looks: at every line, or at every instruction too."""

    LINE = "line"
    INSTRUCTION = "instruction"
