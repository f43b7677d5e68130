"""The command line: parse, call, print. Results go to standard output, everything else to standard error.

Exit status: 0 all is well, 1 a check found something, 2 a wrong call or an error of ours, 130 interrupted.
"""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from deskcheck import __version__
from deskcheck.cli.asking import ask, report
from deskcheck.cli.benching import bench, selfcheck
from deskcheck.cli.common.commands import Commands
from deskcheck.cli.common.configuration import configuration
from deskcheck.cli.common.jobs import compact, status
from deskcheck.cli.common.output import standard_streams
from deskcheck.cli.environments import environments
from deskcheck.cli.folders import dedup, export, pull, push
from deskcheck.cli.names import doctor, list_models, list_names
from deskcheck.cli.notebooks import notebooks
from deskcheck.cli.offline import answers, questions, score, tasks
from deskcheck.cli.pages import help_page
from deskcheck.cli.recording import check, record
from deskcheck.cli.running import PASSED_ON, run
from deskcheck.cli.teaching import lessons, step, teach
from deskcheck.cli.viewing import show, view
from deskcheck.errors import DeskcheckError

app = typer.Typer(
    name="deskcheck",
    cls=Commands,
    help="Records what Python programs really do, asks language models about it, and scores the answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        print(f"deskcheck {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if not ctx.resilient_parsing:  # not for completion in a shell
        ctx.default_map = configuration(ctx.command, ctx)


VERBS, GROUPS, ABOUT = "Commands", "Groups of commands", "About this installation"

runs = typer.Typer(no_args_is_help=True, help="Folders of recordings: show, check, merge, copy.")
offline = typer.Typer(
    no_args_is_help=True, help="Models that answer elsewhere: write questions, score answers."
)
models = typer.Typer(no_args_is_help=True, help="List models, and run programs in those that `teach` makes.")
_commands: tuple[Callable[..., None], ...] = (status, show, check, compact, dedup, push, pull)
for _command in _commands:
    runs.command()(_command)
runs.add_typer(export, name="export")
offline.command()(questions)
offline.command()(tasks)
offline.command()(answers)
offline.command()(score)
models.command()(step)
models.command("list")(list_models)

app.command(rich_help_panel=VERBS, context_settings=PASSED_ON)(run)
_commands = (record, bench, selfcheck, ask, report, view, lessons, teach)
for _command in _commands:
    app.command(rich_help_panel=VERBS)(_command)
for _name, _group in (
    ("runs", runs),
    ("notebooks", notebooks),
    ("offline", offline),
    ("models", models),
    ("env", environments),
):
    app.add_typer(_group, name=_name, rich_help_panel=GROUPS)
app.command("help", rich_help_panel=ABOUT)(help_page)
app.command("list", rich_help_panel=ABOUT)(list_names)
app.command(rich_help_panel=ABOUT)(doctor)


def main() -> None:
    """The console script. Turns our errors into one line on standard error and exit status 2."""
    with standard_streams():
        try:
            app()
        except DeskcheckError as error:
            print(f"deskcheck: {error}", file=sys.stderr)
            sys.exit(2)
        except KeyboardInterrupt:
            print("deskcheck: interrupted", file=sys.stderr)
            sys.exit(130)
