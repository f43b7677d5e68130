"""Waits for output of child processes that arrives after the end of a cell.

ipykernel reads what children write to the file descriptors 1 and 2 from a pipe, in a thread: on a busy
machine after the end of the cell, and then it belongs to no cell.
"""

import fcntl
import resource
import struct
import sys
import termios
import time

_MOST_S = 1.0
"""Maximum wait for a child that writes on after its cell."""
_TAKEN_S = 0.02
"""Seconds for the thread to pass on its last output."""


class Children:
    """Waits for the output of children that ended in a cell. Does not wait after a cell without children."""

    def __init__(self) -> None:
        self._ended = _ended()

    def wait(self) -> None:
        """Wait until the pipes are empty, and a moment more."""
        before, self._ended = self._ended, _ended()
        descriptors = (getattr(stream, "_fid", None) for stream in (sys.stdout, sys.stderr))
        pipes = [fd for fd in descriptors if fd is not None]
        if not pipes or (self._ended == before and not _waiting(pipes)):
            return
        end = time.monotonic() + _MOST_S
        while _waiting(pipes) and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(_TAKEN_S)


def _ended() -> tuple[float, float, int]:
    """Resources of children that have ended: more when another one has."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime, used.ru_minflt


def _waiting(pipes: list[int]) -> bool:
    """Whether one of the pipes holds bytes."""
    return any(struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0] for fd in pipes)
