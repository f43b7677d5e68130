"""Commands that take a program with its arguments: `run FILE.py ARGUMENTS`, `record FILE.py -- ARGUMENTS`."""

from typing import Any

import typer
from typer.core import TyperCommand

from deskcheck.cli.common.commands import SEPARATOR, ClickException
from deskcheck.cli.common.options import COMMON

PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""All arguments after the program belong to the program."""
PROGRAMS = "Programs"
_SHORT = (None, COMMON, PROGRAMS)
"""Panels of options that `--help` shows; `--help-all` shows all."""


class ScriptCommand(TyperCommand):
    """A command whose option `--arguments` gets the words after `--`, and whose help comes in two lengths."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if SEPARATOR in args:
            separator = args.index(SEPARATOR)
            args = [*args[:separator], *(f"--arguments={word}" for word in args[separator + 1 :])]
        try:
            rest: list[str] = super().parse_args(ctx, args)
        except ClickException as error:
            if hasattr(error, "option_name") and not hasattr(error, "param"):
                error.message += ". Options of a script go after --: deskcheck record app.py -- --fast"
            raise
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        options = [
            option
            for option in self.params
            if getattr(option, "rich_help_panel", None) not in _SHORT and not getattr(option, "hidden", True)
        ]
        for option in options if not ctx.meta.get(__name__) else ():
            option.hidden = True  # type: ignore[attr-defined]
        try:
            super().format_help(ctx, formatter)
        finally:
            for option in options:
                option.hidden = False  # type: ignore[attr-defined]


def help_all(ctx: typer.Context, value: bool) -> None:
    """Print the help with the options of all panels."""
    if value and not ctx.resilient_parsing:
        ctx.meta[__name__] = True
        print(ctx.get_help(), end="")
        raise typer.Exit()
