"""A front end: it starts a kernel, runs cells there and keeps what it is sent."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WAIT_S = 60.0


@dataclass
class Ran:
    """What a front end saw of an execution."""

    reply: dict[str, Any]
    said: dict[str, str] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)


class Kernel:
    """A kernel on UNIX sockets, and a front end that talks to it."""

    def __init__(self, folder: Path) -> None:
        from jupyter_client.manager import KernelManager

        self.manager = KernelManager(transport="ipc", connection_file=str(folder / "kernel.json"))
        self.manager.ip = str(folder / "s")
        self.manager.start_kernel(cwd=str(folder))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=WAIT_S)

    def send(self, code: str, cell: str | None = None, deleted: tuple[str, ...] = (), **content: Any) -> str:
        request = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
        metadata = {} if cell is None else {"cellId": cell, "deletedCells": list(deleted)}
        message = self.client.session.msg("execute_request", request | content, metadata=metadata)
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def wait(self, message: str) -> Ran:
        ran = Ran({})
        while True:
            found = self.client.get_iopub_msg(timeout=WAIT_S)
            if found["parent_header"].get("msg_id") != message:
                continue
            kind, content = found["msg_type"], found["content"]
            ran.kinds.append(kind)
            if kind == "stream":
                ran.said[content["name"]] = ran.said.get(content["name"], "") + content["text"]
            if kind == "status" and content["execution_state"] == "idle":
                break
        while True:
            found = self.client.get_shell_msg(timeout=WAIT_S)
            if found["parent_header"].get("msg_id") == message:
                ran.reply = found["content"]
                return ran

    def run(self, code: str, cell: str | None = None, deleted: tuple[str, ...] = (), **content: Any) -> Ran:
        return self.wait(self.send(code, cell, deleted, **content))

    def close(self) -> None:
        if not self.client.channels_running:
            return
        self.client.shutdown()
        end = time.monotonic() + WAIT_S
        while self.manager.is_alive() and time.monotonic() < end:
            time.sleep(0.02)
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def busy(kernel: Kernel, folder: Path, source: str = "") -> str:
    """A cell that runs `source` and goes on until `release`; the id of its message."""
    asked = kernel.send(
        f"import os, time\n{source}\nopen({str(folder / 'runs')!r}, 'w').close()\n"
        f"while not os.path.exists({str(folder / 'go')!r}): time.sleep(0.01)\nprint('ended')"
    )
    end = time.monotonic() + WAIT_S
    while not (folder / "runs").exists():
        assert time.monotonic() < end, "the cell does not run"
        time.sleep(0.01)
    return asked


def release(folder: Path) -> None:
    (folder / "go").touch()


def has_subshells() -> bool:
    """Whether ipykernel answers beside a cell that runs."""
    import ipykernel

    return bool(ipykernel.version_info[0] >= 7)
