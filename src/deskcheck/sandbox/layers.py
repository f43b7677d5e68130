"""Tests which means of confinement (layers) and which levels of the sandbox work in this kernel.

Only deskcheck's own programs run here, a harmless and a hostile one (`probe`).
"""

import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from deskcheck.errors import SandboxError
from deskcheck.sandbox import server
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.linux import cgroup
from deskcheck.sandbox.linux import kernel as _kernel
from deskcheck.sandbox.linux import landlock as _landlock
from deskcheck.sandbox.linux import seccomp as _seccomp
from deskcheck.sandbox.probe import fault
from deskcheck.sandbox.server import NOT_COUNTED


@dataclass(frozen=True, slots=True)
class ConfinementLayer:
    """One means of confinement, and whether it works here."""

    name: str
    works: bool
    description: str  # what works here, or why it does not: "ABI 6", "not root: programs run as you"
    missing: str  # the effect if it does not work: "programs see other processes"
    levels: tuple[Confinement, ...]
    """The levels that use it."""


_ALL = (Confinement.STRICT, Confinement.STANDARD, Confinement.TRUSTED)
_CONFINED = (Confinement.STRICT, Confinement.STANDARD)
_STRICT = (Confinement.STRICT,)


def layers() -> list[ConfinementLayer]:
    """Every layer, tested in separate processes."""
    abi = _landlock.abi()
    own_user = server.own_user(os.getpid()) is not None
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return [
        ConfinementLayer("rlimits", True, f"open files up to {hard}", "", _ALL),
        ConfinementLayer(
            "own user",
            own_user,
            "programs run as a separate user" if own_user else _NOT_ANOTHER_USER[os.geteuid() == 0],
            "programs share your quota of processes; at 'standard', chmod, chown and utime are denied",
            _CONFINED,
        ),
        _trial(
            "seccomp",
            "from deskcheck.sandbox.linux import seccomp as s; s.attach(s.program(owner_changes=True))",
            f"{len(_seccomp.program(owner_changes=False)) // 8} instructions" if _kernel.MACHINE else "",
            "programs reach every system call: sockets, ptrace, new namespaces",
            _CONFINED,
        ),
        ConfinementLayer(
            "Landlock",
            abi > 0,
            _landlock_found(abi),
            "programs read and write all files of the user",
            _CONFINED,
        ),
        _control_groups(),
        _trial(
            "mark",
            "from deskcheck.sandbox.linux import orphans as o; m = o.new_mark(1); o.carry(m); "
            "assert o.mark_of('self') == m, 'no mark is seen'",
            "processes carry the mark of their server",
            "processes that outlive both their server and its caller are not cleaned up",
            _ALL,
        ),
        *(
            _trial(f"{name} namespace", _UNSHARE.format(flags=flags), "can be made", missing, _STRICT)
            for name, flags, missing in _NAMESPACES
        ),
    ]


_NOT_ANOTHER_USER = {
    True: "root without the capabilities SETUID, SETGID, CHOWN and KILL, or without other users: as you",
    False: "not root: programs run as you",
}


def _landlock_found(abi: int) -> str:
    if abi < 3:
        return f"ABI {abi}: too old for 'standard', which needs 3 (Linux 6.2)"
    return f"ABI {abi}" + ("" if abi >= 6 else ": without confinement of signals, which a second filter does")


def _control_groups() -> ConfinementLayer:
    try:
        places = cgroup.places()
    except cgroup.Unavailable as error:
        is_complete, description = False, str(error)
        places = {}
    else:
        is_complete = len(places) == len(cgroup.COUNTED)
        description = ", ".join(
            f"{controller} (version {place.version})" for controller, place in places.items()
        )
        description += "".join(
            f"; no {controller}" for controller in cgroup.COUNTED if controller not in places
        )
    missing = "; ".join(effect for controller, effect in NOT_COUNTED.items() if controller not in places)
    return ConfinementLayer("control groups", is_complete, description, missing, _ALL)


_UNSHARE = """
from deskcheck.sandbox.linux import kernel as k
k.unshare({flags} | (0 if k.capabilities() & k.CAP_SYS_ADMIN else k.CLONE_NEWUSER))
"""
_NAMESPACES = (
    ("process", "k.CLONE_NEWPID", "programs see other processes"),
    ("network", "k.CLONE_NEWNET", "only seccomp and Landlock keep programs from the network"),
    ("mount", "k.CLONE_NEWNS", "programs see the names of files that they cannot read"),
    ("IPC", "k.CLONE_NEWIPC", "only seccomp keeps programs from System V memory and queues"),
    ("host name", "k.CLONE_NEWUTS", "programs see the name of this machine"),
)


def _trial(
    name: str, code: str, if_it_works: str, missing: str, levels: tuple[Confinement, ...]
) -> ConfinementLayer:
    """A layer that works if `code`, run in a new process, can put this process under it."""
    paths = os.pathsep.join(path for path in sys.path if path)
    completed = subprocess.run(
        [sys.executable, "-s", "-P", "-c", code],
        env={"PYTHONPATH": paths},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    works = completed.returncode == 0
    lines = completed.stderr.strip().splitlines() or [f"status {completed.returncode}"]
    return ConfinementLayer(name, works, if_it_works if works else lines[-1], missing, levels)


def refusals() -> dict[Confinement, str]:
    """The reason why each level does not work here; empty if it works.

    A level works if a harmless program runs, and a hostile program reaches none of the user's files,
    listeners and processes that it tries.
    """
    reasons = {}
    for level in Confinement:
        try:
            reasons[level] = fault(level)
        except SandboxError as error:
            hints = missing(level)
            reasons[level] = f"{error}" + (f" Missing: {'; '.join(hints)}." if hints else "")
    return reasons


def missing(level: Confinement) -> list[str]:
    """The missing capabilities and kernel settings that a level needs, as far as they can be read."""
    lacks = []
    if level is Confinement.STRICT and not _kernel.capabilities() & _kernel.CAP_SYS_ADMIN:
        lacks += [
            f"{name} is {wrong} (sysctl), and the capability SYS_ADMIN is missing"
            for name, wrong in _WRONG_SETTINGS
            if _setting(name) == wrong
        ]
        if _is_filtered():
            lacks.append(
                "this process has a system call filter, like that of a container, which may refuse "
                "namespaces to processes without the capability SYS_ADMIN"
            )
        if os.geteuid() == 0:
            absent = [name for name, bit in _FOR_USERS if not _kernel.capabilities() & bit]
            lacks += [f"the capability {name}, without which root gets no user namespace" for name in absent]
    if level is not Confinement.TRUSTED:
        if _landlock.abi() == 0:
            lacks.append(
                "Landlock in the kernel (CONFIG_SECURITY_LANDLOCK, and landlock among lsm= at its start)"
            )
        if _kernel.MACHINE is None:
            lacks.append(f"a filter for {os.uname().machine}")
    return lacks


_WRONG_SETTINGS = (
    ("user.max_user_namespaces", "0"),
    ("kernel.unprivileged_userns_clone", "0"),
    ("kernel.apparmor_restrict_unprivileged_userns", "1"),
)
_FOR_USERS = (("SETFCAP", _kernel.CAP_SETFCAP),)


def _setting(name: str) -> str | None:
    try:
        return Path("/proc/sys", *name.split(".")).read_text().strip()
    except OSError:
        return None


def _is_filtered() -> bool:
    status = Path("/proc/self/status").read_text().splitlines()
    return "Seccomp:\t2" in status
