"""How much of a value, and how many events, a tracer records."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLimits:
    """What is recorded is bounded; what is left out is marked where it is missing.

    items: of one container. text_chars: of one string or bytes. int_digits: of one int (4300 is the
    interpreter's own bound for turning an int into text). depth: steps of reference from a variable.
    objects: that one event can reach. events: of one thread; after that the program runs on
    unrecorded and the trace says that it is cut.
    """

    items: int = 1000
    text_chars: int = 10_000
    int_digits: int = 4300
    depth: int = 60
    objects: int = 20_000
    events: int = 1_000_000


class Level(StrEnum):
    """How closely a tracer looks: at every line, or at every instruction too."""

    LINE = "line"
    INSTRUCTION = "instruction"
