"""The arguments and the standard input of a program, which its recording includes."""

import hashlib
import os
import select
import shlex
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace

from deskcheck.errors import InputError
from deskcheck.recording.program import Program

MAX_BYTES = 16 << 20
"""Largest standard input that is stored with a recording."""
_WAIT_S = 1.0
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramInput:
    """The input of a program beside its file."""

    module: bool = False
    """Whether the program is named as for ``python -m``."""
    arguments: tuple[str, ...] = ()
    stdin: bytes | None = None
    """Its standard input; None: it has none."""

    def __bool__(self) -> bool:
        return self.module or bool(self.arguments) or self.stdin is not None

    @property
    def words(self) -> str:
        """The input as part of an id: the arguments as in a shell, and a digest of standard input."""
        words = [shlex.join(self.arguments)] if self.arguments else []
        if self.stdin is not None:
            words.append(f"< {hashlib.sha256(self.stdin).hexdigest()[:8]}")
        return " ".join(words)


def with_input(program: Program, program_input: ProgramInput) -> Program:
    """The program with its input in `Program.extra`: ``argv`` and, if it has one, ``stdin``."""
    extra = program.extra | {"argv": [*program_input.arguments]}
    if (data := program_input.stdin) is not None:
        try:
            extra |= {"stdin": data.decode(), "stdin_encoding": "utf-8"}
        except UnicodeDecodeError:
            extra |= {"stdin": data.decode("latin-1"), "stdin_encoding": "latin-1"}
    return replace(program, extra=extra)


def redirected_input() -> bytes | None:
    """The rest of the file that standard input is redirected from, without consuming it.

    None for a terminal, a pipe, an empty file, and a file of more than `MAX_BYTES`.
    """
    try:
        facts = os.fstat(0)
        if not stat.S_ISREG(facts.st_mode):
            return None
        position = os.lseek(0, 0, os.SEEK_CUR)
        return None if facts.st_size - position > MAX_BYTES else os.pread(0, MAX_BYTES, position) or None
    except OSError:  # it is closed
        return None


def read_input(note: Callable[[str], None]) -> bytes | None:
    """All of standard input, up to its end. None for a terminal, and if it is empty.

    note: called if a pipe sends nothing for a second.

    Raises InputError for more than `MAX_BYTES`.
    """
    try:
        mode = os.fstat(0).st_mode
    except OSError:  # it is closed
        return None
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return None
    if not stat.S_ISREG(mode) and not select.select([0], [], [], _WAIT_S)[0]:
        note("waiting for the end of standard input, which the program gets; `< /dev/null` gives it none")
    data = bytearray()
    while chunk := os.read(0, _CHUNK_BYTES):
        data += chunk
        if len(data) > MAX_BYTES:
            raise InputError(
                f"standard input: is longer than {MAX_BYTES >> 20} MiB, which is the most that a recording "
                "stores. Put it into a file, and give the program the name of the file."
            )
    return bytes(data) or None
