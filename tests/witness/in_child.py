"""`agree.compare` on a program of which nobody knows what it does, in a process of its own."""

import os
import pickle
import resource
import signal
import warnings
from typing import IO

from deskcheck.recording import Mode, Program
from tests.ask.conftest import record_here
from tests.witness.agree import compare

SECONDS = 60
CPU_SECONDS = 8
LONG = "takes long"

Found = list[tuple[str, bool, str]]


def in_child(name: str, code: str) -> Found | str:
    """What `compare` says of a script; how the process ended where that was otherwise, or took too long."""
    reads, writes = os.pipe()
    if not (pid := os.fork()):
        os.close(reads)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        with os.fdopen(writes, "wb") as pipe:
            _child(name, code, pipe)
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    ended = os.waitstatus_to_exitcode(status)
    found: Found | str = (
        pickle.loads(data) if data else LONG if ended == -signal.SIGXCPU else f"status {ended}"
    )
    return found


def _child(name: str, code: str, pipe: IO[bytes]) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    found: Found | str
    warnings.simplefilter("ignore")
    try:
        recording = record_here(Program(id=name, code=code, mode=Mode.MODULE))
        found = list(compare(recording))
    except BaseException as error:  # noqa: BLE001 (the program's: it may end in any way)
        found = f"{type(error).__name__}: {error}"
    pickle.dump(found, pipe)
