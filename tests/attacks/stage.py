"""The world outside of a harness, as an attack may change it, and what of it has changed.

Everything is on loopback or in one folder, and is made anew where an attack has got through.
"""

import ctypes
import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PEAK = 40
"""More processes of one attack than that at once are a bomb."""
_WAIT_S = 3.0
"""How long what an attack has left behind may take to go."""
_PF_EXITING = 0x4
_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/var/lock")
_libc = ctypes.CDLL(None, use_errno=True)
_IPC_PRIVATE, _IPC_RMID, _IPC_STAT, _GETVAL = 0, 0, 2, 12
_MESSAGES_AT = 80
"""Where the number of messages is in struct msqid_ds (bits/types/struct_msqid_ds.h)."""
_MQ_OPEN, _MQ_UNLINK = 240, 241
_FS_IOC_GETFLAGS = 0x80086601


class Stage:
    """Listeners on loopback, files, a process: what attacks aim at, watched from outside.

    `facts` are what an attack is told (`prelude.py`), but for those of the harness.
    """

    def __init__(self) -> None:
        self.token = "token-" + secrets.token_hex(8)
        self.secret = "secret-" + secrets.token_hex(16)
        self.comm = "atk" + secrets.token_hex(5)  # the kernel keeps 15 bytes of it
        self.number = secrets.randbelow(1 << 30) + 1
        self._arrived: list[str] = []
        self._close = ExitStack()

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="attacks-"))
        self._close.callback(_remove, self.folder)
        self.folder.chmod(0o755)
        self.outside = self._shared("outside")
        self.temporary = self._shared("tmp")
        self.canary = self.outside / "canary"
        self.secret_file = self.folder / "secret"
        self.secret_file.write_text(self.secret)
        self.secret_file.chmod(0o600)
        try:
            os.setxattr(self.secret_file, "user.secret", self.secret.encode())
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
        self.inherited = self.folder / "inherited"
        self.inherited.touch()
        self._reset_files()
        self._listen()
        self._close.callback(self._take_back)
        self._leave_for_others()
        self._start_victim()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.victim.kill()
        self.victim.wait()
        self._close.close()

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "token": self.token,
            "comm": self.comm,
            "number": self.number,
            "secret_sha256": hashlib.sha256(self.secret.encode()).hexdigest(),
            "secret": str(self.secret_file),
            "outside": str(self.outside),
            "canary": str(self.canary),
            "victim": self.victim.pid,
            **self.shared,
            **self.addresses,
        }

    def _shared(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        folder.chmod(0o777)
        return folder

    # -- files ---------------------------------------------------------------------------------------

    def _reset_files(self) -> None:
        for entry in self.outside.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        self.outside.chmod(0o777)
        self.canary.write_text("canary\n")
        self.canary.chmod(0o644)
        self._files = self._seen_files()

    def _seen_files(self) -> dict[str, tuple[Any, ...]]:
        seen: dict[str, tuple[Any, ...]] = {}
        for path in [self.outside, *sorted(self.outside.rglob("*"))]:
            facts = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
            seen[path.name] = (
                facts.st_mode,
                facts.st_uid,
                facts.st_gid,
                facts.st_nlink,
                facts.st_mtime_ns,
                content,
                tuple(os.listxattr(path, follow_symlinks=False)),
                _attributes(path),
            )
        return seen

    def temporary_files(self) -> frozenset[str]:
        """What is in the folder that the harness is given for temporary files."""
        return frozenset(entry.name for entry in self.temporary.iterdir())

    def stays(self, known: frozenset[str]) -> frozenset[str]:
        """What is there beyond the known, and does not go in a few seconds. It is deleted."""
        end = time.monotonic() + _WAIT_S
        while (more := self.temporary_files() - known) and time.monotonic() < end:
            time.sleep(0.02)
        for name in more:
            subprocess.run(
                ["chmod", "-R", "u+rwx", name], cwd=self.temporary, stderr=subprocess.DEVNULL, check=False
            )
            subprocess.run(["rm", "-rf", name], cwd=self.temporary, check=True)
        return more

    # -- listeners -----------------------------------------------------------------------------------

    def _listen(self) -> None:
        sockets = self._shared("sockets")
        abstract = "attacks-" + secrets.token_hex(8)
        self.addresses: dict[str, Any] = {"abstract": abstract}
        stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
        inet, inet6, unix = socket.AF_INET, socket.AF_INET6, socket.AF_UNIX
        wanted: list[tuple[str, int, int, Any]] = [
            ("tcp", inet, stream, ("127.0.0.1", 0)),
            ("tcp6", inet6, stream, ("::1", 0)),
            ("udp", inet, datagram, ("127.0.0.1", 0)),
            ("unix", unix, stream, str(sockets / "stream")),
            ("unix_datagram", unix, datagram, str(sockets / "datagram")),
            ("abstract", unix, stream, "\0" + abstract),
        ]
        for name, family, kind, address in wanted:
            listener = self._close.enter_context(socket.socket(family, kind))
            try:
                listener.bind(address)
            except OSError:
                if name != "tcp6":
                    raise
                self.addresses[name] = 9  # a machine without IPv6
                continue
            if family != unix:
                self.addresses[name] = listener.getsockname()[1]
            elif name != "abstract":
                Path(address).chmod(0o777)
                self.addresses[name] = address
            if kind == stream:
                if name == "tcp":
                    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
                listener.listen()
            threading.Thread(target=self._serve, args=(name, listener), daemon=True).start()

    def _serve(self, name: str, listener: socket.socket) -> None:
        while True:
            try:
                if listener.type == socket.SOCK_STREAM:
                    connection, _ = listener.accept()
                    with connection:
                        connection.settimeout(2)
                        arrived = connection.recv(1000)
                else:
                    arrived = listener.recv(1000)
            except TimeoutError:
                continue
            except OSError:
                return  # closed: the stage is taken down
            if self.token.encode() in arrived:
                self._arrived.append(name)

    # -- what has no file ----------------------------------------------------------------------------

    def _leave_for_others(self) -> None:
        """Queues, memory and semaphores of ours that outlive a process, open to all who know their numbers."""
        name = "attacked-" + secrets.token_hex(8)
        self.shared: dict[str, Any] = {
            "queue": _libc.msgget(_IPC_PRIVATE, 0o666),
            "segment": _libc.shmget(_IPC_PRIVATE, 4096, 0o666),
            "semaphore": _libc.semget(_IPC_PRIVATE, 1, 0o666),
            "posix_queue": name,
        }
        if _libc.msgsnd(self.shared["queue"], struct.pack("l4s", 1, b"mail"), 4, 0):
            raise OSError(ctypes.get_errno(), "a System V queue takes no message")
        queue = _libc.syscall(_MQ_OPEN, name.encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
        if queue >= 0:  # a kernel may have none
            os.close(queue)
        self._left = self._seen_shared()

    def _seen_shared(self) -> tuple[Any, ...]:
        """What of it is there, and what is in it."""
        facts = ctypes.create_string_buffer(512)
        queue = _libc.msgctl(self.shared["queue"], _IPC_STAT, facts)
        messages = struct.unpack_from("l", facts, _MESSAGES_AT)[0] if queue == 0 else -1
        posix = _libc.syscall(_MQ_OPEN, self.shared["posix_queue"].encode(), os.O_RDONLY, 0, None)
        if posix >= 0:
            os.close(posix)
        return (
            messages,
            _libc.shmctl(self.shared["segment"], _IPC_STAT, facts),
            _libc.semctl(self.shared["semaphore"], 0, _GETVAL),
            posix >= 0,
        )

    def _take_back(self) -> None:
        _libc.msgctl(self.shared["queue"], _IPC_RMID, None)
        _libc.shmctl(self.shared["segment"], _IPC_RMID, None)
        _libc.semctl(self.shared["semaphore"], 0, _IPC_RMID)
        _libc.syscall(_MQ_UNLINK, self.shared["posix_queue"].encode())

    # -- processes -----------------------------------------------------------------------------------

    def _start_victim(self) -> None:
        self.victim = subprocess.Popen(
            ["sleep", "3600"],
            env={"PATH": os.defpath, "ATTACKED": self.secret},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while b"sleep" not in Path(f"/proc/{self.victim.pid}/cmdline").read_bytes():
            time.sleep(0.001)
        self._victim = self._seen_victim()

    def _seen_victim(self) -> tuple[Any, ...]:
        pid = self.victim.pid
        if self.victim.poll() is not None:
            return ("dead",)
        stopped = state_of(pid) in ("T", "t")
        return (
            stopped,
            os.getpriority(os.PRIO_PROCESS, pid),
            os.sched_getscheduler(pid),
            frozenset(os.sched_getaffinity(pid)),
            Path(f"/proc/{pid}/limits").read_text(),
            Path(f"/proc/{pid}/oom_score_adj").read_text(),
        )

    def marked(self) -> list[int]:
        """The processes that carry the attacks' mark."""
        return [pid for pid in processes() if self._is_marked(pid)]

    def _is_marked(self, pid: int) -> bool:
        try:
            folder = Path(f"/proc/{pid}")
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            return state not in "ZX" and (
                (folder / "comm").read_text().strip() == self.comm
                or (folder / "cmdline").read_bytes().startswith(self.comm.encode())
            )
        except OSError:
            return False

    # -- what has happened ---------------------------------------------------------------------------

    def breaches(self) -> list[str]:
        """What of the outside has been reached or changed since the last time. Then all is made good."""
        found = []
        end = time.monotonic() + _WAIT_S
        while (left := self.marked()) and time.monotonic() < end:
            time.sleep(0.05)
        if left:
            found.append(f"{len(left)} of its processes live after the verdict")
        for pid in left:
            _kill_quietly(pid)
        if self._seen_files() != self._files:
            found.append("a file outside is changed")
            self._reset_files()
        if self._seen_shared() != self._left:
            found.append("a queue, memory or a semaphore outside is changed")
            self._take_back()
            self._leave_for_others()
        while _is_about_to_change(self.victim.pid) and time.monotonic() < end:
            time.sleep(0.005)
        if self._seen_victim() != self._victim:
            found.append("another process is disturbed")
            self.victim.kill()
            self.victim.wait()
            self._start_victim()
        if self.token.encode() in self.inherited.read_bytes():
            found.append("it wrote to the harness's open file")
            self.inherited.write_bytes(b"")
        if self.secret_file.read_text() != self.secret:
            found.append("it wrote to the secret file")
            self.secret_file.write_text(self.secret)
        if self._arrived:
            found.append(f"it reached {', '.join(sorted(set(self._arrived)))}")
            self._arrived.clear()
        return found

    def sweep(self, folders: list[str]) -> None:
        """Take away what attacks have left on the machine: files, segments, queues, keys."""
        for folder in folders:
            for path in (Path(folder) / f"{self.comm}.py", Path(folder) / self.comm):
                path.unlink(missing_ok=True)
        for place in _PLACES:
            (Path(place) / self.comm).unlink(missing_ok=True)
        segment = _libc.shmget(self.number, 0, 0)
        if segment >= 0:
            _libc.shmctl(segment, 0, None)
        _libc.syscall(_MQ_UNLINK, self.comm.encode())
        key = _libc.syscall(249, b"user", self.comm.encode(), None, 0)
        if key > 0:
            _libc.syscall(250, 9, key, -4)


def _remove(folder: Path) -> None:
    """Remove all of it, also where what is ending still writes there. Raises OSError with what cannot be removed."""
    end = time.monotonic() + _WAIT_S
    while folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError:
            if time.monotonic() > end:
                raise
            subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL, check=False)
            time.sleep(0.05)


def _attributes(path: Path) -> int | None:
    """Those of chattr(1); None where the file system has none."""
    if path.is_symlink() or not (path.is_file() or path.is_dir()):
        return None
    facts = bytearray(8)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except PermissionError:
        return None
    try:
        fcntl.ioctl(descriptor, _FS_IOC_GETFLAGS, facts)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return int.from_bytes(facts, sys.byteorder)


class Census(threading.Thread):
    """Counts the marked processes several times a second, while it is entered."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(daemon=True)
        self.stage = stage
        self.peak = 0
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def run(self) -> None:
        while not self._over.wait(0.1):
            self.peak = max(self.peak, len(self.stage.marked()))

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


def processes() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def state_of(pid: int) -> str:
    """A letter of proc_pid_stat(5), empty where there is no such process any more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _is_about_to_change(pid: int) -> bool:
    """Whether a process has been sent what it has not acted upon, or is ending: others may have the processor."""
    try:
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line
        )
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    waits = any(int(status[name], 16) for name in ("SigPnd", "ShdPnd"))
    return stat[0] not in ("Z", "X") and (waits or bool(int(stat[6]) & _PF_EXITING))


def parent_of(pid: int) -> int:
    """0 where there is no such process any more."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def adopt_orphans() -> None:
    """From here on, what loses its parent below this process becomes this one's child."""
    if _libc.prctl(36, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def kill_children(spared: Callable[[int], bool]) -> list[str]:
    """Kill and reap all children but the spared and theirs, until there are none. Returns their names."""
    names: list[str] = []
    while True:
        children = [pid for pid in processes() if parent_of(pid) == os.getpid() and not spared(pid)]
        if not children:
            return names
        for pid in children:
            try:
                name = (
                    Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                )
                zombie = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
            except OSError:
                continue
            if not zombie:
                names.append(name)
                _kill_quietly(pid)
            os.waitpid(pid, 0)


def _kill_quietly(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
