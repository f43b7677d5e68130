"""What holds for every command: how it is interrupted, how errors are shown, what is no folder."""

import contextlib
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
"""In a URI, what may be a password or a key."""


ClickException: Any = next(k for k in typer.BadParameter.__mro__ if k.__name__ == "ClickException")
"""What a wrong call raises: typer has its own copy of click in some versions, and in others has not."""


@contextlib.contextmanager
def _visible_errors() -> Iterator[None]:
    """What is wrong with a call is shown by a console that is not ours."""
    try:
        yield
    except ClickException as error:
        error.message = visible(error.message)
        raise


def _set_help(command: Any) -> None:
    """Help texts in lines as long as the terminal has room for: docstrings break theirs elsewhere. The
    library that shows them would take words in brackets for markup."""
    paragraphs = (command.help or "").split("\n\n")
    command.help = escape("\n\n".join([" ".join(paragraph.split()) for paragraph in paragraphs]))
    for parameter in command.params:
        parameter.help = parameter.help and escape(parameter.help)
    for inner in getattr(command, "commands", {}).values():
        _set_help(inner)


class CommandsByName(Mapping[str, Any]):
    """Commands that are built when they are asked for. names: in the order of the help."""

    def __init__(self, names: Iterable[str], build: Callable[[str], Any]) -> None:
        self._build = build
        self._built: dict[str, Any] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Any:
        if self._built[name] is None:
            command = self._build(name)
            _set_help(command)
            self._built[name] = command
        return self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in self._built

    def __iter__(self) -> Iterator[str]:
        return iter(self._built)

    def __len__(self) -> int:
        return len(self._built)


class Commands(TyperGroup):
    """The commands. An interrupt is told of here: what its own command says, or that alone. A URI
    where one of them wants a folder is refused: as a path it would be a folder named `s3:`."""

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
                "a process or a connection that this command wrote to has ended: "
                f"{error.strerror or 'broken pipe'}. Give the command again."
            ) from error
        finally:
            sys.stdout.flush()

    def make_context(self, *args: Any, **named: Any) -> Any:
        with _visible_errors():
            return super().make_context(*args, **named)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        command = super().resolve_command(ctx, args)
        for argument in args[1:]:
            if match := _REMOTE.fullmatch(argument):
                raise InputError(
                    f"{_SECRET.sub('', match[1])}: `deskcheck {command[0]}` works in folders of this "
                    "machine. Copy the folder here with `aws s3 sync`, rclone or fsspec "
                    "(docs/guides/object-stores.md)."
                )
        return command
