"""What the kernel tells of processes, and the reasons for which a server stops them.

Standard library only.
"""

import os
import time

NOTHING, CPU_TIME, WALL_TIME, MEMORY, ASKED = range(5)
"""What stopped a program."""
LOOK_S = 0.1
"""Between looks at what a program's processes use together. Most programs end before the first."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def children(pid: int) -> list[int]:
    """Children of a process. Ours are also those that lost their parents (PR_SET_CHILD_SUBREAPER)."""
    try:
        at = os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError):
        return []
    try:
        text = b""
        while chunk := os.read(at, 1 << 16):
            text += chunk
    except ProcessLookupError:
        return []
    finally:
        os.close(at)
    return [int(child) for child in text.split()]


def descendants(pid: int) -> list[int]:
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def used_s(pid: int) -> float:
    """CPU time of a program with every process that it started, the ended ones too that it waited for."""
    used = time.clock_gettime(~pid << 3 | 2)  # clock_getcpuclockid(3): of another process
    ticks = 0
    for each in descendants(os.getpid()):
        own, waited_for = _ticks(each)
        ticks += waited_for + (own if each != pid else 0)
    return used + ticks / _TICKS_PER_S


def _ticks(pid: int) -> tuple[int, int]:
    """CPU time of a process, and of the children that it waited for (proc(5), /proc/pid/stat)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            fields = stream.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0
    user, system, children_user, children_system = map(int, fields[11:15])
    return user + system, children_user + children_system


def filled(pids: list[int]) -> int:
    """Bytes of memory that several processes fill; 0 for one alone, which its own limit bounds."""
    if len(pids) < 2:
        return 0
    return sum(map(_filled, pids))


def _filled(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup") as stream:  # what they share counts once
            return next((1024 * int(line.split()[1]) for line in stream if line.startswith("Pss:")), 0)
    except OSError:  # ended, or not ours to see: then what it shares with its parent counts in each
        try:
            with open(f"/proc/{pid}/statm") as stream:
                _, resident, of_files, *_ = map(int, stream.read().split())
        except OSError:
            return 0  # it has ended
        return _PAGE_BYTES * (resident - of_files)


def waited_s(pid: int) -> float:
    """How long a program was ready to run and had no processor: its wall time is not its fault then."""
    try:
        with open(f"/proc/{pid}/schedstat") as stream:
            return int(stream.read().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0  # the kernel does not count that
