"""Lists of the names for the command line: question kinds, benchmarks, notations, methods, models, sources.

They are read from the registries."""

from collections.abc import Mapping

from rich.markup import escape
from rich.table import Table

from deskcheck.ask import BENCHMARKS, METHODS, NOTEBOOK_QUESTIONS, QUESTIONS
from deskcheck.ask.baselines.stand_ins import BASELINES
from deskcheck.notation import NOTATIONS
from deskcheck.sources import SOURCES
from deskcheck.sources.sources import OTHERS

PROVIDERS = "PROVIDER/MODEL"


def catalogue() -> dict[str, Mapping[str, str]]:
    """List -> name -> description in a line."""
    programs = {name: question.about for name, question in QUESTIONS.items()}
    benchmarks = {name: benchmark.about for name, benchmark in BENCHMARKS.items()}
    notations = {name: notation.about for name, notation in NOTATIONS.items()}
    methods = {name: method.about for name, method in METHODS.items()}
    models = {f"deskcheck/{name}": model.about for name, model in BASELINES.items()}
    models["taught/nano"] = "the small model of deskcheck, or taught/FOLDER: state by state"
    models["processor/nano"] = "the model computes while a machine runs the program"
    models["reader/nano"] = (
        "the model also reads the program's lines; or reader/FOLDER, from `teach --level reader`"
    )
    models[PROVIDERS] = "any model that Inspect AI reaches, such as openai/gpt-4o-mini or hf/NAME"
    return {
        "questions": programs | dict(NOTEBOOK_QUESTIONS),
        "benchmarks": benchmarks,
        "notations": notations,
        "methods": methods,
        "models": models,
        "sources": {**SOURCES, **{f"{source.name}:...": source.about for source in OTHERS.values()}},
    }


def catalogue_table(lists: Mapping[str, Mapping[str, str]]) -> Table:
    """A table with a row for each name, under the heading of its list."""
    table = Table(show_edge=False, pad_edge=False, show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, overflow="ellipsis")
    table.add_column(overflow="fold")
    for number, (sort, names) in enumerate(lists.items()):
        if number:
            table.add_row()
        table.add_row(f"[bold]{sort}[/bold]")
        for name, about in names.items():
            table.add_row("  " + escape(name), escape(about))
    return table
