"""The options of the question `step`."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.errors import InputError
from deskcheck.settings import Setting

DETAILS = ("line", "instruction")
TOLD = ("dynamic", "scratchpad", "compact")
MOST_EVENTS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOptions:
    """The state that `step` asks for, and its notation.

    detail: the events that count: calls, lines, returns and the like; or each instruction too, for recordings
    of that granularity. jump: the number of events from the state that is shown to the one that is asked for;
    less than 0: backward. The jumps take turns. notation: the answer is a whole state, or the text that
    follows the shown state in a trace in that notation. In other notations a whole state cannot be read back.
    """

    detail: Annotated[
        str, Setting("step: which events count: line, or instruction for recordings that have them.")
    ] = "line"
    jump: Annotated[
        tuple[int, ...],
        Setting(
            "step: ask for the state this many events later. Several numbers, separated by commas, take "
            "turns. -1: one event earlier.",
            commas=True,
        ),
    ] = (1,)
    notation: Annotated[
        str,
        Setting(
            "step: how the answer is written: dynamic, a whole state; scratchpad, its whole frame; compact, "
            "the differences."
        ),
    ] = "dynamic"

    def __post_init__(self) -> None:
        for name, value, choices in (("detail", self.detail, DETAILS), ("notation", self.notation, TOLD)):
            if value not in choices:
                raise InputError(f"unknown {name} {value!r} of step. Choose from {', '.join(choices)}.")
        if not self.jump or len(set(self.jump)) < len(self.jump):
            raise InputError(f"jump={','.join(map(str, self.jump))!r}: name each once.")
        for jump in self.jump:
            if jump == 0 or abs(jump) > MOST_EVENTS:
                raise InputError(
                    f"jump={jump} must be from 1 to {MOST_EVENTS}, or from -{MOST_EVENTS} to -1: 0 is the "
                    "state that is shown."
                )
