"""The methods that run code, by name: what each answers, its options, and how it works.

Their names and lines of description stand in `methods.solvers.METHODS` with all others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.ask.methods.solvers import named
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scaffolds.bench import Options, Solve
from deskcheck.ask.scaffolds.decompose import DecomposeOptions, decompose
from deskcheck.ask.scaffolds.emulate import EmulateOptions, emulate
from deskcheck.ask.scaffolds.examples import ExamplesOptions, examples
from deskcheck.ask.scaffolds.lookahead import FORMS as LOOKED_AHEAD
from deskcheck.ask.scaffolds.lookahead import LookaheadOptions, lookahead
from deskcheck.ask.scaffolds.majority import MajorityOptions, majority
from deskcheck.ask.scaffolds.program_of_thought import ProgramOfThoughtOptions, program_of_thought
from deskcheck.ask.scaffolds.repair import RepairOptions, repair
from deskcheck.ask.scaffolds.rerank import RerankOptions, rerank
from deskcheck.ask.scaffolds.roles import RolesOptions, roles
from deskcheck.ask.scoring.score import PROGRAM_FORMS
from deskcheck.recording import InputError


@dataclass(frozen=True, slots=True)
class Scaffold:
    """options: the class of its options. forms: of the answers that it can give; None: all but
    `not_forms`."""

    name: str
    options: type[Options]
    solve: Solve
    forms: frozenset[str] | None = None
    not_forms: frozenset[str] = frozenset()

    def answers(self, form: str) -> bool:
        """Whether it can give answers of a form."""
        return form not in self.not_forms and (self.forms is None or form in self.forms)


SCAFFOLDS: Mapping[str, Scaffold] = {
    each.name: each
    for each in [
        Scaffold("majority", MajorityOptions, majority),
        Scaffold("rerank", RerankOptions, rerank, PROGRAM_FORMS),
        Scaffold("repair", RepairOptions, repair, PROGRAM_FORMS),
        Scaffold("decompose", DecomposeOptions, decompose, PROGRAM_FORMS),
        Scaffold("roles", RolesOptions, roles, PROGRAM_FORMS),
        Scaffold("emulate", EmulateOptions, emulate, not_forms=PROGRAM_FORMS),
        Scaffold("program_of_thought", ProgramOfThoughtOptions, program_of_thought, not_forms=PROGRAM_FORMS),
        Scaffold("examples", ExamplesOptions, examples),
        Scaffold("lookahead", LookaheadOptions, lookahead, LOOKED_AHEAD),
    ]
}
"""Name of a method -> the method."""


def scaffold_of(name: str, given: Mapping[str, Any]) -> tuple[Scaffold, Options]:
    """A method with its options. Raises InputError: it has no such option, or no such value."""
    found = SCAFFOLDS[name]
    return found, found.options.of(name, given)


def check_options(methods: tuple[str, ...]) -> None:
    """Raises InputError where a method is named with options that it does not have."""
    for text in methods:
        known, given = named(text)
        if known.name in SCAFFOLDS:
            scaffold_of(known.name, given)
        elif given:
            raise InputError(f"{text}: the method {known.name} has no options.")


def check_answers(methods: tuple[str, ...], samples: Mapping[str, list[Sample]]) -> None:
    """Raises InputError where a method cannot answer a question. samples: by question."""
    for text in methods:
        scaffold = SCAFFOLDS.get(named(text)[0].name)
        if scaffold is None:
            continue
        for question, found in samples.items():
            odd = next((sample for sample in found if not scaffold.answers(sample.data["form"])), None)
            if odd is not None:
                raise InputError(cannot(scaffold, question, odd.data["form"]))


def cannot(scaffold: Scaffold, question: str, form: str) -> str:
    """Why a method does not answer a question."""
    gives = " or ".join(sorted(scaffold.forms)) if scaffold.forms else "anything else"
    return f"{scaffold.name} cannot answer {question}: that asks for {form}, and it gives {gives}."
