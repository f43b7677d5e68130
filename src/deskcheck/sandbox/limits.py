"""What a program may use before it is stopped."""

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
