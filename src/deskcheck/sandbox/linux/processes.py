"""Facts about processes from the kernel, and the reasons for which a server stops them.

Standard library only.
"""

import os
import resource
import time

NOTHING, CPU_TIME, WALL_TIME, MEMORY, ASKED = range(5)
"""Reasons why a program was stopped."""
LOOK_S = 0.1
"""Seconds between checks of the resources of a program's processes. Most programs end before the first."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PIPE_BYTES = 64 << 10
_FEW_BYTES = 16 << 20
"""Bytes in the buffers of one process that are too few to check the rest of its memory."""


def _socket_bytes() -> int:
    """The default size of a socket's buffer."""
    try:
        with open("/proc/sys/net/core/wmem_default") as stream:
            return int(stream.read())
    except (OSError, ValueError):
        return 212_992  # so since Linux 3


_SOCKET_BYTES = _socket_bytes()
"""Read here, because other network namespaces do not show it."""


def children(pid: int) -> list[int]:
    """The children of all threads of a process.

    Those of this process include orphans that it adopted (PR_SET_CHILD_SUBREAPER).
    """
    pids: list[int] = []
    for thread in _listed(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as stream:
                pids += map(int, stream.read().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return pids


def _listed(folder: str) -> list[str]:
    """The names in a folder of a process; empty if the process is gone or its folder cannot be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    pids = children(pid)
    for child in pids:
        pids += children(child)
    return pids


class CpuAccount:
    """CPU time of all descendants of this process.

    With a control group the time is exact. Without one, it covers running processes and those that were
    waited for. Children of a living process that ignores SIGCHLD are then missing (wait(2); see
    `seccomp.program`).

    Args:
        group: a descriptor of the control group's account.
    """

    def __init__(self, group: int | None) -> None:
        self.group = group
        self._ended_s = 0.0

    def used_s(self, watched: int) -> float:
        """Seconds of CPU time since an unspecified moment: only differences count.

        Args:
            watched: a process whose time is read more exactly than in clock ticks if there is no group.
        """
        if self.group is not None:
            # In this order: to ask for our own time brings the group's account up to date.
            own_s = time.process_time()
            return _account_s(os.pread(self.group, 256, 0)) - own_s
        used = self._ended_s
        ticks = 0
        for pid in descendants(os.getpid()):
            own_ticks, waited_for = _ticks(pid)
            ticks += waited_for
            if pid == watched:
                used += time.clock_gettime(~pid << 3 | 2)  # clock_getcpuclockid(3): of another process
            else:
                ticks += own_ticks
        return used + ticks / _TICKS_PER_S

    def wait(self, pid: int, options: int = 0) -> tuple[int, int, resource.struct_rusage]:
        """wait4(2), which every child of this process must be waited for with."""
        pid, status, usage = os.wait4(pid, options)
        if pid:
            self._ended_s += usage.ru_utime + usage.ru_stime
        return pid, status, usage


def _account_s(text: bytes) -> float:
    """Seconds, from cpuacct.usage (version 1, nanoseconds) or cpu.stat (version 2, microseconds)."""
    if text.startswith(b"usage_usec "):
        return int(text.split(None, 2)[1]) / 1e6
    return int(text) / 1e9


def _ticks(pid: int) -> tuple[int, int]:
    """The CPU time of a process and of the children that it waited for (proc(5), /proc/pid/stat)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            fields = stream.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0
    user, system, children_user, children_system = map(int, fields[11:15])
    return user + system, children_user + children_system


def filled(pids: list[int]) -> int:
    """Bytes of memory that processes fill together, plus the capacity of their sockets and pipes.

    The result is 0 for a single process with few sockets and pipes: its own limit bounds it.
    """
    buffers = _buffers(pids)
    if len(pids) < 2 and buffers < _FEW_BYTES:
        return 0
    return buffers + sum(map(_filled, pids))


def _buffers(pids: list[int]) -> int:
    """Bytes that the kernel may hold for open sockets and pipes.

    Descriptors that are in flight do not count. A user has no more of them than a process may have open
    (unix(7)).
    """
    targets = set()
    for pid in pids:
        folder = f"/proc/{pid}/fd"  # of all its threads (`seccomp`)
        names = _listed(folder)
        if not names:  # its first thread may have ended before others
            others = [thread for thread in _listed(f"/proc/{pid}/task") if int(thread) != pid]
            folder = f"/proc/{pid}/task/{others[0]}/fd" if others else folder
            names = _listed(folder)
        for name in names:
            try:
                target = os.readlink(f"{folder}/{name}")
            except OSError:
                continue
            if target.startswith(("socket:", "pipe:")):
                targets.add(target)  # with its number: it counts once, whoever has it
    return sum(_SOCKET_BYTES if target_name.startswith("socket:") else _PIPE_BYTES for target_name in targets)


def _filled(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup") as stream:  # what they share counts once
            return next((1024 * int(line.split()[1]) for line in stream if line.startswith("Pss:")), 0)
    except OSError:  # ended, or not ours to see: then what it shares with others counts in each
        return sum(_in_status(pid, ("RssAnon:", "RssShmem:")))


def _in_status(pid: int, names: tuple[str, ...]) -> list[int]:
    """Bytes from these lines of proc_pid_status(5); empty if the process has ended."""
    try:
        with open(f"/proc/{pid}/status") as stream:
            return [1024 * int(line.split()[1]) for line in stream if line.startswith(names)]
    except OSError:
        return []


def waited_s(pid: int) -> float:
    """Seconds for which a program was ready to run but had no processor."""
    try:
        with open(f"/proc/{pid}/schedstat") as stream:
            return int(stream.read().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0  # the kernel does not count that
