"""Asks a running kernel a question over its comm target (`jupyter.comm`). No cell runs for it.

A kernel that has not loaded deskcheck is told to answer first, by a silent request without code whose one
expression of ours is evaluated: nothing is counted or kept in its history. A kernel that runs a cell is asked
on a subshell (ipykernel 7), a thread beside the cell; an older one answers after the cell.
"""

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError, KernelError, MissingExtra
from deskcheck.notebook.jupyter.comm import TARGET

_ALIVE_S = 3.0
"""For a kernel's control channel, which answers while a cell runs."""
_IDLE_S = 0.5
"""For its shell channel, if no cell runs."""
_ANSWER_S = 30.0
"""For an answer that the kernel has begun with."""
_HEARD_S = 0.1
"""Between requests until what the kernel publishes is heard."""
_SERVE = "__import__('deskcheck.notebook.jupyter.comm', fromlist=['Serving']).Serving()"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a kernel answered. beside: while a cell ran, so that values may be of different moments."""

    data: Mapping[str, Any]
    beside: bool = False


class Asker:
    """Asks kernels. wait_s: for a cell that runs to end."""

    def __init__(self, wait_s: float = 1.0) -> None:
        self.wait_s = wait_s
        self._serving: set[Path] = set()
        """Connection files of kernels that were told to answer; one that was restarted has forgotten that."""

    def ask(self, file: Path, question: Mapping[str, Any]) -> Reply:
        """What a kernel answers to a question.

        Raises:
            KernelError: it does not run, is busy, or has no deskcheck.
            InputError: the question is refused, or the connection file cannot be used.
        """
        try:
            json.dumps(question, ensure_ascii=False).encode()
        except UnicodeError as error:
            raise InputError(f"the question holds a character that is none: {error}.") from None
        with _connected(file) as kernel:
            facts = kernel.facts(_ALIVE_S)
            if facts is None:
                raise KernelError(
                    f"{file.name}: the kernel does not answer. It has ended and left the file behind, is "
                    "stopped, or runs C code that lets nothing else run. Look at it, or ask another kernel."
                )
            language = facts.get("language_info", {}).get("name")
            if language != "python":
                raise KernelError(f"{file.name}: a kernel for {language}; only those for Python are asked.")
            subshells = "kernel subshells" in facts.get("supported_features", ())
            kernel.hear()
            reply = self._asked(kernel, file, question, subshells)
        if reply.data.get("status") != "ok":
            raise InputError(str(reply.data.get("evalue")))
        return reply

    def _asked(self, kernel: "_Kernel", file: Path, question: Mapping[str, Any], subshells: bool) -> Reply:
        serving = accepted = beside = False
        for _ in range(2):  # a kernel that was restarted has to be told again
            serving = file in self._serving or self._tell(kernel, file)
            data, accepted, beside = None, True, False
            if serving:
                data, accepted, beside = kernel.opened(question, self.wait_s, None)
            if data is None and accepted and subshells:
                with kernel.subshell(_ALIVE_S) as subshell:
                    data, accepted, _ = kernel.opened(question, _ANSWER_S, subshell)
                beside = True
            if data is not None:
                self._serving.add(file)
                return Reply(data, beside)
            if accepted or not serving:
                break
            self._serving.discard(file)
        raise KernelError(f"{file.name}: {self._why(serving, accepted, beside)}")

    def _why(self, serving: bool, accepted: bool, beside: bool) -> str:
        """Why there is no answer."""
        if not accepted and serving:
            return "the kernel takes no question. Look at its log, and restart it."
        if not accepted:
            return (
                "a cell runs, and the kernel has not loaded deskcheck. Ask again when the cell has ended. "
                "After %load_ext deskcheck it answers while cells run."
            )
        if beside:
            return f"a cell runs, and left no time to answer in {_ANSWER_S:g} s. Ask again when it has ended."
        return (
            f"a cell runs, and has not ended in {self.wait_s:g} s. Ask again when it has ended. "
            "Kernels of ipykernel 7 answer while a cell runs."
        )

    def _tell(self, kernel: "_Kernel", file: Path) -> bool:
        """Whether the kernel could be told to answer; False: it is busy."""
        content = {
            "code": "",
            "silent": True,
            "store_history": False,
            "user_expressions": {"deskcheck": _SERVE},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        reply = kernel.executed(content, self.wait_s)
        if reply is None or reply.get("status") == "aborted":
            return False
        evaluated = reply.get("user_expressions", {}).get("deskcheck", {})
        if evaluated.get("status") == "ok":
            return True
        error = f"{evaluated.get('ename')}: {evaluated.get('evalue')}"
        if evaluated.get("ename") in ("ModuleNotFoundError", "ImportError", "AttributeError"):
            raise KernelError(
                f"{file.name}: the kernel's environment has no deskcheck that answers ({error}). Install it "
                "there, the version of this server: pip install deskcheck."
            )
        raise KernelError(f"{file.name}: the kernel cannot be asked ({error}).")


def condition(file: Path) -> tuple[str, str | None]:
    """How a kernel is, as `running.Condition` says, and its language."""
    try:
        with _connected(file) as kernel:
            facts = kernel.facts(_ALIVE_S)
            if facts is None:
                return "silent", None
            language = facts.get("language_info", {}).get("name")
            return ("idle" if kernel.idle(_IDLE_S) else "busy"), language
    except InputError:
        return "silent", None


@contextmanager
def _connected(file: Path) -> Iterator["_Kernel"]:
    try:
        import zmq
        from jupyter_client.client import KernelClient
    except ImportError as error:
        raise MissingExtra("jupyter_client", "mcp", "asking running kernels") from error
    context = zmq.Context()
    try:
        client = KernelClient(context=context)
        try:
            client.load_connection_file(str(file))
            kernel = _Kernel(client)
        except (OSError, ValueError, KeyError, TypeError, zmq.ZMQError) as error:
            raise InputError(f"{file}: cannot be used as a connection file ({error}).") from error
        yield kernel
    finally:
        context.destroy(linger=200)


class _Kernel:
    """The sockets to one kernel."""

    def __init__(self, client: Any) -> None:
        import zmq

        self.session = client.session
        self.control, self.shell, self.iopub = (
            client.connect_control(),
            client.connect_shell(),
            client.connect_iopub(),
        )
        self._ready = zmq.Poller()
        for socket in (self.control, self.shell, self.iopub):
            self._ready.register(socket, zmq.POLLIN)

    def _send(self, socket: Any, kind: str, content: Mapping[str, Any], subshell: str | None = None) -> str:
        message = self.session.msg(kind, content)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self.session.send(socket, message)
        return str(message["header"]["msg_id"])

    def _received(self, until: float) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Messages with the sockets that they came on, until a moment; the caller may stop before."""
        while (left_s := until - time.monotonic()) > 0:
            for socket, _ in self._ready.poll(left_s * 1000):
                _, parts = self.session.feed_identities(socket.recv_multipart())
                try:
                    yield socket, self.session.deserialize(parts)
                except ValueError:  # not signed with the key: of somebody else
                    continue

    def _reply(self, socket: Any, request_id: str, seconds: float) -> dict[str, Any] | None:
        for came_on, message in self._received(time.monotonic() + seconds):
            if came_on is socket and message["parent_header"].get("msg_id") == request_id:
                content: dict[str, Any] = message["content"]
                return content
        return None

    def facts(self, seconds: float) -> dict[str, Any] | None:
        """What the kernel says of itself, also while a cell runs; None: it does not answer."""
        return self._reply(self.control, self._send(self.control, "kernel_info_request", {}), seconds)

    def idle(self, seconds: float) -> bool:
        """Whether it would run a cell now."""
        request_id = self._send(self.shell, "kernel_info_request", {})
        return self._reply(self.shell, request_id, seconds) is not None

    def hear(self) -> None:
        """Wait until what the kernel publishes arrives. Raises KernelError: it does not."""
        until = time.monotonic() + _ALIVE_S
        while time.monotonic() < until:
            self._send(self.control, "kernel_info_request", {})
            for came_on, _ in self._received(time.monotonic() + _HEARD_S):
                if came_on is self.iopub:
                    return
        raise KernelError("what the kernel publishes does not arrive. Restart the kernel.")

    def executed(self, content: Mapping[str, Any], begin_s: float) -> dict[str, Any] | None:
        """The reply to a request; None: the kernel has not begun with it in time."""
        request_id = self._send(self.shell, "execute_request", content)
        for came_on, message, _ in self._answers(request_id, begin_s):
            if came_on is self.shell:
                reply: dict[str, Any] = message["content"]
                return reply
        return None

    def _answers(self, request_id: str, begin_s: float) -> Iterator[tuple[Any, dict[str, Any], bool]]:
        """What answers a request, and whether it was said before that the kernel has begun with it, for which
        it has so long; the caller may stop before."""
        until, begun = time.monotonic() + begin_s, False
        while (left_s := until - time.monotonic()) > 0:
            for came_on, message in self._received(time.monotonic() + left_s):
                if message["parent_header"].get("msg_id") != request_id:
                    continue
                yield came_on, message, begun
                if not begun and came_on is self.iopub:
                    begun, until = True, time.monotonic() + _ANSWER_S
                    break

    def opened(
        self, question: Mapping[str, Any], begin_s: float, subshell: str | None
    ) -> tuple[dict[str, Any] | None, bool, bool]:
        """The answer to a question that opens a comm, if it came in time; whether there was somebody to take
        it (a kernel without our comm target closes the comm); whether it came without the kernel saying that
        it is busy with it, as where a cell runs that awaits something."""
        data = {**question, "once": True, "until": time.time() + begin_s}
        content = {"comm_id": uuid.uuid4().hex, "target_name": TARGET, "data": data}
        request_id = self._send(self.shell, "comm_open", content, subshell)
        for came_on, message, begun in self._answers(request_id, begin_s):
            if came_on is self.iopub and message["header"]["msg_type"] == "comm_close":
                answer = message["content"].get("data") or None
                return answer, answer is not None, not begun
        return None, True, False

    @contextmanager
    def subshell(self, seconds: float) -> Iterator[str]:
        """A thread of the kernel that answers beside a cell. Raises KernelError: there is none."""
        request_id = self._send(self.control, "create_subshell_request", {})
        reply = self._reply(self.control, request_id, seconds) or {}
        name = reply.get("subshell_id")
        if reply.get("status") != "ok" or not isinstance(name, str):
            raise KernelError("the kernel is busy, and opens no subshell. Ask again when the cell has ended.")
        try:
            yield name
        finally:
            request_id = self._send(self.control, "delete_subshell_request", {"subshell_id": name})
            self._reply(self.control, request_id, seconds)
