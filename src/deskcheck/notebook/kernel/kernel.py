"""A Python kernel of our own, at a level of confinement: started, given cells, watched, ended.

The kernel is ipykernel; we speak to it over UNIX sockets (`wire`). Its process is a program of the
sandbox, with the sandbox's limits and layers: at `strict` in namespaces of its own, without a network. Only
kernels for Python can be had."""

import os
import secrets
import select
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskcheck.errors import MissingExtra, SandboxError
from deskcheck.notebook.kernel.folders import CHANNELS, SOCKETS
from deskcheck.notebook.kernel.refusals import RULES, is_installed, of_commands
from deskcheck.notebook.kernel.repeats import is_cut
from deskcheck.notebook.kernel.servers import Servers
from deskcheck.notebook.kernel.wire import Connection
from deskcheck.notebook.trajectory.trajectory import Output, Status
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.recording import RunResult
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.decoder import BEYOND, GOES_ON, Forged, Message
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
"""For a cell to obey an interrupt, for a kernel to end when asked."""
_AGAIN_S = 2.0
"""Until a cell is interrupted again: an interrupt that comes before the cell begins is lost."""
_LATE_S = 30.0
"""Of silence after a cell's reply, until what it printed is given up that has not arrived."""
_READABLE = ("/etc/fonts",)
"""What libraries for plots look for; without it they complain where the cell's output is."""
_LOOK_S = 0.25
"""Between looks at whether the kernel lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellLimits:
    """Bounds on what is recorded of one cell and how long it may run.

    cell_s: wall time. output_chars: of all outputs of a cell together; what is beyond is counted and left
    out. outputs: messages of a cell; later ones are left out, the last one kept says so."""

    cell_s: float = 60.0
    output_chars: int = 1 << 20
    outputs: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What became of a cell that a kernel was given."""

    status: Status
    started: float
    ended: float
    outputs: tuple[Output, ...]
    count: int | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    memory_before: int | None = None
    memory_after: int | None = None
    memory_peak: int | None = None
    state: dict[str, Any] | None = None
    detail: str | None = None
    confined: str | None = None
    """The rule of `refusals.RULES` that stood in its way."""
    drew: tuple[str, ...] = ()
    draws: int | None = None
    """As of `Execution`."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What cells find around them.

    folder: they get a copy of it to work in; files are copied as long as they are together no larger than
    64 MiB, the others are linked to and can only be read. root: a folder above it, of which they can read the
    rest, at the same paths. time_zone: a name or rule, as `TZ` takes it. variables: of the environment,
    beside the few that every program has, with their values.
    """

    folder: str | os.PathLike[str] | None = None
    root: str | os.PathLike[str] | None = None
    time_zone: str = "UTC"
    variables: tuple[tuple[str, str], ...] = ()


NOTHING_AROUND = Surroundings()
COPY_BYTES = 64 << 20


class Kernel:
    """A kernel's process and the connection to it. Use it as a context manager; `run` is for one thread.

    around: what the cells find around them. disk_bytes: what they may write beside that, at `strict`. inside:
    path below their folder that is the current one. state: what is recorded of variables; None: nothing.
    hash_seed: of text; generators without a seed begin elsewhere with each, too. servers: where its server
    comes from, and goes to when it is closed; None: it has one of its own. A kernel that has died is replaced
    by `restart`.

    Raises:
        MissingExtra: ipykernel is not installed.
        SandboxError: the level cannot be had here, or the kernel does not start.
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
        folder = None if around.folder is None else Path(around.folder).resolve()
        root = folder if folder is None or around.root is None else Path(around.root).resolve()
        below = "." if folder is None or root is None else str(folder.relative_to(root))
        readable = [str(each) for each in (folder, root) if each is not None]
        self.settings = {
            "folder": None if folder is None else str(folder),
            "root": None if root is None else str(root),
            "environment": {"TZ": around.time_zone, **dict(around.variables)},
            "inside": os.path.normpath(os.path.join(below, inside)),
            "copy_bytes": COPY_BYTES,
            "confined": confinement is not Confinement.TRUSTED,
            "state": None if state is None else asdict(state),
            "run": hash_seed,
        }
        self.profile = Profile(
            level=confinement,
            hash_seed=hash_seed,
            loaded=() if servers is None else servers.loaded,
            readable=_READABLE,
            folders=tuple(dict.fromkeys(readable)),
            listening=True,
            scratch_bytes=disk_bytes + (0 if folder is None else COPY_BYTES),
        )
        self._servers = servers
        self.server: Server | None = None
        self.run_result: RunResult | None = None
        self._channels: dict[str, Connection] = {}
        """Those that are open, by Jupyter's names."""
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._cancelled = threading.Event()
        self._pid: int | None = None
        self._unanswered = 0
        """Interrupts that the kernel has not yet said it has passed on."""

    def __enter__(self) -> "Kernel":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        seen: set[str] = set()
        while seen != {"shell", "control", "iopub"}:
            self._check_start(until)
            for name in ("shell", "control"):
                if name not in seen:
                    self._channels[name].request("kernel_info_request", {})
                    if self._channels[name].receive(1.0) is not None:
                        seen.add(name)
            if iopub.receive(0.2) is not None:
                seen.add("iopub")
            elif "iopub" not in seen:
                seen.discard("shell")
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
            said = self.run_result.stderr.strip()[-2000:] if self.run_result else ""
            raise SandboxError(
                f"a kernel ended before it was ready: {self.run_result and self.run_result.detail} {said}"
            )
        if time.monotonic() > until:
            raise SandboxError(f"a kernel was not ready after {_START_S:g} s")

    def stop(self) -> None:
        """End the kernel's process; the next `start` makes another."""
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

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        """End the kernel and what confines it, unless others will use that."""
        self.stop()
        server, self.server = self.server, None
        if server is None:
            return
        if self._servers is not None and self._failure is None and self.run_result is not None:
            self._servers.give(server)
        else:
            server.close()

    def interrupt(self) -> None:
        """Have KeyboardInterrupt raised in the cell that runs."""
        self._channels["control"].request("interrupt_request", {})
        self._unanswered += 1

    def _settle(self) -> None:
        """Wait until the kernel has passed on what it was asked to: a late interrupt meets the next cell."""
        until = time.monotonic() + _AGAIN_S
        while self._unanswered and self.alive and time.monotonic() < until:
            found = self._channels["control"].receive(_LOOK_S)
            if found is not None and found.kind == "interrupt_reply":
                self._unanswered -= 1

    # -- cells -------------------------------------------------------------------------------------

    def run(
        self,
        source: str,
        *,
        limits: CellLimits | None = None,
        cell_id: str | None = None,
        interrupted: Callable[[], bool] = lambda: False,
        within_s: float | None = None,
    ) -> Ran:
        """Run one cell. interrupted: asked a few times a second; once it says so, the cell is stopped.

        within_s: wall time that is left, if that is less than `limits.cell_s`. After a status `died` or
        `out_of_memory`, and after a cell that did not let itself be stopped, the kernel is gone.
        """
        try:
            source.encode("utf-8")
        except UnicodeEncodeError as error:  # no message can hold it, and no compiler would take it
            now = time.time()
            told = Output(type="error", name=type(error).__name__, text=str(error), value=str(error))
            return Ran(status=Status.ERROR, started=now, ended=now, outputs=(told,))
        limits = limits or CellLimits()
        allowed = limits.cell_s if within_s is None else min(limits.cell_s, within_s)
        oom_kills = _oom_kills()
        before = reset_peak(self._pid)
        started, clock = time.time(), time.monotonic()
        cell = _Execution(self, source, cell_id, Collected(limits, clock), allowed)
        try:
            cell.follow(interrupted)
            self._settle()
        except Forged as error:
            cell.stopped, cell.reply = (Status.DIED, f"it wrote to the kernel's sockets: {error}"), None
            self.stop()
        reply, collected = cell.reply, cell.collected
        ended = time.time()
        memory = memory_of(self._pid) if reply is not None else (None, None)
        facts = (reply or {}).get("deskcheck", {})
        status, detail = self._status(reply, cell.stopped, oom_kills)
        if reply is not None and not collected.idle:
            detail = f"{detail or ''}; outputs may be missing: they did not arrive".lstrip("; ")
        return Ran(
            status=status,
            detail=detail,
            started=started,
            ended=ended,
            outputs=tuple(collected.outputs),
            count=(reply or {}).get("execution_count", collected.count),
            wall_s=facts.get("wall_s", ended - started),
            cpu_s=facts.get("cpu_s"),
            memory_before=before,
            memory_after=memory[0],
            memory_peak=memory[1] if before is not None else None,
            state=facts.get("state"),
            confined=self._confined(facts, status, detail, collected),
            drew=tuple(facts.get("drew", ())),
            draws=facts.get("draws"),
        )

    def _confined(
        self, facts: dict[str, Any], status: Status, detail: str | None, collected: "Collected"
    ) -> str | None:
        """The rule of ours that stood in a cell's way."""
        rule = facts.get("rule")
        if rule is not None:
            return rule if rule in RULES else None
        shown = "".join(each.text or "" for each in collected.outputs if each.name)
        if facts.get("installs") and not is_installed(shown):
            return "network"
        if status is Status.OUT_OF_MEMORY and "operating system" not in (detail or ""):
            return "memory"
        if status is Status.DIED and "SIGSYS" in (detail or ""):
            return "system calls"
        if status is Status.DIED and "SIGXFSZ" in (detail or ""):
            return "disk"
        missing = facts.get("missing")
        ends = ("", ".py") if facts.get("module") else ("",)
        if isinstance(missing, str) and any(self._is_outside(missing + end) for end in ends):
            return "files outside"
        if facts.get("commands") and self.confinement is not Confinement.TRUSTED:
            told = of_commands(shown.replace("\r\n", "\n"))
            if told is not None:
                return told
        return "output" if any(map(is_cut, collected.outputs)) else None

    def _is_outside(self, path: str) -> bool:
        """Whether a file that a cell did not find is there, beside what the cells have a copy of."""
        if os.path.isabs(path):
            return self.confinement is not Confinement.TRUSTED and os.path.exists(path)
        root = self.settings["root"]
        return isinstance(root, str) and os.path.exists(os.path.join(root, path))

    def _wait(self, seconds: float) -> None:
        """Until a message of the kernel is there, at most so long."""
        listened = [self._channels[name] for name in ("iopub", "shell") if not self._channels[name].is_over]
        if any(channel.has_message for channel in listened):
            return
        if listened:
            select.select(listened, [], [], seconds)
        else:
            time.sleep(seconds)

    def _status(
        self,
        reply: dict[str, Any] | None,
        stop: tuple[Status, str] | None,
        oom_kills: int | None,
    ) -> tuple[Status, str | None]:
        if stop is not None and (reply is None or reply.get("status") == "error"):
            return stop[0], stop[1] or None
        if reply is not None:
            if reply.get("status") == "ok":
                return Status.OK, None
            if reply.get("ename") == "KeyboardInterrupt":
                return Status.INTERRUPTED, None
            return Status.ERROR, None
        if self._failure is not None:
            raise self._failure
        run_result = self.run_result
        assert run_result is not None
        if run_result.outcome is Outcome.OUT_OF_MEMORY:
            return Status.OUT_OF_MEMORY, run_result.detail
        if run_result.outcome is Outcome.TIMED_OUT:
            return Status.TIMED_OUT, run_result.detail
        kills = _oom_kills()
        if (
            run_result.outcome is Outcome.KILLED
            and oom_kills is not None
            and kills is not None
            and kills > oom_kills
        ):
            return Status.OUT_OF_MEMORY, "ended by the operating system, which had no memory left"
        if "MemoryError" in run_result.detail or "bad_alloc" in run_result.stderr:
            return Status.OUT_OF_MEMORY, f"more than {self.limits.memory_bytes} bytes of address space"
        return Status.DIED, f"{run_result.outcome}: {run_result.detail}"


class _Execution:
    """A cell that runs in a kernel: its reply and its outputs, until both are there or it was stopped."""

    def __init__(
        self, kernel: Kernel, source: str, cell_id: str | None, collected: "Collected", allowed_s: float
    ) -> None:
        self.kernel = kernel
        self.shell, self.iopub = kernel._channels["shell"], kernel._channels["iopub"]
        self.collected = collected
        self.allowed_s = allowed_s
        self.reply: dict[str, Any] | None = None
        self.stopped: tuple[Status, str] | None = None
        self.late: float | None = None
        """Once there is a reply: when to wait no longer for outputs."""
        self.request = self.shell.request(
            "execute_request",
            {"code": source, "silent": False, "store_history": True, "user_expressions": {}}
            | {"allow_stdin": False, "stop_on_error": False},
            metadata={} if cell_id is None else {"cellId": cell_id},
        )
        self.deadline, self.again = collected.clock + allowed_s, 0.0
        self.latest = collected.clock + 2 * allowed_s + _START_S
        """When to wait no longer, whatever comes: something may speak on without end."""

    def follow(self, interrupted: Callable[[], bool]) -> None:
        """Raises Forged: what came was not the kernel's."""
        while self.late is None or (
            not self.collected.idle and time.monotonic() < min(self.late, self.latest)
        ):
            found = self.iopub.receive(0.0 if self.reply is None else 0.05)
            if found is not None:
                if found.parent == self.request:
                    self.collected.take(found)
                if self.late is not None:
                    self.late = time.monotonic() + _LATE_S
                if time.monotonic() < self.deadline:
                    continue
            elif self.iopub.is_over and self.reply is not None:
                return
            if self.reply is None and self._over(interrupted):
                return

    def _over(self, interrupted: Callable[[], bool]) -> bool:
        """Look for the reply, or wait a moment. Whether nothing more is to come."""
        found = self.shell.receive(0.0)
        if found is not None and found.parent == self.request and found.kind == "execute_reply":
            self.reply = found.content
            self.late = time.monotonic() + _LATE_S
            return False
        if not self.kernel.alive:
            # What it printed last is on the way.
            while (found := self.iopub.receive(0.1)) is not None:
                self.collected.take(found)
            return True
        if self._stopping(interrupted):
            return True
        self.kernel._wait(min(_LOOK_S, max(0.0, self.deadline - time.monotonic())))
        return False

    def _stopping(self, interrupted: Callable[[], bool]) -> bool:
        """Interrupt a cell whose time is over, once more after a while, and end its kernel at last. Whether
        it has stopped."""
        now = time.monotonic()
        if self.stopped is None:
            if interrupted() or now >= self.deadline:
                why = (Status.TIMED_OUT, f"more than {self.allowed_s:g} s")
                self.stopped = why if now >= self.deadline else (Status.INTERRUPTED, "")
                self.kernel.interrupt()
                self.deadline, self.again = now + _STOP_S, now + _AGAIN_S
            return False
        if self.collected.idle and now >= self.again:
            return True  # interrupted just before its cell began, a request ends without a reply
        if now >= self.deadline:
            status, detail = self.stopped
            self.stopped = status, f"{detail}; it took no notice of an interrupt".lstrip("; ")
            self.kernel.stop()
            return True
        if now >= self.again:
            self.kernel.interrupt()
            self.again = now + _AGAIN_S
        return False


_WORD_CHARS = 1000
_MIMES, _MIME_CHARS = 100, 200
_STREAMS = 10


class Collected:
    """The output messages of one cell, in the order of their arrival, bounded."""

    def __init__(self, limits: CellLimits, clock: float) -> None:
        self.limits = limits
        self.clock = clock
        self.outputs: list[Output] = []
        self.idle = False
        self.count: int | None = None
        self.left = limits.output_chars
        self.beyond: dict[str, int] = {}
        """By stream: place of the last output of it, to which what is left out is added."""

    def take(self, message: Message) -> None:
        kind, content = message.kind, message.content
        if kind == "status":
            self.idle = content["execution_state"] == "idle"
        elif kind == "execute_input":
            self.count = content.get("execution_count")
        elif kind == "stream":
            self._stream(content["name"], content["text"], goes_on=content.get(GOES_ON, False))
        elif kind == "clear_output":
            self._add(Output(type=kind, wait=bool(content.get("wait")), at_s=self._at()))
        elif kind == "error":
            text = "\n".join(content["traceback"])
            kept, length = self._cut(text)
            beyond = content.get(BEYOND, 0)
            self._add(
                Output(
                    type=kind,
                    name=content["ename"][:_WORD_CHARS],
                    value=content["evalue"][:10_000],
                    text=kept,
                    length=(length or len(text)) + beyond if beyond else length,
                    at_s=self._at(),
                )
            )
        elif kind in ("execute_result", "display_data", "update_display_data"):
            self._display(kind, content)

    def _at(self) -> float:
        return round(time.monotonic() - self.clock, 6)

    def _cut(self, text: str) -> tuple[str, int | None]:
        if len(text) <= self.left:
            self.left -= len(text)
            return text, None
        kept, self.left = text[: self.left], 0
        return kept, len(text)

    def _stream(self, name: str, text: str, *, goes_on: bool) -> None:
        last = self.outputs[-1] if self.outputs else None
        if goes_on and last is not None and last.type == "stream" and last.name == name and not last.length:
            kept, length = self._cut(text)
            whole = None if length is None else len(last.text or "") + length
            if whole is not None:
                self.beyond[name] = len(self.outputs) - 1
            self.outputs[-1] = replace(last, text=(last.text or "") + kept, length=whole)
            return
        place = self.beyond.get(name)
        if place is not None:
            full = self.outputs[place]
            self.outputs[place] = replace(full, length=(full.length or 0) + len(text))
            return
        kept, length = self._cut(text)
        if length is None and len(self.outputs) >= self.limits.outputs:
            kept, length = "", len(text)
        self._add(Output(type="stream", name=name, text=kept, at_s=self._at(), length=length))
        if length is not None and len(self.beyond) < _STREAMS:
            self.beyond[name] = len(self.outputs) - 1

    def _display(self, kind: str, content: dict[str, Any]) -> None:
        kept: dict[str, Any] = {}
        beyond = content.get(BEYOND, 0)
        room = len(self.outputs) < self.limits.outputs
        for mime, value in content["data"].items():
            size = len(value) if isinstance(value, str) else len(str(value))
            if size <= self.left and room and len(kept) < _MIMES and len(mime) <= _MIME_CHARS:
                kept[mime] = value
                self.left -= size
            else:
                beyond += size
        self._add(
            Output(
                type=kind,
                data=kept,
                metadata=self._metadata(content["metadata"]),
                display_id=content.get("transient", {}).get("display_id"),
                count=content.get("execution_count"),
                at_s=self._at(),
                length=beyond + sum(map(len, map(str, kept.values()))) if beyond else None,
            )
        )

    def _metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """What is said of an output, which counts where it is long."""
        size = len(str(metadata))
        if size <= _WORD_CHARS:
            return metadata
        if size > self.left:
            return {}
        self.left -= size
        return metadata

    def _add(self, output: Output) -> None:
        if len(self.outputs) < self.limits.outputs + (200 if output.type == "error" else 100):
            self.outputs.append(output)
            return
        last = self.outputs[-1]
        self.outputs[-1] = Output(
            type=last.type,
            name=last.name,
            text=last.text,
            data=last.data,
            metadata=last.metadata,
            display_id=last.display_id,
            wait=last.wait,
            at_s=last.at_s,
            length=(last.length or 0) + 1,
        )


# -- what the operating system says of the process -------------------------------------------------


def _kernel_pid(server: int, confinement: Confinement) -> int | None:
    """The program's process, below its server's: as numbered here."""
    pid: int | None = server
    for _ in range(2 if confinement is Confinement.STRICT else 1):
        pid = next(iter(children(pid)), None) if pid is not None else None
    return pid


def reset_peak(pid: int | None) -> int | None:
    """Bytes resident now; the peak begins anew from here (proc(5), clear_refs). None where that cannot be."""
    if pid is None:
        return None
    try:
        with open(f"/proc/{pid}/clear_refs", "w") as stream:
            stream.write("5")
    except OSError:
        return None
    return memory_of(pid)[0]


def memory_of(pid: int | None) -> tuple[int | None, int | None]:
    """Bytes resident in a process, now and at most since its peak was reset."""
    if pid is None:
        return None, None
    try:
        with open(f"/proc/{pid}/status") as stream:
            found = {name: value for name, _, value in (line.partition(":") for line in stream)}
        return tuple(int(found[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]
    except (OSError, KeyError):
        return None, None


def _oom_kills() -> int | None:
    """How often the operating system ended a process here for lack of memory; None where it does not say."""
    try:
        with open("/proc/vmstat") as stream:
            return next((int(line.split()[1]) for line in stream if line.startswith("oom_kill ")), None)
    except OSError:
        return None
