"""A Python kernel in the sandbox: an ipykernel that is started, runs cells and is ended.

We speak to it over UNIX sockets (`wire`). Its process is a program of the sandbox, with the same limits and
layers.
"""

import os
import secrets
import select
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskcheck.errors import MissingExtra, SandboxError
from deskcheck.notebook.kernel.cell import AGAIN_S, LOOK_S, CellRunner
from deskcheck.notebook.kernel.folders import CHANNELS, COPY_BYTES, SOCKETS
from deskcheck.notebook.kernel.memory import memory_of, reset_peak
from deskcheck.notebook.kernel.refusals import RULES, is_installed, of_commands
from deskcheck.notebook.kernel.repeats import is_cut
from deskcheck.notebook.kernel.servers import Servers
from deskcheck.notebook.kernel.wire import Connection
from deskcheck.notebook.trajectory.trajectory import Execution, Status
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.decoder import Message
from deskcheck.sandbox.exchange import follow
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.linux.processes import children
from deskcheck.sandbox.process import Cancelled, ProcessRun
from deskcheck.sandbox.server import Profile, Server

if TYPE_CHECKING:
    from deskcheck.notebook.state.capture import StateLimits  # the kernel's own process looks at variables

_NEEDED = ("ipykernel", "jupyter_client")
_START_S = 30.0
_STOP_S = 20.0
"""Seconds for a kernel to end after the request."""
_READABLE = ("/etc/fonts",)
"""A folder that libraries for plots read. If it is missing, they complain in the cell's output."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The files and the environment that cells find."""

    folder: str | os.PathLike[str] | None = None
    """Cells work in a copy of this folder. Files beyond 64 MiB in all are links that can only be read."""
    root: str | os.PathLike[str] | None = None
    """A folder around it that cells can read."""
    time_zone: str = "UTC"
    """The value of `TZ`."""
    variables: tuple[tuple[str, str], ...] = ()
    """Variables of the environment, in addition to those of every program."""

    def places(self, inside: str) -> tuple[str | None, str | None, str]:
        """The whole paths of folder and root, and the path of `inside` below the root. Raises ValueError: the
        folder is not below the root."""
        if self.folder is None:
            return None, None, inside
        folder = os.path.realpath(self.folder)
        root = folder if self.root is None else os.path.realpath(self.root)
        return folder, root, os.path.normpath(Path(folder).relative_to(root) / inside)


NOTHING_AROUND = Surroundings()


class Kernel(CellRunner):
    """A kernel's process and the connection to it. Call `restart` to replace a kernel that has died.

    around: the files and the environment that cells find.
    inside: path of the current folder below `around.folder`.
    disk_bytes: number of bytes that cells may write at `strict`.
    state: bounds on the recorded variables. None: variables are not recorded.
    hash_seed: also decides where generators without a seed begin.
    servers: pool of the server that forks the kernel's process. None: the kernel starts a server for itself.

    Raises MissingExtra: ipykernel is not installed. SandboxError: the level is not available, or the kernel
    does not start.
    """

    def __init__(
        self,
        *,
        confinement: Confinement = Confinement.STRICT,
        limits: Limits,
        around: Surroundings = NOTHING_AROUND,
        inside: str = ".",
        disk_bytes: int = 256 << 20,
        state: "StateLimits | None" = None,
        hash_seed: int = 0,
        servers: Servers | None = None,
    ) -> None:
        for needed in _NEEDED:
            if find_spec(needed) is None:  # it is started, not called: to import it takes a tenth of a second
                raise MissingExtra(needed, "notebook", "running notebooks")
        self.confinement = confinement
        self.limits = limits
        folder, root, below = around.places(inside)
        self.settings = {
            "folder": folder,
            "root": root,
            "environment": {"TZ": around.time_zone, **dict(around.variables)},
            "inside": below,
            "confined": confinement is not Confinement.TRUSTED,
            "state": None if state is None else asdict(state),
            "run": hash_seed,
        }
        self.profile = Profile(
            level=confinement,
            hash_seed=hash_seed,
            loaded=() if servers is None else servers.loaded,
            readable=_READABLE,
            folders=tuple(dict.fromkeys(path for path in (folder, root) if path is not None)),
            listening=True,
            scratch_bytes=disk_bytes + (0 if folder is None else COPY_BYTES),
        )
        self._servers = servers
        self.server: Server | None = None
        self.run_result: RunResult | None = None
        self._channels: dict[str, Connection] = {}
        """Open connections by Jupyter's names of the channels."""
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._cancelled = threading.Event()
        self._pid: int | None = None
        self._unanswered = 0
        """Interrupts that the kernel has not confirmed."""
        self._oom_kills: int | None = None
        self._memory_before: int | None = None
        """Both figures at the beginning of the last cell."""

    # -- its life ----------------------------------------------------------------------------------

    def start(self) -> None:
        """Start a process for the kernel and connect to it."""
        if self.server is None:
            self.server = Server(self.profile) if self._servers is None else self._servers.take(self.profile)
            self.server.wait_until_ready()
        key = secrets.token_hex(32)
        settings = {**self.settings, "key": key}
        code = f"from deskcheck.notebook.kernel.process import main\nmain({settings!r})\n"
        program = Program(id="kernel", code=code, filename="kernel.py")
        self.run_result, self._failure = None, None
        self._cancelled.clear()
        run = self._run = ProcessRun(program, self.server, limits=self.limits)
        self._thread = threading.Thread(target=self._follow, args=(run,), daemon=True)
        self._thread.start()
        try:
            self._connect(key)
        except BaseException:
            self.close()
            raise

    def _follow(self, run: ProcessRun) -> None:
        try:
            self.run_result = follow(run, self._cancelled.is_set)
        except Cancelled:
            return
        except Exception as error:  # noqa: BLE001  # for the thread that waits for the kernel
            self._failure = error

    @property
    def alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _connect(self, key: str) -> None:
        assert self.server is not None
        folder = Path(self.server.program_folder(), SOCKETS)
        until = time.monotonic() + _START_S
        while not (folder / "ready").exists():
            self._check_start(until)
            time.sleep(0.005)
        for name in ("shell", "control", "iopub"):
            path = folder / f"s-{CHANNELS.index(name) + 1}"
            self._channels[name] = self._opened(path, "SUB" if name == "iopub" else "DEALER", key, until)
        # The kernel accepts no connection after its first cell: every channel must have answered before.
        iopub = self._channels["iopub"]
        answered: set[str] = set()
        while answered != {"shell", "control", "iopub"}:
            self._check_start(until)
            for name in ("shell", "control"):
                if name not in answered:
                    self._channels[name].request("kernel_info_request", {})
                    if self._channels[name].receive(1.0) is not None:
                        answered.add(name)
            if iopub.receive(0.2) is not None:
                answered.add("iopub")
            elif "iopub" not in answered:
                answered.discard("shell")
        self._pid = _kernel_pid(self.server.process.pid, self.confinement)
        while iopub.receive(0.05) is not None or self._channels["shell"].receive(0.0) is not None:
            self._check_start(until)

    def _opened(self, path: Path, kind: str, key: str, until: float) -> Connection:
        while True:
            self._check_start(until)
            try:
                return Connection(path, kind, key)
            except (FileNotFoundError, ConnectionError):
                time.sleep(0.005)

    def _check_start(self, until: float) -> None:
        if not self.alive:
            if self._failure is not None:
                raise self._failure
            stderr = self.run_result.stderr.strip()[-2000:] if self.run_result else ""
            raise SandboxError(
                f"a kernel ended before it was ready: {self.run_result and self.run_result.detail} {stderr}"
            )
        if time.monotonic() > until:
            raise SandboxError(f"a kernel was not ready after {_START_S:g} s")

    def stop(self) -> None:
        """End the kernel's process; `start` makes another."""
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()
        self._unanswered = 0
        if self.alive and self.server is not None:
            self.server.kill()
            assert self._thread is not None
            self._thread.join(_STOP_S)
            if self.alive:
                self._cancelled.set()
                self._thread.join()
                self.server.close()
                self.server = None

    def close(self) -> None:
        """End the kernel, and its server if no pool takes it."""
        self.stop()
        server, self.server = self.server, None
        if server is None:
            return
        if self._servers is not None and self._failure is None and self.run_result is not None:
            self._servers.give(server)
        else:
            server.close()

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the cell that runs."""
        self._channels["control"].request("interrupt_request", {})
        self._unanswered += 1

    # -- cells -------------------------------------------------------------------------------------

    def send(self, source: str, cell_id: str | None) -> str:
        self._oom_kills, self._memory_before = _oom_kills(), reset_peak(self._pid)
        return self._channels["shell"].request(
            "execute_request",
            {"code": source, "silent": False, "store_history": True, "user_expressions": {}}
            | {"allow_stdin": False, "stop_on_error": False},
            metadata={} if cell_id is None else {"cellId": cell_id},
        )

    def next_output(self, seconds: float) -> Message | None:
        return self._channels["iopub"].receive(seconds)

    def next_reply(self) -> Message | None:
        return self._channels["shell"].receive(0.0)

    @property
    def outputs_are_over(self) -> bool:
        return self._channels["iopub"].is_over

    def wait(self, seconds: float) -> None:
        listened = [self._channels[name] for name in ("iopub", "shell") if not self._channels[name].is_over]
        if any(channel.has_message for channel in listened):
            return
        if listened:
            select.select(listened, [], [], seconds)
        else:
            time.sleep(seconds)

    def after_cell(self) -> None:
        """Wait until the kernel has confirmed interrupts: a late one would hit the next cell."""
        until = time.monotonic() + AGAIN_S
        while self._unanswered and self.alive and time.monotonic() < until:
            message = self._channels["control"].receive(LOOK_S)
            if message is not None and message.kind == "interrupt_reply":
                self._unanswered -= 1

    def with_facts(self, ran: Execution, reply: Mapping[str, Any]) -> Execution:
        facts = reply.get("deskcheck", {})
        memory, peak = memory_of(self._pid) if reply else (None, None)
        return replace(
            ran,
            wall_s=facts.get("wall_s", ran.wall_s),
            cpu_s=facts.get("cpu_s"),
            memory_before=self._memory_before,
            memory_after=memory,
            memory_peak=None if self._memory_before is None else peak,
            state=facts.get("state"),
            confined=self._confined(ran, facts),
            drew=tuple(facts.get("drew", ())),
            draws=facts.get("draws"),
        )

    def _confined(self, ran: Execution, facts: Mapping[str, Any]) -> str | None:
        """The rule of the sandbox that made a cell fail."""
        rule = facts.get("rule")
        if rule is not None:
            return rule if rule in RULES else None
        text = "".join(output.text or "" for output in ran.outputs if output.name)
        detail = ran.detail or ""
        if facts.get("installs") and not is_installed(text):
            return "network"
        if ran.status is Status.OUT_OF_MEMORY and "operating system" not in detail:
            return "memory"
        if ran.status is Status.DIED and "SIGSYS" in detail:
            return "system calls"
        if ran.status is Status.DIED and "SIGXFSZ" in detail:
            return "disk"
        missing = facts.get("missing")
        ends = ("", ".py") if facts.get("module") else ("",)
        if isinstance(missing, str) and any(self._is_outside(missing + end) for end in ends):
            return "files outside"
        if facts.get("commands") and self.confinement is not Confinement.TRUSTED:
            command_rule = of_commands(text.replace("\r\n", "\n"))
            if command_rule is not None:
                return command_rule
        return "output" if any(map(is_cut, ran.outputs)) else None

    def _is_outside(self, path: str) -> bool:
        """Whether a file that a cell did not find exists outside of the cells' copy."""
        if os.path.isabs(path):
            return self.confinement is not Confinement.TRUSTED and os.path.exists(path)
        root = self.settings["root"]
        return isinstance(root, str) and os.path.exists(os.path.join(root, path))

    def ending(self) -> tuple[Status, str]:
        if self._failure is not None:
            raise self._failure
        run_result = self.run_result
        assert run_result is not None
        if run_result.outcome is Outcome.OUT_OF_MEMORY:
            return Status.OUT_OF_MEMORY, run_result.detail
        if run_result.outcome is Outcome.TIMED_OUT:
            return Status.TIMED_OUT, run_result.detail
        kills, before = _oom_kills(), self._oom_kills
        if run_result.outcome is Outcome.KILLED and None not in (kills, before) and kills != before:
            return Status.OUT_OF_MEMORY, "ended by the operating system, which had no memory left"
        if "MemoryError" in run_result.detail or "bad_alloc" in run_result.stderr:
            return Status.OUT_OF_MEMORY, f"more than {self.limits.memory_bytes} bytes of address space"
        return Status.DIED, f"{run_result.outcome}: {run_result.detail}"


# -- what the operating system says of the process -------------------------------------------------


def _kernel_pid(server: int, confinement: Confinement) -> int | None:
    """The kernel's process, a descendant of its server's."""
    pid: int | None = server
    for _ in range(2 if confinement is Confinement.STRICT else 1):
        pid = next(iter(children(pid)), None) if pid is not None else None
    return pid


def _oom_kills() -> int | None:
    """How often the operating system ended a process for lack of memory; None if it does not say."""
    try:
        with open("/proc/vmstat") as stream:
            return next((int(line.split()[1]) for line in stream if line.startswith("oom_kill ")), None)
    except OSError:
        return None
