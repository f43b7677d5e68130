"""`agree.compare` on a program of which nobody knows what it does, in a process of its own."""

import os
import pickle
import signal
from typing import IO

from deskcheck.recording import Mode, Program
from tests.ask.conftest import record_here
from tests.witness.agree import compare

SECONDS = 8

Found = list[tuple[str, bool, str]]


def in_child(name: str, code: str) -> Found | None:
    """What `compare` says of a script; None where the process ended otherwise, or took too long."""
    reads, writes = os.pipe()
    if not (pid := os.fork()):
        os.close(reads)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        with os.fdopen(writes, "wb") as pipe:
            _child(name, code, pipe)
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    found: Found | None = pickle.loads(data) if data else None
    return found


def _child(name: str, code: str, pipe: IO[bytes]) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    try:
        recording = record_here(Program(id=name, code=code, mode=Mode.MODULE))
        found = list(compare(recording))
    except BaseException:  # noqa: BLE001 (the program's: it may end in any way)
        os._exit(1)
    pickle.dump(found, pipe)
