"""A second seccomp filter: what would take a process out of an account, or off the mark that it carries.

The filter of `_seccomp` says what a program may do to others. This one keeps whole what is known of the
program: its mark (`_orphans`), what its sockets can hold, and its CPU time where no control group counts it.
Most system calls pass it without being looked at: the kernel remembers that their answer is always the same.
"""

import errno
import signal
import socket
import struct

from deskcheck.sandbox._kernel import MACHINE
from deskcheck.sandbox._orphans import RLIMIT_LOCKS

_LOAD, _JUMP, _EQUAL, _RETURN = 0x20, 0x05, 0x15, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NUMBERS = {
    "prlimit64": (302, 261),
    "setrlimit": (160, 164),
    "rt_sigaction": (13, 134),
    "setsockopt": (54, 208),
}
_BUFFER_SIZES = (7, 8, 32, 33)
"""SO_SNDBUF, SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE (socket(7))."""
_GIVEN = -1
"""In place of a value: a pointer that is not null."""


def program(*, commands: bool, cpu_counted: bool) -> bytes:
    """The filter as BPF instructions. commands: whether any command may run there, not only Python: shells
    and make wait for their children by a handler of SIGCHLD. cpu_counted: whether a control group counts CPU
    time.

    Where none does, SIGCHLD keeps its default: a parent that ignores it has children that nobody waits for,
    and their time is in no account.
    """
    refused: list[tuple[str, list[tuple[int, tuple[int, ...]]]]] = [
        ("prlimit64", [(1, (RLIMIT_LOCKS,)), (2, (_GIVEN,))]),
        ("setrlimit", [(0, (RLIMIT_LOCKS,))]),
    ]
    if not commands:
        refused.append(("setsockopt", [(1, (socket.SOL_SOCKET,)), (2, _BUFFER_SIZES)]))
        if not cpu_counted:
            refused.append(("rt_sigaction", [(0, (signal.SIGCHLD,)), (1, (_GIVEN,))]))
    column = 0 if MACHINE == "x86_64" else 1
    code: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, 0)]
    for name, conditions in refused:
        body: list[tuple[int, int, int, int]] = []
        for argument, values in reversed(conditions):  # each ends with what follows where it holds
            body = _where(argument, values, body or [(_RETURN, 0, 0, _FAIL | errno.EPERM)])
        code += [(_EQUAL, 0, len(body), _NUMBERS[name][column]), *body]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def _where(
    argument: int, values: tuple[int, ...], then: list[tuple[int, int, int, int]]
) -> list[tuple[int, int, int, int]]:
    """Code that goes on where an argument has one of these values, and allows the call otherwise."""
    allow = (_RETURN, 0, 0, _ALLOW)
    at = 16 + 8 * argument
    if values == (_GIVEN,):  # either half of the pointer is not zero
        return [(_LOAD, 0, 0, at), (_EQUAL, 0, 3, 0), (_LOAD, 0, 0, at + 4), (_EQUAL, 0, 1, 0), allow, *then]
    tests = [(_EQUAL, len(values) - n, 0, value) for n, value in enumerate(values)]
    return [(_LOAD, 0, 0, at), *tests, allow, *then]
