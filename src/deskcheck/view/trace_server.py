"""The trace page of a recording that is too large for one file, served to a browser on this machine."""

import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from deskcheck.errors import InputError
from deskcheck.recording.recording import Recording
from deskcheck.view.page import head, tail
from deskcheck.view.trace_data import TraceData, page_facts


class TraceServer:
    """Serves the page of one recording on the loopback, and the blocks of events that the page requests.

    Only requests with the secret in `url` are answered. Use the server as a context. `serve` blocks until
    `close` is called from another thread or an exception, such as KeyboardInterrupt, ends it.

    Raises:
        InputError: the port is taken.
    """

    def __init__(self, recording: Recording, *, port: int = 0) -> None:
        traces = [TraceData(trace) for trace in recording.traces]
        answers = _Answers(recording, traces)
        try:
            self._server = _Server(("127.0.0.1", port), _Handler)
        except OSError as error:
            raise InputError(f"port {port} of 127.0.0.1 cannot be used: {error.strerror}.") from error
        self._server.answers = answers
        self._server.secret = secrets.token_urlsafe(16)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/{self._server.secret}/"

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        """Stop serving, also from another thread, and release the port."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> "TraceServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.server_close()


class _Answers:
    """The content of a request by name, as bytes with their type. Only one block is read at a time."""

    def __init__(self, recording: Recording, traces: list[TraceData]) -> None:
        self.recording = recording
        self.traces = traces
        self.lock = threading.Lock()

    def get(self, name: str) -> tuple[str, bytes] | None:
        match name.split("/"):
            case [""]:
                page = head("trace", self.recording.id, store="server", connect="'self'") + tail()
                return "text/html; charset=utf-8", page.encode()
            case ["facts"]:
                text = json.dumps(page_facts(self.recording, self.traces))
                return "application/json", text.encode("ascii")
            case ["columns", thread] if (trace := self._trace(thread)) is not None:
                return "application/octet-stream", trace.columns()
            case ["block", thread, number] if (trace := self._trace(thread)) is not None:
                if not number.isascii() or not number.isdigit() or int(number) >= len(trace.starts):
                    return None
                with self.lock:
                    return "application/json", trace.block(int(number))
        return None

    def _trace(self, thread: str) -> TraceData | None:
        matches = [trace for trace in self.traces if str(trace.trace.thread) == thread]
        return matches[0] if matches else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    answers: _Answers
    secret: str


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 60

    def do_GET(self) -> None:
        # The name is checked too: a page of another origin could have a name of its own point here.
        host = self.headers.get("Host", "").partition(":")[0]
        secret, _, name = self.path.partition("?")[0].removeprefix("/").partition("/")
        allowed = host in ("127.0.0.1", "localhost") and secrets.compare_digest(
            secret.encode(), self.server.secret.encode()
        )
        answer = self.server.answers.get(name) if allowed else None
        kind, body = answer or ("text/plain; charset=utf-8", b"there is nothing of that name here")
        self.send_response(200 if answer else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, because there is a request for every block."""
