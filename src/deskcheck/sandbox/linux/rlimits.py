"""Limits on the resources of a process, which it and its children cannot lift. Standard library only."""

import resource
from typing import Any


def apply(limits: dict[str, Any]) -> None:
    """Put this process under limits (`limits.Limits`, as a dict). Lower limits of its own stay."""
    # A bound for where the server cannot look. It is above the limit, since the kernel counts ticks for it:
    # where many processes share a processor, that was an eighth too much.
    cpu = int(limits["cpu_s"] * 1.25) + 2
    bounds = {
        resource.RLIMIT_CPU: (cpu, cpu + 1),
        resource.RLIMIT_AS: (limits["memory_bytes"],) * 2,
        resource.RLIMIT_FSIZE: (limits["file_bytes"],) * 2,
        resource.RLIMIT_NOFILE: (limits["open_files"],) * 2,
        resource.RLIMIT_NPROC: (limits["processes"],) * 2,
        resource.RLIMIT_CORE: (0, 0),
    }
    for which, (soft, hard) in bounds.items():
        _, ceiling = resource.getrlimit(which)
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(which, (soft, hard))
