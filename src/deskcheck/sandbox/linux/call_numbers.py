"""System calls of Linux that the sandbox makes or filters, from the table ``system_calls.tsv``.

Numbers are from arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of the kernel.
The filter (`seccomp`) makes unlisted calls fail like on an older kernel.
"""

import os

_TABLE = f"{os.path.dirname(__file__)}/system_calls.tsv"


def _read() -> list[list[str]]:
    with open(_TABLE, encoding="ascii") as stream:
        return [line.split() for line in stream][1:]


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


_ROWS = _read()
NUMBERS = {name: (_number(x86), _number(arm)) for name, x86, arm, _ in _ROWS}
"""Numbers of each call on x86-64 and on arm64; None where the call does not exist."""
ALLOWED = frozenset(name for name, _, _, rule in _ROWS if rule == "allowed")
"""Calls that the filter allows. Some are for the server, which has the same filter. They do nothing for a
program, because a process without privileges cannot become another user."""
REFUSED = frozenset(name for name, _, _, rule in _ROWS if rule == "refused")
