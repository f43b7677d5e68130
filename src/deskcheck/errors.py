"""Every error of deskcheck's own. What a program under observation does (it raised, it ran out of
time) is data, an `Outcome`; an error here means that the caller or our machinery is at fault.

    DeskcheckError
    ├── InputError          what the user gave cannot be used: a file, a function, an argument, a row
    ├── MissingExtra        an optional dependency is not installed
    ├── KernelError         a running kernel cannot be asked now, or not at all
    ├── RecordingError      a folder or file of recordings cannot be read or written
    │   └── DamagedRows     what rows of a recording say does not add up
    └── SandboxError        the place that runs programs failed; says nothing about the program
        └── ServerLost      its server ended, or cannot start programs
"""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self


class DeskcheckError(Exception):
    """Base of every error that deskcheck raises on purpose."""


class InputError(DeskcheckError):
    """What the user gave cannot be used. The message names it, the place, and the way out."""


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
    """A recording cannot be read or written. `path` is the file or folder, where there is one."""

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path

    @classmethod
    def at(cls, path: object, message: str) -> Self:
        """The error of a file or folder, which the message begins with."""
        return cls(f"{path}: {message}", str(path))


class DamagedRows(RecordingError, KeyError):
    """What the rows of a recording say does not add up, though each is right by itself."""

    __str__ = Exception.__str__


class SandboxError(DeskcheckError):
    """The sandbox itself failed. Never raised for anything that the program did."""


class ServerLost(SandboxError):
    """The server ended, or cannot start programs: says nothing about the program that it ran."""


@contextmanager
def own_failures(report: Callable[[str], None]) -> Iterator[None]:
    """Around the work on one notebook, program, test or row of many: where deskcheck itself fails, the batch
    continues with the next, and `report` gets what the record of this one says.

    That is the error in the first line, then the traceback. Errors of this module pass, and interrupts.
    """
    try:
        yield
    except DeskcheckError:
        raise
    except Exception as error:  # noqa: BLE001 (whatever it is, it is the failure of this item)
        first = " ".join(f"{type(error).__name__}: {error}".split())
        report(f"deskcheck failed on it: {first:.300}\n{''.join(traceback.format_exception(error))}")
