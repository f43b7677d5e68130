"""Control groups: the kernel counts and bounds the resources of a server and its programs together.

Each server has one group. A group of version 1 is below the caller's own groups. A group of version 2 is
below the caller's group or a group above it of the same user, as systemd delegates them. The kernel counts
`MEMORY`, `PIDS` and `CPU` where a group can be made. Groups also count what happens between two checks of the
server, and the CPU time of processes without a waiting parent. They end processes that lost their server.
"""

import fcntl
import functools
import os
import signal
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

PREFIX = "deskcheck-sandbox-"
_CALLER_PREFIX = "deskcheck-caller-"
"""Name of a group that a caller moves itself into, so that its own group may have groups below it."""
MEMORY, PIDS, CPU = "memory", "pids", "cpu"
"""Resources that a group counts."""
COUNTED = (MEMORY, PIDS, CPU)
_OF_VERSION_1 = {MEMORY: "memory", PIDS: "pids", CPU: "cpuacct"}
"""The controller for each resource. Version 2 counts CPU time in every group."""
_SERVER_BYTES = 128 << 20
"""Memory of the server itself, which its programs share."""
_SERVER_PROCESSES = 2
_LIMIT_FILES = {
    (1, MEMORY): "memory.limit_in_bytes",
    (1, PIDS): "pids.max",
    (2, MEMORY): "memory.max",
    (2, PIDS): "pids.max",
}
_KILLS = {1: "memory.oom_control", 2: "memory.events"}
_FULL = {1: "memory.failcnt", 2: "memory.events"}
_CPU_FILES = {1: "cpuacct.usage", 2: "cpu.stat"}
_BOUNDS = ("memory.max", "memory.high", "cpu.max")
"""Files with limits of a group of version 2. A process that left such a group would evade its limits."""
_GONE_S = 2.0


class Unavailable(Exception):
    """No group can be made here. The message says why."""


@dataclass(frozen=True, slots=True)
class ControlGroupPlace:
    """A folder in which groups can be made, and the version of the control groups there."""

    version: int
    folder: str


@functools.cache
def places() -> dict[str, ControlGroupPlace]:
    """The places for groups, by the resource that they can count here. Raises Unavailable."""
    try:
        with open("/proc/self/cgroup") as stream:
            own_groups = [line.rstrip("\n").split(":", 2) for line in stream]
        with open("/proc/self/mountinfo") as stream:
            mounts = [line.split() for line in stream]
    except OSError as error:
        raise Unavailable(f"no control groups: {error}") from None
    by_counter: dict[str, ControlGroupPlace] = {}
    reasons: list[str] = []
    for what, controller in _OF_VERSION_1.items():
        path = next((path for _, names, path in own_groups if controller in names.split(",")), None)
        mount = _mounted(mounts, "cgroup", controller)
        if path is None or mount is None:
            continue
        folder = _below(mount, path)
        if (refusal := _refusal(folder)) is None:
            by_counter[what] = ControlGroupPlace(1, folder)
        else:
            reasons.append(refusal)
    if len(by_counter) < len(COUNTED):
        path = next((path for number, _, path in own_groups if number == "0"), None)
        mount = _mounted(mounts, "cgroup2", "")
        if path is not None and mount is not None:
            try:
                by_counter = {**of_version_2(_below(mount, path), mount[1]), **by_counter}
            except OSError as error:
                reasons.append(f"{error.filename}: {os.strerror(error.errno or 0)}")
    if not by_counter:
        raise Unavailable("; ".join(reasons) or "no control groups are mounted")
    return by_counter


def of_version_2(own_group: str, top: str) -> dict[str, ControlGroupPlace]:
    """The places for groups of version 2, by resource. Raises OSError if there are none.

    Args:
        own_group: the group of this process.
        top: the mount point of the groups.
    """
    controllers = {MEMORY, PIDS}
    for folder in _ours(own_group, top):
        if controllers <= _words(f"{folder}/cgroup.subtree_control") and _refusal(folder) is None:
            return dict.fromkeys(COUNTED, ControlGroupPlace(2, folder))
    offered = controllers & _words(f"{own_group}/cgroup.controllers")
    delegated = controllers & _words(f"{own_group}/cgroup.subtree_control")
    if offered - delegated and _give_on(own_group, offered):
        delegated = offered
    if (refusal := _refusal(own_group)) is not None:
        raise PermissionError(13, refusal, own_group)
    return dict.fromkeys([*sorted(delegated), CPU], ControlGroupPlace(2, own_group))


def _ours(own_group: str, top: str) -> Iterator[str]:
    """The group of this process and the groups above it of the same user, up to the first with limits."""
    folder = own_group
    while True:
        yield folder
        bounds = (_words(f"{folder}/{name}") for name in _BOUNDS)
        if folder == top or any(words and "max" not in words for words in bounds):
            return
        folder = os.path.dirname(folder)
        if os.stat(folder).st_uid != os.geteuid() or not os.access(f"{folder}/cgroup.procs", os.W_OK):
            return


def _give_on(group: str, controllers: set[str]) -> bool:
    """Count resources in the groups below `group` too.

    The kernel allows that if the group has no processes itself, or is the root. If this process is the only
    one in it, as under ``systemd-run --scope --property=Delegate=yes``, it moves into a group below.
    """
    wish = " ".join(f"+{name}" for name in sorted(controllers))
    moved = None
    try:
        if _words(f"{group}/cgroup.procs") == {str(os.getpid())} and os.path.exists(f"{group}/cgroup.type"):
            moved = tempfile.mkdtemp(prefix=_CALLER_PREFIX, dir=group)
            _write(f"{moved}/cgroup.procs", str(os.getpid()))
        _write(f"{group}/cgroup.subtree_control", wish)
    except OSError:
        if moved is not None:
            _write(f"{group}/cgroup.procs", str(os.getpid()))
            os.rmdir(moved)
        return False
    return True


def _words(path: str) -> set[str]:
    """The words in a file of a group; empty if the file does not exist."""
    try:
        with open(path) as stream:
            return set(stream.read().split())
    except OSError:
        return set()


def _mounted(mounts: list[list[str]], kind: str, controller: str) -> tuple[str, str] | None:
    """Root and mount point of a hierarchy, from mountinfo (proc(5))."""
    for fields in mounts:
        dash = fields.index("-")
        if fields[dash + 1] == kind and (not controller or controller in fields[-1].split(",")):
            return fields[3], fields[4]
    return None


def _below(mounted: tuple[str, str], path: str) -> str:
    """The folder of a group.

    Its path starts at the root of the hierarchy, but only a part of the hierarchy may be mounted.
    """
    root, mount_point = mounted
    inside = path if root == "/" else path.removeprefix(root)
    return mount_point if inside in ("", "/") else mount_point + "/" + inside.lstrip("/")


def own_prefix(temporary: str) -> str:
    """The prefix of group names for processes with this temporary folder.

    Processes with different temporary folders thus recognise their own groups.
    """
    return f"{PREFIX}{zlib.crc32(os.fsencode(temporary)):08x}-"


def _new_group(folder: str) -> str:
    return tempfile.mkdtemp(prefix=own_prefix(os.environ.get("TMPDIR", "")), dir=folder)


def _refusal(folder: str) -> str | None:
    """The reason why a process cannot be put into a new group in a folder; None if it can."""
    try:
        group = _new_group(folder)
        try:
            if not os.access(f"{group}/cgroup.procs", os.W_OK):
                return f"{folder}: no process can be put into a group there"
        finally:
            os.rmdir(group)
    except OSError as error:
        return f"{folder}: {os.strerror(error.errno or 0)}"
    return None


class ControlGroup:
    """The group of one server. Raises Unavailable if it cannot be made; `close` ends its processes.

    `folders` has the folder of the group for each resource that is counted.
    """

    def __init__(self) -> None:
        self._places = places()
        self._limits: dict[str, int] = {}
        self._groups: dict[str, str] = {}
        self._opened: list[int] = []
        self._events: int | None = None
        self._full: int | None = None
        self.cpu: int | None = None
        """A descriptor of the account of CPU time (`processes.Account`)."""
        try:
            for folder in dict.fromkeys(parent.folder for parent in self._places.values()):
                self._groups[folder] = _new_group(folder)
                lock = self._open(self._groups[folder], os.O_DIRECTORY)
                fcntl.flock(lock, fcntl.LOCK_EX)
            self.folders = {what: self._groups[parent.folder] for what, parent in self._places.items()}
            if MEMORY in self._places:
                version = self._places[MEMORY].version
                self._events = self._open(f"{self.folders[MEMORY]}/{_KILLS[version]}")
                self._full = self._open(f"{self.folders[MEMORY]}/{_FULL[version]}")
            if CPU in self._places:
                self.cpu = self._open(f"{self.folders[CPU]}/{_CPU_FILES[self._places[CPU].version]}")
        except OSError as error:
            self.close()
            raise Unavailable(f"a group cannot be made: {error}") from error

    def _open(self, path: str, flags: int = 0) -> int:
        self._opened.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags))
        return self._opened[-1]

    @property
    def versions(self) -> dict[str, int]:
        """The version of the group that counts each resource."""
        return {what: group_place.version for what, group_place in self._places.items()}

    def add(self, pid: int) -> None:
        """Put a process and its later children into the group. Raises OSError."""
        for folder in dict.fromkeys(self.folders.values()):
            _write(f"{folder}/cgroup.procs", str(pid))

    def limit(self, memory_bytes: int, processes: int, files_bytes: int) -> None:
        """Limit the group's memory, its files in memory, and its processes and threads. Raises OSError."""
        bounds = {MEMORY: memory_bytes + files_bytes + _SERVER_BYTES, PIDS: processes + _SERVER_PROCESSES}
        for what, value in bounds.items():
            if what in self.folders and self._limits.get(what) != value:
                _write(self.limit_file(what), str(value))
                self._limits[what] = value
        swap = f"{self.folders.get(MEMORY)}/memory.swap.max"  # version 2 counts swap apart
        if "swap" not in self._limits and os.path.exists(swap):
            _write(swap, "0")
            self._limits["swap"] = 0

    def limit_file(self, what: str) -> str:
        """The file for a limit."""
        return f"{self.folders[what]}/{_LIMIT_FILES[self._places[what].version, what]}"

    def kills(self) -> int:
        """The number of processes that the kernel killed because the group or the machine had no memory."""
        if self._events is None:
            return 0
        lines = os.pread(self._events, 4096, 0).split()
        return int(lines[lines.index(b"oom_kill") + 1])

    def times_full(self) -> int:
        """The number of times that the group's own limit refused it memory."""
        if self._full is None:
            return 0
        lines = os.pread(self._full, 4096, 0).split()
        return int(lines[lines.index(b"oom") + 1 if b"oom" in lines else 0])

    def close(self) -> None:
        """End the processes in the group and remove it."""
        for folder in self._groups.values():
            remove(folder)
        for descriptor in self._opened:
            os.close(descriptor)
        self._groups, self._opened = {}, []


def sweep() -> list[str]:
    """End and remove the groups that no process has locked: their callers were killed."""
    removed: list[str] = []
    try:
        among = {group_place.folder for group_place in places().values()}
    except Unavailable:
        return removed
    for folder in sorted(f"{parent}/{name}" for parent in among for name in os.listdir(parent)):
        name = os.path.basename(folder)
        if name.startswith(_CALLER_PREFIX):
            try:
                os.rmdir(folder)  # the kernel refuses that while anything is in it
            except OSError:
                continue
        if not name.startswith(PREFIX):
            continue
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            continue  # it has gone
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.time() - os.fstat(lock).st_ctime > _GONE_S and remove(folder):
                removed.append(folder)
        except BlockingIOError:
            continue
        finally:
            os.close(lock)
    return removed


def remove(folder: str) -> bool:
    """Kill the processes in a group and remove it; whether that succeeded."""
    until = time.monotonic() + _GONE_S
    while True:
        try:
            os.rmdir(folder)
            return True
        except FileNotFoundError:
            return True
        except OSError:  # there are processes in it
            if time.monotonic() > until:
                return False
        try:
            _kill(folder)
        except OSError:
            pass  # it has gone, or has processes that are not ours to end: the next look tells
        time.sleep(0.002)


def _kill(folder: str) -> None:
    """Kill every process of a group. Raises OSError."""
    if os.path.exists(f"{folder}/cgroup.kill"):  # version 2, from Linux 5.14 on
        _write(f"{folder}/cgroup.kill", "1")
        return
    handles: dict[int, int] = {}
    try:
        for pid in _pids(folder):
            try:
                handles[pid] = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
        # Again: a number that was read before it was opened may be another process's by now.
        for pid in _pids(folder) & handles.keys():
            try:
                signal.pidfd_send_signal(handles[pid], signal.SIGKILL)
            except ProcessLookupError:
                continue
    finally:
        for handle in handles.values():
            os.close(handle)


def _pids(folder: str) -> set[int]:
    with open(f"{folder}/cgroup.procs") as stream:
        return {int(pid) for pid in stream.read().split()} - {0}  # 0: one that has no number where we are


def _write(path: str, text: str) -> None:
    with open(path, "w") as stream:
        stream.write(text)
