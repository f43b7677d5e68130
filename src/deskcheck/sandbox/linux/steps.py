"""The system calls that confine a program's process before it gets its program. The server prepares them.

No other code confines a process. C code (`_syscalls`) makes the calls. If it is not compiled for the
interpreter, ctypes makes them, which copies more of the server's pages for each program. Standard library
only.
"""

import ctypes
import os
import struct
from collections.abc import Callable
from typing import Any

from deskcheck.sandbox.linux import kernel, seccomp

compiled: Any
"""The module in C, or None."""
try:
    from deskcheck.sandbox.linux import _syscalls as compiled
except ImportError:
    compiled = None

_STEP = struct.Struct("7l")
"""Number, five arguments, and the index of the argument that the last step's result fills (`_syscalls.c`)."""
_STORE_PID = -1
"""Pseudo number of a call: write the number of the process, times the second argument, to an address."""
_NONE = -1


class SetupSteps:
    """System calls in order. The object keeps the buffers that their arguments point to."""

    def __init__(self) -> None:
        self.packed = b""
        self._buffers: list[ctypes.Array[ctypes.c_char]] = []

    def call(self, name: str, *arguments: int | bytes, last: int = _NONE) -> None:
        """Add a system call. Texts are bytes; the ending zero is added here.

        Args:
            last: the index of the argument to replace by the result of the last call.
        """
        self._add(
            kernel.number(name),
            *(a if isinstance(a, int) else self._address(a) for a in arguments),
            last=last,
        )

    def _add(self, number: int, *arguments: int, last: int = _NONE) -> None:
        self.packed += _STEP.pack(number, *(*arguments, 0, 0, 0, 0, 0)[:5], last)

    def _address(self, data: bytes) -> int:
        self._buffers.append(ctypes.create_string_buffer(data))
        return ctypes.addressof(self._buffers[-1])

    def capabilities(self, mask: int) -> None:
        """Keep only these of the first 32 capabilities, permitted and effective, also after execve(2).

        A program may start an interpreter with the capabilities that its own has (capabilities(7), ambient).
        """
        header = struct.pack("Ii", kernel.CAPABILITY_VERSION_3, 0)
        self.call("capset", header, struct.pack("6I", mask, mask, mask, 0, 0, 0))
        for number in range(32):
            if mask & 1 << number:
                self.call("prctl", kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_RAISE, number)

    def only_own_signals(self) -> None:
        """Attach the filter `seccomp.only_own_signals`, which contains the number of the process."""
        code, others = seccomp.only_own_signals(1), seccomp.only_own_signals(2)
        position = self._address(code)
        for start in range(4, len(code), 8):  # the operand of each instruction
            if code[start : start + 4] != others[start : start + 4]:
                sign = 1 if code[start : start + 4] == struct.pack("i", 1) else -1
                self._add(_STORE_PID, position + start, sign)
        self.call("prctl", kernel.PR_SET_SECCOMP, 2, struct.pack("HxxxxxxQ", len(code) // 8, position))

    def be_killed_first(self) -> None:
        """Have the kernel kill this process before the server when a control group's memory is used up."""
        if os.path.exists("/proc/self/oom_score_adj"):  # a container may hide it
            self.call("openat", kernel.AT_FDCWD, b"/proc/self/oom_score_adj", os.O_WRONLY)
            self.call("write", 0, b"1000", 4, last=0)


def moved(pairs: list[tuple[int, int]], *, close_on_exec: bool) -> bytes:
    """Packed steps that duplicate descriptors: the first of each pair becomes the second."""
    flags = os.O_CLOEXEC if close_on_exec else 0
    number = kernel.number("dup3")
    return b"".join(_STEP.pack(number, old, new, flags, 0, 0, _NONE) for old, new in pairs)


def closed(first: int, last: int) -> bytes:
    """A packed step that closes descriptors."""
    return _STEP.pack(kernel.number("close_range"), first, last, 0, 0, 0, _NONE)


def _run(steps: bytes) -> None:
    result = 0
    for number, *arguments, last in _STEP.iter_unpack(steps):
        if number == _STORE_PID:
            ctypes.c_int.from_address(arguments[0]).value = os.getpid() * arguments[1]
            continue
        if last != _NONE:
            arguments[last] = result
        result = kernel.numbered(number, *arguments)


def _fork(steps: bytes) -> int:
    pid = kernel.fork()
    if pid == 0:
        _run(steps)
    return pid


run: Callable[[bytes], None] = _run if compiled is None else compiled.run
"""Make the calls. Raises OSError at the first that fails."""
fork: Callable[[bytes], int] = _fork if compiled is None else compiled.fork
"""`kernel.fork`, with the calls made in the child. Raises OSError, in the child where a call fails."""
