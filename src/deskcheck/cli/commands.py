"""What holds for every command: how it is interrupted, who reads its output, what is no folder."""

import contextlib
import os
import re
import sys
from typing import Any, TextIO, cast

from typer.core import TyperGroup

from deskcheck.cli.output import say
from deskcheck.recording.errors import DeskcheckError, InputError

_REMOTE = re.compile(r"(?:--[a-z-]+=)?((?:s3a?|gcs|gs|hdfs|viewfs|abfss?|file)://.*)", re.DOTALL)
_TAKE_THEM = ("push", "pull")


class _Output:
    """Standard output. Once its reader has gone, as `| head` does, what is written goes nowhere:
    nobody is left to tell, and the command ends as it would have, with its own status."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        try:
            return self._file.write(text)
        except BrokenPipeError:
            self._to_nowhere()
            return len(text)

    def flush(self) -> None:
        try:
            self._file.flush()
        except BrokenPipeError:
            self._to_nowhere()

    def _to_nowhere(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._file.fileno())  # takes what is not flushed yet, too
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class Commands(TyperGroup):
    """The commands. An interrupt is told of here: what its own command says, or that alone. A URI
    where one of them wants a folder is refused: as a path it would be a folder named `s3:`."""

    def invoke(self, ctx: Any) -> Any:
        with contextlib.redirect_stdout(cast(TextIO, _Output(sys.stdout))):
            try:
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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        found = super().resolve_command(ctx, args)
        if found[0] not in _TAKE_THEM:
            for argument in args[1:]:
                if match := _REMOTE.fullmatch(argument):
                    from deskcheck.scale.store import without_secrets

                    uri = without_secrets(match[1])
                    raise InputError(
                        f"{uri}: `deskcheck {found[0]}` works in folders of this machine. Copy the folder of "
                        f"a job from there first: deskcheck pull {uri} FOLDER; or there afterwards: "
                        f"deskcheck push FOLDER {uri}"
                    )
        return found
