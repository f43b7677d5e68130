"""System calls of Linux that the sandbox makes or rules, from the table ``system_calls.tsv``.

Numbers are from arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of the kernel.
The rule is that of the filter (`seccomp`): a call that is unlisted fails as on a kernel that is older.
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
"""On x86-64 and on arm64, None where it has none."""
ALLOWED = frozenset(name for name, _, _, rule in _ROWS if rule == "allowed")
"""Some are for the server, which is under the same filter, and do nothing for a program: without privileges,
nobody becomes another user."""
REFUSED = frozenset(name for name, _, _, rule in _ROWS if rule == "refused")
