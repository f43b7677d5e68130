"""The fork server: a warm interpreter whose forks become the processes of programs.

It does not know the programs. The fork reads its job, and the program's output goes to the caller through
pipes that the server does not open. The server reports the ending of a program and leaves none of its
processes. Standard library only; started through `child`.
"""

import atexit
import contextlib
import errno
import functools
import gc
import json
import os
import random
import resource
import select
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from deskcheck.sandbox.inside import readable_files as _readable_files
from deskcheck.sandbox.inside import startup
from deskcheck.sandbox.inside.session_server import Keeper, Wishes
from deskcheck.sandbox.inside.watching import FAST_ENOUGH_S, CallerGone, watch
from deskcheck.sandbox.linux import kernel, landlock, orphans, seccomp
from deskcheck.sandbox.linux import root as _root
from deskcheck.sandbox.linux import steps as _steps
from deskcheck.sandbox.linux.notices import Notices
from deskcheck.sandbox.linux.processes import (
    NOTHING,
    CpuAccount,
    children,
)
from deskcheck.sandbox.linux.refused import SHARED_MEMORY, Refuses
from deskcheck.sandbox.surroundings import elsewhere as _elsewhere
from deskcheck.sandbox.surroundings import scratch as _scratch
from deskcheck.sandbox.surroundings.written import written

REPORT = struct.Struct("!BidQ")
"""The reason for stopping a program, its wait status, CPU seconds of all its processes, and peak resident KiB
of the first. A JSON object follows: ``refused`` has the refused calls (`Notices.take`), and ``files`` the
written files, if the request asks for them (`written`)."""
WANTED = struct.Struct("!cdQ?")
"""A request for a program's process: CPU seconds, bytes of memory for all its processes, and whether to
report the files that it wrote."""
RUN, SESSION = b"r", b"s"
_REQUEST_BYTES = 1024
_SETUP_BYTES = 1 << 18
_CHANNEL_AT_LEAST = 2048
"""Lowest descriptor for channels. Programs often close all descriptors up to 1023."""
_SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/lib32",
    "/libx32",
    "/bin",
    "/sbin",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
)
"""Paths in ``/etc`` for programs: alternatives of Debian (awk), paths of libraries, the local time."""
_USERS = {
    "/etc/passwd": "root:x:0:0:root:/root:/usr/sbin/nologin\n{name}:x:{uid}:{gid}:{name}:{home}:/bin/sh\n",
    "/etc/group": "root:x:0:\n{name}:x:{gid}:\n",
}
"""Files with the users, in workspaces with a separate root and elsewhere. Programs there must not see the
real users."""
_READABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_LANDLOCK_AT_LEAST = 3
"""Lowest version of Landlock at `standard`: the first that restricts truncate(2)."""
_undying: list[Any] = []
"""Keeps the server alive in programs' processes too, since freeing it would copy its pages."""


@dataclass(frozen=True)
class Setup:
    """The settings of a server.

    Attributes:
        scratch: the folder below which programs may write.
        uid: the user of programs; None for the caller's.
        profile: modules of deskcheck to import.
        foreign: other modules, imported once the server is confined.
        counted: resources that a control group counts.
        mark: see `orphans`.
        workspace: run commands, and keep files.
        listening: let programs have UNIX sockets that the caller can connect to, until `stop_listening`.
        landlock_abi: the highest version of Landlock to use.
        elsewhere: simulate another machine.
    """

    level: str
    scratch: str
    scratch_bytes: int
    readable: list[str]
    folders: list[str]
    profile: list[str]
    foreign: list[str]
    uid: int | None
    counted: list[str]
    mark: int
    workspace: bool
    listening: bool
    landlock_abi: int | None
    elsewhere: bool


@dataclass
class Fork:
    """A confined process, before it gets its program."""

    channel: int
    mirror: int | None
    ours: frozenset[str]
    """Modules that were loaded before those of the profile."""
    named: tuple[str, ...]
    """Modules of the environment, which the program finds imported."""
    refuses: Refuses
    """The calls that the filter refuses: none at `trusted`."""
    watched: bytes | None
    """The argument for `_syscalls.watch`; None if no call is refused."""


def serve(control: int, ours: Iterable[str], facts: dict[str, Any]) -> Fork:
    """Be the server on a descriptor. The server exits; only the processes of programs return.

    Args:
        facts: facts for the caller, in addition to those about the kernel.
    """
    connection = socket.socket(fileno=control)
    text, descriptors, _, _ = socket.recv_fds(connection, _SETUP_BYTES, 1)
    setup = Setup(**json.loads(text))
    account = CpuAccount(descriptors[0] if descriptors else None)
    try:
        server = ForkServer(setup, connection, account, frozenset(ours), facts)
    except BrokenPipeError:
        os._exit(1)  # what started this process was killed, and our caller sees that
    except (OSError, ImportError) as error:
        connection.send(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
    _undying.append(server)
    return server.serve()


class ForkServer:
    def __init__(
        self,
        setup: Setup,
        connection: socket.socket,
        account: CpuAccount,
        ours: frozenset[str],
        facts: dict[str, Any],
    ) -> None:
        self.setup = setup
        self.connection = connection
        self.account = account
        self.ours = ours
        self.confined = setup.level != "trusted"
        self.alone = setup.level == "strict"
        self.folder = setup.scratch
        self.facts = dict(facts)
        self.facts["marked"] = self._take_mark()
        self.uid = setup.uid
        self.refuses: Refuses = lambda name: None
        self.keeps_folders = False
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whoever started the caller may ignore it
        # Blocked here and not in programs: the only signal that one could send to the first of its namespace.
        signal.pthread_sigmask(signal.SIG_SETMASK, (signal.SIGINT,))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        enough = 2 * _CHANNEL_AT_LEAST
        if soft != resource.RLIM_INFINITY and soft < enough:
            soft = enough if hard == resource.RLIM_INFINITY else min(enough, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.channel_at = min(_CHANNEL_AT_LEAST, soft - 1) if soft > 0 else _CHANNEL_AT_LEAST
        paths = self._interpreter()
        self.readable = [*paths, *setup.readable]
        listed: list[str] = []
        links: list[str] = []
        # A project that was installed in place is on the import path with all that lies in its folder.
        in_place = [path for path in sys.path if os.path.isdir(path) and not _is_installed(path)]
        for folder in (*setup.folders, *in_place) if self.confined else ():
            if any(folder == path or folder.startswith(f"{path}/") for path in self.readable):
                continue
            beside = _readable_files.look(folder)
            self.readable += beside.readable
            listed += beside.listed
            links += beside.links
        # Commands of a workspace and kernels tell by other means what they were refused.
        asks = self.confined and not setup.workspace and not setup.listening
        self.notices = Notices() if asks else None
        if self.alone:
            self._enter_namespaces()
        if self.alone or asks:
            self._go_on_in_a_child()
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        if self.alone:
            kernel.sethostname(_elsewhere.HOST if setup.elsewhere else "sandbox")
            if setup.elsewhere:
                _go_on_from(_elsewhere.LAST_PID)
            self.folder = _elsewhere.SCRATCH if setup.elsewhere else _root.SCRATCH
        self.program_folder = f"{self.folder}/{_elsewhere.PROGRAM if setup.elsewhere else 'program'}"
        self.folders = [
            self.program_folder,
            *([f"{self.folder}/{_root.SHARED_MEMORY}"] if self.alone else []),
        ]
        if self.alone:
            files = self._users() if setup.workspace or setup.elsewhere else {}
            self.facts["proc"] = _root.build(
                self.readable,
                setup.scratch,
                setup.scratch_bytes,
                files,
                own_tmp=setup.workspace,
                links=links,
                program=self.program_folder,
            )
            self.readable += ["/proc", *files]
        for name in ("HOME", "TMPDIR"):
            os.environ[name] = self.program_folder
        os.chdir("/")
        if setup.elsewhere:
            self._settle_elsewhere()
        for name in setup.profile:
            __import__(name)
        self.rules: int | None = None
        self.own_signals = False
        self.capabilities = 0
        if self.confined:
            self._confine(paths, listed)
        if setup.foreign:
            self.ours |= frozenset(startup.run_code())
        for name in setup.foreign:
            __import__(name)
        gc.collect()
        self.steps = self._steps()
        self.nothing_after_fork = _nothing_after_fork()
        gc.freeze()

    def _take_mark(self) -> bool:
        """Put the mark on this process and its descendants; whether that succeeded."""
        try:
            orphans.carry(self.setup.mark)
        except (OSError, ValueError):
            pass  # it is part of a sandbox itself, and carries the mark of that
        return orphans.mark_of("self") == self.setup.mark

    def _confine(self, interpreter: list[str], listed: list[str]) -> None:
        """Prepare the confinement of programs, and apply the parts that the server itself can work under."""
        setup = self.setup
        abi = landlock.abi() if setup.landlock_abi is None else min(setup.landlock_abi, landlock.abi())
        if not self.alone and abi < _LANDLOCK_AT_LEAST:
            raise OSError(
                f"Landlock has ABI {abi} here, and {_LANDLOCK_AT_LEAST} is needed (Linux 6.2): before it, "
                "programs can empty every file that the user may write to"
            )
        folders = [self.folder]
        if self.alone and setup.workspace and os.path.ismount("/tmp"):
            folders.append("/tmp")
        readable = [*self.readable, *_READABLE_DEVICES]
        writable = [*folders, *_WRITABLE_DEVICES]
        self.rules = landlock.ruleset(abi, readable, writable, folders if setup.workspace else [], listed)
        self.facts["landlock"] = abi
        self.own_signals = not self.alone and abi < 6
        if setup.uid is not None and not self.alone:
            closed = _closed([*interpreter, *setup.readable, *setup.folders]) or _closed_above(setup.scratch)
            if closed is not None:  # Landlock decides what can be read
                if not kernel.capabilities() & kernel.CAP_DAC_READ_SEARCH:
                    raise OSError(
                        f"{closed} cannot be read by other users, and programs run as a separate user: open "
                        "it to all, or run with the capability DAC_READ_SEARCH, or not as root"
                    )
                self.capabilities = kernel.CAP_DAC_READ_SEARCH
        owner_changes = self.alone or setup.uid is not None
        if setup.foreign:
            self._become_as_a_program([*readable, "/proc"], writable, abi)
        reaps = not setup.workspace and "cpu" not in setup.counted
        code = functools.partial(
            seccomp.program, owner_changes=owner_changes, listening=setup.listening, reaps=reaps
        )
        self.facts["refusals"] = self.notices is not None and self.notices.attach(code(asks=True))
        if not self.facts["refusals"]:
            self.notices = None
            seccomp.attach(code())
        refuses = functools.partial(seccomp.refuses, owner_changes=owner_changes, listening=setup.listening)
        no_memory = None if self.alone else errno.EACCES
        self.refuses = lambda name: no_memory if name in SHARED_MEMORY else refuses(name)

    def _become_as_a_program(self, readable: list[str], writable: list[str], abi: int) -> None:
        """Give up the rights that programs do not have, but keep access to processes in /proc."""
        steps = _steps.SetupSteps()
        if self.uid is not None:  # the folder above is root's: this one stays from program to program
            self._make_folders()
            self.keeps_folders = True
        self._give_up(steps)
        steps.call("prctl", kernel.PR_SET_DUMPABLE, 1)  # or what is of it in /proc would be root's
        steps.call("prctl", kernel.PR_SET_NO_NEW_PRIVS, 1)
        if abi > 1:  # in the first, nothing could be moved between folders, which emptying them takes
            steps.call("landlock_restrict_self", landlock.ruleset(abi, readable, writable), 0)
        _steps.run(steps.packed)
        self.uid = None

    def _give_up(self, steps: _steps.SetupSteps) -> None:
        """Add the steps to become the programs' user, with only the privileges of programs."""
        uid = self.uid
        if uid is not None:
            if self.capabilities:
                steps.call("prctl", kernel.PR_SET_KEEPCAPS, 1)
            steps.call("setgroups", 0, 0)
            steps.call("setresgid", uid, uid, uid)
            steps.call("setresuid", uid, uid, uid)
        lacks_root = self.confined and uid is None and (self.alone or os.geteuid() == 0)
        if self.capabilities or lacks_root:  # else they went with root's uid
            steps.capabilities(self.capabilities)

    def _interpreter(self) -> list[str]:
        """Paths that any program must be able to read."""
        package = __file__.rsplit("/", 4)[0]
        places = (*_prefixes(), package, *(path for path in sys.path if _is_installed(path)))
        paths = [path for path in places if os.path.isabs(path) and os.path.lexists(path)]
        real = [os.path.realpath(path) for path in paths]
        return [path for path in dict.fromkeys((*paths, *real, *_SYSTEM)) if path != "/"]

    def _users(self) -> dict[str, str]:
        uid = os.getuid() if self.setup.uid is None else self.setup.uid
        gid = os.getgid() if self.setup.uid is None else self.setup.uid
        name = _elsewhere.ENVIRONMENT["USER"] if self.setup.elsewhere else "sandbox"
        facts = {"uid": uid, "gid": gid, "name": name, "home": self.program_folder}
        return {path: text.format(**facts) for path, text in _USERS.items()}

    def _settle_elsewhere(self) -> None:
        """Give programs other modes and numbers of files, and other counts of references."""
        os.umask(_elsewhere.UMASK)
        if self.alone:
            for number in range(11):  # each takes a number of a file
                name = f"{self.folder}/{number}"
                os.close(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
                os.unlink(name)
        _elsewhere.hold()

    def _enter_namespaces(self) -> None:
        """Enter new namespaces. The next child is their first process."""
        flags = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET
        flags |= kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
        uid, gid = os.getuid(), os.getgid()
        elsewhere = self.setup.elsewhere
        if kernel.capabilities() & kernel.CAP_SYS_ADMIN:
            kernel.unshare(flags)
        elif self.uid is None:
            kernel.unshare(flags | kernel.CLONE_NEWUSER)
            inside = (_elsewhere.UID, _elsewhere.UID) if elsewhere else (uid, gid)
            _map_users(os.getpid(), f"{inside[0]} {uid} 1", f"{inside[1]} {gid} 1", alone=True)
        else:  # root of a container, as a rule: only who stays outside may give us more than one user
            own_uid = self.uid
            with _helper(
                lambda: _map_users(os.getppid(), *2 * (f"0 0 1\n{own_uid} {own_uid} 1",), alone=False)
            ):
                kernel.unshare(flags | kernel.CLONE_NEWUSER)
        if elsewhere:
            _be_on_for_longer()

    def _go_on_in_a_child(self) -> None:
        """Continue in a child. The parent answers for the filter, and ends with the child."""
        read, write = os.pipe()
        pid = os.fork()
        if pid:
            self.connection.close()
            os.close(read)
            if self.notices is not None:
                self.notices.answer(pid)
            _, status = os.waitpid(pid, 0)
            _remove(self.setup.scratch)
            code = os.waitstatus_to_exitcode(status)
            if code == -signal.SIGKILL:
                os.kill(os.getpid(), signal.SIGKILL)  # so that our caller is told the same
            os._exit(code & 0xFF)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.close(write)
        if select.select([read], [], [], 0)[0]:  # closed: it was killed before it could tell
            os._exit(1)
        os.close(read)

    def serve(self) -> Fork:
        self.connection.send(json.dumps({"ready": self.facts}).encode())
        while True:
            request, descriptors, _, _ = socket.recv_fds(self.connection, _REQUEST_BYTES, 4)
            if not request:
                self._leave(None)
            if request[:1] not in (RUN, SESSION):
                continue  # about what had ended already
            self._make_folders()
            before = self.account.used_s(0)
            if self.notices is not None:
                self.notices.take()
            pid = self._fork(descriptors)
            if pid == 0:
                self.connection.detach()
                mirror = self.channel_at + 1 if descriptors[3:] else None
                named = tuple(self.setup.foreign)
                return Fork(self.channel_at, mirror, self.ours, named, self.refuses, self._watched())
            for descriptor in descriptors:
                os.close(descriptor)
            if request[:1] == SESSION:
                report = self._keep(pid, json.loads(request[1:]))
            else:
                _, cpu_s, memory_bytes, files = WANTED.unpack(request)
                report = self._watch(pid, cpu_s, memory_bytes, before)
                facts: dict[str, Any] = {"files": written(self.program_folder)} if files else {}
                if self.notices is not None and (refused := self.notices.take(begins=startup.has_code())):
                    facts["refused"] = refused
                report += json.dumps(facts).encode() if facts else b""
            if not self.setup.workspace:
                self._empty()
            self.connection.send(report)

    def _watched(self) -> bytes | None:
        if not self.confined:
            return None
        return b"" if self.alone else os.fsencode(self.folder)

    def _make_folders(self) -> None:
        """Make the folder that programs begin in, unless a workspace has it, and the one of shared memory."""
        for folder in self.folders:
            if not os.path.isdir(folder):
                os.mkdir(folder, 0o700)
                if self.uid is not None:
                    os.chown(folder, self.uid, self.uid)

    def _keep(self, pid: int, wishes: dict[str, Any]) -> bytes:
        """Serve a session until its caller ends it; then end all its processes."""
        keeper = Keeper(self, pid, Wishes(**wishes))
        try:
            keeper.keep()
        except CallerGone:
            self._leave(None)
        self._kill_all(None)
        return REPORT.pack(NOTHING, 0, 0.0, 0)

    def _watch(self, pid: int, cpu_s: float, memory_bytes: int, before: float) -> bytes:
        """Wait for a program's end, or stop it, and then end its remaining processes.

        Args:
            before: the used CPU time before the program.
        """
        try:
            stopped, _ = watch(self.connection, self.account, pid, cpu_s, memory_bytes, used_before_s=before)
        except CallerGone:
            self._leave(pid)
        _, status, usage = self.account.wait(pid)
        self._kill_all(pid)
        used = self.account.used_s(0) - before  # nothing of it runs, so this is all of it
        return REPORT.pack(stopped, status, max(0.0, used), usage.ru_maxrss)

    def _leave(self, group: int | None) -> NoReturn:
        self._kill_all(group)
        self._empty()
        if not self.alone:
            _remove(self.folder)
        os._exit(0)

    def _kill_all(self, group: int | None) -> None:
        """End all remaining processes of a program. None of them runs when this returns."""
        until = time.monotonic() + FAST_ENOUGH_S
        while True:
            # First this: as a rule a program leaves nothing, and what lost its parent is our child.
            try:
                while self.account.wait(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            if self.alone:
                # We are the first process of the namespace: this reaches every other one, at once.
                _signal(os.kill, -1)
            else:
                if group is not None:
                    _signal(os.killpg, group)
                for child in children(os.getpid()):
                    _signal(os.kill, child)
            if time.monotonic() > until:
                os._exit(3)
            time.sleep(0.0005)

    def _empty(self) -> None:
        if self.keeps_folders:
            for folder in self.folders:
                os.chmod(folder, 0o700)
                _scratch.empty(folder)
            return
        _scratch.empty(self.folder)
        if self.alone and self.uid is None:  # a program that runs as our user may have closed it
            os.chmod(self.folder, _root.SCRATCH_MODE)

    def _steps(self) -> _steps.SetupSteps:
        """The steps by which a program's process gives up the rights of the server."""
        setup, steps = self.setup, _steps.SetupSteps()
        steps.call("setsid")
        if "memory" in setup.counted and not (
            setup.foreign and self.confined
        ):  # it may not write there itself
            steps.be_killed_first()
        steps.call("chdir", os.fsencode(self.program_folder))
        self._give_up(steps)
        if self.alone:
            steps.call("prctl", kernel.PR_SET_DUMPABLE, 1)  # or its own /proc/self would be root's
        else:  # there, the namespace goes with the server
            steps.call("prctl", kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if self.rules is not None:
            steps.call("landlock_restrict_self", self.rules, 0)
        if self.own_signals:
            steps.only_own_signals()
        steps.call("rt_sigprocmask", signal.SIG_SETMASK, bytes(8), 0, 8)
        return steps

    def _fork(self, descriptors: list[int]) -> int:
        """Fork a program's process, with its standard output and error, its channel and its mirror."""
        stdout, stderr, *others = descriptors
        end = self.channel_at + len(others)
        steps = (
            _steps.moved([(stdout, 1), (stderr, 2)], close_on_exec=False)
            + _steps.moved(list(zip(others, range(self.channel_at, end), strict=True)), close_on_exec=True)
            + self.steps.packed
            + _steps.closed(3, self.channel_at - 1)
            + _steps.closed(end, 0xFFFFFFFF)
        )
        if not self.nothing_after_fork:
            pid = os.fork()
            if pid == 0:
                _steps.run(steps)
            return pid
        random.seed()  # here, where it copies no page: each program has another
        pid = _steps.fork(steps)
        if pid == 0:
            threading.main_thread()._native_id = os.getpid()  # type: ignore[attr-defined]
        return pid


def _be_on_for_longer() -> None:
    """Increase the uptime of the machine in the next child's namespaces, if the kernel can do that."""
    try:
        kernel.unshare(kernel.CLONE_NEWTIME)
        with open("/proc/self/timens_offsets", "w") as stream:
            stream.write("".join(f"{clock} {_elsewhere.UPTIME_S} 0\n" for clock in ("monotonic", "boottime")))
    except OSError:
        return


def _go_on_from(pid: int) -> None:
    """Make the next process get the number after this one, or at least a different one."""
    try:
        with open("/proc/sys/kernel/ns_last_pid", "w") as stream:
            stream.write(str(pid))
    except OSError:
        for _ in range(31):
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)


def _map_users(pid: int, users: str, groups: str, *, alone: bool) -> None:
    """Map users and groups into a new namespace (user_namespaces(7)).

    Args:
        alone: the process in the namespace does so itself, and then has no other groups.
    """
    texts = {"setgroups": "deny"} if alone else {}
    for name, text in (texts | {"uid_map": users, "gid_map": groups}).items():
        try:
            with open(f"/proc/{pid}/{name}", "w") as stream:
                stream.write(text)
        except OSError as error:
            raise OSError(error.errno, f"{name} of a user namespace: {error.strerror}") from None


@contextlib.contextmanager
def _helper(task: Callable[[], None]) -> Iterator[None]:
    """A child that runs a task at the end of the block, in the earlier namespaces. Raises OSError."""
    reader, writer = os.pipe()
    result, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writer)
        word = b""
        try:
            if os.read(reader, 1):
                task()
        except OSError as error:
            word = str(error).encode()
        os.write(theirs, word)
        os._exit(0)
    os.close(reader)
    os.close(theirs)
    try:
        yield
        os.write(writer, b"x")
    finally:
        os.close(writer)
        with open(result, "rb") as stream:
            failure = stream.read().decode()
        os.waitpid(pid, 0)
    if failure:
        raise OSError(failure)


def _nothing_after_fork() -> bool:
    """Whether only `random` and `threading` have functions to run in a forked child.

    These set a new seed and clean up after other threads, which a server does not have.
    """
    hooks = [threading._after_fork, random._inst.seed]  # type: ignore[attr-defined]
    # The interpreter's own list of them has no name in Python.
    lists = [
        held_by for held_by in gc.get_referrers(hooks[0]) if type(held_by) is list and held_by is not hooks
    ]
    return threading.active_count() == 1 and len(lists) == 1 and all(hook in hooks for hook in lists[0])


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        return  # the caller has done it


def _signal(send: Any, target: int) -> None:
    try:
        send(target, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _prefixes() -> set[str]:
    return {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}


def _is_installed(path: str) -> bool:
    """Whether an entry of the import path belongs to the interpreter, or is an archive."""
    return path.startswith(tuple(f"{prefix}/" for prefix in _prefixes())) or not os.path.isdir(path)


def _closed(paths: Iterable[str]) -> str | None:
    """A path that some users cannot read, or a folder above it that they cannot enter; None without one."""
    for path in paths:
        if not os.path.exists(path):
            continue
        needed = 0o005 if os.path.isdir(path) else 0o004
        if os.stat(path).st_mode & needed != needed:
            return path
        if (closed := _closed_above(path)) is not None:
            return closed
    return None


def _closed_above(path: str) -> str | None:
    """A folder above this path that some users cannot enter."""
    while path != "/":
        path = os.path.dirname(path)
        if not os.stat(path).st_mode & 0o001:
            return path
    return None


def stop_listening() -> None:
    """Put all threads of this process under the filter that other programs begin with.

    deskcheck's own code calls this under a server with `Setup.listening`, before foreign code runs in the
    process. Connected sockets stay connected. Raises OSError.
    """
    # Owners' changes are refused, where they are, by the first filter: of two, the stricter answer counts.
    seccomp.attach(seccomp.program(owner_changes=True), all_threads=True)


def leave_at_once(forget: Any) -> None:
    """Let this process end without finalising the warm interpreter, which costs more than most programs.

    The effects that a program can see stay the same. Threads are joined and exit functions run before this.
    Here, the program's module and its objects are freed, and the streams are flushed. `forget` drops the
    module and returns the exit status, or None to end in the usual way.
    """
    pid = os.getpid()

    def leave() -> None:
        if os.getpid() != pid:
            return
        status = forget()
        if status is None:
            return
        atexit._clear()  # this is the last exit function: what the others hold dies with the module
        if "logging" in sys.modules:
            sys.modules["logging"].shutdown()
        for name in ("last_exc", "last_type", "last_value", "last_traceback"):
            if name in sys.__dict__:
                setattr(sys, name, None)
        gc.collect()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                continue
        os._exit(status)

    atexit.register(leave)
