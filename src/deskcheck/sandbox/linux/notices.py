"""Counts the system calls that the filter refused, even if programs swallow the error (seccomp_unotify(2)).

Where the filter would answer EPERM or ENOSYS, the kernel asks a process outside of the sandbox. That process
counts the call and gives the same answer. It does not see allowed calls, calls that fail with another number
(`seccomp`), or calls that the kernel itself refuses. A signal that arrives earlier ends such a call with
EINTR. Standard library only.
"""

import array
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
from collections import Counter

from deskcheck.sandbox.linux import kernel, seccomp
from deskcheck.sandbox.linux.call_numbers import NUMBERS

BEGIN = 0x3FFFFFF0
"""Number that no system call has. A process makes this call to say that its program begins: earlier calls
are not the program's."""
MOST_NAMES = 20
"""Largest number of different refused calls to count for one program."""
_GET_NOTIF_SIZES = 3
_NOTICE, _ANSWER = struct.Struct("QIIi"), struct.Struct("QqiI")
"""The beginning of struct seccomp_notif (id, process, flags, number of the call), and struct
seccomp_notif_resp (id, value, error, flags)."""


class Notices:
    """Connects the process that the kernel asks with the server. Make it before one forks the other."""

    def __init__(self) -> None:
        self._to_outside, self._to_server = socket.socketpair()
        self._reader, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    # -- in the process outside ----------------------------------------------------------------------

    def answer(self, server: int) -> None:
        """Answer the kernel until the server, a child of this process, has ended."""
        self._to_outside.close()
        os.close(self._reader)
        sizes = bytearray(6)
        try:
            kernel.syscall("seccomp", _GET_NOTIF_SIZES, 0, (ctypes.c_char * 6).from_buffer(sizes))
        except OSError:
            return  # there is no filter that asks, either
        notice_bytes, answer_bytes, _ = struct.unpack("3H", sizes)
        receive, send = _request(0, notice_bytes), _request(1, answer_bytes)
        ended, coming = os.pidfd_open(server), self._to_server.fileno()
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(coming, select.POLLIN)
        while True:
            for descriptor, events in poll.poll():
                if descriptor == ended:
                    return
                if descriptor == coming:
                    _, listeners, _, _ = socket.recv_fds(self._to_server, 1, 1)
                    poll.unregister(coming)
                    for listener in listeners:
                        poll.register(listener, select.POLLIN)
                elif not events & select.POLLIN:  # nobody is under the filter any more
                    poll.unregister(descriptor)
                else:
                    self._answer_one(descriptor, receive, bytearray(notice_bytes), send, answer_bytes)

    def _answer_one(
        self, listener: int, receive: int, notice: bytearray, send: int, answer_bytes: int
    ) -> None:
        try:
            fcntl.ioctl(listener, receive, notice)
            request, _, _, number = _NOTICE.unpack_from(notice)
            try:
                os.write(self._writer, struct.pack("i", number))
            except BlockingIOError:
                pass  # the pipe has room for 16,384, which is enough to tell of
            answer = _ANSWER.pack(request, 0, -seccomp.answer_of(number), 0)
            fcntl.ioctl(listener, send, answer.ljust(answer_bytes, b"\0"))
        except OSError:
            return  # the process was killed, or a signal came first and it makes the call again

    # -- in the server -------------------------------------------------------------------------------

    def attach(self, code: bytes) -> bool:
        """Put this process under a filter that asks; False if the kernel or another filter forbids it."""
        self._to_server.close()
        os.close(self._writer)
        try:
            listener = seccomp.attach(code, listener=True)
        except OSError:
            return False
        socket.send_fds(self._to_outside, [b"l"], [listener])
        os.close(listener)
        return True

    def take(self, *, begins: bool = False) -> dict[str, int]:
        """The number of refused calls since the last `take`, by name.

        Args:
            begins: a process has called `begin`. Calls before that do not count.
        """
        numbers = array.array("i")
        try:
            while data := os.read(self._reader, 1 << 16):
                numbers.frombytes(data)
        except BlockingIOError:
            pass
        if not numbers:
            return {}
        if begins and BEGIN in numbers:
            del numbers[: numbers.index(BEGIN) + 1]
        names = {row[_COLUMN]: name for name, row in NUMBERS.items()}
        return {
            names.get(number, f"system call {number}"): count
            for number, count in Counter(numbers).most_common(MOST_NAMES)
        }


_COLUMN = 1 if kernel.MACHINE == "aarch64" else 0


def begin() -> None:
    """Say that the program of this process begins."""
    try:
        kernel.numbered(BEGIN)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise


def _request(number: int, size: int) -> int:
    """_IOWR('!', number, size) of asm-generic/ioctl.h."""
    return 3 << 30 | size << 16 | ord("!") << 8 | number
