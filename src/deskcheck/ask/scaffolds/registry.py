"""The methods that run code, by name: what each answers, its options, and how it works.

Their names and lines of description stand in `methods.solvers.METHODS` with all others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.ask.methods.solvers import named
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scaffolds.bench import Options, Solve
from deskcheck.ask.scaffolds.majority import MajorityOptions, majority
from deskcheck.ask.scaffolds.repair import RepairOptions, repair
from deskcheck.ask.scaffolds.rerank import RerankOptions, rerank
from deskcheck.ask.scoring.marking import PROGRAM_FORMS
from deskcheck.recording import InputError


@dataclass(frozen=True, slots=True)
class Scaffold:
    """options: the class of its options. forms: of the answers that it can give; None: all."""

    name: str
    options: type[Options]
    solve: Solve
    forms: frozenset[str] | None = None


SCAFFOLDS: Mapping[str, Scaffold] = {
    each.name: each
    for each in [
        Scaffold("majority", MajorityOptions, majority),
        Scaffold("rerank", RerankOptions, rerank, PROGRAM_FORMS),
        Scaffold("repair", RepairOptions, repair, PROGRAM_FORMS),
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
        if scaffold is None or scaffold.forms is None:
            continue
        for question, found in samples.items():
            odd = next((sample for sample in found if sample.data["form"] not in scaffold.forms), None)
            if odd is not None:
                raise InputError(cannot(scaffold, question, odd.data["form"]))


def cannot(scaffold: Scaffold, question: str, form: str) -> str:
    """Why a method does not answer a question."""
    forms = ", ".join(sorted(scaffold.forms or ()))
    return f"{scaffold.name} cannot answer {question}: its answers are {form}, and it gives {forms}."
