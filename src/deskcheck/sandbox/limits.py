"""What a program may use before it is stopped."""

import os
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from deskcheck.settings import Setting

WALL_TIMES = 3
"""How many times `Limits.wall_s` a run may take in all, with the time in which it waits for a processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on one run. The process group is killed whole when the program ends or a bound is met.

    cpu_s: CPU time, in seconds, of the program and of what it starts; decides about time. wall_s: the
    backstop for programs that sleep; time in which a program waits for a processor does not count, but a
    run never takes more than three times as long.
    memory_bytes: address space of each process, and memory that all of them fill together. output_bytes:
    standard output and error together. file_bytes: size of each file. processes: of the
    user, where the program is not root.
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
    """Memory that the machine has, or that this process may use of it, where its control group says less."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
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
        for place in (path, "/"):  # in a container its own group is the root of what is mounted
            try:
                with open(f"/sys/fs/cgroup{folder}{place}/{name}") as stream:
                    found.append(int(stream.read()))
            except (OSError, ValueError):  # it is not there, or "max"
                continue
    return min(found)
