"""Memory of a process by the operating system's figures: now, and its peak since the last reset."""


def reset_peak(pid: int | None) -> int | None:
    """Reset the peak (proc(5), clear_refs). Returns the bytes resident now, None if that is not possible."""
    if pid is None:
        return None
    try:
        with open(f"/proc/{pid}/clear_refs", "w") as stream:
            stream.write("5")
    except OSError:
        return None
    return memory_of(pid)[0]


def memory_of(pid: int | None) -> tuple[int | None, int | None]:
    """Bytes resident in a process now, and their peak since the last reset."""
    if pid is None:
        return None, None
    try:
        with open(f"/proc/{pid}/status") as stream:
            values = {name: value for name, _, value in (line.partition(":") for line in stream)}
        return tuple(int(values[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]
    except (OSError, KeyError):
        return None, None
