"""The extension in a real Jupyter server, driven as a front end drives it: over HTTP and a websocket."""

import asyncio
import json
import logging
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.notebook import Execution, Trajectory, read_trajectory
from deskcheck.notebook.trajectory.trajectory import Restart
from tests.notebook import jupyter
from tests.notebook.jupyter import WAIT_S, until
from tests.notebook.valid import check

PROVED = "would have proved what the extension of Jupyter Server records"
pytest.importorskip("jupyter_server", reason=PROVED)
websocket = pytest.importorskip("tornado.websocket", reason=PROVED)
zmq = pytest.importorskip("zmq", reason=PROVED)


class Server(jupyter.Server):
    """One that is driven as a front end does."""

    def save(self, path: str, cells: list[tuple[str, str]], minor: int = 5) -> None:
        content = jupyter.content(cells, minor)
        self.ask("PUT", f"contents/{path}", {"type": "notebook", "format": "json", "content": content})

    def open(self, path: str) -> str:
        """Begin a session: the kernel's id."""
        body = {"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}}
        return str(self.ask("POST", "sessions", body)["kernel"]["id"])

    def run(
        self, kernel: str, *cells: tuple[str | None, str], deleted: tuple[str, ...] = (), **content: Any
    ) -> list[str]:
        """Ask for cells one right after another, as "run all" does; gives the replies' statuses."""
        return asyncio.run(asyncio.wait_for(self._run(kernel, cells, deleted, content), WAIT_S))

    async def _run(
        self, kernel: str, cells: Any, deleted: tuple[str, ...], content: dict[str, Any]
    ) -> list[str]:
        url = f"{self.url.replace('http', 'ws', 1)}api/kernels/{kernel}/channels?session_id=s&token=token"
        socket = await websocket.websocket_connect(url)
        asked: dict[str, str] = {}
        for cell, source in cells:
            header = {
                "msg_id": uuid.uuid4().hex,
                "msg_type": "execute_request",
                "username": "",
                "session": "s",
            }
            message = {
                "channel": "shell",
                "header": header | {"date": "2026-01-01T00:00:00Z", "version": "5.3"},
                "parent_header": {},
                "metadata": {} if cell is None else {"cellId": cell, "deletedCells": list(deleted)},
                "content": {"code": source, "silent": False, "store_history": True, "stop_on_error": True}
                | content,
            }
            asked[header["msg_id"]] = ""
            await socket.write_message(json.dumps(message))
        busy = set(asked)
        while busy or not all(asked.values()):
            message = json.loads(await socket.read_message())
            request = message["parent_header"].get("msg_id")
            if message["msg_type"] == "execute_reply":
                asked[request] = message["content"]["status"]
            elif message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                busy.discard(request)
        socket.close()
        while await socket.read_message() is not None:
            pass
        return list(asked.values())


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    started: list[Server] = []

    def one(*options: str) -> Server:
        started.append(Server(tmp_path, f"--Deskcheck.folder={tmp_path / 'rec'}", *options))
        return started[-1]

    yield one
    for server in started:
        server.kill()


def recorded(home: Path, name: str = "work") -> Trajectory:
    found = read_trajectory(home / "rec" / f"{name}.trajectory.parquet")
    check(found.cells, found.steps)
    return found


def test_a_session(start: Callable[..., Server], tmp_path: Path) -> None:
    """Cells that wait for a failed one are no executions; silent runs are none; input that is no cell's is kept
    apart; a notebook is followed when it is renamed; secrets are in no file."""
    server = start("--Deskcheck.mask=True", "--Deskcheck.mask_names=iban")
    server.save("work.ipynb", [("a", "x = 1"), ("b", "1/0"), ("c", "x"), ("d", "iban = 'DE0001'")])
    kernel = server.open("work.ipynb")
    assert server.run(kernel, ("a", "x = 1"), ("b", "1/0"), ("c", "x")) == ["ok", "error", "aborted"]
    server.run(kernel, (None, "viewer = 1"), silent=True, store_history=False)
    server.run(kernel, (None, "viewer = 2"), store_history=False)
    server.run(kernel, (None, "x + 1"))
    server.run(kernel, ("d", "iban = 'DE0001'; print(iban)"), deleted=("b",))
    server.ask("PATCH", "contents/work.ipynb", {"path": "named.ipynb"})
    server.save("named.ipynb", [("d", "iban"), ("a", "x = 1"), ("c", "x")])
    server.run(kernel, ("c", "x"))
    assert [p.name for p in (tmp_path / "rec").iterdir()] == ["work.trajectory.parquet.part"]
    server.ask("DELETE", f"kernels/{kernel}")
    until(lambda: (tmp_path / "rec" / "work.trajectory.parquet").exists(), "the file is made")
    server.stop()
    found = recorded(tmp_path)
    told = [
        (s.kind, getattr(s, "cell", None), s.status.value if isinstance(s, Execution) else None)
        for s in found.steps
    ]
    assert told == [
        ("execution", "a", "ok"),
        ("execution", "b", "error"),
        ("insertion", "input-0", None),
        ("execution", "input-0", "ok"),
        ("deletion", "b", None),
        ("edit", "d", None),
        ("execution", "d", "ok"),
        ("move", "d", None),
        ("edit", "d", None),
        ("execution", "c", "ok"),
    ]
    assert [one.count for one in found.executions] == [1, 2, 3, 4, 5]
    assert list(found.executions)[3].text() == "[masked]\n"
    assert b"DE0001" not in (tmp_path / "rec" / "work.trajectory.parquet").read_bytes()
    assert "Traceback" not in server.log


@pytest.mark.exhaustive
def test_a_killed_server(start: Callable[..., Server], tmp_path: Path) -> None:
    """What was recorded survives a kill of the server; the next one goes on with it, with what has changed."""
    server = start()
    (tmp_path / "sub").mkdir()
    server.save("sub/work.ipynb", [("a", "x = 1"), ("b", "x")])
    kernel = server.open("sub/work.ipynb")
    server.run(kernel, ("a", "x = 1"))
    part = tmp_path / "rec" / "sub" / "work.trajectory.parquet.part"
    until(lambda: b'"status":"ok"' in part.read_bytes(), "the execution is on disk")
    server.kill()
    server = start()
    server.save("sub/work.ipynb", [("b", "x"), ("e", "y = 2")])
    kernel = server.open("sub/work.ipynb")
    server.run(kernel, ("e", "y = 2"))
    server.ask("POST", f"kernels/{kernel}/restart")
    server.run(kernel, ("b", "x"))
    server.stop()
    found = recorded(tmp_path, "sub/work")
    assert [step.kind for step in found.steps] == [
        "execution",
        "restart",
        "deletion",
        "insertion",
        "execution",
        "restart",
        "execution",
    ]
    assert [step.why for step in found.steps if isinstance(step, Restart)] == ["died", "asked"]
    assert [one.status.value for one in found.executions] == ["ok", "ok", "error"]
    assert [cell.source for cell in found.cells] == ["x = 1", "x"]


@pytest.mark.slow
def test_a_file_without_ids(start: Callable[..., Server], tmp_path: Path) -> None:
    """Before nbformat 4.5 the front end's ids are its own: cells are told by their sources."""
    server = start()
    server.save("work.ipynb", [("", "x = 1"), ("", "value = x")], minor=4)
    kernel = server.open("work.ipynb")
    server.run(kernel, ("volatile-2", "x = 1"), ("volatile-1", "value = x"))
    server.save("work.ipynb", [("", "x = 1"), ("", "value = x + 1")], minor=4)
    server.run(kernel, ("volatile-1", "value = x + 1"))
    server.stop()
    found = recorded(tmp_path)
    assert [(one.cell, one.source) for one in found.executions] == [
        ("cell-0", "x = 1"),
        ("cell-1", "value = x"),
        ("cell-1", "value = x + 1"),
    ]


@pytest.mark.slow
def test_a_folder_that_cannot_be_written(start: Callable[..., Server], tmp_path: Path) -> None:
    """The session goes on without a recording, and the log says why."""
    (tmp_path / "rec").write_text("a file")
    server = start()
    server.save("work.ipynb", [("a", "x = 1")])
    assert server.run(server.open("work.ipynb"), ("a", "x = 1")) == ["ok"]
    until(lambda: "the recording of work.ipynb has stopped" in server.log, "the log says it")
    assert "Traceback" not in server.log


@pytest.mark.slow
def test_a_wrong_pattern(tmp_path: Path) -> None:
    """A mask that is no pattern is refused while the server starts: nothing is recorded unmasked by mistake."""
    server = Server(tmp_path, f"--Deskcheck.folder={tmp_path / 'rec'}", "--Deskcheck.mask_texts=(")
    try:
        assert "is not a regular expression" in server.log
        server.save("work.ipynb", [("a", "x = 1")])
        server.run(server.open("work.ipynb"), ("a", "x = 1"))
    finally:
        server.kill()
    assert not (tmp_path / "rec").exists()


def test_a_kernel_is_heard_before_it_is_asked(tmp_path: Path) -> None:
    """A subscription that takes a second to be there loses no output: the front end waits for it."""
    from jupyter_client.manager import AsyncKernelManager
    from zmq.eventloop.zmqstream import ZMQStream

    from deskcheck.notebook.jupyter.server import ServerRecorder

    class Slow(AsyncKernelManager):  # type: ignore[misc]
        kernel_id = "slow"

        def connect_iopub(self, identity: bytes | None = None) -> ZMQStream:
            socket = self.context.socket(zmq.SUB, socket_class=zmq.Socket)
            socket.subscribe(b"")
            address = self._make_url("iopub")
            asyncio.get_running_loop().call_later(1, lambda: socket.connect(address))
            return ZMQStream(socket)

        def connect_control(self, identity: bytes | None = None) -> ZMQStream:
            socket = self.context.socket(zmq.DEALER, socket_class=zmq.Socket)
            socket.connect(self._make_url("control"))
            return ZMQStream(socket)

    class App:
        """As much of a server as `Recorder` needs here."""

        class event_logger:
            @staticmethod
            def add_listener(**named: Any) -> None:
                pass

    async def go() -> list[str]:
        manager = Slow(kernel_name="python3")
        await manager.start_kernel()
        shown: list[str] = []
        try:
            recorder = ServerRecorder(App(), tmp_path, None, logging.getLogger())
            recorder._attach = nothing  # type: ignore[method-assign]
            recorder._shown = lambda watched, message: told(shown, message)  # type: ignore[method-assign]
            recorder.connected(manager)
            client = manager.client()
            client.start_channels()
            await client.wait_for_ready(timeout=WAIT_S)
            await recorder.hearing(manager, None)
            await client.execute_interactive(
                "print('first')", timeout=WAIT_S, output_hook=lambda message: None
            )
            for _ in range(100):
                if "first\n" in shown:
                    break
                await asyncio.sleep(0.05)
            client.stop_channels()
            recorder.kernels["slow"].stream.close()
        finally:
            await manager.shutdown_kernel(now=True)
        return shown

    async def nothing(watched: Any) -> None:
        pass

    async def told(shown: list[str], message: dict[str, Any]) -> None:
        shown.append(message["content"].get("text", ""))

    assert "first\n" in asyncio.run(go())
