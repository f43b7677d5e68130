"""Processes that tests of the sandbox start, find and adopt."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.attacks.stage import adopt_orphans, parent_of, processes, state_of

GONE_S = 60.0
"""For what was killed to be gone, on a busy machine."""


def search_path(*, installed: bool = True) -> str:
    """PYTHONPATH of an interpreter that imports what this one does; without what is installed, if wanted."""
    return os.pathsep.join(path for path in sys.path if path and (installed or "site-packages" not in path))


def in_new_interpreter(code: str, *arguments: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    """Code run by an interpreter that imports what this one does."""
    return subprocess.run(
        [sys.executable, "-s", "-P", "-c", code, *arguments],
        env={"PYTHONPATH": search_path()},
        capture_output=True,
        text=True,
        check=check,
    )


def running(name: str) -> list[int]:
    """Processes of this machine that call themselves so, the stopped ones too."""
    found = []
    for pid in processes():
        try:
            comm = Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue  # it has ended
        if comm == name and state_of(pid) not in ("", "Z", "X"):
            found.append(pid)
    return found


def children() -> set[int]:
    """Children of this process, those too that have ended and nobody has asked after."""
    return {pid for pid in processes() if parent_of(pid) == os.getpid()}


@contextmanager
def adopting() -> Iterator[set[int]]:
    """What loses its parent becomes this process's child meanwhile. Gives the children that it had before."""
    adopt_orphans()
    try:
        yield children()
    finally:
        ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)


_HOSTILE = """
import ctypes, os, socket, struct
libc = ctypes.CDLL(None)
sets = ctypes.create_string_buffer(24)
libc.capget(struct.pack("Ii", 0x20080522, 0), sets)
facts = {"uid": os.getuid(), "pid": os.getpid(), "privileged": any(sets.raw)}
for name, attempt in {
    "writes": lambda: open(CANARY, "w"),
    "reads": lambda: open(SECRET),
    "connects": lambda: socket.socket(),
    "makes a namespace": lambda: os.stat("/nowhere") if libc.unshare(0x10000000) else None,
    "signals": lambda: os.kill(VICTIM, 0),
}.items():
    try:
        attempt()
        facts[name] = True
    except OSError:
        facts[name] = False
"""


def hostile_module(folder: Path) -> str:
    """Text of a module that attacks this process and two files in a folder; `facts` says what it reached."""
    canary, secret = folder / "canary", folder / "secret"
    canary.touch()
    canary.chmod(0o666)
    secret.touch(0o600)
    return f"CANARY, SECRET, VICTIM = {str(canary)!r}, {str(secret)!r}, {os.getpid()}\n{_HOSTILE}"


def packages_of(python: Path) -> Path:
    """The folder of packages of a new virtual environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", python], check=True)
    (packages,) = python.glob("lib/python*/site-packages")
    return packages
