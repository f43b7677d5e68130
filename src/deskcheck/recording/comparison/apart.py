"""Compares the states of two long runs in another process, to protect the caller's memory.

A program can forge its rows: a few megabytes of them can describe gigabytes of values. The other process
reads them under its own limits.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from deskcheck.recording.block import save, saved
from deskcheck.recording.comparison.states import compared

_MEMORY_BYTES = 4 << 30
_CPU_S = 600
_MOST_CHARS = 2000
_PACKAGE_ROOT = str(Path(__file__).parents[3])
_NO_MEMORY = 3
_STOPPED = (_NO_MEMORY, -signal.SIGXCPU, -signal.SIGKILL)
"""Exit statuses of a process that its limits ended, or that the kernel killed for lack of memory."""
_TOO_LARGE = "its states are too large to compare, and differ as text"


def compared_apart(
    first: Callable[[], Iterable[bytes]], second: Callable[[], Iterable[bytes]], *, cut: bool
) -> str | None:
    """`compared`, run in another process. If that needs too much memory or time, the difference says so."""
    with tempfile.TemporaryFile() as first_file, tempfile.TemporaryFile() as second_file:
        for blocks, stream in ((first, first_file), (second, second_file)):
            for block in blocks():
                save(block, stream)
            stream.flush()
        files = [stream.fileno() for stream in (first_file, second_file)]
        arguments = [*files, int(cut), _MEMORY_BYTES]
        process = subprocess.run(
            [sys.executable, "-P", "-c", _MAIN.format(root=_PACKAGE_ROOT), *map(str, arguments)],
            pass_fds=files,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    if process.returncode == 0:
        return process.stdout.decode("utf-8", "surrogatepass") or None
    if process.returncode in _STOPPED:
        return _TOO_LARGE
    raise RuntimeError(f"comparing two runs failed: {process.stderr.decode(errors='replace')[-2000:]}")


_MAIN = """
import sys
sys.path.insert(0, {root!r})
from deskcheck.recording.comparison import apart
apart.main()
"""


def main() -> None:
    first_descriptor, second_descriptor, cut, memory_bytes = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    try:
        with open(first_descriptor, "rb") as first, open(second_descriptor, "rb") as second:
            where = compared(saved(first), saved(second), cut=bool(cut)) or ""
    except MemoryError:
        os._exit(_NO_MEMORY)
    text = where if len(where) <= _MOST_CHARS else f"{where[:_MOST_CHARS]} ..."
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
