"""What the entry point ``inspect_ai`` loads: it registers our tasks, solvers, scorer, provider and
sandbox."""

from deskcheck.ask.inspect.sandbox import DeskcheckSandboxEnvironment
from deskcheck.ask.inspect.solvers import chain_of_thought, compact, direct, dynamic_scratchpad, scratchpad
from deskcheck.ask.inspect.tasks import (
    StandIn,
    asked,
    cell_output,
    cruxeval_input,
    cruxeval_output,
    exception,
    input_,
    marked,
    next_cell,
    next_line,
    output,
    path,
    state,
)

__all__ = [
    "DeskcheckSandboxEnvironment",
    "StandIn",
    "asked",
    "cell_output",
    "chain_of_thought",
    "compact",
    "cruxeval_input",
    "cruxeval_output",
    "direct",
    "dynamic_scratchpad",
    "exception",
    "input_",
    "marked",
    "next_cell",
    "next_line",
    "output",
    "path",
    "scratchpad",
    "state",
]
