"""The server's watch over a process until it ends, its caller stops the watch, or it meets a limit.

Standard library only.
"""

import os
import select
import signal
import socket
import struct

from deskcheck.sandbox.linux.processes import (
    ASKED,
    CPU_TIME,
    LOOK_S,
    MEMORY,
    NOTHING,
    WALL_TIME,
    CpuAccount,
    descendants,
    filled,
    waited_s,
)

KILL, TOO_LATE, OVER = b"k", b"w", b"o"
"""Messages that the caller may send while a process runs."""
LATER = struct.Struct("!cd")
"""The answer that wall time is not up yet, with the number of seconds to wait."""
FAST_ENOUGH_S = 5.0
"""Seconds after which the server gives up on processes that cannot be stopped or ended, and reports that."""
_PROCESSORS = os.cpu_count() or 1


class CallerGone(Exception):
    """The other end of the connection is closed."""


def watch(
    connection: socket.socket,
    account: CpuAccount,
    pid: int,
    cpu_s: float,
    memory_bytes: int,
    *,
    used_before_s: float,
    waited_before_s: float = 0.0,
) -> tuple[int, bool]:
    """Wait for a process's end, or stop it at a limit or when the caller asks for it. Raises CallerGone.

    Returns the reason for stopping it, and whether it still runs because the caller has sent `OVER`.

    Args:
        used_before_s: the used CPU time before the process.
        waited_before_s: the time for which the process had waited for a processor.
    """
    handle = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(connection, select.POLLIN)
    stopped, left_s, granted_s = NOTHING, cpu_s, 0.0
    try:
        while True:
            pause_s = min(max(0.001, left_s / _PROCESSORS), LOOK_S)
            ready = {descriptor for descriptor, _ in poll.poll(1000 * pause_s)}
            if handle in ready:
                return stopped, False
            if ready:
                request = connection.recv(64)
                if not request:
                    raise CallerGone
                if request == OVER:
                    return stopped, True
                late_s = waited_s(pid) - waited_before_s if request == TOO_LATE else 0.0
                if late_s > granted_s + 0.01:
                    connection.send(LATER.pack(b"L", late_s - granted_s))
                    granted_s = late_s
                elif stopped == NOTHING:
                    stopped = WALL_TIME if request == TOO_LATE else ASKED
            elif stopped == NOTHING:
                left_s = cpu_s - (account.used_s(pid) - used_before_s)
                if left_s <= 0:
                    stopped = CPU_TIME
                elif filled(descendants(os.getpid())) > memory_bytes:
                    stopped = MEMORY
            if stopped != NOTHING:
                os.kill(pid, signal.SIGKILL)
                left_s = 1.0
    finally:
        os.close(handle)
