"""Common behaviour of all commands: interruption, display of errors, refusal of URIs as folders."""

import contextlib
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from deskcheck.cli.common.output import say
from deskcheck.errors import DeskcheckError, InputError
from deskcheck.terminal import visible

_REMOTE = re.compile(r"(?:--[a-z-]+=)?((?:s3a?|gcs|gs|hdfs|viewfs|abfss?|file)://.*)", re.DOTALL)
_SECRET = re.compile(r"(?<=://)[^/@?]*:[^/@?]*@|\?.*")
"""The parts of a URI that may be a password or a key."""


SEPARATOR = "--"
"""Stands before the arguments of a program."""
ClickException: Any = next(k for k in typer.BadParameter.__mro__ if k.__name__ == "ClickException")
"""The exception for wrong usage. Only some versions of typer contain their own copy of click."""


@contextlib.contextmanager
def _visible_errors() -> Iterator[None]:
    """Escape messages about wrong usage, because typer's own console shows them."""
    try:
        yield
    except ClickException as error:
        error.message = visible(error.message)
        raise


def _set_help(command: Any) -> None:
    """Join the lines of help texts, so that they wrap at the terminal's width, and escape brackets.

    The library that shows the texts would take words in brackets for markup.
    """
    paragraphs = (command.help or "").split("\n\n")
    command.help = escape("\n\n".join([" ".join(paragraph.split()) for paragraph in paragraphs]))
    for parameter in command.params:
        parameter.help = parameter.help and escape(parameter.help)
    for inner in getattr(command, "commands", {}).values():
        _set_help(inner)


KINDS = "<kinds>"
"""The names of the kinds of question in a help text, until the text is shown: they take long to load."""


def with_kinds(text: str) -> str:
    """A help text with the names of the kinds of question in the place of `KINDS`."""
    from deskcheck.ask.questions.questions import QUESTIONS

    return text.replace(KINDS, escape(", ".join(QUESTIONS)))


def _name_kinds(command: Any) -> None:
    """Have the help of a command name the kinds of question in the place of `KINDS`."""
    format_help = command.format_help

    def named(ctx: Any, formatter: Any) -> None:
        for parameter in command.params:
            parameter.help = parameter.help and with_kinds(parameter.help)
        format_help(ctx, formatter)

    if any(KINDS in (parameter.help or "") for parameter in command.params):
        command.format_help = named
    for inner in getattr(command, "commands", {}).values():
        _name_kinds(inner)


class CommandsByName(Mapping[str, Any]):
    """Commands that are built on first use. names: in the order of the help."""

    def __init__(self, names: Iterable[str], build: Callable[[str], Any]) -> None:
        self._build = build
        self._built: dict[str, Any] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Any:
        if self._built[name] is None:
            command = self._build(name)
            _set_help(command)
            _name_kinds(command)
            self._built[name] = command
        return self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in self._built

    def __iter__(self) -> Iterator[str]:
        return iter(self._built)

    def __len__(self) -> int:
        return len(self._built)


class Commands(TyperGroup):
    """The group of all commands. It reports interrupts, and refuses a URI in the place of a folder.

    The report of an interrupt is the text of the command, or the word "interrupted". As a path, a URI would
    name a folder `s3:`.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        _set_help(self)

    def invoke(self, ctx: Any) -> Any:
        try:
            with _visible_errors():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            say(str(error) or "interrupted")
            raise
        except BrokenPipeError as error:  # standard output is not what broke
            raise DeskcheckError(
                "a process or connection that this command writes to has ended: "
                f"{error.strerror or 'broken pipe'}. Run the command again."
            ) from error
        finally:
            sys.stdout.flush()

    def make_context(self, *args: Any, **named: Any) -> Any:
        with _visible_errors():
            return super().make_context(*args, **named)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        command = super().resolve_command(ctx, args)
        words = list(itertools.takewhile(lambda word: word != SEPARATOR, args[1:]))
        settings = getattr(command[1], "context_settings", {})
        passes_on = not settings.get("allow_interspersed_args", True)
        for argument in () if passes_on else words:
            if match := _REMOTE.fullmatch(argument):
                raise InputError(
                    f"{_SECRET.sub('', match[1])}: `deskcheck {command[0]}` works in folders of this "
                    "machine. Copy the folder here with `aws s3 sync`, rclone or fsspec "
                    "(docs/guides/object-stores.md)."
                )
        return command
