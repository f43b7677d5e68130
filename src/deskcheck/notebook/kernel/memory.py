"""Memory of a process, as the operating system says it: now, and at most since its peak was reset."""


def reset_peak(pid: int | None) -> int | None:
    """Bytes resident now; the peak begins anew from here (proc(5), clear_refs). None where that cannot be."""
    if pid is None:
        return None
    try:
        with open(f"/proc/{pid}/clear_refs", "w") as stream:
            stream.write("5")
    except OSError:
        return None
    return memory_of(pid)[0]


def memory_of(pid: int | None) -> tuple[int | None, int | None]:
    """Bytes resident in a process, now and at most since its peak was reset."""
    if pid is None:
        return None, None
    try:
        with open(f"/proc/{pid}/status") as stream:
            values = {name: value for name, _, value in (line.partition(":") for line in stream)}
        return tuple(int(values[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]
    except (OSError, KeyError):
        return None, None
