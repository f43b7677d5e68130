"""An installed kernel of any language: started by jupyter_client in a copy of the notebook's folder,
unconfined.

It has the user's environment, files and network. Its variables and random generators are not seen. Limits on
time and outputs hold; limits on memory, disk, processes and CPU time do not.
"""

import contextlib
import os
import queue
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from deskcheck.errors import InputError, MissingExtra, SandboxError
from deskcheck.notebook.kernel.cell import CellRunner
from deskcheck.notebook.kernel.folders import HOME, OF_INSTALLED, copy_below_root
from deskcheck.notebook.kernel.kernel import Surroundings
from deskcheck.notebook.settings import ReplayLimits
from deskcheck.notebook.trajectory.trajectory import Execution, Status, Trajectory
from deskcheck.sandbox.decoder import Message

_START_S = 60.0
"""Kernels of some languages compile themselves first."""

NO_GUARANTEES = (
    "cells ran in the installed kernel {name!r} ({language}), without a sandbox: it has the user's files and "
    "network. Draws from random generators are not seen, only that two runs differ"
)
"""Reports of such a kernel must say this."""


@dataclass(frozen=True, slots=True)
class InstalledKernels:
    """Starts kernels of an installed kernelspec for a replay (`kernel.replayer.Kernels`).

    folder: contains the copy of the notebook's folder, in the same place for all runs."""

    name: str
    language: str
    around: Surroundings
    folder: str
    confinement = None
    """None: the kernels are not confined."""

    @property
    def is_python(self) -> bool:
        return _same_language("python", self.language)

    def refuses(self, trajectory: Trajectory) -> str | None:
        """Why a notebook cannot run in these kernels: it is for another language."""
        language = trajectory.language
        if language is None or trajectory.kernel == self.name or _same_language(language, self.language):
            return None
        return (
            f"the notebook is for {language} (kernel {trajectory.kernel!r}), and the kernel {self.name!r} is "
            f"for {self.language}"
        )

    def start(self, hash_seed: int, inside: str, limits: ReplayLimits, state: object) -> "InstalledKernel":
        """A kernel for a run. hash_seed: PYTHONHASHSEED, for kernels of Python."""
        return InstalledKernel(self, inside, hash_seed)


@contextlib.contextmanager
def installed_kernels(name: str | None, around: Surroundings) -> Iterator[InstalledKernels | None]:
    """The installed kernel with a name, for the runs of one notebook. None if the name is None.

    Raises InputError: it is not installed. MissingExtra: jupyter_client is not installed.
    """
    if name is None:
        yield None
        return
    language = _language(name)
    with tempfile.TemporaryDirectory(prefix=OF_INSTALLED, ignore_cleanup_errors=True) as folder:
        yield InstalledKernels(name, language, around, os.path.realpath(folder))


def _language(name: str) -> str:
    """The language of an installed kernel, as its kernelspec names it."""
    try:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
    except ImportError as error:
        raise MissingExtra("jupyter_client", "notebook", "running notebooks") from error
    manager = KernelSpecManager()
    try:
        spec = manager.get_kernel_spec(name)
    except NoSuchKernel:
        installed = ", ".join(sorted(manager.find_kernel_specs())) or "none"
        raise InputError(
            f"--kernel {name}: no such kernel is installed for Jupyter. Installed are: {installed}."
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"--kernel {name}: its kernelspec cannot be read: {error}.") from error
    return str(spec.language or name)


def _same_language(first: str, second: str) -> bool:
    languages = [
        {"python": "", "ipython": ""}.get(language.lower(), language.lower()) for language in (first, second)
    ]
    return languages[0] == languages[1]


class InstalledKernel(CellRunner):
    """A process of an installed kernel and the connection to it. Raises SandboxError: it does not start."""

    def __init__(self, kernels: InstalledKernels, inside: str, hash_seed: int) -> None:
        self.name = kernels.name
        self.around = kernels.around
        self.inside = inside
        self.hash_seed = hash_seed
        self._manager: Any = None
        self._client: Any = None
        self._folder = os.path.join(kernels.folder, HOME)

    def start(self) -> None:
        """Start a process in a fresh copy of the notebook's folder, and wait until it answers."""
        from jupyter_client.manager import KernelManager

        folder, root, inside = self.around.places(self.inside)
        copy_below_root(folder, root, self._folder)
        cwd = os.path.join(self._folder, inside)
        os.makedirs(cwd, exist_ok=True)
        self._manager = KernelManager(kernel_name=self.name)
        try:
            # Cells print by messages. Other output of the process is discarded.
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            env = os.environ | {"PYTHONHASHSEED": str(self.hash_seed)}
            self._manager.start_kernel(cwd=cwd, env=env, **quiet)
            self._client = self._manager.client()
            self._client.start_channels(stdin=False, hb=False)
            self._client.wait_for_ready(timeout=_START_S)
        except (OSError, RuntimeError, ValueError) as error:
            self.close()
            raise SandboxError(f"the kernel {self.name!r} does not start: {error}") from error
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        return self._manager is not None and bool(self._manager.is_alive())

    def interrupt(self) -> None:
        """Send the interrupt that the kernelspec asks for: a signal or a message."""
        with contextlib.suppress(RuntimeError, OSError):  # it ends just now
            self._manager.interrupt_kernel()

    def stop(self) -> None:
        """End the process and its group, and delete the copy of the folder."""
        if self._client is not None:
            self._client.stop_channels()
            self._client = None
        if self._manager is not None:
            with contextlib.suppress(RuntimeError, OSError):
                self._manager.shutdown_kernel(now=True)
            self._manager = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        self.stop()
        with contextlib.suppress(ImportError):  # jupyter_core before 5.7
            from jupyter_core.utils import ensure_event_loop

            # jupyter_client has made one for this thread and leaves it open.
            loop = ensure_event_loop()
            if not loop.is_running():
                loop.close()

    # -- cells -------------------------------------------------------------------------------------

    def send(self, source: str, cell_id: str | None) -> str:
        return str(self._client.execute(source, store_history=True, allow_stdin=False, stop_on_error=False))

    def next_output(self, seconds: float) -> Message | None:
        return _received(self._client.iopub_channel, seconds)

    def next_reply(self) -> Message | None:
        return _received(self._client.shell_channel, 0.0)

    @property
    def outputs_are_over(self) -> bool:
        return not self.alive

    def wait(self, seconds: float) -> None:
        import zmq

        channels = (self._client.iopub_channel, self._client.shell_channel)
        zmq.select([channel.socket for channel in channels], [], [], seconds)

    def after_cell(self) -> None:
        """Does nothing: this kernel needs no work after a cell."""

    def ending(self) -> tuple[Status, str]:
        return Status.DIED, "the kernel's process ended"

    def with_facts(self, ran: Execution, reply: Mapping[str, Any]) -> Execution:
        """Add the class and message of an error from the reply, as the kernel may not show them."""
        if ran.status not in (Status.ERROR, Status.INTERRUPTED) or not reply or ran.detail is not None:
            return ran
        name, value = str(reply.get("ename") or "error"), str(reply.get("evalue") or "")
        return replace(ran, status=Status.ERROR, detail=f"{name}: {value}"[:1000])


def _received(channel: Any, seconds: float) -> Message | None:
    """The next message of a channel. None if none arrives in time."""
    with contextlib.suppress(queue.Empty):
        message = channel.get_msg(timeout=seconds)
        kind = message["msg_type"]
        return Message(kind, message["parent_header"].get("msg_id"), _filled(kind, message["content"]))
    return None


def _filled(kind: str, content: dict[str, Any]) -> dict[str, Any]:
    """The content of a message, with fields that some kernels leave out."""
    if kind == "error":
        lines = [str(line) for line in content.get("traceback") or ()]
        named = {name: str(content.get(name) or "") for name in ("ename", "evalue")}
        return {**content, **named, "traceback": lines}
    if kind == "stream":
        return {"name": str(content.get("name", "stdout")), "text": str(content.get("text", ""))}
    if kind in ("execute_result", "display_data", "update_display_data"):
        return {"data": {}, "metadata": {}, **content}
    return content
