"""Inputs that a model proposes, from a server on this machine that speaks as OpenAI's does."""

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("inspect_ai", reason="no Inspect AI: would have proved that models propose inputs")

from deskcheck.ask.proposals import proposer
from deskcheck.cli import app
from deskcheck.recording import InputError
from deskcheck.recording.reader import Recordings
from deskcheck.sources.inputs.candidates import proposal_prompt

CODE = """def grade(points):
    if points == 8128:
        return "perfect"
    return "other"


def twice(text):
    return text * 2
"""
ANSWERS = {"grade": "Here you are:\n1. `grade(8128)`\n2. grade(-1)", "twice": "twice('ab')"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the server was asked, while it runs; the model is ``openai-api/here/small``."""
    prompts: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = request["messages"][-1]["content"]
            prompts.append(prompt)
            found = next((text for name, text in ANSWERS.items() if f"calls of `{name}`" in prompt), None)
            message = {"role": "assistant", "content": found}
            body: dict[str, object] = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": request["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
            if found is None:
                body = {"error": {"message": "asked for nothing that is known", "type": "bad", "code": None}}
            data = json.dumps(body).encode()
            self.send_response(400 if found is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("HERE_API_KEY", "none")
        monkeypatch.setenv("HERE_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        yield prompts
        server.shutdown()
        thread.join()


def test_a_model_is_asked_for_inputs_of_each_function(tmp_path: Path, asked: list[str]) -> None:
    """What it proposes is tried with the rest, and says that it was the model's."""
    (tmp_path / "app.py").write_text(CODE)
    command = [
        "record",
        f"inputs,by=known:{tmp_path / 'app.py'}",
        "--out",
        str(tmp_path / "runs"),
        "--no-repeat",
    ]
    done = CliRunner().invoke(app, [*command, "--inputs-by", "openai-api/here/small"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert asked == [proposal_prompt(CODE, "grade"), proposal_prompt(CODE, "twice")]
    found = {(one.program.entry, one.program.arguments): one for one in Recordings(tmp_path / "runs")}
    assert set(found) == {("grade", "(8128)"), ("grade", "(-1)"), ("twice", "('ab')")}
    assert all(one.program.extra["input"]["by"] == "model" for one in found.values())
    assert found["grade", "(8128)"].run_result.result == "'perfect'"


def test_a_model_that_refuses_is_an_error_with_its_reason(asked: list[str]) -> None:
    """Also a second time: nothing is kept of a connection."""
    for _ in range(2):
        with (
            proposer("openai-api/here/small") as propose,
            pytest.raises(
                InputError, match=r"openai-api/here/small: gave no inputs: .*nothing that is known"
            ),
        ):
            propose("nothing")
    assert asked == ["nothing"] * 2


@pytest.mark.parametrize("source", ["app.py::twice", "pytest:.", "notebooks:."])
def test_only_where_inputs_are_looked_for(source: str) -> None:
    """Nothing is recorded without what was asked for."""
    with pytest.raises(InputError, match="--inputs-by some/model: is only for a source inputs:"):
        CliRunner().invoke(
            app, ["record", source, "--out", "runs", "--inputs-by", "some/model"], catch_exceptions=False
        )
