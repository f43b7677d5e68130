"""The errors of deskcheck. An error means that the caller or deskcheck is at fault.

If a program under observation raises or runs out of time, this is data, an `Outcome`.

    DeskcheckError
    ├── InputError          input of the user cannot be used: a file, a function, an argument, a row
    ├── MissingExtra        an optional dependency is not installed
    ├── KernelError         a running kernel cannot be asked now, or not at all
    ├── RecordingError      a folder or file of recordings cannot be read or written
    │   └── DamagedRows     rows of a recording contradict each other
    └── SandboxError        the sandbox failed, not the program in it
        └── ServerLost      the server of the sandbox ended, or cannot start programs
"""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self


class DeskcheckError(Exception):
    """Base of every error that deskcheck raises on purpose."""


class InputError(DeskcheckError):
    """Input of the user cannot be used. The message names the input, its location, and the way out."""


class MissingExtra(DeskcheckError):
    """An optional dependency is not installed. `extra` is its name, as in ``deskcheck[ask]``."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package}, which is not installed. "
            f"Install it with: pip install 'deskcheck[{extra}]'"
        )
        self.package = package
        self.extra = extra


class KernelError(DeskcheckError):
    """A running kernel cannot be asked: it is busy, has ended, or has no deskcheck."""


class RecordingError(DeskcheckError):
    """A recording cannot be read or written. `path` is the file or folder, or None."""

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path

    @classmethod
    def at(cls, path: object, message: str) -> Self:
        """The error for a file or folder, with its path at the beginning of the message."""
        return cls(f"{path}: {message}", str(path))


class DamagedRows(RecordingError, KeyError):
    """Rows of a recording contradict each other, though each is valid by itself."""

    __str__ = Exception.__str__


class SandboxError(DeskcheckError):
    """The sandbox itself failed. Never raised for an action of the program."""


class ServerLost(SandboxError):
    """The server of the sandbox ended, or cannot start programs. The program is not at fault."""


@contextmanager
def own_failures(report: Callable[[str], None]) -> Iterator[None]:
    """Let a batch continue if deskcheck fails on one notebook, program, test or row.

    `report` then gets the text for the record of this item: the error in the first line, then the traceback.
    Errors of this module and interrupts are raised as usual.
    """
    try:
        yield
    except DeskcheckError:
        raise
    except Exception as error:  # noqa: BLE001 (whatever it is, it is the failure of this item)
        first = " ".join(f"{type(error).__name__}: {error}".split())
        report(f"deskcheck failed on it: {first:.300}\n{''.join(traceback.format_exception(error))}")
