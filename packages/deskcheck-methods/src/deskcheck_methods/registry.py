"""The methods that run code, by name: what each answers, its options, and how it works."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.ask.scoring.score import PROGRAM_FORMS
from deskcheck_methods.bench import Options, Solve
from deskcheck_methods.decompose import DecomposeOptions, decompose
from deskcheck_methods.emulate import EmulateOptions, emulate
from deskcheck_methods.examples import ExamplesOptions, examples
from deskcheck_methods.lookahead import FORMS as LOOKED_AHEAD
from deskcheck_methods.lookahead import LookaheadOptions, lookahead
from deskcheck_methods.majority import MajorityOptions, majority
from deskcheck_methods.program_of_thought import ProgramOfThoughtOptions, program_of_thought
from deskcheck_methods.repair import RepairOptions, repair
from deskcheck_methods.rerank import RerankOptions, rerank
from deskcheck_methods.roles import RolesOptions, roles


@dataclass(frozen=True, slots=True)
class Scaffold:
    """about: what it does, in a line. options: the class of its options. forms: of the answers that it can
    give; None: all but `not_forms`."""

    name: str
    about: str
    options: type[Options]
    solve: Solve
    forms: frozenset[str] | None = None
    not_forms: frozenset[str] = frozenset()

    def refuses(self, form: str) -> str | None:
        """Why it cannot give answers of a form; None if it can."""
        if form not in self.not_forms and (self.forms is None or form in self.forms):
            return None
        gives = " or ".join(sorted(self.forms)) if self.forms else "anything else"
        return f"that asks for {form}, and it gives {gives}"


SCAFFOLDS: Mapping[str, Scaffold] = {
    each.name: each
    for each in [
        Scaffold("majority", "several samples; the answer that most of them give", MajorityOptions, majority),
        Scaffold(
            "rerank",
            "several programs; one of those whose results on found inputs agree",
            RerankOptions,
            rerank,
            PROGRAM_FORMS,
        ),
        Scaffold(
            "repair",
            "a program, repaired by visible tests, with a true or predicted trace",
            RepairOptions,
            repair,
            PROGRAM_FORMS,
        ),
        Scaffold(
            "decompose",
            "a program, worked on function by function by recorded calls",
            DecomposeOptions,
            decompose,
            PROGRAM_FORMS,
        ),
        Scaffold(
            "roles", "a team of roles on a program, by a file of prompts", RolesOptions, roles, PROGRAM_FORMS
        ),
        Scaffold(
            "emulate",
            "a program for the kind of question, written once and simulated",
            EmulateOptions,
            emulate,
            not_forms=PROGRAM_FORMS,
        ),
        Scaffold(
            "program_of_thought",
            "a program that prints the answer, run in the sandbox",
            ProgramOfThoughtOptions,
            program_of_thought,
            not_forms=PROGRAM_FORMS,
        ),
        Scaffold(
            "examples",
            "the question after others that the same model answered right",
            ExamplesOptions,
            examples,
        ),
        Scaffold(
            "lookahead",
            "a cell is run; the model fills in what is not defined",
            LookaheadOptions,
            lookahead,
            LOOKED_AHEAD,
        ),
    ]
}
"""Name of a method -> the method."""


def scaffold_of(name: str, given: Mapping[str, Any]) -> tuple[Scaffold, Options]:
    """A method with its options. Raises InputError: it has no such option, or no such value."""
    found = SCAFFOLDS[name]
    return found, found.options.of(name, given)
