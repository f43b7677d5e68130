"""Limits on the resources of a program."""

import os
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from deskcheck.settings import Setting

WALL_TIMES = 3
"""Longest duration of a run, with its waiting for a processor, as a multiple of `Limits.wall_s`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one run. All its processes are killed when the program ends or meets a limit.

    Attributes:
        cpu_s: CPU time of the program and its child processes.
        wall_s: wall time, for programs that sleep. Waiting for a processor does not count, up to three times
            this limit.
        memory_bytes: address space of each process, and memory of all processes together.
        output_bytes: size of both output streams together.
        processes: number of the user's processes, if the program is not root.
    """

    cpu_s: Annotated[float, Setting("CPU time that a run may use.", min=0.1)] = 20.0
    wall_s: float = 60.0
    memory_bytes: int = 4 << 30
    output_bytes: int = 1 << 20
    file_bytes: int = 64 << 20
    open_files: int = 256
    processes: int = 256

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def machine_memory_bytes() -> int:
    """The memory of the machine, or the limit of this process's control group if that is lower."""
    sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    try:
        with open("/proc/self/cgroup") as stream:
            groups = [line.rstrip("\n").split(":", 2)[1:] for line in stream]
    except OSError:
        groups = []
    for controllers, path in groups:
        names = {"": ("", "memory.max"), "memory": ("/memory", "memory.limit_in_bytes")}
        if controllers not in names:
            continue
        folder, name = names[controllers]
        for group in (path, "/"):  # in a container its own group is the root of what is mounted
            try:
                with open(f"/sys/fs/cgroup{folder}{group}/{name}") as stream:
                    sizes.append(int(stream.read()))
            except (OSError, ValueError):  # it is not there, or "max"
                continue
    return min(sizes)
