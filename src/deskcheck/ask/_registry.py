"""What the entry point ``inspect_ai`` loads: it registers our tasks, scorer, provider and sandbox."""

from deskcheck.ask._inspect import (
    StandIn,
    cell_output,
    cruxeval_input,
    cruxeval_output,
    input_,
    marked,
    next_cell,
    next_line,
    output,
    path,
    state,
)
from deskcheck.ask._inspect_sandbox import DeskcheckSandboxEnvironment

__all__ = [
    "DeskcheckSandboxEnvironment",
    "StandIn",
    "cell_output",
    "cruxeval_input",
    "cruxeval_output",
    "input_",
    "marked",
    "next_cell",
    "next_line",
    "output",
    "path",
    "state",
]
