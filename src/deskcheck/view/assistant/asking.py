"""Asks a running kernel a question over its comm target (`jupyter.comm`), without running a cell.

If the kernel has not loaded deskcheck, it first gets a silent request without code that evaluates one
expression. This does not change its history or the numbers of cells. While a cell runs, a kernel of ipykernel
7 is asked on a subshell, another thread. An older kernel answers after the cell.
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
"""Timeout for the control channel of a kernel, which answers while a cell runs."""
_IDLE_S = 0.5
"""Timeout for the shell channel, which answers if no cell runs."""
_ANSWER_S = 30.0
"""Timeout for an answer after the kernel has begun with it."""
_HEARD_S = 0.1
"""Interval of requests until the first message on the kernel's publishing channel arrives."""
_SERVE = "__import__('deskcheck.notebook.jupyter.comm', fromlist=['Serving']).Serving()"


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a kernel."""

    data: Mapping[str, Any]
    beside: bool = False
    """Whether a cell ran meanwhile, so that values may be of different moments."""


class Asker:
    """Asks kernels. wait_s: time to wait for the end of a running cell."""

    def __init__(self, wait_s: float = 1.0) -> None:
        self.wait_s = wait_s
        self._serving: set[Path] = set()
        """Connection files of kernels that were set up to answer. A restarted kernel needs this again."""

    def ask(self, file: Path, question: Mapping[str, Any]) -> Reply:
        """The answer of a kernel to a question.

        Raises:
            KernelError: the kernel does not run, is busy, or has no deskcheck.
            InputError: the question is refused, or the connection file cannot be used.
        """
        try:
            json.dumps(question, ensure_ascii=False).encode()
        except UnicodeError as error:
            raise InputError(f"the question contains an invalid character: {error}.") from None
        with _connected(file) as kernel:
            facts = kernel.facts(_ALIVE_S)
            if facts is None:
                raise KernelError(
                    f"{file.name}: the kernel does not answer. It has ended and left the file behind, is "
                    f"stopped, or runs C code that blocks other threads. Check it, or ask another kernel."
                )
            language = facts.get("language_info", {}).get("name")
            if language != "python":
                raise KernelError(f"{file.name}: is a kernel for {language}. Ask a kernel for Python.")
            subshells = "kernel subshells" in facts.get("supported_features", ())
            kernel.hear()
            reply = self._asked(kernel, file, question, subshells)
        if reply.data.get("status") != "ok":
            raise InputError(str(reply.data.get("evalue")))
        return reply

    def _asked(self, kernel: "_Kernel", file: Path, question: Mapping[str, Any], subshells: bool) -> Reply:
        serving = accepted = beside = False
        for _ in range(2):  # a restarted kernel has to be set up again
            serving = file in self._serving or self._set_up(kernel, file)
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
        """The reason for a missing answer, with the way out."""
        if not accepted and serving:
            return "the kernel does not accept questions. Check its log, and restart it."
        if not accepted:
            return (
                "a cell runs, and the kernel has not loaded deskcheck. Ask again when the cell has ended. "
                "After %load_ext deskcheck it answers while cells run."
            )
        if beside:
            return f"a cell runs, and no answer came in {_ANSWER_S:g} s. Ask again when it has ended."
        return (
            f"a cell runs, and did not end within {self.wait_s:g} s. Ask again when it has ended. "
            "Kernels of ipykernel 7 answer while a cell runs."
        )

    def _set_up(self, kernel: "_Kernel", file: Path) -> bool:
        """Set the kernel up to answer questions. Returns False if it is busy."""
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
                f"{file.name}: the kernel's environment has no suitable deskcheck ({error}). Install the "
                "version of this server there: pip install deskcheck."
            )
        raise KernelError(f"{file.name}: the kernel cannot be asked ({error}).")


def condition(file: Path) -> tuple[str, str | None]:
    """The state of a kernel, as in `running.Condition`, and its language."""
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
        """Messages with the sockets on which they arrived, until a time. The caller may stop earlier."""
        while (left_s := until - time.monotonic()) > 0:
            for socket, _ in self._ready.poll(left_s * 1000):
                _, parts = self.session.feed_identities(socket.recv_multipart())
                try:
                    yield socket, self.session.deserialize(parts)
                except ValueError:  # not signed with the key, so from another sender
                    continue

    def _reply(self, socket: Any, request_id: str, seconds: float) -> dict[str, Any] | None:
        for came_on, message in self._received(time.monotonic() + seconds):
            if came_on is socket and message["parent_header"].get("msg_id") == request_id:
                content: dict[str, Any] = message["content"]
                return content
        return None

    def facts(self, seconds: float) -> dict[str, Any] | None:
        """The kernel's information about itself, also while a cell runs; None if it does not answer."""
        return self._reply(self.control, self._send(self.control, "kernel_info_request", {}), seconds)

    def idle(self, seconds: float) -> bool:
        """Whether the kernel could run a cell now."""
        request_id = self._send(self.shell, "kernel_info_request", {})
        return self._reply(self.shell, request_id, seconds) is not None

    def hear(self) -> None:
        """Wait until a message that the kernel publishes arrives. Raises KernelError if none does."""
        until = time.monotonic() + _ALIVE_S
        while time.monotonic() < until:
            self._send(self.control, "kernel_info_request", {})
            for came_on, _ in self._received(time.monotonic() + _HEARD_S):
                if came_on is self.iopub:
                    return
        raise KernelError("messages that the kernel publishes do not arrive. Restart the kernel.")

    def executed(self, content: Mapping[str, Any], begin_s: float) -> dict[str, Any] | None:
        """The reply to a request; None if the kernel has not begun with it in time."""
        request_id = self._send(self.shell, "execute_request", content)
        for came_on, message, _ in self._answers(request_id, begin_s):
            if came_on is self.shell:
                reply: dict[str, Any] = message["content"]
                return reply
        return None

    def _answers(self, request_id: str, begin_s: float) -> Iterator[tuple[Any, dict[str, Any], bool]]:
        """Messages in answer to a request, and whether the kernel had reported before that it has begun.

        begin_s: timeout for the beginning. The caller may stop earlier.
        """
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
        """Ask a question by opening a comm.

        Returns the answer, or None if it did not come in time; whether the kernel accepted the comm (without
        the comm target of deskcheck it closes the comm); and whether the answer came before the kernel
        reported that it is busy with it, as happens while a cell awaits something.
        """
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
        """Yield the id of a new kernel thread that answers while a cell runs. Raises KernelError."""
        request_id = self._send(self.control, "create_subshell_request", {})
        reply = self._reply(self.control, request_id, seconds) or {}
        name = reply.get("subshell_id")
        if reply.get("status") != "ok" or not isinstance(name, str):
            raise KernelError("the kernel is busy and has no subshells. Ask again when the cell has ended.")
        try:
            yield name
        finally:
            request_id = self._send(self.control, "delete_subshell_request", {"subshell_id": name})
            self._reply(self.control, request_id, seconds)
