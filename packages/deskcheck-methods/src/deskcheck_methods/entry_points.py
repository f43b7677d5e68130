"""The methods for deskcheck, which finds them by the entry points of the group ``deskcheck.methods``.

Inspect AI is imported when a solver is made.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from deskcheck.ask import Method, Sample, method
from deskcheck_methods.registry import SCAFFOLDS, scaffold_of

if TYPE_CHECKING:
    from inspect_ai.solver import Solver


def _method(name: str) -> Method:
    scaffold = SCAFFOLDS[name]

    def refuses(sample: Sample) -> str | None:
        return scaffold.refuses(sample.data["form"])

    @method(name, about=scaffold.about, check_options=partial(scaffold_of, name), refuses=refuses)
    def make(**options: Any) -> "Solver":
        from deskcheck_methods.solvers import SOLVERS

        return SOLVERS[name](**options)

    return make


majority = _method("majority")
rerank = _method("rerank")
repair = _method("repair")
decompose = _method("decompose")
roles = _method("roles")
emulate = _method("emulate")
program_of_thought = _method("program_of_thought")
examples = _method("examples")
lookahead = _method("lookahead")
