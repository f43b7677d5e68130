"""Control groups: what a server and the programs under it may use together, counted by the kernel.

A group for each server, below the group of the caller. Of version 1: below its groups for memory and for
pids. Of version 2 (https://docs.kernel.org/admin-guide/cgroup-v2.html): where its group can give these
controllers on. Where no group can be made, limits on each process and the server's looks (`_server`) stand
alone. What a group adds: memory and processes between two looks, files in memory, and an end for
whatever lost its server. Not: CPU time.
"""

import fcntl
import functools
import os
import signal
import tempfile
import time

PREFIX = "deskcheck-sandbox-"
_SERVER_BYTES = 128 << 20
"""What a server has itself, and shares with its programs."""
_SERVER_PROCESSES = 2
_CONTROLLERS = ("memory", "pids")
_FILES = {
    1: {"memory": "memory.limit_in_bytes", "pids": "pids.max"},
    2: {"memory": "memory.max", "pids": "pids.max"},
}
_KILLS = {1: "memory.oom_control", 2: "memory.events"}
_GONE_S = 2.0


class Unavailable(Exception):
    """No group can be made here: why, in words."""


@functools.cache
def parents() -> tuple[int, dict[str, str]]:
    """Version, and for each controller the folder that groups can be made in. Raises Unavailable."""
    try:
        with open("/proc/self/cgroup") as stream:
            own = [line.rstrip("\n").split(":", 2) for line in stream]
        with open("/proc/self/mountinfo") as stream:
            mounts = [line.split() for line in stream]
    except OSError as error:
        raise Unavailable(f"no control groups: {error}") from None
    found: dict[str, str] = {}
    for controller in _CONTROLLERS:
        path = next((path for _, names, path in own if controller in names.split(",")), None)
        if path is not None and (at := _mounted(mounts, "cgroup", controller)) is not None:
            found[controller] = _below(at, path)
    if len(found) == len(_CONTROLLERS):
        _try(found)
        return 1, found
    path = next((path for number, _, path in own if number == "0"), None)
    at = _mounted(mounts, "cgroup2", "")
    if path is None or at is None:
        raise Unavailable("no control groups for memory and pids are mounted")
    folder = _below(at, path)
    found = dict.fromkeys(_CONTROLLERS, folder)
    try:
        with open(f"{folder}/cgroup.controllers") as stream:
            missing = set(_CONTROLLERS) - set(stream.read().split())
        if missing:
            raise Unavailable(f"control groups here have no controller for {' and '.join(sorted(missing))}")
        with open(f"{folder}/cgroup.subtree_control") as stream:
            given = set(stream.read().split())
        if not given.issuperset(_CONTROLLERS):
            # The kernel refuses this where the group has processes, but for the root's: ours has us.
            with open(f"{folder}/cgroup.subtree_control", "w") as stream:
                stream.write("+memory +pids")
    except OSError as error:
        raise Unavailable(f"{folder}: {os.strerror(error.errno or 0)}") from None
    _try(found)
    return 2, found


def _mounted(mounts: list[list[str]], kind: str, controller: str) -> tuple[str, str] | None:
    """Root and mount point of a hierarchy, from mountinfo (proc(5))."""
    for fields in mounts:
        dash = fields.index("-")
        if fields[dash + 1] == kind and (not controller or controller in fields[-1].split(",")):
            return fields[3], fields[4]
    return None


def _below(mounted: tuple[str, str], path: str) -> str:
    """Folder of a group, whose path counts from the root of the hierarchy, of which a part may be mounted."""
    root, at = mounted
    inside = path if root == "/" else path.removeprefix(root)
    return at if inside in ("", "/") else at + "/" + inside.lstrip("/")


def _try(folders: dict[str, str]) -> None:
    for folder in set(folders.values()):
        try:
            os.rmdir(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        except OSError as error:
            raise Unavailable(f"{folder}: {os.strerror(error.errno or 0)}") from None


class Group:
    """A group of one server. Raises Unavailable where it cannot be made; `close` ends what is in it."""

    def __init__(self) -> None:
        self.version, above = parents()
        self._limits: dict[str, int] = {}
        self._locks: list[int] = []
        made: dict[str, str] = {}
        try:
            for folder in dict.fromkeys(above.values()):
                made[folder] = tempfile.mkdtemp(prefix=PREFIX, dir=folder)
                self._locks.append(os.open(made[folder], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
                fcntl.flock(self._locks[-1], fcntl.LOCK_EX)
            self._events = os.open(
                f"{made[above['memory']]}/{_KILLS[self.version]}", os.O_RDONLY | os.O_CLOEXEC
            )
        except OSError as error:
            for lock in self._locks:
                os.close(lock)
            for group in made.values():
                remove(group)
            raise Unavailable(f"a group cannot be made: {error}") from error
        self.folders = {controller: made[folder] for controller, folder in above.items()}

    def add(self, pid: int) -> None:
        """Put a process into the group; what it forks from now on is in it too. Raises OSError."""
        for folder in dict.fromkeys(self.folders.values()):
            _write(f"{folder}/cgroup.procs", str(pid))

    def limit(self, memory_bytes: int, processes: int, files_bytes: int) -> None:
        """Bound what is in the group: memory and files in memory, processes and threads. Raises OSError."""
        wanted = {"memory": memory_bytes + files_bytes + _SERVER_BYTES, "pids": processes + _SERVER_PROCESSES}
        for controller, value in wanted.items():
            if self._limits.get(controller) != value:
                _write(f"{self.folders[controller]}/{_FILES[self.version][controller]}", str(value))
                self._limits[controller] = value

    def kills(self) -> int:
        """How many processes of the group the kernel has killed for its memory."""
        lines = os.pread(self._events, 4096, 0).split()
        return int(lines[lines.index(b"oom_kill") + 1])

    def close(self) -> None:
        """End what is in the group and remove it."""
        for folder in dict.fromkeys(self.folders.values()):
            remove(folder)
        for descriptor in (*self._locks, self._events):
            os.close(descriptor)


def sweep() -> list[str]:
    """End and remove the groups whose callers were killed: those that nobody has locked."""
    removed: list[str] = []
    try:
        _, above = parents()
    except Unavailable:
        return removed
    for among in dict.fromkeys(above.values()):
        for name in os.listdir(among):
            folder = f"{among}/{name}"
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
    """Kill what is in a group and remove it; whether that could be done."""
    until = time.monotonic() + _GONE_S
    while True:
        try:
            with open(f"{folder}/cgroup.procs") as stream:
                pids = [int(pid) for pid in stream.read().split()]
            for pid in pids:
                if pid > 0:  # 0 is one that has no number where we are; to kill(2) it is ourselves
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        continue
            os.rmdir(folder)
        except FileNotFoundError:
            return True
        except OSError:  # a process of it is still ending
            if time.monotonic() > until:
                return False
            time.sleep(0.002)
        else:
            return True


def _write(path: str, text: str) -> None:
    with open(path, "w") as stream:
        stream.write(text)
