"""The module of the entry point ``inspect_ai``: it registers deskcheck's tasks, solvers, scorer, models and
sandbox."""

from deskcheck.ask.inspect.provider import StandIn
from deskcheck.ask.inspect.sandbox import DeskcheckSandboxEnvironment
from deskcheck.ask.inspect.scorer import scored
from deskcheck.ask.inspect.solvers import (
    chain_of_thought,
    compact,
    direct,
    dynamic_instruction,
    dynamic_scratchpad,
    scratchpad,
)
from deskcheck.ask.inspect.tasks import OF_BENCHMARKS, OF_RECORDINGS, asked, cell_output, crash, next_cell

__all__ = [
    "OF_BENCHMARKS",
    "OF_RECORDINGS",
    "DeskcheckSandboxEnvironment",
    "StandIn",
    "asked",
    "cell_output",
    "chain_of_thought",
    "compact",
    "crash",
    "direct",
    "dynamic_instruction",
    "dynamic_scratchpad",
    "next_cell",
    "scored",
    "scratchpad",
]
