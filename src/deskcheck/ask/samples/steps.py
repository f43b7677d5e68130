"""What `step` asks, as far as its user says."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.errors import InputError
from deskcheck.settings import Setting

DETAILS = ("line", "instruction")
TOLD = ("dynamic", "scratchpad", "compact")
MOST_EVENTS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOptions:
    """Which state `step` asks for, and how it is written.

    detail: which events count: calls, lines, returns and the like; or each instruction too, which is in
    recordings of that granularity. jump: how many events the state is after the one that is shown; less than
    0: before it. The jumps take turns. notation: the answer is a whole state, or what a trace in that
    notation says next after the state that is shown. The other notations do not fit: from none of them can a
    whole state be read back.
    """

    detail: Annotated[
        str, Setting("step: which events count: line, or instruction for recordings that have them.")
    ] = "line"
    jump: Annotated[
        tuple[int, ...],
        Setting(
            "step: how many events later the state is that is asked for; several, separated by commas, take "
            "turns. -1: one event before.",
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
                raise InputError(f"there is no {name} {value!r} for step. Known are {', '.join(choices)}.")
        if not self.jump or len(set(self.jump)) < len(self.jump):
            raise InputError(f"jump={','.join(map(str, self.jump))!r}: name each that is wanted once.")
        for jump in self.jump:
            if jump == 0 or abs(jump) > MOST_EVENTS:
                raise InputError(
                    f"jump={jump} must lie from 1 to {MOST_EVENTS}, or from -{MOST_EVENTS} to -1: 0 is the "
                    "state that is shown."
                )
