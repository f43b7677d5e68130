"""Commands about named sets of packages: `env build` and the others."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from deskcheck.cli.common.output import Json, say
from deskcheck.terminal import console_out

environments = typer.Typer(no_args_is_help=True, help="Named sets of pinned packages for programs.")


@environments.command("build")
def build_environments(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="What to install in each: a TOML file (name, python, packages, modules), or a requirements "
            "file, whose stem is the name. Every package is pinned.",
        ),
    ],
    wheels: Annotated[
        Path | None, typer.Option(help="A folder of wheels to install from, without a package index.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Install environments with venv and pip. Each is built once."""
    from deskcheck.sandbox.environments import EnvironmentSpec, build

    specs = [EnvironmentSpec.read(file) for file in files]
    _show_environments([build(spec, wheels=wheels, note=say) for spec in specs], as_json)


@environments.command("list")
def list_environments(as_json: Json = False) -> None:
    """List the built environments."""
    from deskcheck.sandbox.environments import environments

    _show_environments(environments(), as_json)


@environments.command("freeze")
def freeze_environment(name: Annotated[str, typer.Argument(help="The name of a built environment.")]) -> None:
    """Print all packages in an environment, pinned, as a requirements file."""
    from deskcheck.sandbox.environments import find

    print(find(name).freeze(), end="")


@environments.command("remove")
def remove_environments(names: Annotated[list[str], typer.Argument(metavar="NAME...")]) -> None:
    """Remove environments. Recordings made with them keep the names and digests of these environments."""
    from deskcheck.sandbox.environments import remove

    for name in names:
        remove(name)


def _show_environments(built: list[Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"environments": [environment.to_dict() for environment in built]}))
        return
    table = Table(show_edge=False, pad_edge=False)
    for title in ("name", "Python", "packages", "installed", "interpreter"):
        table.add_column(title, overflow="fold")
    for environment in built:
        row = (environment.name, environment.python_version, " ".join(environment.packages))
        table.add_row(*row, str(len(environment.installed)), environment.python)
    console_out().print(table)
