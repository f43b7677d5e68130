"""The environment of examples/verifiers under verifiers itself, with a model on loopback that answers by a script.

verifiers needs an older openai than deskcheck[ask]: this runs in an environment with both but without that.
"""

import asyncio
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask.samples.sample import Sample, line_of
from tests.ask.test_rewards import RUN
from tests.ask.test_score_job import deadly, said

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
EXAMPLE = Path(__file__).parents[2] / "examples" / "verifiers"
WHY = "would show that verifiers asks our questions and takes our scores for rewards"


@pytest.fixture
def scripted() -> Iterator[tuple[str, dict[str, str]]]:
    """The address of an OpenAI-compatible server, and what it says to a prompt: whoever has it fills it in."""
    replies: dict[str, str] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            (message,) = body["messages"]
            reply = {"role": "assistant", "content": replies[message["content"]]}
            answer = json.dumps(
                {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 1,
                    "model": body["model"],
                    "choices": [{"index": 0, "finish_reason": "stop", "message": reply}],
                }
            ).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *told: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", replies
        server.shutdown()


def test_rollouts_have_our_scores(
    scripted: tuple[str, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers are run: right, wrong, unreadable; one whose run kills the sandbox is an error, without a reward."""
    vf: Any = pytest.importorskip("verifiers.v1", reason=WHY)
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.setenv("KEY", "none")
    code = "import os\n\ndef f(n):\n    if n == 9:\n        os.kill(os.getppid(), 9)\n        os._exit(0)\n    return n\n"
    address, replies = scripted
    lines, rewards = [], {}
    for name, row, reply, reward in [
        ("right", RUN.to_dict(), said("f(10)"), 1.0),
        ("wrong", RUN.to_dict(), said("f(4)"), 0.0),
        ("none", RUN.to_dict(), "I do not know", 0.0),
        ("ours", deadly(code, "sandbox"), said("f(9)"), None),
    ]:
        sample = Sample.from_dict({**row, "id": name, "parts": {"question": name}})
        lines.append(line_of(sample))
        replies[name], rewards[name] = reply, reward
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(lines))
    taskset = {"id": "deskcheck-questions", "questions": str(questions), "task": {"sandbox": "trusted"}}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
    model = vf.ModelContext(
        client=vf.EvalClientConfig(base_url=address, api_key_var="KEY"),
        model="scripted",
        sampling=vf.SamplingConfig(),
    )

    async def episodes() -> list[Any]:
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task)]
            return await asyncio.gather(*(env.run_slot(slot, model) for slot in slots))

    done = asyncio.run(episodes())
    found = {episode.task.data.id: (episode.ok, episode.traces[0].rewards["score"]) for episode in done}
    assert {name: ok for name, (ok, _) in found.items()} == {name: name != "ours" for name in rewards}
    assert {name: each and each.score for name, (_, each) in found.items()} == rewards
    (error,) = next(episode for episode in done if not episode.ok).traces[0].errors
    assert "could not be run: the sandbox failed" in error.message
