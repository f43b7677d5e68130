"""The caller's side of a fork server: starts it, has it start programs, ends it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskcheck.recording.errors import SandboxError
from deskcheck.sandbox import _root, _server
from deskcheck.sandbox.confinement import Confinement

_CHILD = Path(__file__).with_name("_child.py")
_START_S = 120.0
"""For a busy machine and a large profile."""
_OWN_UIDS = 0x7D000000
"""Programs of a server whose process is p run as user _OWN_UIDS + p, where we are root."""

STDLIB = tuple(
    """
    abc ast bisect collections contextlib copy dataclasses datetime decimal enum fractions functools hashlib
    heapq inspect itertools json linecache math operator random re statistics string textwrap threading time
    traceback types typing
    """.split()
)
"""What programs import most, and every server imports before them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What makes two servers the same: a program may be run by either.

    python: the interpreter; None is this one. modules: imported beside `STDLIB`. readable: what programs
    may read beside the interpreter. scratch_bytes: what they may write in all, where that can be bounded.
    listening: whether they begin with UNIX sockets that we can connect to (`_server.stop_listening`).
    """

    level: Confinement
    hash_seed: int = 0
    python: str | None = None
    modules: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    scratch_bytes: int = 256 << 20
    listening: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What a server says of a program's process: `stopped` as in `_server`, and its exit status."""

    stopped: int
    status: int
    cpu_s: float
    peak_kib: int


class ServerLost(SandboxError):
    """The server ended, or cannot start programs: says nothing about the program that it ran."""


class Server:
    """A fork server, which runs one program at a time. Raises SandboxError where it cannot start.

    It starts while the caller goes on; `wait_until_ready` before the first program.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        python = profile.python or sys.executable
        self.folder = tempfile.mkdtemp(prefix="deskcheck-")
        os.chmod(self.folder, 0o711)
        self.connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program_folder = f"{self.folder}/program"
        try:
            with theirs:
                self.process = subprocess.Popen(
                    [python, "-s", "-P", str(_CHILD), str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=(theirs.fileno(),),
                    env=_environment(program_folder, profile.hash_seed),
                    start_new_session=True,
                )
        except OSError as error:
            self.connection.close()
            shutil.rmtree(self.folder)
            raise SandboxError(f"cannot start {python}: {error}") from error
        self.facts: dict[str, Any] | None = None
        try:
            self._set_up()
        except BaseException:
            self.close()
            raise

    def _set_up(self) -> None:
        profile = self.profile
        own_user = os.geteuid() == 0 and profile.level is not Confinement.TRUSTED
        setup = {
            "level": profile.level.value,
            "scratch": self.folder,
            "scratch_bytes": profile.scratch_bytes,
            "readable": list(profile.readable),
            "profile": [*STDLIB, *profile.modules],
            "uid": _OWN_UIDS + self.process.pid if own_user else None,
            "listening": profile.listening,
        }
        try:
            self.connection.send(json.dumps(setup).encode())
        except OSError:
            return  # it has ended: its last words say why

    def wait_until_ready(self) -> dict[str, Any]:
        """What the server found of the kernel. Raises SandboxError where it cannot
        start; it is closed then."""
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

    def program_folder(self) -> str:
        """Where the folder that a program begins in can be reached from here, while it runs."""
        if self.profile.level is Confinement.STRICT:  # it is in the server's own file system
            return f"/proc/{self.process.pid}/root{_root.SCRATCH}/program"
        return f"{self.folder}/program"

    def begin(self, cpu_s: float, memory_bytes: int, descriptors: list[int]) -> None:
        """Start a program's process, with its standard output and error and its channel (and mirror)."""
        try:
            socket.send_fds(
                self.connection, [_server.WANTED.pack(_server.RUN, cpu_s, memory_bytes)], descriptors
            )
        except OSError as error:
            raise ServerLost(f"the fork server is gone: {error}") from error

    def kill(self) -> None:
        """Have the program that runs killed; the report still comes."""
        self._ask(_server.KILL)

    def too_late(self) -> None:
        """Wall time is up: have the program killed, unless it had to wait for a processor that long."""
        self._ask(_server.TOO_LATE)

    def _ask(self, what: bytes) -> None:
        try:
            self.connection.send(what)
        except OSError:
            return  # then the server has ended: whoever waits for the report sees it

    def report(self) -> "Report | float":
        """How the program ended; or how many seconds more of wall time it is due. Raises ServerLost."""
        try:
            data = self.connection.recv(64)
        except OSError as error:
            raise ServerLost(f"the fork server is gone: {error}") from error
        if len(data) == _server.LATER.size:
            seconds: float = _server.LATER.unpack(data)[1]
            return seconds
        if len(data) != _server.REPORT.size:
            raise ServerLost("the fork server ended while a program ran")
        stopped, status, user_s, system_s, peak_kib = _server.REPORT.unpack(data)
        return Report(stopped, os.waitstatus_to_exitcode(status), user_s + system_s, peak_kib)

    def close(self) -> None:
        """End the server and whatever runs under it."""
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
        shutil.rmtree(self.folder, ignore_errors=True)  # as a rule the server has removed it


def _environment(scratch: str, hash_seed: int) -> dict[str, str]:
    """Nothing of ours but what a program needs to run: no keys, no tokens."""
    return {
        "PATH": os.defpath,
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(hash_seed),
    }


def _refusal(level: Confinement, error: str) -> str:
    ways = {
        Confinement.STRICT: "Run as root, or where user namespaces are allowed; or ask for level 'standard', "
        "which needs no privilege and leaves out what namespaces do.",
        Confinement.STANDARD: "It needs Linux 5.13 with seccomp and Landlock; for code that you trust, "
        "level 'trusted' needs neither.",
        Confinement.TRUSTED: "",
    }
    return f"the level {level.value!r} cannot be had here: {error}. {ways[level]} See: deskcheck doctor"
