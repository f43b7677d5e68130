"""Ends the remaining processes of servers that were killed. Every process of a server carries its mark.

The mark is the hard limit on file locks, which Linux ignores since 2.4 (getrlimit(2), RLIMIT_LOCKS). It is
inherited and readable by all. It cannot be raised without privileges, and `seccomp` keeps programs from
lowering it. It consists of the number of the server's process and a random part. Processes are orphans if
their server no longer carries their mark. Standard library only.
"""

import os
import resource
import secrets
import signal
import time

RLIMIT_LOCKS = 10
_MAGIC = 0x2DEC << 46
_MAGIC_BITS, _PID_SHIFT, _PID_BITS, _RANDOM_BITS = ~((1 << 46) - 1), 24, 22, 24
_GONE_S = 2.0


def new_mark(server: int) -> int:
    """A mark for the processes of a server, by the number of its process."""
    return _MAGIC | server << _PID_SHIFT | secrets.randbits(_RANDOM_BITS)


def carry(mark: int) -> None:
    """Put a mark on this process and its descendants for good.

    Raises OSError or ValueError if the process has a mark that it cannot remove.
    """
    resource.setrlimit(RLIMIT_LOCKS, (mark, mark))


def mark_of(pid: int | str) -> int | None:
    """The mark of a process; None if it has no mark or has ended."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as stream:
            text = stream.read()
    except OSError:
        return None
    _, _, line = text.partition(b"\nMax file locks ")
    hard = line.split(None, 2)[1:2]
    if not hard or not hard[0].isdigit() or int(hard[0]) & _MAGIC_BITS != _MAGIC:
        return None
    return int(hard[0])


def _carriers() -> dict[int, set[int]]:
    """All processes with a mark, by the mark. Zombies do not count."""
    pids_by_mark: dict[int, set[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (mark := mark_of(name)) is not None and _status(name, "State")[:1] not in "ZX":
            pids_by_mark.setdefault(mark, set()).add(int(name))
    return pids_by_mark


def _status(pid: int | str, field: str) -> str:
    """A field of a process's status (proc(5)). The state of a missing process is X."""
    try:
        with open(f"/proc/{pid}/status") as stream:
            return next((line.split(":", 1)[1].strip() for line in stream if line.startswith(field)), "")
    except OSError:
        return "X"


def _without_server() -> set[int]:
    """Marks that some processes carry, but not the server that the mark names."""
    lost = set()
    for mark, pids in _carriers().items():
        server = str(mark >> _PID_SHIFT & (1 << _PID_BITS) - 1)
        # Where it runs in a container, its number there is another than here: the last of its numbers.
        numbers = [_status(pid, "NSpid").split()[-1:] for pid in pids]
        if [server] not in numbers and [] not in numbers:
            lost.add(mark)
    return lost


def sweep() -> list[int]:
    """End every process that has lost its server; return their numbers.

    Processes with the mark of this process stay: in a sandbox, this process may not see its own server.
    """
    try:
        lost = _without_server()
        # A second time: a server that took its mark while we looked has it by now.
        lost = lost and lost & _without_server()
    except OSError:
        return []  # there is no /proc
    return [pid for mark in lost - {mark_of("self")} for pid in end(mark)]


def end(mark: int) -> list[int]:
    """End every process that carries the mark of a dead server; return their numbers."""
    ended: list[int] = []
    until = time.monotonic() + _GONE_S
    while (pids := _carriers().get(mark, set())) and time.monotonic() < until:
        for pid in pids:
            try:
                handle = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            try:
                if mark_of(pid) == mark:  # else the number is another process's by now
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    ended.append(pid)
            except (ProcessLookupError, PermissionError):
                continue  # gone; or another user's, who will end it
            finally:
                os.close(handle)
        time.sleep(0.002)
    return list(dict.fromkeys(ended))
