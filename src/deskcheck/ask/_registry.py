"""What the entry point ``inspect_ai`` loads: it registers every task, scorer and provider of ours."""

from deskcheck.ask._inspect import (
    StandIn,
    cruxeval_input,
    cruxeval_output,
    input_,
    marked,
    next_line,
    output,
    path,
    state,
)

__all__ = [
    "StandIn",
    "cruxeval_input",
    "cruxeval_output",
    "input_",
    "marked",
    "next_line",
    "output",
    "path",
    "state",
]
