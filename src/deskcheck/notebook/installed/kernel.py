"""An installed kernel: chosen by its kernelspec, started by jupyter_client, given cells, ended.

It runs as the user runs it in Jupyter, with the user's environment, files and network, in a copy of the
notebook's folder. Nothing confines it, and nothing is known of its variables and random generators. Limits on
time and on outputs hold; limits on memory, disk, processes and CPU time do not."""

import asyncio
import contextlib
import os
import queue
import shutil
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from deskcheck.errors import InputError, MissingExtra, SandboxError
from deskcheck.notebook.kernel.folders import HOME, OF_INSTALLED, copy_below_root, copy_folder
from deskcheck.notebook.kernel.kernel import COPY_BYTES, CellLimits, Collected, Ran, Surroundings
from deskcheck.notebook.settings import ReplayLimits
from deskcheck.notebook.trajectory.trajectory import Output, Status, Trajectory
from deskcheck.sandbox.decoder import Message

T = TypeVar("T")

_START_S = 60.0
"""For an interpreter of another language, which may compile itself first."""
_STOP_S = 20.0
"""For a cell to obey an interrupt, for a kernel to end when asked."""
_LOOK_S = 0.25
"""Between looks at whether the kernel lives."""
_LATE_S = 30.0
"""After a cell's reply, until outputs that have not arrived are given up."""

NO_GUARANTEES = (
    "cells ran in the installed kernel {name!r} ({language}), without a sandbox: it has the user's files and "
    "network. Draws from random generators are not seen, only that two runs differ"
)
"""What must be said wherever such a kernel is used."""


@dataclass(frozen=True, slots=True)
class InstalledKernels:
    """An installed kernelspec, as what a replay starts its kernels from (`kernel.replayer.Kernels`).

    around: as of `kernel.kernel.Kernel`. folder: that each run's copy of it is made in, so that all runs see
    the same paths.
    """

    name: str
    language: str
    around: Surroundings
    folder: str
    confinement = None
    """They have none."""

    @property
    def is_python(self) -> bool:
        return _same_language("python", self.language)

    def refuses(self, trajectory: Trajectory) -> str | None:
        """Why a notebook cannot run in it: it is for another language."""
        asked = trajectory.language
        if asked is None or trajectory.kernel == self.name or _same_language(asked, self.language):
            return None
        return (
            f"the notebook is for {asked} (kernel {trajectory.kernel!r}), and the kernel {self.name!r} is "
            f"for {self.language}"
        )

    def start(self, hash_seed: int, inside: str, limits: ReplayLimits, state: object) -> "InstalledKernel":
        """A kernel of its own for a run. hash_seed: PYTHONHASHSEED, for kernels of Python. Nothing bounds it,
        and nothing is known of its variables."""
        return InstalledKernel(self, inside, hash_seed)


@contextlib.contextmanager
def installed_kernels(name: str | None, around: Surroundings) -> Iterator[InstalledKernels | None]:
    """The installed kernel of a name, for the runs of one notebook. None for None.

    Raises:
        InputError: there is none; names those that there are.
        MissingExtra: jupyter_client is not installed.
    """
    if name is None:
        yield None
        return
    language = _language(name)
    with tempfile.TemporaryDirectory(prefix=OF_INSTALLED, ignore_cleanup_errors=True) as folder:
        yield InstalledKernels(name, language, around, os.path.realpath(folder))


def _language(name: str) -> str:
    """For which language an installed kernel is, in its own words."""
    try:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
    except ImportError as error:
        raise MissingExtra("jupyter_client", "notebook", "running notebooks") from error
    manager = KernelSpecManager()
    try:
        spec = manager.get_kernel_spec(name)
    except NoSuchKernel:
        there = ", ".join(sorted(manager.find_kernel_specs())) or "none"
        raise InputError(
            f"--kernel {name}: no such kernel is installed for Jupyter. Installed are: {there}."
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"--kernel {name}: its kernelspec cannot be read: {error}.") from error
    return str(spec.language or name)


def _same_language(one: str, other: str) -> bool:
    known = [{"python": "", "ipython": ""}.get(each.lower(), each.lower()) for each in (one, other)]
    return known[0] == known[1]


class InstalledKernel:
    """A process of an installed kernel and the connection to it. Use it as a context manager; `run` is for
    one thread.

    Raises SandboxError: it does not start.
    """

    def __init__(self, kernels: InstalledKernels, inside: str, hash_seed: int) -> None:
        self.name = kernels.name
        self.around = kernels.around
        self.inside = inside
        self.hash_seed = hash_seed
        self._loop: asyncio.AbstractEventLoop | None = None
        """Ours: jupyter_client would make one for each thread and leave it open."""
        self._manager: Any = None
        self._client: Any = None
        self._folder = os.path.join(kernels.folder, HOME)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start a process in a fresh copy of the notebook's folder, and wait until it answers."""
        from jupyter_client.manager import AsyncKernelManager

        os.makedirs(self._folder, exist_ok=True)
        cwd = os.path.join(self._folder, self._copied(self._folder))
        os.makedirs(cwd, exist_ok=True)
        self._loop = asyncio.new_event_loop()
        self._manager = AsyncKernelManager(kernel_name=self.name)
        try:
            # The output of its process is nobody's; what its cells print comes as messages.
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            env = os.environ | {"PYTHONHASHSEED": str(self.hash_seed)}
            self.wait(self._manager.start_kernel(cwd=cwd, env=env, **quiet))
            self._client = self._manager.client()
            self._client.start_channels()
            self.wait(self._client.wait_for_ready(timeout=_START_S))
        except (OSError, RuntimeError, ValueError) as error:
            raise SandboxError(f"the kernel {self.name!r} does not start: {error}") from error

    def _copied(self, to: str) -> str:
        """Copy what lies around the notebook. Where in it the cells run."""
        if self.around.folder is None:
            return self.inside
        folder = os.path.realpath(self.around.folder)
        root = folder if self.around.root is None else os.path.realpath(self.around.root)
        if root == folder:
            copy_folder(folder, to, COPY_BYTES)
        else:
            copy_below_root(folder, root, to, COPY_BYTES, linked=False)
        return os.path.normpath(os.path.join(os.path.relpath(folder, root), self.inside))

    def wait(self, awaited: Awaitable[T]) -> T:
        """What jupyter_client gives in the end."""
        assert self._loop is not None
        return self._loop.run_until_complete(awaited)

    async def send(self, source: str) -> str:
        """Ask for a cell to be run. The id of the request."""
        request = self._client.execute(source, store_history=True, allow_stdin=False, stop_on_error=False)
        return str(request)

    async def next_output(self, seconds: float) -> Any:
        """The next message of the outputs; None if none comes in time."""
        with contextlib.suppress(queue.Empty):
            return await self._client.get_iopub_msg(timeout=seconds)

    async def next_reply(self, seconds: float) -> Any:
        with contextlib.suppress(queue.Empty):
            return await self._client.get_shell_msg(timeout=seconds)

    def interrupt(self) -> None:
        """As its kernelspec says: by a signal or a message."""
        with contextlib.suppress(RuntimeError, OSError):  # it ends just now
            self.wait(self._manager.interrupt_kernel())

    def kill(self) -> None:
        """End the process and what it started in its group."""
        with contextlib.suppress(RuntimeError, OSError):
            self.wait(self._manager.shutdown_kernel(now=True))

    @property
    def alive(self) -> bool:
        return self._manager is not None and bool(self.wait(self._manager.is_alive()))

    def restart(self) -> None:
        """End the process and start another, as at first."""
        self.close()
        self.start()

    def close(self) -> None:
        """End the process and what it has started in its group, and delete the copy of the folder."""
        if self._client is not None:
            self._client.stop_channels()
            self._client = None
        if self._manager is not None:
            self.kill()
            self._manager = None
        if self._loop is not None:
            self._loop.close()
            self._loop = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(
        self,
        source: str,
        *,
        limits: CellLimits | None = None,
        cell_id: str | None = None,
        interrupted: Callable[[], bool] = lambda: False,
        within_s: float | None = None,
    ) -> Ran:
        """As `kernel.kernel.Kernel.run`. Of an error that the kernel tells in its reply and shows nowhere,
        `Ran.detail` is class and message."""
        limits = limits or CellLimits()
        allowed = limits.cell_s if within_s is None else min(limits.cell_s, within_s)
        started, clock = time.time(), time.monotonic()
        collected = Collected(limits, clock)
        cell = _Cell(self, collected, clock, allowed)
        try:
            cell.follow(self.wait(self.send(source)), interrupted)
        except UnicodeEncodeError as error:  # no message can hold it
            told = Output(type="error", name=type(error).__name__, text=str(error), value=str(error))
            return Ran(status=Status.ERROR, started=started, ended=time.time(), outputs=(told,))
        status, detail = cell.status()
        ended = time.time()
        return Ran(
            status=status,
            detail=detail,
            started=started,
            ended=ended,
            outputs=tuple(collected.outputs),
            count=(cell.reply or {}).get("execution_count", collected.count),
            wall_s=ended - started,
        )


class _Cell:
    """A cell that runs: its reply and its outputs, until both are there or it was stopped."""

    def __init__(self, kernel: InstalledKernel, collected: Collected, clock: float, allowed_s: float) -> None:
        self.kernel = kernel
        self.collected = collected
        self.allowed_s = allowed_s
        self.deadline = clock + allowed_s
        self.reply: dict[str, Any] | None = None
        self.stopped: tuple[Status, str] | None = None

    def follow(self, request: str, interrupted: Callable[[], bool]) -> None:
        """Take what comes for a request."""
        late: float | None = None
        while not (self.reply is not None and self.collected.idle):
            self._take(request, 0.0 if self.reply is None and self.collected.idle else _LOOK_S)
            if self.reply is None:
                self._look_for_reply(request, _LOOK_S if self.collected.idle else 0.0)
            now = time.monotonic()
            if self.reply is not None:
                late = late or now + _LATE_S
                if now > late:
                    return
            elif not self.kernel.alive:
                while self._take(request, 0.1):
                    pass
                return
            elif self.stopped is None and (now >= self.deadline or interrupted()):
                late_s = (Status.TIMED_OUT, f"more than {self.allowed_s:g} s")
                self.stopped = late_s if now >= self.deadline else (Status.INTERRUPTED, "")
                self.kernel.interrupt()
                self.deadline = now + _STOP_S
            elif self.stopped is not None and now >= self.deadline:
                status, detail = self.stopped
                self.stopped = status, f"{detail}; it took no notice of an interrupt".lstrip("; ")
                self.kernel.kill()
                return

    def _take(self, request: str, seconds: float) -> bool:
        """Take the next message of the outputs, if one comes in time."""
        found = self.kernel.wait(self.kernel.next_output(seconds))
        if found is None:
            return False
        if found["parent_header"].get("msg_id") == request:
            content = _filled(found["msg_type"], found["content"])
            self.collected.take(Message(found["msg_type"], request, content))
        return True

    def _look_for_reply(self, request: str, seconds: float) -> None:
        found = self.kernel.wait(self.kernel.next_reply(seconds))
        if found is not None and found["parent_header"].get("msg_id") == request:
            self.reply = found["content"]

    def status(self) -> tuple[Status, str | None]:
        reply = self.reply
        if self.stopped is not None and (reply is None or reply.get("status") != "ok"):
            return self.stopped[0], self.stopped[1] or None
        if reply is None:
            return Status.DIED, "the kernel's process ended"
        if reply.get("status") == "ok":
            return Status.OK, None
        name, value = str(reply.get("ename") or "error"), str(reply.get("evalue") or "")
        return Status.ERROR, f"{name}: {value}"[:1000]


def _filled(kind: str, content: dict[str, Any]) -> dict[str, Any]:
    """The content of a message with what not every kernel sends."""
    if kind == "error":
        lines = [str(line) for line in content.get("traceback") or ()]
        named = {name: str(content.get(name) or "") for name in ("ename", "evalue")}
        return {**content, **named, "traceback": lines}
    if kind == "stream":
        return {"name": str(content.get("name", "stdout")), "text": str(content.get("text", ""))}
    if kind in ("execute_result", "display_data", "update_display_data"):
        return {"data": {}, "metadata": {}, **content}
    return content
