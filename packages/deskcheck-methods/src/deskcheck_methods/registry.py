"""The methods by name, in the order of `deskcheck list methods`."""

from collections.abc import Mapping
from typing import Any

from deskcheck_methods import (
    decompose,
    emulate,
    examples,
    lookahead,
    majority,
    program_of_thought,
    repair,
    rerank,
    roles,
)
from deskcheck_methods.bench import SCAFFOLDS as KNOWN
from deskcheck_methods.bench import Options, Scaffold

_METHODS = (majority, rerank, repair, decompose, roles, emulate, program_of_thought, examples, lookahead)
SCAFFOLDS: Mapping[str, Scaffold] = {
    name: KNOWN[name] for name in (module.__name__.rpartition(".")[2] for module in _METHODS)
}
"""The methods by name."""


def scaffold_of(name: str, values: Mapping[str, Any]) -> tuple[Scaffold, Options]:
    """A method with its options. Raises InputError for an unknown option or a wrong value."""
    scaffold = SCAFFOLDS[name]
    return scaffold, scaffold.options.of(name, values)
