"""What this kernel gives to confine programs with, layer by layer. Nothing foreign runs here."""

import os
import resource
import subprocess
import sys
from dataclasses import dataclass

from deskcheck.recording.errors import SandboxError
from deskcheck.sandbox import _cgroup, _kernel, _landlock, _seccomp
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.server import NOT_COUNTED, Profile, Server


@dataclass(frozen=True, slots=True)
class Layer:
    """One thing that confines programs. there: whether it works here; missing: what that would mean."""

    name: str
    there: bool
    found: str
    missing: str
    levels: tuple[Confinement, ...]
    """The levels that use it."""


_ALL = (Confinement.STRICT, Confinement.STANDARD, Confinement.TRUSTED)
_CONFINED = (Confinement.STRICT, Confinement.STANDARD)
_STRICT = (Confinement.STRICT,)


def layers() -> list[Layer]:
    """Every layer, tried out in processes of their own."""
    abi = _landlock.abi()
    root = os.geteuid() == 0
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return [
        Layer("rlimits", True, f"open files up to {hard}", "", _ALL),
        Layer(
            "own user",
            root,
            "programs run as a user that nobody else is" if root else "not root: programs run as you",
            "programs share your quota of processes; at 'standard', chmod, chown and utime are denied",
            _CONFINED,
        ),
        _tried(
            "seccomp",
            "from deskcheck.sandbox import _seccomp; _seccomp.attach(_seccomp.program(owner_changes=True))",
            f"{len(_seccomp.program(owner_changes=False)) // 8} instructions" if _kernel.MACHINE else "",
            "programs reach every system call: sockets, ptrace, new namespaces",
            _CONFINED,
        ),
        Layer(
            "Landlock",
            abi > 0,
            f"ABI {abi}" + ("" if abi >= 6 else ": no confinement of signals, a second filter does that"),
            "programs read and write whatever the user may",
            _CONFINED,
        ),
        _control_groups(),
        _tried(
            "mark",
            "from deskcheck.sandbox import _orphans as o; m = o.new_mark(1); o.carry(m); "
            "assert o.mark_of('self') == m, 'no mark is seen'",
            "processes carry the mark of their server",
            "what runs after a server and its caller were killed together is not found again",
            _ALL,
        ),
        *(
            _tried(f"{name} namespace", _UNSHARE.format(flags=flags), "can be made", missing, _STRICT)
            for name, flags, missing in _NAMESPACES
        ),
    ]


def _control_groups() -> Layer:
    try:
        counted = _cgroup.places()
    except _cgroup.Unavailable as error:
        there, found = False, str(error)
        counted = {}
    else:
        there = len(counted) == len(_cgroup.COUNTED)
        found = ", ".join(f"{what} (version {place.version})" for what, place in counted.items())
        found += "".join(f"; no {what}" for what in _cgroup.COUNTED if what not in counted)
    missing = "; ".join(text for what, text in NOT_COUNTED.items() if what not in counted)
    return Layer("control groups", there, found, missing, _ALL)


_UNSHARE = """
import os
from deskcheck.sandbox import _kernel as k
k.unshare({flags} | (k.CLONE_NEWUSER if os.geteuid() else 0))
"""
_NAMESPACES = (
    ("process", "k.CLONE_NEWPID", "programs see other processes"),
    ("network", "k.CLONE_NEWNET", "only seccomp and Landlock stand between programs and the network"),
    ("mount", "k.CLONE_NEWNS", "programs see which files there are, though they cannot read them"),
    ("IPC", "k.CLONE_NEWIPC", "only seccomp keeps programs from System V memory and queues"),
    ("host name", "k.CLONE_NEWUTS", "programs see the name of this machine"),
)


def _tried(name: str, code: str, found: str, missing: str, levels: tuple[Confinement, ...]) -> Layer:
    """A layer that is there if our own code can put a fresh process under it."""
    paths = os.pathsep.join(path for path in sys.path if path)
    ran = subprocess.run(
        [sys.executable, "-s", "-P", "-c", code],
        env={"PYTHONPATH": paths},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    there = ran.returncode == 0
    said = ran.stderr.strip().splitlines() or [f"status {ran.returncode}"]
    return Layer(name, there, found if there else said[-1], missing, levels)


def refusals() -> dict[Confinement, str]:
    """For each level, why it cannot be had here; empty where a server of that level starts."""
    found = {}
    for level in Confinement:
        try:
            server = Server(Profile(level=level))
            try:
                server.wait_until_ready()
            finally:
                server.close()
        except SandboxError as error:
            found[level] = str(error)
        else:
            found[level] = ""
    return found
