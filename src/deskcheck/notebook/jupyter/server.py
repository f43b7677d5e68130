"""The Jupyter Server extension: records the notebooks that people work on, with
``--Deskcheck.folder=FOLDER``.

    requests, cell ids, deleted cells  at the front end's websocket: our class wraps the chosen one
    executions and outputs             on the kernel's IOPub channel, also when the browser is closed
    saves, renames, restarts           Jupyter Events
    death of a kernel                  the server's own watch

All events go through one queue, in order. An error of deskcheck stops the recording of that notebook, with a
message in the server's log, and does not change the session.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from jupyter_client.session import Session
from jupyter_core.utils import ensure_async
from jupyter_server.extension.application import ExtensionApp
from jupyter_server.services.kernels.connection.base import (
    deserialize_binary_message,
    deserialize_msg_from_ws_v1,
)
from traitlets import Bool, List, Unicode

from deskcheck.errors import DeskcheckError
from deskcheck.notebook.jupyter.magic import _deleted
from deskcheck.notebook.kernel.cell import Collected, status_of
from deskcheck.notebook.trajectory.ipynb import parse_notebook
from deskcheck.notebook.trajectory.trajectory import Cell, Status, Trajectory
from deskcheck.sandbox.decoder import shown

_KERNEL_EVENTS = "https://events.jupyter.org/jupyter_server/kernel_actions/v1"
_CONTENTS_EVENTS = "https://events.jupyter.org/jupyter_server/contents_service/v1"
_REPLY_S = 5.0
"""Seconds for a cell's reply to arrive after its outputs, if a front end is connected."""
_LOOK_S, _LOOKS = 0.25, 120
"""Seconds between two looks for the notebook of a new kernel, and their number. Each execution looks too."""
_HEARD_S, _ASK_S = 5.0, 0.25
"""Seconds that a front end waits until the recorder hears its kernel, and between two requests to it."""
_REQUESTS = 10_000
"""Maximum number of requests of a kernel that are remembered until they run."""


class Deskcheck(ExtensionApp):  # type: ignore[misc]  # of no known type where it is not installed
    """Records notebooks into a folder, if the option names one."""

    name = "deskcheck"
    folder = Unicode(
        "",
        help="Folder for the trajectories of all open notebooks. Empty: nothing is recorded.",
    ).tag(config=True)
    mask = Bool(False, help="Take secrets out of the recording, by built-in patterns.").tag(config=True)
    mask_names = List(
        Unicode(),
        help="Regular expressions for names whose values are secrets, in addition to the built-in ones.",
    ).tag(config=True)
    mask_texts = List(
        Unicode(), help="Regular expressions for secrets in text, in addition to the built-in ones."
    ).tag(config=True)

    def initialize_settings(self) -> None:
        self.recorder: ServerRecorder | None = None
        if not self.folder:
            return
        from deskcheck.notebook.trajectory.masking import Mask

        masks = self.mask or self.mask_names or self.mask_texts
        if masks:
            Mask(self.mask_names, self.mask_texts)  # refuses a wrong pattern while the server starts
        folder = Path(self.folder).expanduser().absolute()
        self.recorder = ServerRecorder(
            self.serverapp,
            folder,
            (lambda: Mask(self.mask_names, self.mask_texts)) if masks else None,
            self.log,
        )
        key = "kernel_websocket_connection_class"
        self.settings[key] = _listening(self.settings[key], self.recorder)
        self.log.info(
            f"deskcheck records all open notebooks into {folder}" + (", with secrets masked" if masks else "")
        )

    async def stop_extension(self) -> None:
        if self.recorder is not None:
            await self.recorder.stop()


def _listening(base: Any, recorder: "ServerRecorder") -> Any:
    """A class of websocket connections that reports messages to the recorder."""

    class Connection(base):  # type: ignore[misc]
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            recorder.connected(self.kernel_manager)

        def connect(self) -> "asyncio.Future[None]":
            # Messages of the front end are passed on when this is done.
            return asyncio.ensure_future(recorder.hearing(self.kernel_manager, super().connect()))

        def handle_incoming_message(self, incoming_msg: Any) -> None:
            recorder.guarded(recorder.asked, self, incoming_msg)
            super().handle_incoming_message(incoming_msg)

        def handle_outgoing_message(self, stream: Any, outgoing_msg: list[Any]) -> None:
            recorder.guarded(recorder.answered, self, stream, outgoing_msg)
            super().handle_outgoing_message(stream, outgoing_msg)

    return Connection


class _Run:
    """A cell that runs, and its outputs."""

    def __init__(self, message: str, cell: str, source: str, begun_at: float, count: int | None) -> None:
        self.message, self.cell, self.source, self.begun_at, self.count = (
            message,
            cell,
            source,
            begun_at,
            count,
        )
        self.collected = Collected()
        self.end: float | None = None
        self.status: Status | None = None
        self.detail: str | None = None

    def give_up(self, reason: str) -> None:
        """End the cell without further reports of the kernel."""
        if self.end is None:
            self.end, self.status, self.detail = time.time(), Status.DIED, reason
        elif self.status is None:
            error = next((o for o in self.collected.outputs if o.type == "error"), None)
            self.status = Status.OK if error is None else Status.of_error(error.name)
            self.detail = "the kernel's reply is missing: the status follows from the outputs"


class _Watched:
    """A kernel, its notebook and its running cells."""

    def __init__(self, manager: Any) -> None:
        self.manager = manager
        self.kernel_id: str = manager.kernel_id
        self.session = Session(config=manager.session.config, key=manager.session.key)
        self.stream: Any = None
        self.heard = asyncio.Event()
        """Whether a message arrived: a new subscription passes on no messages for a moment."""
        self.path: str | None = None
        """The notebook that it runs: the key of its trajectory in `Recorder`."""
        self.requests: dict[str, dict[str, Any]] = {}
        """Id of a message -> execution that a front end asked for."""
        self.runs: deque[_Run] = deque()
        self.dies = False
        self.looks = 0

    def run_of(self, request_id: str | None) -> _Run | None:
        return next((run for run in self.runs if run.message == request_id), None)


class ServerRecorder:
    """Records the notebooks of a server. Everything here is called in the server's loop."""

    def __init__(self, serverapp: Any, folder: Path, mask: Any, log: Any) -> None:
        self.serverapp, self.folder, self.mask, self.log = serverapp, folder, mask, log
        self.kernels: dict[str, _Watched] = {}
        self.notebooks: dict[str, Any] = {}
        """Path of a notebook -> its `Live`; None if its recording has failed."""
        self._last_kernel: dict[str, str] = {}
        """Path of a notebook -> the kernel that it ran in last."""
        self._queue: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None
        serverapp.event_logger.add_listener(schema_id=_KERNEL_EVENTS, listener=self._kernel_event)
        serverapp.event_logger.add_listener(schema_id=_CONTENTS_EVENTS, listener=self._contents_event)

    def guarded(self, see: Any, *arguments: Any) -> None:
        """Read a message. An error must not stop the message."""
        try:
            see(*arguments)
        except Exception:  # of ours: the user's session must continue
            self.log.exception("deskcheck: a message could not be read")

    def _put(self, *event: Any) -> None:
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())
        self._queue.put_nowait(event)

    # -- what is seen, in the order of its coming --------------------------------------------------

    def connected(self, manager: Any) -> None:
        """A front end connects to a kernel."""
        if manager.kernel_id not in self.kernels:
            watched = self.kernels[manager.kernel_id] = _Watched(manager)
            self._listen(watched)
            manager.add_restart_callback(lambda: self._put(self._dies, watched), "restart")
            manager.add_restart_callback(lambda: self._put(self._dead, watched), "dead")
        self._put(self._attach, self.kernels[manager.kernel_id])

    def _listen(self, watched: _Watched) -> None:
        """Listen to what the kernel publishes, as the server does to know whether it is busy."""
        if watched.stream is not None:
            watched.stream.close()
        watched.heard = asyncio.Event()
        watched.stream = watched.manager.connect_iopub()
        watched.stream.on_recv(lambda parts: self.guarded(self._published, watched, parts))

    async def hearing(self, manager: Any, connected: "asyncio.Future[None] | None") -> None:
        """Wait until the front end is connected and the kernel's messages arrive here, too. Until then,
        request the kernel's description, as the server does for its own subscription."""
        if connected is not None:
            await connected
        watched = self.kernels.get(manager.kernel_id)
        if watched is None or watched.heard.is_set():
            return
        control = manager.connect_control()
        try:
            for _ in range(round(_HEARD_S / _ASK_S)):
                watched.session.send(control, "kernel_info_request")
                with suppress(TimeoutError):
                    await asyncio.wait_for(watched.heard.wait(), _ASK_S)
                    return
            self.log.warning(
                f"deskcheck: the kernel {watched.kernel_id} has published nothing for {_HEARD_S:.0f} s; "
                "its first outputs may be missing in the recording"
            )
        finally:
            control.close()

    def asked(self, connection: Any, incoming: Any) -> None:
        """Read a message of the front end, before it is passed on."""
        if isinstance(incoming, bytes) and connection.subprotocol == "v1.kernel.websocket.jupyter.org":
            channel, parts = deserialize_msg_from_ws_v1(incoming)
            if channel != "shell" or json.loads(parts[0]).get("msg_type") != "execute_request":
                return
            header, metadata, content = (json.loads(parts[n]) for n in (0, 2, 3))
        else:
            message = (
                deserialize_binary_message(incoming) if isinstance(incoming, bytes) else json.loads(incoming)
            )
            header, metadata, content = message["header"], message.get("metadata") or {}, message["content"]
            if header.get("msg_type") != "execute_request":
                return
        watched = self.kernels.get(connection.kernel_id)
        if watched is None:  # it was shut down
            return
        if content.get("silent"):
            return
        cell = metadata.get("cellId")
        request = {
            "source": content["code"],
            "cell": cell if isinstance(cell, str) else None,
            "deleted": _deleted(metadata),
            "kept": bool(cell) or content.get("store_history", True),
        }
        self._put(self._requested, watched, header["msg_id"], request)

    def answered(self, connection: Any, stream: Any, parts: list[Any]) -> None:
        """Read a message of the kernel to a front end."""
        channel = stream if isinstance(stream, str) else getattr(stream, "channel", None)
        watched = self.kernels.get(connection.kernel_id)
        if watched is not None and channel == "shell" and (watched.requests or watched.runs):
            message = self._message(watched, parts)
            if message["msg_type"] == "execute_reply":
                self._put(self._replied, watched, message)

    def _published(self, watched: _Watched, parts: list[Any]) -> None:
        watched.heard.set()
        message = self._message(watched, parts)
        if (message.get("parent_header") or {}).get("msg_type") == "execute_request":
            self._put(self._shown, watched, message)

    def _message(self, watched: _Watched, parts: list[Any]) -> dict[str, Any]:
        _, parts = watched.session.feed_identities(parts)
        # Each session refuses a signature that it has seen: a message can pass here twice.
        watched.session.digest_history.clear()
        message: dict[str, Any] = watched.session.deserialize(parts)
        return message

    async def _kernel_event(self, logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        watched = self.kernels.get(data.get("kernel_id", ""))
        if watched is None or data.get("status") != "success":
            return
        if data["action"] == "restart":
            # Even on the same ports: until the old connection finds the new kernel, what that says is lost.
            self._listen(watched)
            self._put(self._restarted, watched)
        elif data["action"] == "shutdown":
            self._put(self._ended, watched)

    async def _contents_event(self, logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        path = str(data.get("path", "")).lstrip("/")
        if data.get("action") == "save" and path.endswith(".ipynb"):
            self._put(self._saved, path)
        elif data.get("action") == "rename":
            self._put(self._renamed, str(data.get("source_path", "")).lstrip("/"), path)

    # -- events, in their order ---------------------------------------------------------------------

    async def _work(self) -> None:
        while True:
            handle, *arguments = await self._queue.get()
            try:
                await handle(*arguments)
            except Exception as error:  # noqa: BLE001  # of ours: the user's session must continue
                self._fail(arguments[0] if arguments else None, error)
            finally:
                self._queue.task_done()

    def _fail(self, about: Any, error: Exception) -> None:
        """Stop the recording of a notebook at an error of deskcheck. The next one continues from what was
        recorded."""
        path = about.path if isinstance(about, _Watched) else str(about)
        self.log.error(
            f"deskcheck: the recording of {path} has stopped: {error}",
            exc_info=not isinstance(error, DeskcheckError),
        )
        live = self.notebooks.get(path or "")
        if live is not None:
            live.close()
        if path is not None:
            self.notebooks[path] = None

    def _live(self, watched: _Watched) -> Any:
        return None if watched.path is None else self.notebooks.get(watched.path)

    async def _attach(self, watched: _Watched) -> None:
        """Find the notebook of a kernel, and begin or continue its recording."""
        if watched.path is not None:
            return
        for session in await ensure_async(self.serverapp.session_manager.list_sessions()):
            path = _plain(session["path"])
            its_own = session["type"] == "notebook" and session["kernel"]["id"] == watched.kernel_id
            if its_own and await ensure_async(self.serverapp.contents_manager.file_exists(path)):
                watched.path = path
                break
        else:
            # A console has no notebook, and JupyterLab names a session only some moments after it was made.
            if watched.looks < _LOOKS:
                watched.looks += 1
                asyncio.get_running_loop().call_later(_LOOK_S, lambda: self._put(self._attach, watched))
            return
        live = self.notebooks.get(watched.path)
        if live is None and watched.path not in self.notebooks:
            await self._open(watched)
        elif live is not None and self._last_kernel.get(watched.path) != watched.kernel_id:
            live.restarted("asked")
        self._last_kernel[watched.path] = watched.kernel_id

    async def _open(self, watched: _Watched) -> None:
        from deskcheck.notebook.jupyter.live import Live
        from deskcheck.notebook.trajectory.trajectory import SUFFIX

        assert watched.path is not None
        read = await self._read(watched.path)
        head = Trajectory(
            id=watched.path.removesuffix(".ipynb"),
            source="jupyter",
            path=watched.path,
            cells=tuple(read.cells),
            steps=(),
            kernel=watched.manager.kernel_name,
            language=read.language,
        )
        file = self.folder / (watched.path.removesuffix(".ipynb") + SUFFIX)
        live = Live(file, head, None if self.mask is None else self.mask())
        self.notebooks[watched.path] = live
        live.saved(read.cells, own_ids=_own_ids(read.cells))
        self.log.info(f"deskcheck: {watched.path} is recorded into {file}")

    async def _read(self, path: str) -> Trajectory:
        model = await ensure_async(self.serverapp.contents_manager.get(path, content=True, type="notebook"))
        return parse_notebook(json.dumps(model["content"]).encode(), name=path)

    async def _requested(self, watched: _Watched, message: str, request: dict[str, Any]) -> None:
        await self._attach(watched)
        watched.requests[message] = request
        if len(watched.requests) > _REQUESTS:
            watched.requests.pop(next(iter(watched.requests)))

    async def _shown(self, watched: _Watched, message: dict[str, Any]) -> None:
        live = self._live(watched)
        if live is None:
            return
        request_id = message["parent_header"]["msg_id"]
        kind, content = message["msg_type"], message["content"]
        if kind == "execute_input":
            request = watched.requests.get(request_id, {"cell": None, "deleted": (), "kept": True})
            if request["kept"]:
                begun_at = _seconds(message)
                cell = live.begins(request["cell"], content["code"], request["deleted"], begun_at)
                begun = _Run(request_id, cell, content["code"], begun_at, content.get("execution_count"))
                begun.status = request.get("status")
                watched.runs.append(begun)
            return
        run = watched.run_of(request_id)
        if run is None or run.end is not None:
            return
        run.collected.take(shown(kind, request_id, content))
        if run.collected.idle:
            run.end = _seconds(message)
            if run.status is None and request_id in watched.requests:
                loop = asyncio.get_running_loop()
                loop.call_later(_REPLY_S, lambda: self._put(self._late, watched, run))
            elif run.status is None:
                run.give_up("")
            self._write(watched)

    async def _replied(self, watched: _Watched, message: dict[str, Any]) -> None:
        request_id = message["parent_header"].get("msg_id")
        content = message["content"]
        status = status_of(content)
        run = watched.run_of(request_id)
        if run is not None:
            run.status = status
            self._write(watched)
        elif content["status"] in ("ok", "error") and request_id in watched.requests:
            # The reply came before the outputs, which have a separate channel.
            watched.requests[request_id]["status"] = status
        else:
            watched.requests.pop(request_id, None)  # refused, as a cell before it had failed

    async def _late(self, watched: _Watched, run: _Run) -> None:
        if run in watched.runs:
            run.give_up("")
            self._write(watched)

    def _write(self, watched: _Watched) -> None:
        """Write down the executions that have ended, in the order of their beginning."""
        live = self._live(watched)
        while watched.runs and watched.runs[0].end is not None and watched.runs[0].status is not None:
            run = watched.runs.popleft()
            watched.requests.pop(run.message, None)
            if live is not None and run.end is not None and run.status is not None:
                live.ran(
                    run.cell,
                    run.source,
                    run.status,
                    at=run.begun_at,
                    end=run.end,
                    wall_s=max(0.0, run.end - run.begun_at),
                    count=run.count,
                    outputs=tuple(run.collected.outputs),
                    detail=run.detail,
                )

    def _give_up(self, watched: _Watched, reason: str) -> None:
        for run in watched.runs:
            run.give_up(reason)
        self._write(watched)
        watched.requests.clear()

    def _died(self, watched: _Watched) -> None:
        """The kernel's process ended by itself. If that was before the kernel reported the cell that ended
        it, it was the oldest request without a reply."""
        live = self._live(watched)
        waiting = [pair for pair in watched.requests.items() if pair[1]["kept"] and "status" not in pair[1]]
        if live is not None and not watched.runs and waiting:
            message, request = waiting[0]
            source, now = request["source"], time.time()
            cell = live.begins(request["cell"], source, request["deleted"], now)
            watched.runs.append(_Run(message, cell, source, now, None))
        self._give_up(watched, "the kernel died")

    async def _dies(self, watched: _Watched) -> None:
        watched.dies = True

    async def _dead(self, watched: _Watched) -> None:
        self._died(watched)

    async def _restarted(self, watched: _Watched) -> None:
        if watched.dies:
            self._died(watched)
        else:
            self._give_up(watched, "the kernel was restarted")
        live = self._live(watched)
        if live is not None:
            live.restarted("died" if watched.dies else "asked")
        watched.dies = False

    async def _ended(self, watched: _Watched) -> None:
        """A kernel was shut down."""
        self._give_up(watched, "the kernel was shut down")
        self.kernels.pop(watched.kernel_id, None)
        watched.stream.close()
        if watched.path is not None and self._last_kernel.get(watched.path) == watched.kernel_id:
            live = self.notebooks.pop(watched.path, None)
            if live is not None:
                await asyncio.to_thread(live.finish)

    async def _saved(self, path: str) -> None:
        path = _plain(path)
        live = self.notebooks.get(path)
        if live is not None:
            cells = (await self._read(path)).cells
            live.saved(cells, own_ids=_own_ids(cells))

    async def _renamed(self, old: str, new: str) -> None:
        for path in [path for path in self.notebooks if path == old or path.startswith(f"{old}/")]:
            now = new + path.removeprefix(old)
            self.notebooks[now] = self.notebooks.pop(path)
            if path in self._last_kernel:
                self._last_kernel[now] = self._last_kernel.pop(path)
            for watched in self.kernels.values():
                if watched.path == path:
                    watched.path = now

    async def stop(self) -> None:
        """Write the last steps, and make the Parquet files."""
        if self._worker is not None:
            await self._queue.join()
            self._worker.cancel()
        for watched in self.kernels.values():
            self._give_up(watched, "the server was stopped")
            watched.stream.close()
        for live in self.notebooks.values():
            if live is not None:
                await asyncio.to_thread(live.finish)
        self.notebooks.clear()


def _plain(path: str) -> str:
    """A notebook's path without the drive that real-time collaboration adds in front."""
    head, colon, tail = path.partition(":")
    return (tail if colon and "/" not in head else path).lstrip("/")


def _own_ids(cells: Iterable[Cell]) -> bool:
    """Whether the file has ids of cells. The ids that `parse_notebook` makes begin with ``cell-``."""
    return not any(cell.id.startswith("cell-") for cell in cells)


def _seconds(message: dict[str, Any]) -> float:
    """When the kernel made a message, in seconds since 1970 UTC."""
    date = message["header"].get("date")
    return date.timestamp() if isinstance(date, datetime) else time.time()
