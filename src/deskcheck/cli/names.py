"""Commands that list names and check the installation: `list`, `doctor`."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from deskcheck.cli.common.output import Json
from deskcheck.errors import InputError
from deskcheck.sandbox.confinement import Confinement
from deskcheck.terminal import console_out
from deskcheck.tracer import tracer_class


def list_names(
    sort: Annotated[
        str | None,
        typer.Argument(
            metavar="[SORT]", help="questions, benchmarks, notations, methods, models or sources."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the names of question kinds, benchmarks, notations, methods, models and sources of programs."""
    from deskcheck.view.catalogue import catalogue, catalogue_table

    lists = catalogue()
    if sort is not None:
        if sort not in lists:
            raise InputError(f"unknown list {sort!r}. The lists are {', '.join(lists)}.")
        lists = {sort: lists[sort]}
    if as_json:
        print(json.dumps({name: dict(names) for name, names in lists.items()}))
    else:
        console_out().print(catalogue_table(lists))


def list_models(as_json: Json = False) -> None:
    """List the models for `ask`: those that need no network, and how to name others."""
    list_names("models", as_json)


def doctor(as_json: Json = False) -> None:
    """Show which means of confinement this kernel has, what follows from missing ones, and the tracer."""
    from deskcheck.recorder.programs import slow
    from deskcheck.sandbox.layers import layers, refusals

    kernel_layers, why_not = layers(), refusals()
    tracer = tracer_class().name
    if as_json:
        facts = {"layers": [asdict(layer) for layer in kernel_layers], "levels": why_not, "tracer": tracer}
        print(json.dumps(facts))
    else:
        table = Table(show_edge=False, pad_edge=False)
        for name in ("layer", "here", "found", "used by", "without it"):
            table.add_column(name)
        for layer in kernel_layers:
            row = (layer.name, "yes" if layer.works else "no", layer.description, ", ".join(layer.levels))
            table.add_row(*row, "" if layer.works else layer.missing)
        console = console_out()
        console.print(table)
        for level, refusal in why_not.items():
            console.print(f"{level.value}: {refusal or 'available'}", markup=False)
        note = f": {slow(None)}" if tracer == "reference" else ""
        console.print(f"tracer: {tracer}{note}", markup=False)
    if why_not[Confinement.STRICT]:
        raise typer.Exit(1)
