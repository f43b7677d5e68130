"""Runs a cell in a kernel until its reply and all its outputs are there, or it is stopped.

The loop is the same for deskcheck's own kernels and for installed ones; a kernel only passes messages on.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, Self

from deskcheck.notebook.settings import CELL_S
from deskcheck.notebook.trajectory.trajectory import Execution, Output, Status
from deskcheck.sandbox.decoder import BEYOND, GOES_ON, Forged, Message

_STOP_S = 20.0
"""Seconds for a cell to obey an interrupt."""
AGAIN_S = 2.0
"""Seconds until a cell is interrupted again, as an interrupt before its beginning is lost."""
_LATE_S = 30.0
"""Seconds of silence after a cell's reply until missing outputs are given up."""
_EVER_S = 30.0
"""Seconds beyond twice a cell's time until a kernel that sends without end is ignored."""
LOOK_S = 0.25
"""Seconds between checks whether the kernel is alive."""


OUTPUT_CHARS = 1 << 20
"""Maximum size of all outputs of a cell. Further characters are counted and left out."""
_OUTPUTS = 10_000
"""Maximum number of outputs of one cell. The last one says that some were left out."""


class CellRunner(Protocol):
    """A kernel that runs cells one after another. Use it as a context manager, from one thread. Methods that
    receive messages raise Forged for one that the kernel did not send."""

    @property
    def alive(self) -> bool: ...
    @property
    def outputs_are_over(self) -> bool:
        """Whether no further output can come."""

    def start(self) -> None: ...
    def stop(self) -> None:
        """End the kernel's process. The next `start` makes a new one."""

    def close(self) -> None: ...
    def interrupt(self) -> None: ...
    def send(self, source: str, cell_id: str | None) -> str:
        """Request a cell; returns the id of the request."""

    def next_output(self, seconds: float) -> Message | None:
        """The next message of the outputs. None if none arrives in time."""

    def next_reply(self) -> Message | None: ...
    def wait(self, seconds: float) -> None:
        """Wait for a message of the kernel, up to `seconds`."""

    def after_cell(self) -> None: ...
    def ending(self) -> tuple[Status, str]:
        """How a kernel ended that did not reply to a cell."""

    def with_facts(self, ran: Execution, reply: Mapping[str, Any]) -> Execution:
        """The execution with further facts from the kernel. reply: empty if the kernel did not reply."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def restart(self) -> None:
        self.stop()
        self.start()

    def run(
        self,
        source: str,
        *,
        cell_s: float = CELL_S,
        output_chars: int = OUTPUT_CHARS,
        cell_id: str | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> Execution:
        """Run one cell. Returns its execution, without the order of the notebook's cells.

        The kernel has ended after a status `died` or `out_of_memory`, and after a cell that could not be
        stopped.

        cell_s: wall time.
        interrupted: checked a few times a second. If it returns true, the cell is stopped.
        """
        started = time.time()
        ran = Execution(cell=cell_id or "", source=source, status=Status.ERROR, order=(), at=started)
        try:
            source.encode("utf-8")
        except UnicodeEncodeError as error:  # no message can hold it, and no compiler would take it
            output = Output(type="error", name=type(error).__name__, text=str(error), value=str(error))
            return replace(ran, end=started, outputs=(output,))
        collected = Collected(output_chars)
        cell = _RunningCell(self, self.send(source, cell_id), collected, cell_s)
        try:
            cell.follow(interrupted)
            self.after_cell()
        except Forged as error:
            cell.stopped, cell.reply = (Status.DIED, f"it wrote to the kernel's sockets: {error}"), None
            self.stop()
        ended, reply = time.time(), cell.reply or {}
        status, detail = cell.status()
        if reply and not collected.idle:
            detail = f"{detail or ''}; outputs that did not arrive are missing".lstrip("; ")
        ran = replace(
            ran,
            status=status,
            detail=detail,
            end=ended,
            outputs=tuple(collected.outputs),
            count=reply.get("execution_count", collected.count),
            wall_s=ended - started,
        )
        return self.with_facts(ran, reply)


def status_of(reply: Mapping[str, Any]) -> Status:
    """How a cell ended, by the kernel's reply to it."""
    if reply.get("status") == "ok":
        return Status.OK
    return Status.of_error(reply.get("ename"))


class _RunningCell:
    """A cell that runs: its reply and its outputs, until both are there or it was stopped."""

    def __init__(self, kernel: CellRunner, request: str, collected: "Collected", allowed_s: float) -> None:
        self.kernel = kernel
        self.request = request
        self.collected = collected
        self.allowed_s = allowed_s
        self.reply: dict[str, Any] | None = None
        self.stopped: tuple[Status, str] | None = None
        self.late: float | None = None
        """Once there is a reply: when to stop waiting for outputs."""
        self.deadline, self.again = collected.clock + allowed_s, 0.0
        self.latest = collected.clock + 2 * allowed_s + _EVER_S
        """When to stop waiting in any case."""

    def follow(self, interrupted: Callable[[], bool]) -> None:
        """Raises Forged for a message that the kernel did not send."""
        while self.late is None or (
            not self.collected.idle and time.monotonic() < min(self.late, self.latest)
        ):
            message = self.kernel.next_output(0.0 if self.reply is None else 0.05)
            if message is not None:
                if message.parent == self.request:
                    self.collected.take(message)
                if self.late is not None:
                    self.late = time.monotonic() + _LATE_S
                if time.monotonic() < self.deadline:
                    continue
            elif self.reply is not None and self.kernel.outputs_are_over:
                return
            if self.reply is None and self._over(interrupted):
                return

    def _over(self, interrupted: Callable[[], bool]) -> bool:
        """Look for the reply, or wait a moment. Returns whether no further message will arrive."""
        message = self.kernel.next_reply()
        if message is not None and message.parent == self.request and message.kind == "execute_reply":
            self.reply = message.content
            self.late = time.monotonic() + _LATE_S
            return False
        if not self.kernel.alive:
            # Its last outputs may still arrive.
            while (message := self.kernel.next_output(0.1)) is not None:
                if message.parent == self.request:
                    self.collected.take(message)
            return True
        if self._stopping(interrupted):
            return True
        self.kernel.wait(min(LOOK_S, max(0.0, self.deadline - time.monotonic())))
        return False

    def _stopping(self, interrupted: Callable[[], bool]) -> bool:
        """Interrupt a cell whose time is over, a second time after a while, then end its kernel. Returns
        whether it has stopped."""
        now = time.monotonic()
        if self.stopped is None:
            if interrupted() or now >= self.deadline:
                ending = (Status.TIMED_OUT, f"more than {self.allowed_s:g} s")
                self.stopped = ending if now >= self.deadline else (Status.INTERRUPTED, "")
                self.kernel.interrupt()
                self.deadline, self.again = now + _STOP_S, now + AGAIN_S
            return False
        if self.collected.idle and now >= self.again:
            return True  # interrupted just before its cell began, a request ends without a reply
        if now >= self.deadline:
            status, detail = self.stopped
            self.stopped = status, f"{detail}; it ignored an interrupt".lstrip("; ")
            self.kernel.stop()
            return True
        if now >= self.again:
            self.kernel.interrupt()
            self.again = now + AGAIN_S
        return False

    def status(self) -> tuple[Status, str | None]:
        if self.stopped is not None and (self.reply is None or self.reply.get("status") != "ok"):
            return self.stopped[0], self.stopped[1] or None
        return self.kernel.ending() if self.reply is None else (status_of(self.reply), None)


_WORD_CHARS = 1000
_MIMES, _MIME_CHARS = 100, 200
_STREAMS = 10


class Collected:
    """The output messages of one cell, in the order of their arrival, bounded."""

    def __init__(self, output_chars: int = OUTPUT_CHARS) -> None:
        self.clock = time.monotonic()
        self.outputs: list[Output] = []
        self.idle = False
        self.count: int | None = None
        self.chars_left = output_chars
        self.beyond: dict[str, int] = {}
        """Stream -> number of its last output, to which left-out characters are added."""
        self._widgets: list[str] = []
        """Widgets that show the next outputs in place of the cell; the last one takes them."""

    def take(self, message: Message) -> None:
        kind, content = message.kind, message.content
        if kind == "status":
            self.idle = content["execution_state"] == "idle"
        elif kind == "execute_input":
            self.count = content.get("execution_count")
        elif kind.startswith("comm_"):
            self._redirect(content, message.parent)
        elif kind == "update_display_data":
            self._display(kind, content)
        elif self._widgets:
            return  # no front end stores them as outputs of the cell
        elif kind == "stream":
            self._stream(content["name"], content["text"], goes_on=content.get(GOES_ON, False))
        elif kind == "clear_output":
            self._add(Output(type=kind, wait=bool(content.get("wait")), at_s=self._at()))
        elif kind == "error":
            text = "\n".join(content["traceback"])
            shortened, length = self._cut(text)
            beyond = content.get(BEYOND, 0)
            self._add(
                Output(
                    type=kind,
                    name=content["ename"][:_WORD_CHARS],
                    value=content["evalue"][:10_000],
                    text=shortened,
                    length=(length or len(text)) + beyond if beyond else length,
                    at_s=self._at(),
                )
            )
        elif kind in ("execute_result", "display_data"):
            self._display(kind, content)

    def _redirect(self, content: Mapping[str, Any], request: str | None) -> None:
        """A message of a widget. `msg_id` in its state is the request whose outputs it takes (the *Output
        widget* of Jupyter's widget messages); an empty one ends that."""
        data, widget = content.get("data"), str(content.get("comm_id"))
        state = data.get("state") if isinstance(data, dict) else None
        if isinstance(state, dict) and "msg_id" in state:
            self._widgets = [other for other in self._widgets if other != widget]
            if request and state["msg_id"] == request:
                self._widgets.append(widget)

    def _at(self) -> float:
        return round(time.monotonic() - self.clock, 6)

    def _cut(self, text: str) -> tuple[str, int | None]:
        if len(text) <= self.chars_left:
            self.chars_left -= len(text)
            return text, None
        shortened, self.chars_left = text[: self.chars_left], 0
        return shortened, len(text)

    def _stream(self, name: str, text: str, *, goes_on: bool) -> None:
        last = self.outputs[-1] if self.outputs else None
        if goes_on and last is not None and last.type == "stream" and last.name == name and not last.length:
            shortened, length = self._cut(text)
            full_length = None if length is None else len(last.text or "") + length
            if full_length is not None:
                self.beyond[name] = len(self.outputs) - 1
            self.outputs[-1] = replace(last, text=(last.text or "") + shortened, length=full_length)
            return
        number = self.beyond.get(name)
        if number is not None:
            full = self.outputs[number]
            self.outputs[number] = replace(full, length=(full.length or 0) + len(text))
            return
        shortened, length = self._cut(text)
        if length is None and len(self.outputs) >= _OUTPUTS:
            shortened, length = "", len(text)
        self._add(Output(type="stream", name=name, text=shortened, at_s=self._at(), length=length))
        if length is not None and len(self.beyond) < _STREAMS:
            self.beyond[name] = len(self.outputs) - 1

    def _display(self, kind: str, content: dict[str, Any]) -> None:
        fitting: dict[str, Any] = {}
        beyond = content.get(BEYOND, 0)
        room = len(self.outputs) < _OUTPUTS
        for mime, value in content["data"].items():
            size = len(value) if isinstance(value, str) else len(str(value))
            if size <= self.chars_left and room and len(fitting) < _MIMES and len(mime) <= _MIME_CHARS:
                fitting[mime] = value
                self.chars_left -= size
            else:
                beyond += size
        self._add(
            Output(
                type=kind,
                data=fitting,
                metadata=self._metadata(content["metadata"]),
                display_id=content.get("transient", {}).get("display_id"),
                count=content.get("execution_count"),
                at_s=self._at(),
                length=beyond + sum(map(len, map(str, fitting.values()))) if beyond else None,
            )
        )

    def _metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """Metadata of an output; long metadata counts as output."""
        size = len(str(metadata))
        if size <= _WORD_CHARS:
            return metadata
        if size > self.chars_left:
            return {}
        self.chars_left -= size
        return metadata

    def _add(self, output: Output) -> None:
        if len(self.outputs) < _OUTPUTS + (200 if output.type == "error" else 100):
            self.outputs.append(output)
            return
        last = self.outputs[-1]
        self.outputs[-1] = replace(last, length=(last.length or 0) + 1)
