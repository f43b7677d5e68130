"""The server's side of a session: an interpreter that runs pieces in turn, and held copies of it.

Between pieces, all processes of a session are stopped, copies too. Only then are files and CPU time examined.
Requests come as JSON on the server's connection.
"""

import json
import os
import signal
import stat
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deskcheck.sandbox.inside.watching import FAST_ENOUGH_S, CallerGone, watch
from deskcheck.sandbox.linux.processes import children, descendants, waited_s
from deskcheck.sandbox.surroundings import copies as _copies

if TYPE_CHECKING:
    from deskcheck.sandbox.inside.server import ForkServer

_STOPPED = frozenset("TtZXx")


@dataclass(frozen=True, slots=True)
class Wishes:
    """The limits of a session."""

    cpu_s: float
    """CPU time for the start of the interpreter."""
    memory_bytes: int
    """Memory of all processes together, also of held copies."""
    copied_bytes: int
    """Size of the files of all held copies."""


@dataclass(slots=True)
class _Held:
    """A held copy of the interpreter, and its files."""

    pid: int
    files: _copies.Copy
    size_bytes: int


class Keeper:
    """Manages a session's processes until the caller ends it. All are children of this process."""

    def __init__(self, server: "ForkServer", live: int, wishes: Wishes) -> None:
        """Take over the process that runs pieces, `live`."""
        self.connection = server.connection
        self.folder = server.program_folder
        self.uid = server.uid
        self.channel_at = server.channel_at
        self.account = server.account
        self.live = live
        self.wishes = wishes
        self.copies: dict[int, _Held] = {}
        self.inode = os.stat(self.folder).st_ino
        self.files: _copies.Listing = {}

    def keep(self) -> None:
        """Serve the caller's requests until it ends the session. Raises CallerGone."""
        self._run(self.live, self.wishes.cpu_s, None)
        while True:
            order = self._asked()
            match order["do"]:
                case "end":
                    return
                case "run":
                    self._run(self.live, order["cpu_s"], None)
                case "hold":
                    self._hold(order["number"], order["cpu_s"])
                case "restore":
                    self._restore(order["number"], order["cpu_s"])
                case "discard":
                    status = self._end_live()
                    self._answer(over=False, status=status, held=sorted(self.copies))
                case "drop":
                    copy = self.copies.pop(order["number"], None)
                    if copy is not None:
                        self._kill(copy.pid)
                        self.account.wait(copy.pid)

    def _asked(self) -> dict[str, Any]:
        while len(request := self.connection.recv(4096)) == 1:
            pass  # about what had ended already
        if not request:
            raise CallerGone
        order: dict[str, Any] = json.loads(request)
        return order

    def _answer(self, **facts: Any) -> None:
        self.connection.send(json.dumps(facts).encode())

    def _run(self, watched: int, cpu_s: float, copy_wanted: _Held | None, *, restoring: bool = False) -> None:
        """Let the session run until the caller reports the end of an order, or it ends or meets a limit."""
        used, waited = self.account.used_s(watched), waited_s(watched)
        self._continue(watched)
        stopped, over = watch(
            self.connection,
            self.account,
            watched,
            cpu_s,
            self.wishes.memory_bytes,
            used_before_s=used,
            waited_before_s=waited,
        )
        status = None
        if over:
            self._stop()
            if copy_wanted is not None or restoring:
                over = self._take_in(copy_wanted)
        if not over:
            if restoring:
                self.live = watched  # which failed to go on: it goes, and with it the session's present
                self.copies = {number: copy for number, copy in self.copies.items() if copy.pid != watched}
            status = self._end_live()
        self._reap()
        spent = max(0.0, self.account.used_s(self.live) - used)
        listed = _copies.listing(self.folder, self.files) if self._folder_is_there() else {}
        files, self.files = _copies.changes(self.files, listed), listed
        self._answer(
            stopped=stopped, status=status, cpu_s=spent, files=files, held=sorted(self.copies), over=over
        )

    def _end_live(self) -> int:
        """End all processes that are not held; return the exit status of the process that ran pieces."""
        self._kill(self.live)
        _, code, _ = self.account.wait(self.live)
        self._kill_others()
        return os.waitstatus_to_exitcode(code)

    def _take_in(self, expected: _Held | None) -> bool:
        """Find the forked process. It becomes the `expected` copy, or runs the next pieces if it is None."""
        pids = {self.live, *(copy.pid for copy in self.copies.values())}
        new = [pid for pid in children(os.getpid()) if pid not in pids and not _is_over(pid)]
        if len(new) != 1:
            return False  # the program has interfered
        if expected is None:
            self.live = new[0]
        else:
            expected.pid = new[0]
        return True

    def _hold(self, number: int, cpu_s: float) -> None:
        try:
            if not self._folder_is_there():
                raise _copies.CannotCopy("the session's folder is gone")
            shared = self._check_alone()
            bytes_left = self.wishes.copied_bytes - sum(copy.size_bytes for copy in self.copies.values())
            entries = _copies.copy(self.folder, bytes_left)
        except _copies.CannotCopy as error:
            self._answer(refused=str(error))
            return
        self._answer(ready=True, files=shared)
        size = sum(len(entry.content or "") + len(entry.name) for entry in entries)
        new_copy = _Held(0, entries, size)
        self._run(self.live, cpu_s, new_copy)
        if new_copy.pid:
            self.copies[number] = new_copy

    def _check_alone(self) -> list[tuple[int, str]]:
        """The open files of the session that a fork can open again, by descriptor.

        A fork has only one thread, and shares open files and memory with its parent. It can open read-only
        files outside of the folder again, for example fonts that a library keeps open. Raises CannotCopy if
        the session has anything else.
        """
        again = []
        threads = len(os.listdir(f"/proc/{self.live}/task"))
        if threads > 1:
            raise _copies.CannotCopy(f"the session runs {threads - 1} threads besides its first")
        pids = {copy.pid for copy in self.copies.values()}
        pids.add(self.live)
        others = [pid for pid in descendants(os.getpid()) if pid not in pids and not _is_over(pid)]
        if others:
            raise _copies.CannotCopy(f"{len(others)} processes that the session started are running")
        for name in os.listdir(f"/proc/{self.live}/fd"):
            target = os.readlink(f"/proc/{self.live}/fd/{name}")
            if int(name) > 2 and int(name) < self.channel_at and not target.startswith("/dev/"):
                if self._can_only_be_read(name, target):
                    again.append((int(name), target))
                    continue
                name_shown = target.removeprefix(self.folder + "/")
                raise _copies.CannotCopy(f"the session has {name_shown!r} open; close it first")
        with open(f"/proc/{self.live}/maps") as stream:
            if any(line.split()[1][1::2] == "ws" for line in stream):
                raise _copies.CannotCopy("the session has memory that it shares with other processes")
        return again

    def _can_only_be_read(self, descriptor: str, target: str) -> bool:
        if target.startswith(self.folder + "/"):
            return False  # its content is put back, as that of another file
        if not stat.S_ISREG(os.stat(f"/proc/{self.live}/fd/{descriptor}").st_mode):
            return False
        with open(f"/proc/{self.live}/fdinfo/{descriptor}") as stream:
            flags = next(int(line.split()[1], 8) for line in stream if line.startswith("flags:"))
        return flags & os.O_ACCMODE == os.O_RDONLY

    def _restore(self, number: int, cpu_s: float) -> None:
        held_copy = self.copies.get(number)
        if held_copy is not None and _is_over(held_copy.pid):
            del self.copies[number]
            held_copy = None
        if held_copy is None:
            self._answer(refused="the session ended the process that held it")
            return
        self.live = 0
        self._kill_others()
        try:
            if not self._folder_is_there():
                raise OSError("its folder is gone")
            _copies.put_back(self.folder, held_copy.files, self.uid)
        except OSError as error:
            self._answer(refused=f"its files cannot be put back: {error}")
            return
        self._answer(ready=True)
        self.files = _copies.listing(self.folder, {})
        self._run(held_copy.pid, cpu_s, None, restoring=True)

    def _folder_is_there(self) -> bool:
        try:
            return os.lstat(self.folder).st_ino == self.inode
        except OSError:
            return False

    def _ours(self) -> set[int]:
        """The numbers of the held processes."""
        return {copy.pid for copy in self.copies.values()}

    def _continue(self, watched: int) -> None:
        for pid in descendants(os.getpid()):
            if pid == watched or pid not in self._ours():
                self._signal(pid, signal.SIGCONT)

    def _stop(self) -> None:
        """Stop all processes of the session."""
        until = time.monotonic() + FAST_ENOUGH_S
        quiet = 0
        while quiet < 2:  # the second look is at what the first one's processes started before they stopped
            pids = descendants(os.getpid())
            quiet = quiet + 1 if all(map(_is_stopped, pids)) else 0
            if quiet == 0:
                for pid in pids:
                    self._signal(pid, signal.SIGSTOP)
                if time.monotonic() > until:
                    os._exit(3)
                time.sleep(0.0002)

    def _kill_others(self) -> None:
        """End all processes of the session that are not held."""
        until = time.monotonic() + FAST_ENOUGH_S
        while True:
            held_pids = self._ours()
            # One that is held may have been stopped before it had waited for its own child, which is over.
            pids = [pid for pid in descendants(os.getpid()) if pid not in held_pids and not _is_over(pid)]
            if not pids:
                return
            for pid in pids:
                self._kill(pid)
            self._reap()
            if time.monotonic() > until:
                os._exit(3)
            time.sleep(0.0002)

    def _reap(self) -> None:
        """Wait for children that have ended, except for the last one to run (see `_end_live`)."""
        for pid in children(os.getpid()):
            if pid != self.live and pid not in self._ours():
                try:
                    self.account.wait(pid, os.WNOHANG)
                except ChildProcessError:
                    continue  # it was waited for

    @staticmethod
    def _signal(pid: int, number: int) -> None:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return

    def _kill(self, pid: int) -> None:
        self._signal(pid, signal.SIGKILL)


def _states(pid: int) -> list[str]:
    """The states of a process's threads (proc(5)); empty if the process is gone."""
    letters = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/stat", "rb") as stream:
                letters.append(stream.read().rpartition(b")")[2].split()[0].decode())
    except (FileNotFoundError, ProcessLookupError):
        return []
    return letters


def _is_stopped(pid: int) -> bool:
    states = set(_states(pid))
    # A process that waits for its child's exec cannot be stopped, nor can it run before the child does.
    if states & {"D"} and states <= _STOPPED | {"D"}:
        return any(set(_states(child)) <= _STOPPED for child in children(pid))
    return states <= _STOPPED


def _is_over(pid: int) -> bool:
    return set(_states(pid)) <= set("ZXx")
