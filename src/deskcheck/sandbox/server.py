"""The caller's side of a fork server: starts it, has it start programs, ends it, or keeps it for later."""

import fcntl
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from deskcheck.errors import SandboxError, ServerLost
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.decoder import Fields, Forged, is_text, is_whole, named, plain, shaped
from deskcheck.sandbox.environments import BuiltEnvironment
from deskcheck.sandbox.inside import server as _server
from deskcheck.sandbox.inside import watching as _watching
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.linux import cgroup, orphans
from deskcheck.sandbox.linux import kernel as _kernel
from deskcheck.sandbox.linux import root as _root
from deskcheck.sandbox.surroundings import elsewhere as _elsewhere

_CHILD = Path(__file__).with_name("inside") / "child.py"
_WORKSPACE_CHILD = Path(__file__).with_name("inside") / "workspace_child.py"
_START_S = 120.0
"""Seconds for a server to start, on a busy machine and with a large profile."""
_END_S = 10.0
_REPORT_BYTES = 1 << 18
"""Largest size of one report or answer, which the names of changed files make long."""
_FACTS: Fields = {"files?": named(is_text), "refused?": named(is_whole)}
"""Fields that may follow the numbers of a report (`inside.server.REPORT`)."""
_OWN_UIDS = 0x7D000000
"""If this process is root, the programs of a server with process number p run as user _OWN_UIDS + p."""
_FEW_USERS = 1000
"""Smallest number of users in a namespace. If there are fewer, the numbers may belong to real users."""
_CHANGING_USERS = _kernel.CAP_SETUID | _kernel.CAP_SETGID | _kernel.CAP_CHOWN | _kernel.CAP_KILL

_ADDR_NO_RANDOMIZE = 0x0040000
_LAY_OUT_PLAINLY = f"""
import ctypes, os, sys
if ctypes.CDLL(None, use_errno=True).personality({_ADDR_NO_RANDOMIZE}) < 0:
    sys.exit("addresses cannot be fixed here: personality: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
"""
_LAID_OUT_PLAINLY = ("-I", "-S", "-c", _LAY_OUT_PLAINLY)
"""Asks the kernel for fixed addresses, then executes the program, since its start chooses the addresses."""

STDLIB = tuple(
    """
    abc ast bisect collections contextlib copy dataclasses datetime decimal enum fractions functools hashlib
    heapq inspect itertools json linecache math operator random re statistics string textwrap threading time
    traceback types typing
    """.split()
)
"""Modules that programs import most. Every server imports them before programs start."""


NOT_COUNTED = {
    cgroup.MEMORY: "rlimits bound each process; the memory of all processes of a program, with their "
    "sockets and pipes, is measured ten times a second, without sockets in flight (up to one for each "
    "descriptor)",
    cgroup.PIDS: "processes are bounded by an rlimit, which counts all of the user's",
    cgroup.CPU: "CPU time counts processes that run or were waited for, so programs may not handle or "
    "ignore SIGCHLD; at 'trusted' and in a workspace they may, and the time of children without a wait is "
    "missing",
}
"""Replacements and gaps if no control group counts a resource, by resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The properties of a server. Servers with equal profiles are interchangeable.

    Attributes:
        modules: modules to import in addition to `STDLIB`, once the server is confined.
        loaded: modules to import with `STDLIB`, for packages of this interpreter.
        readable: paths that programs may read in addition to the interpreter.
        folders: folders that programs may read except for private files.
        scratch_bytes: size of all files that programs may write.
        fixed_addresses: whether addresses are not randomised.
        workspace: whether the server runs commands.
        listening: whether programs begin with UNIX sockets that the caller can connect to.
        elsewhere: whether programs find another machine.
        landlock_abi: the highest version of Landlock to use, for tests.
    """

    level: Confinement
    hash_seed: int = 0
    python: str | None = None
    environment: BuiltEnvironment | None = None
    modules: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    scratch_bytes: int = 256 << 20
    fixed_addresses: bool = False
    workspace: bool = False
    listening: bool = False
    elsewhere: bool = False
    landlock_abi: int | None = None


@dataclass(frozen=True, slots=True)
class ServerReport:
    """A server's report on a program."""

    stopped: int
    """The reason why it was stopped, as in `inside.server`."""
    status: int
    """The exit status of its first process."""
    cpu_s: float
    """The CPU time of all its processes."""
    peak_kib: int
    """The peak resident memory of its first process."""
    files: dict[str, str] = field(default_factory=dict)
    """The files that it wrote (`surroundings.written`)."""
    refused: dict[str, int] | None = None
    """The number of refusals, by system call; None if unknown."""


class Server:
    """A fork server, which runs one program at a time. Raises SandboxError if it cannot start.

    It starts in the background. Call `wait_until_ready` before the first program.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        python = profile.python or sys.executable
        python = shutil.which(python) or python  # the child's PATH is another
        # Of another interpreter `startup` does the work of `site`.
        foreign = os.path.abspath(python) != os.path.abspath(sys.executable)
        child, path = _CHILD, os.defpath
        if profile.workspace:  # whose commands find the interpreter by its usual names
            child, path = _WORKSPACE_CHILD, f"{os.path.dirname(python)}:/usr/local/bin:{os.defpath}"
        sweep(tempfile.gettempdir())
        self._lock: int | None
        self.folder, self._lock = _locked_folder()
        os.chmod(self.folder, 0o711)
        self.connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self.process = subprocess.Popen(
                    [
                        *([python, *_LAID_OUT_PLAINLY, python] if profile.fixed_addresses else [python]),
                        *("-s", "-P", *(["-S"] if foreign else []), str(child), str(theirs.fileno())),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=(theirs.fileno(), self._lock),
                    env=_environment(
                        f"{self.folder}/program", profile.hash_seed, path, _added_elsewhere(profile, path)
                    ),
                    start_new_session=True,
                )
        except OSError as error:
            self.connection.close()
            os.rmdir(self.folder)
            os.close(self._lock)
            raise SandboxError(f"cannot start {python}: {error}") from error
        self.facts: dict[str, Any] | None = None
        self.group: cgroup.ControlGroup | None = None
        self.mark = orphans.new_mark(self.process.pid)
        self._killed_before = 0
        self._full_before = 0
        try:
            self._set_up()
        except BaseException:
            self.close()
            raise

    def _set_up(self) -> None:
        profile = self.profile
        try:
            self.group = cgroup.ControlGroup()
            self.group.add(self.process.pid)  # it waits for what is sent below, and has forked nothing
        except (cgroup.Unavailable, OSError):
            # Not there, or gone with the process: the limits on each process stand alone (`layers`).
            if self.group is not None:
                self.group.close()
            self.group = None
        confined = profile.level is not Confinement.TRUSTED
        setup = {
            "level": profile.level.value,
            "scratch": self.folder,
            "scratch_bytes": profile.scratch_bytes + (_elsewhere.MORE_BYTES if profile.elsewhere else 0),
            "readable": list(profile.readable),
            "folders": list(profile.folders),
            "profile": [] if profile.workspace else [*STDLIB, *profile.loaded],
            "foreign": [] if profile.workspace else list(profile.modules),
            "uid": own_user(self.process.pid) if confined else None,
            "counted": [] if self.group is None else [*self.group.folders],
            "mark": self.mark,
            "workspace": profile.workspace,
            "listening": profile.listening,
            "landlock_abi": profile.landlock_abi,
            "elsewhere": profile.elsewhere,
        }
        account = [] if self.group is None or self.group.cpu is None else [self.group.cpu]
        try:
            socket.send_fds(self.connection, [json.dumps(setup).encode()], account)
        except OSError:
            return  # it has ended: its last words say why

    def wait_until_ready(self) -> dict[str, Any]:
        """The server's facts about the kernel. If it cannot start, it is closed and SandboxError raised."""
        if self.facts is None:
            try:
                self.facts = self._greet()
            except BaseException:
                self.close()
                raise
        return self.facts

    def _greet(self) -> dict[str, Any]:
        profile = self.profile
        self.connection.settimeout(_START_S)
        answer: dict[str, Any] = {}
        try:
            answer = json.loads(self.connection.recv(1 << 16) or b"{}")
        except TimeoutError:
            raise SandboxError(f"a fork server was not ready after {_START_S:g} s") from None
        except OSError:
            pass  # it ended: its last words say why
        if "error" in answer:
            raise SandboxError(_refusal(profile.level, answer["error"]))
        if "ready" not in answer:
            assert self.process.stderr is not None
            self.connection.close()
            tail = self.process.stderr.read().decode("utf-8", "replace").strip()[-2000:]
            if self.process.wait() < 0 and not tail:  # killed, it refused nothing
                raise ServerLost("a fork server was killed before it was ready")
            raise SandboxError(f"a fork server of {self.process.args!r} ended before it was ready: {tail}")
        self.connection.settimeout(None)
        facts: dict[str, Any] = answer["ready"]
        return facts

    def accounts(self) -> dict[str, str]:
        """The means of counting memory, processes and CPU time: a control group, or its replacement."""
        versions = {} if self.group is None else self.group.versions
        accounts = {}
        for what, otherwise in NOT_COUNTED.items():
            version = versions.get(what)
            accounts[what] = otherwise if version is None else f"control group, version {version}"
        if not self.wait_until_ready().get("proc", True):
            unseen = "the container hides /proc: besides rlimits, only processes that have ended are counted"
            accounts |= {what: unseen for what in (cgroup.MEMORY, cgroup.CPU) if what not in versions}
        return accounts

    def program_folder(self) -> str:
        """The path from here to the folder that a program begins in. It is valid while the program runs."""
        if self.profile.level is Confinement.STRICT:  # it is in the server's own file system
            return f"/proc/{self.process.pid}/root{_root.SCRATCH}/program"
        return f"{self.folder}/program"

    def begin(self, limits: Limits, descriptors: list[int], *, files: bool = False) -> None:
        """Start a program's process, with its standard output and error and its channel (and mirror).

        Args:
            files: whether its report names the files that it wrote.
        """
        self._bound(limits, processes_of=1)
        wish = _server.WANTED.pack(_server.RUN, limits.cpu_s, limits.memory_bytes, files)
        self._begin(wish, descriptors)

    def _bound(self, limits: Limits, processes_of: int) -> None:
        """Set the limits of the control group, if any, for this number of programs together."""
        if self.group is None:
            return
        files = self.profile.scratch_bytes if self.profile.level is Confinement.STRICT else 0
        try:
            self.group.limit(
                limits.memory_bytes * processes_of, limits.processes * processes_of, files * processes_of
            )
        except OSError as error:
            raise ServerLost(f"the control group of the fork server is gone: {error}") from error
        self.count_anew()

    def begin_session(
        self, wishes: dict[str, Any], descriptors: list[int], limits: Limits, copies: int
    ) -> None:
        """Start a session's process.

        Args:
            wishes: the fields of `inside.session_server.Wishes`.
            copies: the number of copies that may be held.
        """
        self._bound(limits, processes_of=1 + copies)
        self._begin(_server.SESSION + json.dumps(wishes).encode(), descriptors)

    def _begin(self, request: bytes, descriptors: list[int]) -> None:
        try:
            socket.send_fds(self.connection, [request], descriptors)
        except OSError as error:
            raise ServerLost(f"the fork server is gone: {error}") from error

    def tell(self, what: dict[str, Any]) -> None:
        """Send a request of a session."""
        self._ask(json.dumps(what).encode())

    def answer(self, timeout_s: float | None) -> Any:
        """The answer of a session's server, or the additional seconds of wall time for a piece.

        Raises ServerLost.
        """
        self.connection.settimeout(timeout_s)
        try:
            data = self._receive()
        finally:
            self.connection.settimeout(None)
        return _watching.LATER.unpack(data)[1] if len(data) == _watching.LATER.size else json.loads(data)

    def _receive(self) -> bytes:
        try:
            data = self.connection.recv(_REPORT_BYTES)
        except OSError as error:
            raise ServerLost(f"the fork server is gone: {error}") from error
        if not data:
            raise ServerLost("the fork server ended while a program ran")
        return data

    def end_session(self) -> bool:
        """End a session in which no piece runs. Returns whether the server can be used again."""
        self.tell({"do": "end"})
        self.connection.settimeout(_END_S)
        try:
            return len(self.connection.recv(64)) == _server.REPORT.size
        except OSError:
            return False
        finally:
            self.connection.settimeout(None)

    def count_anew(self) -> None:
        """Let `out_of_memory` report only later events."""
        if self.group is not None:
            self._killed_before, self._full_before = self.group.kills(), self.group.times_full()

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed a process for lack of memory since `begin` or `count_anew`."""
        return self.group is not None and self.group.kills() > self._killed_before

    def why_out_of_memory(self, allowed: str) -> str:
        """The reason for `out_of_memory` in words.

        Either the programs exceeded their limit, described by `allowed`, or the machine had no memory left.
        The kernel then kills programs first.
        """
        if self.group is not None and self.group.times_full() > self._full_before:
            return f"more than {allowed}, by the kernel's count"
        return "the machine had no memory left; the program had not reached its limit"

    def kill(self) -> None:
        """Have the program that runs killed; the report still comes."""
        self._ask(_watching.KILL)

    def too_late(self) -> None:
        """Wall time is up: have the program killed, unless it had to wait for a processor that long."""
        self._ask(_watching.TOO_LATE)

    def say_over(self) -> None:
        """Tell the server that a session's process has finished its order."""
        self._ask(_watching.OVER)

    def _ask(self, what: bytes) -> None:
        try:
            self.connection.send(what)
        except OSError:
            return  # then the server has ended: whoever waits for the report sees it

    def report(self) -> "ServerReport | float":
        """The report on the program, or its additional seconds of wall time. Raises ServerLost."""
        data = self._receive()
        if len(data) == _watching.LATER.size:
            seconds: float = _watching.LATER.unpack(data)[1]
            return seconds
        if len(data) < _server.REPORT.size:
            raise ServerLost("the fork server ended while a program ran")
        stopped, status, cpu_s, peak_kib = _server.REPORT.unpack_from(data)
        facts = self._facts_of(data[_server.REPORT.size :])
        refused = facts.get("refused", {}) if self._knows_refusals() else None
        code = os.waitstatus_to_exitcode(status)
        return ServerReport(stopped, code, cpu_s, peak_kib, facts.get("files", {}), refused)

    def _knows_refusals(self) -> bool:
        trusted = self.profile.level is Confinement.TRUSTED  # where nothing is refused
        return trusted or bool(self.wait_until_ready().get("refusals"))

    def _facts_of(self, text: bytes) -> dict[str, Any]:
        """The fields after the numbers of a report, checked, as foreign modules may run in the server."""
        try:
            return shaped("a report", plain(text or b"{}", depth=2), _FACTS)
        except Forged as error:
            raise ServerLost(f"the fork server sent a malformed message: {error}") from error

    def close(self) -> None:
        """End the server and all processes under it."""
        self.connection.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        if self.group is not None:
            self.group.close()
            self.group = None
        if self.process.returncode:  # it did not end what it had started
            orphans.end(self.mark)
        if self._lock is not None:
            shutil.rmtree(self.folder, ignore_errors=True)  # as a rule the server has removed it
            os.close(self._lock)
            self._lock = None


class ServerPool:
    """Idle servers by profile, since starting one takes as long as many programs. Threads may share it.

    If there are more than `capacity` servers, those that were idle longest are ended. Raises ValueError if
    the capacity is below one.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity={capacity} must be at least 1")
        self._capacity = capacity
        self._lock = threading.Lock()
        self._closed = False
        self.idle: list[Server] = []

    def take(self, profile: Profile) -> Server:
        """A server of this profile, which may still be starting. Raises SandboxError if it cannot start."""
        with self._lock:
            idle = next((server for server in self.idle if server.profile == profile), None)
            if idle is not None:
                self.idle.remove(idle)
        return idle or Server(profile)

    def give(self, server: Server) -> None:
        """Keep a server under which no program runs. If the pool is closed, the server is ended."""
        with self._lock:
            self.idle.append(server)
            surplus = self.idle[:] if self._closed else self.idle[: -self._capacity]
            del self.idle[: len(surplus)]
        for idle in surplus:
            idle.close()

    def open(self) -> None:
        """Keep servers again after `close`."""
        self._closed = False

    def close(self) -> None:
        """End all servers, also those that are given later."""
        with self._lock:
            self._closed = True
            servers, self.idle = self.idle, []
        for server in servers:
            server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def own_user(pid: int) -> int | None:
    """The number of the user and group for programs of the server with process `pid`.

    None if they run as the user of this process, which is not root or lacks the privileges or users for it.
    """
    if os.geteuid() != 0 or _CHANGING_USERS & ~_kernel.capabilities():
        return None
    first, count = _most_users()
    if first <= _OWN_UIDS and first + count >= 1 << 31:
        return _OWN_UIDS + pid
    return None if count < _FEW_USERS else first + count - 1 - pid % (count // 2)


def _most_users() -> tuple[int, int]:
    """The longest range of user and group numbers here (user_namespaces(7)): its first number and length."""
    ranges = []
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/self/{name}") as stream:
            lines = [tuple(map(int, line.split())) for line in stream]
        ranges.append(max((count, first) for first, _, count in lines))
    (users, first_user), (groups, first_group) = ranges
    first = max(first_user, first_group)
    return first, min(first_user + users, first_group + groups) - first


def _locked_folder() -> tuple[str, int]:
    """A new folder, and a descriptor that locks it.

    The server inherits the descriptor. So the lock is free once both the caller and the server have ended in
    any way.
    """
    while True:
        folder = tempfile.mkdtemp(prefix=cgroup.PREFIX)
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # another process swept it between its making and its opening
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.samestat(os.stat(folder), os.fstat(lock)):
                return folder, lock
        except FileNotFoundError:
            pass  # another process swept it between its opening and the lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


@functools.cache
def sweep(among: str) -> tuple[str, ...]:
    """Clean up after servers that were killed together with their callers; return the removed folders.

    This removes their folders and control groups, and ends their processes. It works once in a process for
    each folder. Only folders of this user without a lock are removed, and no link is followed. A tree that is
    too deep for `shutil.rmtree` stays.
    """
    removed = []
    above = os.open(among, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in os.listdir(above):
            if name.startswith(cgroup.PREFIX) and _remove_unlocked(name, above):
                removed.append(name)
    finally:
        os.close(above)
    orphans.sweep()
    return (*removed, *cgroup.sweep())


def _remove_unlocked(name: str, above: int) -> bool:
    try:
        lock = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    except OSError:
        return False  # a link, a file, another's, or gone already
    try:
        if os.fstat(lock).st_uid != os.geteuid():
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # By descriptors, from a folder in which nobody else may rename what is ours: no way out by a link.
        shutil.rmtree(name, dir_fd=above)
    except (OSError, RecursionError):
        return False
    finally:
        os.close(lock)
    return True


@functools.cache
def can_fix_addresses() -> bool:
    """Whether the kernel or the container lets a process ask for addresses without randomisation."""
    ran = subprocess.run(
        [sys.executable, *_LAID_OUT_PLAINLY, sys.executable, "-I", "-S", "-c", "pass"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_START_S,
        check=False,
    )
    return ran.returncode == 0


def _environment(
    scratch: str, hash_seed: int, path: str = os.defpath, added: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """The environment variables that a program needs to run: no keys, no tokens."""
    return {
        "PATH": path,
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(hash_seed),
        **added,
    }


def _added_elsewhere(profile: Profile, path: str) -> dict[str, str]:
    """Variables of programs elsewhere, which are added or replace others."""
    if not profile.elsewhere:
        return {}
    addresses = {} if profile.fixed_addresses else _elsewhere.ADDRESSES
    return {"PATH": f"/opt/elsewhere/bin:{path}", **_elsewhere.ENVIRONMENT, **addresses}


def _refusal(level: Confinement, error: str) -> str:
    ways = {
        Confinement.STRICT: "Run as root, or where user namespaces are allowed; or ask for level 'standard', "
        "which needs no privilege and leaves out what namespaces do.",
        Confinement.STANDARD: "It needs Linux 6.2 with seccomp and Landlock; for code that you trust, "
        "level 'trusted' needs neither.",
        Confinement.TRUSTED: "",
    }
    return f"the level {level.value!r} is not available here: {error}. {ways[level]} See: deskcheck doctor"
