"""The command line: parse, call, print. Results go to standard output, everything else to standard error.

The module of a command is imported when the command is used. Importing all of them takes longer than most
commands.

Exit status: 0 success, 1 a check found something, 2 wrong usage or a failure of deskcheck, 130 interrupted.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from deskcheck._version import __version__
from deskcheck.cli.common.commands import Commands, CommandsByName
from deskcheck.cli.common.configuration import configuration
from deskcheck.cli.common.output import standard_streams
from deskcheck.errors import DeskcheckError

_VERBS, _GROUPS, _ABOUT = "Commands", "Groups of commands", "About this installation"


def _of(module: str, name: str) -> Callable[[], Any]:
    """A function that imports a module of this folder and returns its command or group of that name."""
    return lambda: getattr(import_module(f"deskcheck.cli.{module}"), name)


def _runs() -> typer.Typer:
    from deskcheck.cli.common.jobs import compact, status
    from deskcheck.cli.folders import dedup, export, states
    from deskcheck.cli.recording import check
    from deskcheck.cli.viewing import show

    group = typer.Typer(no_args_is_help=True, help="Folders of recordings: show, check, merge, copy.")
    commands: tuple[Callable[..., None], ...] = (status, show, states, check, compact, dedup)
    for command in commands:
        group.command()(command)
    group.add_typer(export, name="export")
    return group


def _offline() -> typer.Typer:
    from deskcheck.cli.offline import answers, questions, score, tasks

    about = "Models that answer elsewhere: write questions, score answers."
    group = typer.Typer(no_args_is_help=True, help=about)
    commands: tuple[Callable[..., None], ...] = (questions, tasks, answers, score)
    for command in commands:
        group.command()(command)
    return group


def _models() -> typer.Typer:
    from deskcheck.cli.names import list_models
    from deskcheck.cli.teaching import step

    about = "List models, and run programs in those that `teach` makes."
    group = typer.Typer(no_args_is_help=True, help=about)
    group.command()(step)
    group.command("list")(list_models)
    return group


_COMMANDS: dict[str, tuple[str, Callable[[], Any]]] = {
    "run": (_VERBS, _of("running", "run")),
    "record": (_VERBS, _of("recording", "record")),
    "bench": (_VERBS, _of("benching", "bench")),
    "selfcheck": (_VERBS, _of("benching", "selfcheck")),
    "ask": (_VERBS, _of("asking", "ask")),
    "report": (_VERBS, _of("asking", "report")),
    "view": (_VERBS, _of("viewing", "view")),
    "why": (_VERBS, _of("querying", "why")),
    "find": (_VERBS, _of("querying", "find")),
    "diff": (_VERBS, _of("querying", "diff")),
    "mcp": (_VERBS, _of("assistants", "serve")),
    "lessons": (_VERBS, _of("teaching", "lessons")),
    "teach": (_VERBS, _of("teaching", "teach")),
    "runs": (_GROUPS, _runs),
    "notebooks": (_GROUPS, _of("notebooks", "notebooks")),
    "offline": (_GROUPS, _offline),
    "models": (_GROUPS, _models),
    "env": (_GROUPS, _of("environments", "environments")),
    "help": (_ABOUT, _of("pages", "help_page")),
    "list": (_ABOUT, _of("names", "list_names")),
    "doctor": (_ABOUT, _of("names", "doctor")),
}
"""Name -> its panel in the help, and a function that loads the command or the group."""


def _command(name: str) -> Any:
    """The click command with this name."""
    panel, load = _COMMANDS[name]
    loaded = load()
    alone = typer.Typer(add_completion=False)
    alone.callback()(lambda: None)  # without a callback, typer makes no group of a single command
    if isinstance(loaded, typer.Typer):
        alone.add_typer(loaded, name=name, rich_help_panel=panel)
    elif name in ("run", "record"):
        from deskcheck.cli.common.script import PASSED_ON, ScriptCommand

        kind: dict[str, Any] = {"context_settings": PASSED_ON} if name == "run" else {"cls": ScriptCommand}
        alone.command(name, rich_help_panel=panel, **kind)(loaded)
    else:
        alone.command(name, rich_help_panel=panel)(loaded)
    group: Any = typer.main.get_command(alone)
    return group.commands[name]


class _Deskcheck(Commands):
    """The group of all commands."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.commands: Any = CommandsByName(_COMMANDS, _command)


app = typer.Typer(
    name="deskcheck",
    cls=_Deskcheck,
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


def main() -> None:
    """Run the console script. An error of deskcheck becomes one line on standard error and exit status 2."""
    with standard_streams():
        try:
            app()
        except DeskcheckError as error:
            print(f"deskcheck: {error}", file=sys.stderr)
            sys.exit(2)
        except KeyboardInterrupt:
            print("deskcheck: interrupted", file=sys.stderr)
            sys.exit(130)
