"""A server of a model on this machine that behaves as providers do: too many requests, errors, answers that are
slow or cut off. What it answers in the end depends on the prompt alone."""

import hashlib
import json
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from deskcheck.ask.baselines import guess

LONG_S = 300
TROUBLE = ("429", "500", "slow", "cut off", "none", "none", "none", "none")
"""What happens at the first request of a prompt, by its digest."""
ENDINGS = ("stop", "stop", "stop", "length", "empty", "too long", "stop word", "words")
"""How a prompt is answered in the end."""


def lot(prompt: str, name: str, among: tuple[str, ...]) -> str:
    digest = hashlib.sha256(f"{name}:{prompt}".encode()).digest()
    return among[int.from_bytes(digest[:4], "big") % len(among)]


class Provider(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(
        self,
        trouble: tuple[str, ...],
        endings: tuple[str, ...],
        pause_s: float,
        answer: Callable[[str], str] = guess.completion,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.trouble, self.endings, self.pause_s = trouble, endings, pause_s
        self.requests: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.guard = threading.Lock()
        self.stop = threading.Event()

    @property
    def environment(self) -> dict[str, str]:
        """For `openai-api/local/NAME`."""
        return {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": f"http://127.0.0.1:{self.server_port}/v1"}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no error here."""


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["prompt"] if "prompt" in body else body["messages"][-1]["content"]
        with self.server.guard:
            self.server.requests[prompt] += 1
            self.server.bodies.append(body)
            first = self.server.requests[prompt] == 1
        trouble = lot(prompt, "trouble", self.server.trouble) if first else "none"
        self.server.stop.wait(self.server.pause_s * (10 if trouble == "slow" else 1))
        if trouble in ("429", "500"):
            self.say(int(trouble), {"error": {"message": "not now", "type": "busy"}})
            return
        ending = lot(prompt, "ending", self.server.endings)
        if ending == "too long":
            self.say(
                400,
                {
                    "error": {
                        "message": "This model's maximum context length is 64 tokens.",
                        "type": "invalid_request_error",
                        "code": "context_length_exceeded",
                    }
                },
            )
        elif ending == "page":
            self.say(200, "<html>gateway</html>", kind="text/html")
        elif ending == "other data":
            self.say(200, {"object": "list", "data": []})
        elif ending == "never":
            self.server.stop.wait(LONG_S)
        elif ending == "refused key":
            self.say(401, {"error": {"message": "no such key", "type": "auth"}})
        else:
            answered = _completion(self.server.answer(prompt), ending)
            if "prompt" in body:
                text = answered["choices"][0].pop("message")["content"]
                answered["choices"][0]["text"] = text.removeprefix("[ANSWER]").partition("[/ANSWER]")[0]
            self.say(200, answered, cut=trouble == "cut off")
        with self.server.guard:
            self.server.answered[prompt] += trouble != "cut off"

    def say(self, status: int, value: Any, cut: bool = False, kind: str = "application/json") -> None:
        raw = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw[: len(raw) // 2] if cut else raw)
        if cut:
            self.wfile.flush()
            self.connection.close()


def _completion(text: str, ending: str) -> dict[str, Any]:
    finish = "stop"
    if ending == "length":
        text, finish = text.partition("[/ANSWER]")[0], "length"
    elif ending == "empty":
        text = ""
    elif ending == "stop word":
        text = text.partition("[/ANSWER]")[0]
    elif ending == "words":
        text = "I would rather not say."
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "some",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


@contextmanager
def provider(
    trouble: tuple[str, ...] = ("none",),
    endings: tuple[str, ...] = ("stop",),
    pause_s: float = 0.0,
    answer: Callable[[str], str] = guess.completion,
) -> Iterator[Provider]:
    """The server, as long as it is needed."""
    server = Provider(trouble, endings, pause_s, answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.stop.set()
        server.shutdown()
        thread.join()
        server.server_close()


def wait_for(process: subprocess.Popen[str], there: Callable[[], bool]) -> None:
    """Until something is there, or the process has ended."""
    end = time.monotonic() + LONG_S
    while process.poll() is None and not there():
        assert time.monotonic() < end
        time.sleep(0.01)
