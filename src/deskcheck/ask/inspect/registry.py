"""What the entry point ``inspect_ai`` loads: it registers our tasks, solvers, scorer, provider and
sandbox."""

from deskcheck.ask.inspect.sandbox import DeskcheckSandboxEnvironment
from deskcheck.ask.inspect.scaffolds import SOLVERS
from deskcheck.ask.inspect.solvers import chain_of_thought, compact, direct, dynamic_scratchpad, scratchpad
from deskcheck.ask.inspect.tasks import (
    OF_RECORDINGS,
    OF_SUITES,
    StandIn,
    asked,
    cell_output,
    crash,
    marked,
    next_cell,
)

__all__ = [
    "OF_RECORDINGS",
    "OF_SUITES",
    "SOLVERS",
    "DeskcheckSandboxEnvironment",
    "StandIn",
    "asked",
    "cell_output",
    "chain_of_thought",
    "compact",
    "crash",
    "direct",
    "dynamic_scratchpad",
    "marked",
    "next_cell",
    "scratchpad",
]
